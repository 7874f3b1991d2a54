"""Names of hidden checks are masked in every kind of file that agents read, and nothing else changes."""

from __future__ import annotations

import json

import pytest

from loopwright.stages.agent_view import AgentView
from loopwright.workflow.slices import draft_slices

VIEW = AgentView({"C-2": "hidden check 2", 'sh "x y.sh"': "hidden check 2", "x y.sh": "a file of a hidden check"})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("C-2 failed, sign C-2.", "hidden check 2 failed, sign hidden check 2."),
        ("vacuous_check_C-2", "vacuous_check_hidden check 2"),
        ("C-20 and AC-2 are other names", "C-20 and AC-2 are other names"),
        ('run `sh "x y.sh"`', "run `hidden check 2`"),
        (r'{"command": "sh \"x y.sh\""}', '{"command": "hidden check 2"}'),
        ("see x y.sh:3", "see a file of a hidden check:3"),
    ],
)
def test_a_name_is_masked_as_a_whole(text, shown):
    assert VIEW.masked(text) == shown
    assert VIEW.document("a/page.md", text.encode()).text == shown
    assert AgentView({}).masked(text) == text


def test_keys_of_json_stay_and_bytes_of_no_known_encoding_too():
    assert json.loads(VIEW.document("audit.json", b'{"C-2": ["C-2"]}').data) == {"C-2": ["hidden check 2"]}
    assert VIEW.document("page.md", b"\xff C-2").data == b"\xff hidden check 2"


def test_slices_show_that_a_check_is_hidden_and_not_which():
    piece = {
        "id": "VS-1", "title": "t", "type": "AFK", "behavior": "b", "acceptance_criteria": ["a"],
        "verification_signal": "s", "requirements": [],
        "checks": [{"id": "C-1", "command": "true"}, {"id": "SECRET", "command": "sh secret.sh", "hidden": True}],
    }  # fmt: skip
    shown = VIEW.document("change/slices.json", draft_slices("greet", [piece])).text
    assert "secret" not in shown.lower()
    (first, second) = json.loads(shown)["slices"][0]["checks"]
    assert (first["id"], second["id"], second["hidden"]) == ("C-1", "hidden check 2", True)
    assert VIEW.document("slices.json", b"{broken SECRET").data == b"", "which checks are hidden is unknown"

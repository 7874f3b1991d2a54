"""What is ours in other people's texts, and what they made of it."""

from __future__ import annotations

import json

import pytest

from loopwright.install.marks import (
    MARKDOWN,
    BlockEditor,
    OwnFileEditor,
    find_block,
    with_block,
    with_mark,
    without_block,
)
from loopwright.install.mcp_json import (
    COMMAND_AND_ARGS,
    OPENCODE,
    JsonServerEditor,
    entry_state,
    with_entry,
    without_entry,
)
from loopwright.install.model import InstallState, NotEditable

OURS = "## Ours\n\nA text.\n"
EDITOR = BlockEditor("codex", OURS)


@pytest.mark.parametrize("around", ["", "# Mine\n", "# Mine", "# Mine\n\n", "\ufeff# Mine\r\nwith DOS ends\r\n", "\n"])
def test_a_block_goes_in_once_and_out_without_a_trace(around):
    text = with_block(around or None, MARKDOWN, "codex", OURS)
    assert with_block(text, MARKDOWN, "codex", OURS) == text
    assert EDITOR.state(text) is InstallState.CURRENT
    assert ("\r\n" in around) == ("\r\n" in text.replace(around, ""))
    assert (without_block(text, MARKDOWN, "codex") or "") == around


def test_two_agents_share_a_block_and_the_last_takes_it_along():
    both = with_block(with_block("# Mine\n", MARKDOWN, "opencode", OURS), MARKDOWN, "codex", OURS)
    assert both.count("## Ours") == 1
    assert find_block(both, MARKDOWN).agents == ("codex", "opencode")
    one = without_block(both, MARKDOWN, "codex")
    assert find_block(one, MARKDOWN).agents == ("opencode",)
    assert find_block(one, MARKDOWN).is_as_written
    assert without_block(one, MARKDOWN, "codex") == one
    assert without_block(one, MARKDOWN, "opencode") == "# Mine\n"


def test_the_text_around_a_renewed_block_stays():
    text = with_block("before\n", MARKDOWN, "codex", "old\n") + "after\n"
    renewed = with_block(text, MARKDOWN, "codex", OURS)
    assert EDITOR.state(text) is InstallState.OUTDATED
    assert renewed.startswith("before\n")
    assert renewed.endswith("after\n")
    assert "old" not in renewed


def test_a_changed_block_is_known():
    text = with_block(None, MARKDOWN, "codex", OURS)
    assert EDITOR.state(text.replace("A text", "My text")) is InstallState.CHANGED
    assert EDITOR.state(text.replace("\n", "\r\n")) is InstallState.CURRENT


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace(MARKDOWN.end, ""),
        lambda text: text + text,
        lambda text: MARKDOWN.end + "\n" + text.replace(MARKDOWN.end, ""),
        lambda text: MARKDOWN.end,
    ],
)
def test_marks_that_make_no_block_are_refused(damage):
    with pytest.raises(NotEditable):
        find_block(damage(with_block(None, MARKDOWN, "codex", OURS)), MARKDOWN)


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (None, InstallState.ABSENT),
        (with_mark("A skill."), InstallState.CURRENT),
        (with_mark("A skill.").replace("\n", "\r\n"), InstallState.CURRENT),
        (with_mark("An old skill."), InstallState.OUTDATED),
        (with_mark("A skill.").replace("skill", "trick"), InstallState.CHANGED),
        (with_mark("A skill.") + "more\n", InstallState.CHANGED),
        ("A skill.\n", InstallState.FOREIGN),
        ("", InstallState.FOREIGN),
    ],
)
def test_whole_files(found, state):
    assert OwnFileEditor(with_mark("A skill.")).state(found) is state


@pytest.mark.parametrize("form", [COMMAND_AND_ARGS, OPENCODE])
def test_an_entry_goes_in_and_out(form):
    before = {"theme": "dark", form.key: {"other": {"command": "x"}}}
    document = with_entry(before, form, "/usr/bin/python3")
    assert document[form.key]["other"] == {"command": "x"}
    assert entry_state(document, form, "/usr/bin/python3") is InstallState.CURRENT
    assert entry_state(document, form, "/opt/python3") is InstallState.OUTDATED
    assert without_entry(document, form) == before
    assert set(without_entry(with_entry({}, form, "p"), form)) == ({"$schema"} if form is OPENCODE else set())


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        ({"command": "loopwright", "args": ["mcp"]}, InstallState.OUTDATED),
        ({"command": "/x/loopwright", "args": ["mcp"], "env": {"A": "a-key"}}, InstallState.CHANGED),
        ({"command": "loopwright", "args": ["mcp", "--project-root", "x"]}, InstallState.FOREIGN),
        ({"command": "node", "args": ["server.js"]}, InstallState.FOREIGN),
        ({"command": ["x"]}, InstallState.FOREIGN),
        ({"url": "http://localhost"}, InstallState.FOREIGN),
        ("loopwright", InstallState.FOREIGN),
        ([], InstallState.FOREIGN),
    ],
)
def test_the_state_of_content_under_our_name(entry, state):
    document = {"mcpServers": {"loopwright": entry}}
    assert entry_state(document, COMMAND_AND_ARGS, "/usr/bin/python3") is state
    assert "a-key" not in JsonServerEditor(COMMAND_AND_ARGS, "python").shown(json.dumps(document))


def test_servers_that_are_no_object_are_refused():
    with pytest.raises(NotEditable):
        JsonServerEditor(COMMAND_AND_ARGS, "python").state('{"mcpServers": []}')

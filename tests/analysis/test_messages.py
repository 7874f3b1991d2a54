from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.analysis.messages import ChangeKind, read_message
from loopwright.analysis.preregistered import CatchingGate


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("feat: a button", ChangeKind.FEATURE),
        ("feat(ui)!: a button", ChangeKind.FEATURE),
        ("✨ feat: a button", ChangeKind.FEATURE),
        ("Add a button", ChangeKind.FEATURE),
        ("ui: add a button", ChangeKind.FEATURE),
        ("A button (#12)", ChangeKind.FEATURE),
        ("fix: the button", ChangeKind.FIX),
        ("Fix(ui): the button", ChangeKind.FIX),
        (":bug: fix the button", ChangeKind.FIX),
        ("Fixed the button (#13)", ChangeKind.FIX),
        ("net: fix a crash", ChangeKind.FIX),
        ("[ui] Bugfix for the button", ChangeKind.FIX),
        ("A hotfix for 2.1", ChangeKind.FIX),
        ("ENH: a button", ChangeKind.FEATURE),
        ("BUG: the button", ChangeKind.FIX),
        ("MAINT: add a tool", ChangeKind.OTHER),
        ("docs: fix a typo", ChangeKind.OTHER),
        ("chore: add a tool", ChangeKind.OTHER),
        ("fixture for tests", ChangeKind.OTHER),
        ("prefix all names", ChangeKind.OTHER),
        ("address review", ChangeKind.OTHER),
        ("additional text", ChangeKind.OTHER),
        ('Revert "feat: a button"', ChangeKind.REVERT),
        ("revert: feat: a button", ChangeKind.REVERT),
        ('Revert "Revert "feat: a button""', ChangeKind.RELAND),
        ('Reapply "feat: a button"', ChangeKind.RELAND),
        ("reland: a button", ChangeKind.RELAND),
        ("", ChangeKind.OTHER),
    ],
)
def test_a_title_says_what_a_commit_is(title, kind):
    assert read_message(title).kind is kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Merge pull request #1 from me/button\n\nA button", ChangeKind.FEATURE),
        ("Merge pull request #1 from me/fix-button\n\nThe button works", ChangeKind.FIX),
        ("Merge pull request #1 from me/button\n\nfix: the button", ChangeKind.FIX),
        ("Merge pull request #1 from me/button\n\ndocs: how to press", ChangeKind.OTHER),
        ('Merge pull request #1 from me/revert-2-x\n\nRevert "a button"', ChangeKind.REVERT),
        ("Merge branch 'button'", ChangeKind.FEATURE),
        ("Merge branch 'hotfix/button' into 'main'", ChangeKind.FIX),
        ("Merge branch 'dependabot/npm/x'", ChangeKind.OTHER),
        ("Merged in button (pull request #1)", ChangeKind.FEATURE),
        ("Merge branch 'main' into button", ChangeKind.OTHER),
        ("Merge tag 'net-6.1' of somewhere", ChangeKind.OTHER),
        ("Merge remote-tracking branch 'origin/main'", ChangeKind.OTHER),
        ("Merge x", ChangeKind.OTHER),
    ],
)
def test_a_merge_is_what_its_request_or_branch_says(message, kind):
    assert read_message(message, is_merge=True).kind is kind


def test_a_revert_names_the_commit_and_the_title_and_gives_its_reason_in_the_body():
    said = read_message('Revert "ci: tests (#12)" (#13)\n\nThis reverts commit ABCDEF1234567.\n\nIt broke production.')
    assert said.kind is ChangeKind.REVERT
    assert said.names == ("abcdef1234567",)
    assert said.undone == "ci: tests (#12)"
    # The words of the reverted title are not the reason.
    assert said.hint is CatchingGate.REFLECTION


def test_a_trailer_makes_a_fix_of_any_title():
    said = read_message('net: check the length\n\nFixes: 0123456789ab ("net: lengths")\nFixes: 1123456789ab\n')
    assert (said.kind, said.names) == (ChangeKind.FIX, ("0123456789ab", "1123456789ab"))


@pytest.mark.parametrize(
    ("title", "hint"),
    [
        ("fix: broken build", CatchingGate.CI),
        ("fix: flaky tests", CatchingGate.CI),
        ("fix: type-check errors", CatchingGate.CI),
        ("fix: a race in the queue", CatchingGate.REFLECTION),
        ("fix: edge case of an empty list", CatchingGate.REFLECTION),
        ("fix: the colour", None),
    ],
)
def test_words_hint_at_the_gate(title, hint):
    assert read_message(title).hint is hint


@given(st.text(max_size=400), st.booleans())
def test_any_message_is_read(message, is_merge):
    said = read_message(message, is_merge=is_merge)
    assert said.kind in ChangeKind
    assert len(said.title) <= 300


@pytest.mark.parametrize("piece", ["fix ", "[", 'revert "', "a.b/", ":x", "(#1", "Fixes: 00"])
def test_a_hostile_message_costs_little(piece):
    # An unbounded pattern would run into pytest's own time limit here.
    for is_merge in (True, False):
        assert len(read_message(piece * 200_000, is_merge=is_merge).title) <= 300

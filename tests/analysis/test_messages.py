from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.analysis.messages import Kind, read_message
from loopwright.analysis.preregistered import Gate


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("feat: a button", Kind.FEATURE),
        ("feat(ui)!: a button", Kind.FEATURE),
        ("✨ feat: a button", Kind.FEATURE),
        ("Add a button", Kind.FEATURE),
        ("ui: add a button", Kind.FEATURE),
        ("A button (#12)", Kind.FEATURE),
        ("fix: the button", Kind.FIX),
        ("Fix(ui): the button", Kind.FIX),
        (":bug: fix the button", Kind.FIX),
        ("Fixed the button (#13)", Kind.FIX),
        ("net: fix a crash", Kind.FIX),
        ("[ui] Bugfix for the button", Kind.FIX),
        ("A hotfix for 2.1", Kind.FIX),
        ("ENH: a button", Kind.FEATURE),
        ("BUG: the button", Kind.FIX),
        ("MAINT: add a tool", Kind.OTHER),
        ("docs: fix a typo", Kind.OTHER),
        ("chore: add a tool", Kind.OTHER),
        ("fixture for tests", Kind.OTHER),
        ("prefix all names", Kind.OTHER),
        ("address review", Kind.OTHER),
        ("additional text", Kind.OTHER),
        ('Revert "feat: a button"', Kind.REVERT),
        ("revert: feat: a button", Kind.REVERT),
        ('Revert "Revert "feat: a button""', Kind.RELAND),
        ('Reapply "feat: a button"', Kind.RELAND),
        ("reland: a button", Kind.RELAND),
        ("", Kind.OTHER),
    ],
)
def test_a_title_says_what_a_commit_is(title, kind):
    assert read_message(title).kind is kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Merge pull request #1 from me/button\n\nA button", Kind.FEATURE),
        ("Merge pull request #1 from me/fix-button\n\nThe button works", Kind.FIX),
        ("Merge pull request #1 from me/button\n\nfix: the button", Kind.FIX),
        ("Merge pull request #1 from me/button\n\ndocs: how to press", Kind.OTHER),
        ('Merge pull request #1 from me/revert-2-x\n\nRevert "a button"', Kind.REVERT),
        ("Merge branch 'button'", Kind.FEATURE),
        ("Merge branch 'hotfix/button' into 'main'", Kind.FIX),
        ("Merge branch 'dependabot/npm/x'", Kind.OTHER),
        ("Merged in button (pull request #1)", Kind.FEATURE),
        ("Merge branch 'main' into button", Kind.OTHER),
        ("Merge tag 'net-6.1' of somewhere", Kind.OTHER),
        ("Merge remote-tracking branch 'origin/main'", Kind.OTHER),
        ("Merge x", Kind.OTHER),
    ],
)
def test_a_merge_is_what_its_request_or_branch_says(message, kind):
    assert read_message(message, is_merge=True).kind is kind


def test_a_revert_names_the_commit_and_the_title_and_gives_its_reason_in_the_body():
    said = read_message('Revert "ci: tests (#12)" (#13)\n\nThis reverts commit ABCDEF1234567.\n\nIt broke production.')
    assert said.kind is Kind.REVERT
    assert said.names == ("abcdef1234567",)
    assert said.undone == "ci: tests (#12)"
    # The words of the reverted title are not the reason.
    assert said.hint is Gate.REFLECTION


def test_a_trailer_makes_a_fix_of_any_title():
    said = read_message('net: check the length\n\nFixes: 0123456789ab ("net: lengths")\nFixes: 1123456789ab\n')
    assert (said.kind, said.names) == (Kind.FIX, ("0123456789ab", "1123456789ab"))


@pytest.mark.parametrize(
    ("title", "hint"),
    [
        ("fix: broken build", Gate.CI),
        ("fix: flaky tests", Gate.CI),
        ("fix: type-check errors", Gate.CI),
        ("fix: a race in the queue", Gate.REFLECTION),
        ("fix: edge case of an empty list", Gate.REFLECTION),
        ("fix: the colour", None),
    ],
)
def test_words_hint_at_the_gate(title, hint):
    assert read_message(title).hint is hint


@given(st.text(max_size=400), st.booleans())
def test_any_message_is_read(message, is_merge):
    said = read_message(message, is_merge=is_merge)
    assert said.kind in Kind
    assert len(said.title) <= 300


@pytest.mark.parametrize("piece", ["fix ", "[", 'revert "', "a.b/", ":x", "(#1", "Fixes: 00"])
def test_a_hostile_message_costs_little(piece):
    # An unbounded pattern would run into pytest's own time limit here.
    for is_merge in (True, False):
        assert len(read_message(piece * 200_000, is_merge=is_merge).title) <= 300

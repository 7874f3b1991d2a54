"""A command that only reads the text of the work is proof, unless a comment of the work silences it."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.model import ControlOutcome
from loopwright.loop.altered_files import Alteration
from loopwright.loop.split_work import ChangedCode
from loopwright.loop.text_checks import ChangedText, outcome_of_text

PASSED, FAILED = ControlOutcome.PASSED, ControlOutcome.FAILED
SILENCED, UNALTERED = ControlOutcome.SILENCED, ControlOutcome.UNALTERED
NO_COMMENTS, NO_RUN, NO_READ = Alteration.WITHOUT_COMMENTS, Alteration.UNRUNNABLE, Alteration.UNREADABLE
PLAIN = ChangedCode("a.py", b"import os\nx = 1\n", b"x = 1\n")
SILENT = ChangedCode("a.py", b"import os\nx = 1\n", b"import os  # noqa\nx = 1\n")
OTHER = ChangedCode("a.rs", b"", b"fn a() {}\n")


@pytest.mark.parametrize(
    ("code", "passing", "raising", "can_be_static", "outcome", "ran"),
    [
        # A linter reads a file that can't run; what runs it, or does not even read it, does not.
        (PLAIN, {NO_RUN}, PASSED, False, FAILED, [NO_RUN, NO_READ]),
        (PLAIN, set(), PASSED, False, PASSED, [NO_RUN]),
        (PLAIN, {NO_RUN, NO_READ}, PASSED, False, PASSED, [NO_RUN, NO_READ]),
        (OTHER, {NO_RUN}, PASSED, False, PASSED, []),
        # A file that can't run has no added comments either.
        (SILENT, {NO_RUN}, PASSED, False, FAILED, [NO_RUN, NO_READ]),
        (SILENT, set(), PASSED, False, PASSED, [NO_RUN]),
        # In all other cases only comments need a run.
        (SILENT, set(), FAILED, False, SILENCED, [NO_COMMENTS]),
        (SILENT, {NO_COMMENTS}, FAILED, False, FAILED, [NO_COMMENTS]),
        (SILENT, set(), UNALTERED, False, SILENCED, [NO_COMMENTS]),
        (PLAIN, set(), FAILED, False, FAILED, []),
        (PLAIN, set(), UNALTERED, False, UNALTERED, []),
        # Without any function and expectation to change.
        (PLAIN, {NO_RUN}, UNALTERED, True, FAILED, [NO_RUN, NO_READ]),
        (PLAIN, set(), UNALTERED, True, UNALTERED, [NO_RUN]),
        (SILENT, set(), UNALTERED, True, SILENCED, [NO_COMMENTS]),
    ],
)
def test_what_altered_text_says(code, passing, raising, can_be_static, outcome, ran):
    runs = []

    def passes(alteration):
        runs.append(alteration)
        return alteration in passing

    text = ChangedText([code])
    assert outcome_of_text(passes, text, raising=raising, can_be_static=can_be_static) is outcome
    assert runs == ran


def test_no_file_says_nothing():
    assert outcome_of_text(bool, ChangedText([]), raising=UNALTERED, can_be_static=True) is UNALTERED


def test_each_changed_file_must_be_kept_from_running():
    assert not ChangedText([PLAIN, OTHER]).can_stop
    text = ChangedText([SILENT, PLAIN])
    assert (text.can_stop, text.has_comments) == (True, True)
    assert text.files[0].contents == {
        NO_COMMENTS: b"import os  # oooo\nx = 1\n",
        NO_RUN: b"if __name__:\n    raise SyntaxError\n\nimport os  # oooo\nx = 1\n",
        NO_READ: b"import os  # noqa\nx = 1\n\n(\n",
    }

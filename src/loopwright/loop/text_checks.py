"""Recognises commands that only read the text of changed code, such as linters, and what silences them.

Such a command still passes when no changed file can run, and fails when the files can't be parsed. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from loopwright.judging.controls.added_comments import without_added_comments
from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.controls.static_text import unreadable, unrunnable
from loopwright.loop.altered_files import MOST_READ, Alteration, RaisingFile
from loopwright.loop.split_work import ChangedCode


class ChangedText:
    """The text of the changed code, and its alterations."""

    def __init__(self, code: Iterable[ChangedCode]) -> None:
        # Whether the work added comments.
        self.has_comments = False
        # Whether each changed file can be kept from running. Otherwise a command may run some of the work.
        self.can_stop = True
        self.files = tuple(map(self._altered, code))

    def _altered(self, file: ChangedCode) -> RaisingFile:
        is_short = len(file.after) <= MOST_READ
        silent = without_added_comments(file.path, file.before, file.after) if is_short else None
        self.has_comments |= silent is not None
        plain = silent if silent is not None else file.after
        stopped = unrunnable(file.path, plain) if is_short else None
        self.can_stop &= stopped is not None
        contents = {
            Alteration.WITHOUT_COMMENTS: plain,
            Alteration.UNRUNNABLE: stopped if stopped is not None else plain,
            Alteration.UNREADABLE: unreadable(file.after),
        }
        return RaisingFile(file.path, contents)


def outcome_of_text(
    passes: Callable[[Alteration], bool],
    text: ChangedText,
    *,
    raising: ControlOutcome,
    can_be_static: bool,
) -> ControlOutcome:
    """What altered text adds to what raising functions said about a command without a report.

    `can_be_static` if no other control altered anything: then a command that only reads the text is still proof.
    """
    if raising is ControlOutcome.PASSED:
        # The files that can't run have no added comments either.
        return ControlOutcome.FAILED if _only_reads(passes, text) else raising
    if text.has_comments and not passes(Alteration.WITHOUT_COMMENTS):
        return ControlOutcome.SILENCED
    return ControlOutcome.FAILED if can_be_static and _only_reads(passes, text) else raising


def _only_reads(passes: Callable[[Alteration], bool], text: ChangedText) -> bool:
    if not text.files or not text.can_stop:
        return False
    return passes(Alteration.UNRUNNABLE) and not passes(Alteration.UNREADABLE)

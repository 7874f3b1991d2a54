"""Changes the expectations of a command without a report, one in each run: its own, and those of files it calls."""

from __future__ import annotations

import time
from pathlib import Path

from loopwright.judging.controls.called_expectations import ChangedExpectation, in_called_files
from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.controls.reach import ScriptReach
from loopwright.judging.verdict import PASSED, SILENT, TreeResult
from loopwright.loop.altered_files import own_file

# Each expectation costs a run of the whole command. The time for all of them, compared with the run before.
_SLOWER = 10
_SHORTEST_S = 120.0


class SilentCommand:
    """One command: the expectations that are left, the one of this run, and what the runs so far say."""

    def __init__(
        self,
        command: str,
        cwd: str,
        files: frozenset[str],
        changes: list[ChangedExpectation],
        *,
        salt: str,
        before_s: float = 0.0,
    ) -> None:
        self._until_s = time.monotonic() + max(_SHORTEST_S, _SLOWER * before_s)
        self._command = command
        self._cwd = cwd
        # None after the search for expectations in called files: only a sandbox has these files.
        self._files: frozenset[str] | None = files
        self._salt = salt
        self._ahead = changes
        self._current = changes.pop(0) if changes else None
        self._is_confirming = False
        self._known = ControlOutcome.UNALTERED
        # Whether a failure in the place of an expectation changed nothing.
        self._ignores_failures = False
        # How many expectations there was no time for, or that a script has in a branch to which the command does not
        # come. Without those that were to change slightly, too.
        self.untried = 0

    @property
    def text(self) -> str:
        """The command of this run."""
        changed = self._current.command if self._current is not None else None
        return changed if changed is not None else self._command

    def prepare(self, repo: Path) -> None:
        """Change the file of this run in a new sandbox."""
        if self._files is not None:
            files, self._files = self._files, None
            self._search(repo, files)
        if self._current is not None and self._current.path:
            place = own_file(repo, self._current.path)
            if place is not None:
                place.write_bytes(self._current.source)

    def look(self, repo: Path) -> None:
        """After the run: a file that the command writes itself, such as its output, holds no expectation."""
        current = self._current
        if current is not None and current.path and current.failing is None and not self._is_confirming:
            place = own_file(repo, current.path)
            if place is None or place.read_bytes() != current.source:
                self._current = None

    def outcome(self, result: TreeResult) -> ControlOutcome:
        """What all runs so far say, this one included."""
        current, self._current = self._current, None
        if current is None:
            return self._known
        own = result.tests.get(f"{SILENT}::{current.command or self._command}")
        passes = result.exited_with_0 if own is None else own == PASSED
        if self._is_confirming:
            self._is_confirming = False
            if not passes:
                self._known = ControlOutcome.PASSED
            elif current.reach is ScriptReach.IN_BRANCH:
                self.untried += not current.is_near
            else:
                self._ignores_failures = True
        elif not passes:
            self._known = ControlOutcome.FAILED
        elif current.reach is not ScriptReach.ALWAYS and (failure := current.failure) is not None:
            # The command may not need this expectation at all. Then a failure in its place changes nothing, either.
            self._ahead.insert(0, failure)
            self._is_confirming = True
        else:
            self._known = ControlOutcome.PASSED
        if self._known is ControlOutcome.PASSED:
            self._ahead.clear()
        if self._ahead and not self._is_confirming and time.monotonic() > self._until_s:
            self.untried += sum(not expectation.is_near for expectation in self._ahead)
            self._ahead.clear()
        if not self._ahead and self._known is ControlOutcome.UNALTERED and self._ignores_failures:
            # No place was found by which the command can fail: perhaps the work swallows every failure.
            self._known = ControlOutcome.PASSED
        return self._known

    def go_on(self) -> str | None:
        """The command of the next run; None if no expectation is left."""
        if not self._ahead:
            self._current = None
            return None
        self._current = self._ahead.pop(0)
        return self.text

    def _search(self, repo: Path, files: frozenset[str]) -> None:
        def read(path: str) -> bytes:
            place = own_file(repo, path)
            return place.read_bytes() if place is not None else b""

        found = in_called_files(self._command, self._cwd, files, read, salt=self._salt)
        self._ahead = sorted([*self._ahead, *found], key=lambda expectation: expectation.is_near)
        if self._current is None and self._ahead:
            self._current = self._ahead.pop(0)

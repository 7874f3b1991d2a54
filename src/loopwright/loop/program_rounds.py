"""Changes the expectations of programs that tests start, in rounds: the tests must fail then.

The tests themselves stay as they are. If one still passes, the program exits with 1 in the next round: a test that
passes again does not look at its exit code. Otherwise the program can't fail, and neither can the test.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from loopwright.judging.controls.called_expectations import called_scripts
from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.controls.started_programs import FileEdit, ProgramChange, started_programs
from loopwright.judging.verdict import FAILED, PASSED, TreeResult
from loopwright.loop.altered_files import own_file

# The time for all rounds, compared with the run before. Each round runs only the files of its tests, if it can.
_SLOWER = 10
_SHORTEST_S = 120.0


class ProgramRounds:
    """The rounds of one command. Each test has at most one changed program in a round."""

    def __init__(
        self,
        command: str,
        cwd: str,
        tests: tuple[str, ...],
        files: tuple[str, ...],
        judges: frozenset[str],
        before_s: float,
    ) -> None:
        """Without files, the scripts that the command calls are the tests."""
        self.command = command
        self._cwd = cwd
        self._tests = tests
        self._files = files
        self._judges = judges
        self._left_s = max(_SHORTEST_S, _SLOWER * before_s)
        self._searched = False
        self._ahead: list[ProgramChange] = []
        self._current: list[ProgramChange] = []
        # The tests that passed with a changed program, for each change of the next round or of this one.
        self._suspects: list[tuple[ProgramChange, frozenset[str]]] = []
        self._is_confirming = False
        self._began_s = 0.0
        self.vacuous: frozenset[str] = frozenset()
        # The tests that failed with a changed program.
        self.failing: frozenset[str] = frozenset()
        self.outcome = ControlOutcome.UNALTERED

    @property
    def is_running(self) -> bool:
        """Whether programs are changed in this run."""
        return bool(self._current)

    @property
    def untried(self) -> int:
        """How many expectations there was no time for."""
        return len(self._ahead)

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the tests whose programs are changed in this run."""
        return tuple(path for change in self._current for path in change.files)

    def concerns(self, test: str) -> bool:
        """Whether a test starts a program that is still to be changed."""
        return any(test in self._affected(change) for change in self._ahead)

    def search(self, repo: Path, salt: str) -> None:
        """Find the programs in the first sandbox: only a sandbox has all files."""
        if self._searched:
            return
        self._searched = True

        def read(path: str) -> bytes:
            place = own_file(repo, path)
            return place.read_bytes() if place is not None else b""

        tests = self._files or called_scripts(self.command, self._cwd, self._judges, read)
        self._ahead = started_programs(tests, self._judges, read, salt=salt)

    def go_on(self) -> bool:
        """Choose the changes of the next round; False if none is left."""
        self._is_confirming = bool(self._suspects)
        self._current = [change for change, _ in self._suspects] if self._suspects else []
        if self._is_confirming:
            return True
        if self._left_s <= 0:
            return False
        for change in list(self._ahead):
            if not any(change.disturbs(other) for other in self._current):
                self._current.append(change)
                self._ahead.remove(change)
        self._began_s = time.monotonic()
        return bool(self._current)

    def prepare(self, repo: Path) -> None:
        """Change the programs of this round in a new sandbox."""
        edits = [edit for change in self._current for edit in self._edits(change)]
        # From the end of each file, so that positions stay right.
        for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
            place = own_file(repo, edit.path)
            if place is not None:
                source = place.read_bytes()
                place.write_bytes(
                    source[: edit.start] + edit.text + (source[edit.end :] if edit.end is not None else b"")
                )
            elif edit.end is None and (repo / edit.path).parent.is_dir():
                (repo / edit.path).write_bytes(edit.text)

    def _edits(self, change: ProgramChange) -> tuple[FileEdit, ...]:
        return change.failing if self._is_confirming else change.inverted

    def look(self, result: TreeResult) -> None:
        """Read the results of this round."""
        self._left_s -= time.monotonic() - self._began_s
        if self._is_confirming:
            for change, passed in self._suspects:
                failing = {test for test in self._affected(change) if _status(result, test) == FAILED}
                self.vacuous |= passed & failing
            self._suspects = []
        else:
            for change in self._current:
                statuses = {test: _status(result, test) for test in self._affected(change)}
                passed = frozenset(test for test, status in statuses.items() if status == PASSED)
                if passed:
                    self._suspects.append((change, passed))
                self.failing |= {test for test, status in statuses.items() if status == FAILED}
                if FAILED in statuses.values():
                    self.outcome = ControlOutcome.FAILED
        if self.vacuous:
            self.outcome = ControlOutcome.PASSED

    def _affected(self, change: ProgramChange) -> Iterable[str]:
        """The tests that may start a program, by their ids; the whole command if it has no tests."""
        of_file = [test for test in self._tests if test.partition("::")[0] in change.files] or self._tests or [""]
        return [test for test in of_file if not change.test or not test or _function(test) == change.test]


def _function(test: str) -> str:
    return test.partition("[")[0].rpartition("::")[2].rpartition(".")[2]


def _status(result: TreeResult, test: str) -> str:
    if test:
        return FAILED if result.is_failing(test) else result.tests.get(test, "")
    return PASSED if result.exited_with_0 else FAILED

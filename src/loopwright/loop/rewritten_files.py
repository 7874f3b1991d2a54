"""Finds files that the tests changed while they ran, or left for others: later tests ran on another project."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.judging.called_commands import CommandIn
from loopwright.judging.scope import WorkScope
from loopwright.loop.left_files import LeftFiles
from loopwright.loop.test_runs import Pairs
from loopwright.runner.request import Observer
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.port import Changes, Sandbox


class RewrittenFiles(Observer):
    """The files that existed before the tests and are different after them, and new files that steer other programs."""

    def __init__(
        self, inside: Observer | None = None, *, scope: WorkScope | None = None, commands: Iterable[CommandIn] = ()
    ) -> None:
        self._inside = inside
        self._left = LeftFiles(scope, commands)
        self.paths: tuple[str, ...] = ()

    @property
    def pairs(self) -> Pairs:
        """Files that the commands wrote and compared with each other."""
        return self._left.pairs

    def before_steps(self, sandbox: Sandbox) -> None:
        """Prepare the sandbox as for every run."""
        if self._inside is not None:
            self._inside.before_steps(sandbox)
        self._left.before_steps(sandbox)

    def before_step(self, sandbox: Sandbox, step: str) -> None:
        """Prepare the step as for every run."""
        if self._inside is not None:
            self._inside.before_step(sandbox, step)

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """Compare the files with those before the tests."""
        recorder = sandbox.recorder
        if not isinstance(recorder, GitRecorder):
            return None
        self._left.after_steps(sandbox)
        staged = recorder.stage()
        rewritten = (path for path, is_new in recorder.changes_by_path().items() if not is_new)
        self.paths = (*rewritten, *self._left.paths)
        return staged

    def unusual(self, paths: Iterable[str], pairs: Pairs) -> tuple[str, ...]:
        """What another run changed or left, and this run on the base did not."""
        return self._left.unusual((path for path in paths if path not in self.paths), pairs)

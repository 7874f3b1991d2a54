"""Finds files that the tests changed while they ran: later tests ran on another project."""

from __future__ import annotations

from loopwright.runner.request import Observer
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.port import Changes, Sandbox


class RewrittenFiles(Observer):
    """The files that existed before the tests and are different after them."""

    def __init__(self, inside: Observer | None = None) -> None:
        self._inside = inside
        self.paths: tuple[str, ...] = ()

    def before_steps(self, sandbox: Sandbox) -> None:
        """Prepare the sandbox as for every run."""
        if self._inside is not None:
            self._inside.before_steps(sandbox)

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """Compare the files with those before the tests."""
        recorder = sandbox.recorder
        if not isinstance(recorder, GitRecorder):
            return None
        staged = recorder.stage()
        self.paths = tuple(path for path, is_new in recorder.changes_by_path().items() if not is_new)
        return staged

"""Looks at the built tree around the checks: code that could deceive a judge, and files that a check changed."""

from __future__ import annotations

from loopwright.loop.left_files import LeftFiles
from loopwright.loop.rewritten_files import RewrittenFiles
from loopwright.loop.split_work import SplitWork
from loopwright.runner.request import Observer
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.port import Changes, Sandbox
from loopwright.stages.building.checking import Hidden
from loopwright.workflow.gather import digest_of_judge
from loopwright.workflow.seal import Judges
from loopwright.workflow.slices import Check


class BuiltTree(Observer):
    """What was found: files that a person must look at, by their digests."""

    def __init__(self, hidden: Hidden, split: SplitWork | None, checks: tuple[Check, ...] = ()) -> None:
        self._hidden = hidden
        commands = ((check.command, check.cwd) for check in checks)
        self._left = LeftFiles(split.scope if split is not None else None, commands)
        # Code made from data is common, and inverted tests see it.
        flagged = (flag.path for flag in (split.flags if split is not None else ()) if flag.kind != "runs_data")
        self._flagged = tuple(dict.fromkeys(flagged))
        self._digests: dict[str, str] = {}
        # The files that a check changed while it ran.
        self.rewritten: dict[str, str] = {}

    @property
    def judges(self) -> dict[str, str]:
        """The files that a person must look at, by their digests."""
        return {**self._digests, **self.rewritten}

    @property
    def is_suspicious(self) -> bool:
        """Whether only the base shows which of the changed files are usual."""
        return bool(self.rewritten or self._left.pairs)

    def excuse(self, base: RewrittenFiles) -> None:
        """Leave out files that the checks change on the base, too."""
        unusual = base.unusual(self.rewritten, self._left.pairs)
        self.rewritten = {path: self.rewritten.get(path, "") for path in unusual}

    def before_steps(self, sandbox: Sandbox) -> None:
        """Note code that could deceive a judge."""
        repo = sandbox.place.repo
        self._digests = {path: digest_of_judge(repo, path, Judges(())) or "" for path in self._flagged}
        self._left.before_steps(sandbox)

    def before_step(self, sandbox: Sandbox, step: str) -> None:
        """Prepare a hidden check."""
        self._hidden.before_step(sandbox, step)

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """Find files that a check changed: later checks ran on another project."""
        recorder = sandbox.recorder
        if not isinstance(recorder, GitRecorder):
            return None
        self._left.after_steps(sandbox)
        ours = set(self._hidden.names())
        left = (path for path in self._left.paths if not any(f"{name}/".startswith(f"{path}/") for name in ours))
        self.rewritten |= dict.fromkeys(left, "")
        staged = recorder.stage()
        for path, is_new in recorder.changes_by_path().items():
            if path not in ours and not is_new:
                self.rewritten[path] = digest_of_judge(sandbox.place.repo, path, Judges(())) or ""
        return staged

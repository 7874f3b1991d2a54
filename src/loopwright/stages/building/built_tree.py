"""Looks at the built tree before and after the checks: which judges the work changed, and what could influence one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from loopwright.kernel.files import shown
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.port import Changes, Sandbox
from loopwright.stages.building.checking import Hidden
from loopwright.workflow.cheating import reaches_for_its_judge
from loopwright.workflow.gather import digest_of_judge
from loopwright.workflow.seal import Judges

_MOST_READ = 1 << 20


class BuiltTree:
    """What was found: judges that differ from their seals, new tests next to them, and every changed file."""

    def __init__(
        self, judges: Judges, seals: dict[str, str], hidden: Hidden | None, own: tuple[str, ...] | None = None
    ) -> None:
        self._own = own
        self._who = judges
        self._seals = seals
        self._hidden = hidden
        self.judges: dict[str, str] = {}
        self.beside: dict[str, str] = {}
        self.files: tuple[str, ...] = ()

    def before_steps(self, sandbox: Sandbox) -> None:
        """Compare the tree with the seals."""
        repo, recorder = sandbox.place.repo, sandbox.recorder
        self.judges, self.beside = {}, {}
        if isinstance(recorder, GitRecorder):
            self.files = self._own if self._own is not None else recorder.files_since_commit()
        changed = set(self.files)
        there = set(_files(repo, sandbox.view.provided))
        for path in sorted(there):
            if path in self._seals or shown(path) in changed or not isinstance(recorder, GitRecorder):
                self._look(repo, path)
        self.judges |= {path: "deleted" for path in self._seals if path not in there and path in changed}
        if isinstance(recorder, GitRecorder):
            self.judges |= self._reaching(repo, recorder)
        if self._hidden is not None:
            self._hidden.before_steps(sandbox)

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """Find judges that a check changed: later checks ran on another project."""
        recorder = sandbox.recorder
        if not isinstance(recorder, GitRecorder):
            return None
        staged = recorder.stage()
        ours = set(self._hidden.names()) if self._hidden is not None else set()
        for path, is_new in recorder.changes_by_path().items():
            if path not in ours and (not is_new or self._who.steers(path)):
                self.judges[path] = digest_of_judge(sandbox.place.repo, path, Judges(())) or ""
        return staged

    def _look(self, repo: Path, path: str) -> None:
        kind = self._who.kind_of(path)
        if kind == "none" and path not in self._seals:
            return
        digest = digest_of_judge(repo, path, self._who)
        if digest == self._seals.get(path):
            return
        if kind == "neighbour" and path not in self._seals:
            self.beside[path] = digest or ""
        else:
            self.judges[path] = digest or "nothing of it judges any more"

    def _reaching(self, repo: Path, recorder: GitRecorder) -> dict[str, str]:
        """Files that are not judges, but contain code that can decide what a judge says."""
        reaching: dict[str, str] = {}
        for path in self.files:
            place = repo / path
            if path in self.judges or path in self.beside or place.is_symlink() or not place.is_file():
                continue
            after = place.read_bytes() if place.stat().st_size <= _MOST_READ else b""
            # The committed file is read only if its content can matter: each read is a process.
            if reaches_for_its_judge(path, b"", after) and reaches_for_its_judge(path, recorder.committed(path), after):
                reaching[path] = digest_of_judge(repo, path, Judges(())) or ""
        return reaching


def _files(top: Path, provided: tuple[str, ...]) -> Iterator[str]:
    """All paths except folders; a link to a folder is included."""
    skipped = {".git", *(name.strip("/") for name in provided)}
    for folder, below, names in os.walk(top):
        place = Path(folder)
        for name in [*below, *names]:
            path = str((place / name).relative_to(top))
            if name in names or (path not in skipped and (place / name).is_symlink()):
                yield path
        below[:] = [name for name in below if str((place / name).relative_to(top)) not in skipped]

"""Opens a sandbox on the base that an earlier run recorded, as far as it can be made again."""

from __future__ import annotations

from loopwright.errors import SandboxCreateFailed
from loopwright.evidence.trees import load_base
from loopwright.kernel.git import PrivateRepository, UserRepository
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.model import BaseTree, Mode, Notes, RecordedRequest, SandboxFolders
from loopwright.sandbox.open_copy import open_copy
from loopwright.sandbox.open_worktree import check_out, give_steps_a_repository, holds_secrets
from loopwright.sandbox.port import Recorder


def open_recorded(
    request: RecordedRequest,
    place: SandboxFolders,
    judge: PrivateRepository | None,
    repository: UserRepository | None,
    notes: Notes,
) -> Recorder:
    """The recorded base, byte for byte, or an error that says why it can't be had."""
    base = request.base
    if judge is not None and load_base(judge, base, request.base_patch):
        check_out(judge)
        if request.mode is Mode.WORKTREE and repository is not None and not holds_secrets(judge, base.commit):
            give_steps_a_repository(place, judge, repository, base.commit, is_clean=base.is_commit)
        return GitRecorder(
            judge, BaseTree(base.commit, base.tree, is_commit=base.is_commit), place.folder / "inner-git"
        )
    if judge is not None:
        (judge.git_dir / "index").unlink(missing_ok=True)
    recorder = open_copy(request.now, place, judge, repository, notes)
    if recorder.base().tree != base.tree:
        raise SandboxCreateFailed(
            "the base of that run was not kept, and the project is not any more as it was then",
            hint="commit before a run that you want to repeat later",
        )
    return recorder

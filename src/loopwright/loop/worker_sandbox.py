"""The sandbox of a loop's work: opened from the kept work, and kept again, without secrets, after an action.

Unfinished changes of a dead action are never part of the next sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec.structs import replace

from loopwright.errors import SecretLeak
from loopwright.kernel import git
from loopwright.kernel.digest import sha256_of_file
from loopwright.kernel.files import make_folder, sync_folder, write_durably
from loopwright.loop.model import Loop, Tree
from loopwright.loop.work_files import note_tree, patch_path, start_path
from loopwright.loop.worker_context import WorkerContext
from loopwright.redaction.redactor import Redactor
from loopwright.runner.patch import in_binaries, write_screened
from loopwright.runner.turn_sandbox import TurnSandbox, open_turn_sandbox
from loopwright.sandbox.git_recorder import GitRecorder, with_git
from loopwright.sandbox.model import FreshRequest, RecordedRequest
from loopwright.sandbox.open import opened
from loopwright.sandbox.place import random_name, stop_keeping
from loopwright.sandbox.port import Sandbox, SandboxRequest


def sandbox_request(loop: Loop, context: WorkerContext) -> SandboxRequest:
    """The project as it is now, or with the loop's work in it."""
    git.require_installed("a loop keeps its work by git, which is not installed")
    now = context.request()
    if loop.tree is None:
        return now
    # An agent finds its work uncommitted: `git checkout` and `git stash` do what it expects.
    return replace(with_work(now, loop.tree, context.progress(loop)), is_listed=False)


def with_work(now: FreshRequest, tree: Tree, progress: Path) -> RecordedRequest:
    """The project with the work in it that is kept in this folder."""
    return now.recorded(tree.commit, tree.tree, patch_path(progress, tree.patch_sha256))


def base_sandbox(now: FreshRequest, tree: Tree, progress: Path) -> RecordedRequest:
    """The project as it was when the loop began, with what was not committed then."""
    return now.recorded(tree.commit, tree.base_tree, start_path(progress, tree.base_tree))


def work_of(loop_id: str) -> str:
    """The name under which the sessions of a loop's agents are kept."""
    return f"loop-{loop_id}"


@contextmanager
def workshop(loop: Loop, context: WorkerContext, redactor: Redactor) -> Iterator[TurnSandbox]:
    """A sandbox with the loop's work so far, for an agent or a command; it is removed afterwards."""
    with WorkerSandbox(context) as worker_sandbox, worker_sandbox.turn_sandbox(loop, redactor) as turn_sandbox:
        yield turn_sandbox


class WorkerSandbox:
    """The sandbox that a worker keeps from one task to the next, as long as each task ends well.

    This saves time, and ignored files such as installed packages stay. Tests never run in it: their sandbox is made
    from base and patch. After a failed task the sandbox is discarded.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._stack = ExitStack()
        self._sandbox: Sandbox | None = None
        self._tree: Tree | None = None

    def __enter__(self) -> WorkerSandbox:
        return self

    def __exit__(self, *problem: object) -> None:
        self._clear()

    @contextmanager
    def turn_sandbox(self, loop: Loop, redactor: Redactor) -> Iterator[TurnSandbox]:
        """The sandbox with the loop's work so far. It is discarded unless `keep` is called in the block."""
        context = self._context
        if self._sandbox is None or self._tree != loop.tree:
            self._clear()
            request = sandbox_request(loop, context)
            self._sandbox = self._stack.enter_context(
                opened(
                    request,
                    random_name(),
                    confine=context.confine,
                    keep=False,
                    cancellation=context.cancellation,
                )
            )
        self._tree = None
        try:
            work = work_of(loop.loop_id)
            yield open_turn_sandbox(
                self._sandbox, context.environment, redactor, context.log_bytes, work, context.freezer
            )
        finally:
            if self._tree is None:
                self._clear()

    def keep(self, loop: Loop, redactor: Redactor) -> tuple[Tree, tuple[str, ...]]:
        """Keep the sandbox's content durably, and continue from there: the tree, and the files that changed."""
        if self._sandbox is None:
            raise LookupError(loop.loop_id)  # the caller is not inside `turn_sandbox`
        self._tree, files = _keep_work(loop, self._context, self._sandbox, redactor)
        stop_keeping(self._sandbox.place.folder)
        return self._tree, files

    def discard(self) -> None:
        """Do not continue from what was kept in this block."""
        self._tree = None

    def _clear(self) -> None:
        self._sandbox = self._tree = None
        self._stack.close()


def _keep_work(
    loop: Loop, context: WorkerContext, sandbox: Sandbox, redactor: Redactor
) -> tuple[Tree, tuple[str, ...]]:
    """Record what is in the sandbox now; a secret in it is `SecretLeak`, and nothing is kept."""
    recorder = with_git(sandbox.recorder)
    progress, base = context.progress(loop), recorder.base()
    if loop.tree is None and not base.is_commit:
        # Once, so that a person's uncommitted changes stay separate from the work.
        waiting = _screened(sandbox, redactor, "what is not committed", recorder.write_uncommitted_patch)
        _keep(waiting, start_path(progress, base.tree))
    changes = recorder.stage()
    waiting = _screened(sandbox, redactor, "the loop's work", recorder.write_whole_patch, recorder)
    digest = sha256_of_file(waiting)
    _keep(waiting, patch_path(progress, digest))
    files = recorder.changed_files()
    recorder.rebase_on_recorded()
    start = loop.tree.base_tree if loop.tree is not None else base.tree
    tree = Tree(commit=base.commit, base_tree=start, tree=changes.tree, patch_sha256=digest)
    note_tree(progress, tree)
    return tree, files


def _screened(
    sandbox: Sandbox,
    redactor: Redactor,
    what: str,
    write: Callable[[Callable[[bytes], None]], None],
    binaries: GitRecorder | None = None,
) -> Path:
    """Write a patch to a temporary file, and search it for secrets."""
    waiting = sandbox.place.folder / "work.waiting"
    _, findings = write_screened(waiting, what, redactor, write)
    if binaries is not None:
        findings += in_binaries(binaries, redactor)
    if findings:
        raise SecretLeak(
            f"{what} contains a secret: {findings[0].sentence()}",
            hint="see the task's record; take the secret out, then `loopwright loop resume`",
        )
    return waiting


def _keep(waiting: Path, target: Path) -> None:
    make_folder(target.parent)
    write_durably(target, waiting.read_bytes())
    sync_folder(target.parent)

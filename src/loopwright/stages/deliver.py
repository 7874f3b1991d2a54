"""Delivers a finished change: into the user's files if it applies to them, else as a branch.

The plan for each file is durable before the first file changes, and the next command finishes a delivery that a crash
interrupted. A half-applied tree does not stay.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import tempfile
from pathlib import Path

import msgspec

from loopwright.errors import GitFailed, WorkflowRefused
from loopwright.kernel import codec, git
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder, shown, write_durably
from loopwright.kernel.git import UserRepository
from loopwright.stages.building.built import Built
from loopwright.stages.context import Context
from loopwright.workflow.model import Archived, Delivery, Workflow
from loopwright.workflow.reviewing import REVIEWED
from loopwright.workflow.roll_forward import DeliveryPlan, FileMove, FileState, in_the_way, move_folder, state_of

_PLAN = "delivery/plan.json"
_DONE = "delivery/done.json"
_UNDONE = "delivery/undone.json"
_APPLY = ("--binary", "--whitespace=nowarn", "-")


class Delivered(msgspec.Struct, frozen=True):
    """A delivery, and a sentence for a person."""

    delivery: Delivery
    sentence: str


def deliver(context: Context, workflow: Workflow, work: Built, *, as_branch: bool) -> Delivered:
    """Deliver as the user wants it, if possible."""
    if (already := _delivered_before(context, workflow, work)) is not None:
        return already
    repository = context.repository()
    is_wished = as_branch or context.settings.values.workflow.deliver == "branch"
    why = None if is_wished else _why_not_in_place(context, work)
    if not is_wished and why is None:
        return _in_place(context, workflow, work, repository)
    if repository is None:
        raise WorkflowRefused(
            "delivery_blocked",
            f"there is no git repository for a branch{f', and the change does not apply: {why}' if why else ''}",
            next_command=_without_a_branch(context, workflow, why),
        )
    delivered = _branch(workflow, work, repository, context.project)
    if why is None:
        return delivered
    sentence = f"the change does not apply to the current files ({why}); {delivered.sentence}"
    return Delivered(delivered.delivery, sentence)


def _without_a_branch(context: Context, workflow: Workflow, why: str | None) -> str:
    """The next command if no branch is possible without git."""
    again = f"loopwright approve {workflow.slug} --from review --to done"
    if why is None and context.settings.values.workflow.deliver == "branch":
        return f'set workflow.deliver = "patch", then {again}'
    if why is None:
        return again
    patch = shown(context.layout.workflow(workflow.slug).document(REVIEWED))
    return f"restore the files as they were for the build ({patch} is the work), then {again}"


def _delivered_before(context: Context, workflow: Workflow, work: Built) -> Delivered | None:
    """A delivery that a crash kept out of the journal: its files are in place."""
    folder = context.layout.workflow(workflow.slug).folder
    finish(context, workflow.slug)
    done = folder / _DONE
    if not done.is_file():
        return None
    plan = codec.from_json(done.read_bytes(), DeliveryPlan)
    if plan.patch_sha256 != work.tree.patch_sha256:
        return None
    states = {state_of(move, _digest(context.project / move.path), undoing=False) for move in plan.moves}
    if states != {FileState.AFTER}:
        return None
    delivery = Delivery(how="patch", where=shown(context.project), before=plan.head, patch_sha256=plan.patch_sha256)
    return Delivered(delivery, "it was delivered before")


def finish(context: Context, slug: str) -> bool:
    """Finish a delivery or an undo that a crash interrupted; return whether there was one."""
    folder = context.layout.workflow(slug).folder
    path = folder / _PLAN
    if not path.is_file():
        return False
    plan = codec.from_json(path.read_bytes(), DeliveryPlan)
    _carry_out(context, folder, plan)
    return True


def undo(context: Context, workflow: Workflow, delivery: Delivery) -> str:
    """Undo a delivery, also in the specs; refused, without any change, if its files were changed since."""
    folder = context.layout.workflow(workflow.slug).folder
    finish(context, workflow.slug)
    plan = _undoing(context, folder, workflow, delivery)
    changed = in_the_way(plan, lambda name: _digest(context.project / name))
    if changed:
        raise WorkflowRefused(
            "undo_blocked",
            f"these files were changed after the delivery: {', '.join(changed[:5])}",
            next_command="set your changes to these files aside, then try again",
        )
    branch = _drop_branch(context, delivery) if delivery.how == "branch" else ""
    write_durably(folder / _PLAN, codec.to_json(plan))
    _carry_out(context, folder, plan)
    return "; ".join(part for part in (branch, f"files restored: {len(plan.moves)}") if part)


def _undoing(context: Context, folder: Path, workflow: Workflow, delivery: Delivery) -> DeliveryPlan:
    """The plan of an undo: what was delivered, and what archiving wrote."""
    # After a crash before the journal's line the files are restored already, and the plan is marked as undone.
    done = next((path for path in (folder / _DONE, folder / _UNDONE) if path.is_file()), None)
    moves: tuple[FileMove, ...] = ()
    if delivery.how == "patch" and done is not None:
        moves = codec.from_json(done.read_bytes(), DeliveryPlan).moves
    plan = DeliveryPlan(patch_sha256=delivery.patch_sha256, head=delivery.before, moves=moves, undoing=True)
    at = workflow.at
    if not isinstance(at, Archived):
        return plan
    names = {write.path: os.path.relpath(context.layout.root / write.path, context.project) for write in at.writes}
    specs = tuple(
        FileMove(path=names[write.path], before=write.before, after=write.after)
        for write in at.writes
        # A decision candidate that a person edited stays.
        if write.kind != "candidate" or _digest(context.project / names[write.path]) == write.after
    )
    back = os.path.relpath(context.layout.change(at.change_id), context.layout.root)
    return msgspec.structs.replace(plan, moves=moves + specs, moved=(at.folder, back))


def _why_not_in_place(context: Context, work: Built) -> str | None:
    """Why the patch does not apply to the current files; None if it does."""
    if not work.patch:
        return None
    with tempfile.TemporaryDirectory(prefix="loopwright-deliver-") as scratch:
        looking = git.make_private(Path(scratch) / "git", context.project)
        try:
            looking.run("apply", "--check", *_APPLY, stdin=work.patch)
        except GitFailed as problem:
            return problem.message
    return None


def _in_place(context: Context, workflow: Workflow, work: Built, repository: UserRepository | None) -> Delivered:
    folder = context.layout.workflow(workflow.slug).folder
    plan = _planned(context, folder, work, repository)
    write_durably(folder / _PLAN, codec.to_json(plan))
    _carry_out(context, folder, plan)
    delivery = Delivery(how="patch", where=shown(context.project), before=plan.head, patch_sha256=plan.patch_sha256)
    return Delivered(delivery, f"files changed in your checkout: {len(plan.moves)}; nothing is committed")


def _planned(context: Context, folder: Path, work: Built, repository: UserRepository | None) -> DeliveryPlan:
    """The plan for each file: the patch is applied to copies of the files, which are kept by content."""
    names = _touched(work)
    with tempfile.TemporaryDirectory(prefix="loopwright-deliver-") as scratch:
        copy = Path(scratch) / "files"
        make_folder(copy)
        for name in names:
            source = context.project / name
            if source.is_symlink() or source.is_file():
                make_folder((copy / name).parent)
                shutil.copy(source, copy / name, follow_symlinks=False)
        maker = git.make_private(Path(scratch) / "git", copy)
        if names:
            maker.run("apply", *_APPLY, stdin=work.patch)
        moves = tuple(_move(context.project, copy, name, folder) for name in names)
    head = repository.head.commit if repository is not None and repository.head is not None else ""
    changed = tuple(move for move in moves if move.before != move.after or move.mode != move.was_mode)
    return DeliveryPlan(patch_sha256=work.tree.patch_sha256, head=head, moves=changed)


def _move(project: Path, copy: Path, name: str, folder: Path) -> FileMove:
    before, after = project / name, copy / name
    for path in (before, after):
        data = _content(path)
        if data is not None:
            write_durably(folder / "objects" / sha256(data), data)
    return FileMove(path=name, before=_digest(before), after=_digest(after), mode=_mode(after), was_mode=_mode(before))


def _carry_out(context: Context, folder: Path, plan: DeliveryPlan) -> None:
    """Change every file that is not changed yet, then mark the plan as done."""
    for move in plan.moves:
        target = context.project / move.path
        if state_of(move, _digest(target), undoing=plan.undoing) is not FileState.BEFORE:
            continue
        digest, mode = (move.before, move.was_mode) if plan.undoing else (move.after, move.mode)
        _put(target, digest, mode, folder)
        if plan.undoing and not digest:
            _drop_empty_folders(target.parent, context.project)
    if plan.moved is not None:
        move_folder(context.layout.root / plan.moved[0], context.layout.root / plan.moved[1])
    write_durably(folder / (_UNDONE if plan.undoing else _DONE), codec.to_json(plan))
    (folder / (_DONE if plan.undoing else _UNDONE)).unlink(missing_ok=True)
    (folder / _PLAN).unlink(missing_ok=True)


def _put(target: Path, digest: str, mode: int, folder: Path) -> None:
    if not digest:
        target.unlink(missing_ok=True)
        return
    data = (folder / "objects" / digest.removeprefix("link:")).read_bytes()
    make_folder(target.parent)
    if digest.startswith("link:"):
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        temporary.symlink_to(os.fsdecode(data))
        temporary.replace(target)
        return
    write_durably(target, data, mode=mode)


def _drop_empty_folders(folder: Path, top: Path) -> None:
    """Remove folders that are empty now."""
    while folder != top and top in folder.parents:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _touched(work: Built) -> list[str]:
    """Every path in the patch, including both sides of a rename."""
    if not work.patch:
        return []
    with tempfile.TemporaryDirectory(prefix="loopwright-deliver-") as scratch:
        reader = git.make_private(Path(scratch) / "git", Path(scratch))
        # git names only the resulting side, so ask in both directions. With -z no name is quoted.
        both = [reader.run("apply", "--numstat", "-z", *way, "-", stdin=work.patch) for way in ((), ("-R",))]
    rows = (row for listed in both for row in listed.split(b"\0") if row.count(b"\t") >= 2)
    return sorted({os.fsdecode(row.split(b"\t", 2)[2]) for row in rows})


def _content(path: Path) -> bytes | None:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return path.read_bytes() if path.is_file() else None


def _digest(path: Path) -> str:
    data = _content(path)
    if data is None:
        return ""
    return f"link:{sha256(data)}" if path.is_symlink() else sha256(data)


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.lstat().st_mode) if not path.is_symlink() else 0o644
    except OSError:
        return 0o644


def _branch(workflow: Workflow, work: Built, repository: UserRepository, project: Path) -> Delivered:
    """Create a branch with one commit on the build's base."""
    name = f"loopwright/{workflow.slug}"
    with tempfile.TemporaryDirectory(prefix="loopwright-deliver-") as scratch:
        maker = git.make_private(
            Path(scratch) / "git", Path(scratch) / "tree", object_stores=repository.object_stores,
            object_format=repository.object_format,
        )  # fmt: skip
        make_folder(Path(scratch) / "tree")
        start = work.tree.commit
        maker.run("read-tree", *([start] if start else ["--empty"]))
        # A project may be a folder of its repository. The rest of the repository stays unchanged.
        below = _below(project, repository)
        there = (f"--directory={below}", *_APPLY) if below else _APPLY
        alone = not work.patch or maker.succeeds("apply", "--cached", *there, stdin=work.patch)
        if not alone:
            # The work depends on changes that were not committed when the build began.
            maker.run("apply", "--cached", *_APPLY, stdin=work.since_commit)
        tree = maker.run("write-tree").decode().strip()
        if not alone and below:
            tree = _put_below(maker, start, below, tree)
        parents = ("-p", start) if start else ()
        who = ("user.name=loopwright", "user.email=loopwright@localhost")
        message = f"{workflow.slug}\n\n{workflow.idea}"
        commit = maker.run("commit-tree", tree, *parents, "-m", message, config=who).decode().strip()
        # A crash came before the journal's line: a branch with this work on this base is Loopwright's.
        commit = _published(maker, repository, name, tree, start) or commit
        name = name if git.branch_commit(repository, name) in (None, commit) else _free_branch(repository, name)
        git.publish_branch(repository, maker, commit, name)
    delivery = Delivery(how="branch", where=name, before=commit, patch_sha256=work.tree.patch_sha256)
    rest = (
        ""
        if alone
        else " (with the changes that were not committed when it was built, because the work depends on them)"
    )
    return Delivered(delivery, f"it is on the branch {name}{rest}: git merge {name}")


def _published(
    maker: git.PrivateRepository, repository: UserRepository, name: str, tree: str, start: str | None
) -> str | None:
    there = git.branch_commit(repository, name)
    if there is None:
        return None
    asked = maker.run("log", "-1", "--format=%T %P", there).decode().strip()
    return there if asked == f"{tree} {start or ''}".strip() else None


def _free_branch(repository: UserRepository, name: str) -> str:
    """A free branch name: an existing branch is left alone."""
    names = (f"{name}-{number}" for number in itertools.count(2))
    return next(free for free in names if git.branch_commit(repository, free) is None)


def _below(project: Path, repository: UserRepository) -> str:
    """The project's folder in its repository; empty if the project is the whole repository."""
    place = os.path.relpath(project.resolve(), repository.top.resolve())
    return "" if place == "." else place


def _put_below(maker: git.PrivateRepository, start: str | None, below: str, tree: str) -> str:
    """The commit's tree with a folder replaced by another tree."""
    maker.run("read-tree", *([start] if start else ["--empty"]))
    maker.run("rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", below)
    maker.run("read-tree", f"--prefix={below}/", tree)
    return maker.run("write-tree").decode().strip()


def _drop_branch(context: Context, delivery: Delivery) -> str:
    repository = context.repository()
    if repository is not None and git.branch_commit(repository, delivery.where) is None:
        return f"the branch {delivery.where} was deleted"
    merged = repository is not None and git.is_in_head(repository, delivery.before)
    if repository is None or not git.drop_branch(repository, delivery.where, delivery.before):
        raise WorkflowRefused(
            "undo_blocked",
            f"the branch {delivery.where} differs from what was delivered",
            next_command=f"git branch -D {delivery.where}, by hand",
        )
    if merged:
        # Loopwright commits nothing on the user's branch.
        return (
            f"the branch {delivery.where} was deleted, but you merged it: git revert {delivery.before[:12]} undoes it"
        )
    return f"the branch {delivery.where} was deleted"

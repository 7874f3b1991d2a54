"""Delivers a finished change: into the user's files if they are as they were when it was judged, else as a branch.

The plan for each file is durable before the first file changes, and the next command finishes a delivery that a crash
interrupted. If a person changed a file meanwhile, the other files are restored. A half-applied tree does not stay.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path

import msgspec

from loopwright.errors import GitFailed, WorkflowRefused
from loopwright.kernel import codec, git
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder, shown, write_durably
from loopwright.kernel.git import UserRepository
from loopwright.kernel.process import Cancellation
from loopwright.loop.worker_sandbox import base_sandbox
from loopwright.sandbox.open import changed_since
from loopwright.stages.building.built import Built
from loopwright.stages.context import Context
from loopwright.stages.delivered_files import (
    APPLY,
    OBJECTS,
    PlannedMoves,
    UnfinishedDelivery,
    carry_out,
    digest_of,
    obstacle,
    plan_moves,
)
from loopwright.wording.catalogue import few
from loopwright.workflow.model import Archived, Delivery, Workflow
from loopwright.workflow.reviewing import REVIEWED
from loopwright.workflow.roll_forward import DeliveryPlan, FileMove, FileState, in_the_way, move_folder, state_of

_PLAN = "delivery/plan.json"
_DONE = "delivery/done.json"
_UNDONE = "delivery/undone.json"


class Delivered(msgspec.Struct, frozen=True):
    """A delivery, and a sentence for a person."""

    delivery: Delivery
    sentence: str


def deliver(context: Context, workflow: Workflow, work: Built, *, as_branch: bool) -> Delivered:
    """Deliver as the user wants it, if possible. An empty patch is never delivered."""
    if not work.patch:
        raise WorkflowRefused(
            "delivery_blocked",
            f"no change of {workflow.slug} is left to deliver: all files are as they were before the work",
            next_command=f"loopwright review {workflow.slug}",
        )
    if (already := _delivered_before(context, workflow, work)) is not None:
        return already
    repository = context.repository()
    is_wished = as_branch or context.settings.values.workflow.deliver == "branch"
    why = None if is_wished else _unjudged(context, workflow, work) or _in_place(context, workflow, work, repository)
    if isinstance(why, Delivered):
        return why
    if repository is None:
        raise WorkflowRefused(
            "delivery_blocked",
            f"there is no git repository for a branch{f', and your checkout is unchanged: {why}' if why else ''}",
            next_command=_without_a_branch(context, workflow, why),
        )
    delivered = _branch(context, workflow, work, repository)
    if why is None:
        return delivered
    sentence = f"your checkout is unchanged, because {why}; {delivered.sentence}"
    return Delivered(delivered.delivery, sentence)


def _unjudged(context: Context, workflow: Workflow, work: Built) -> str | None:
    """Why no check has seen the tree that a delivery into the current files would make; None if the checks have."""
    base = base_sandbox(context.sandbox_request(), work.tree, work.progress)
    changed = changed_since(base, f"{workflow.slug}-done", Cancellation())
    if not changed:
        return None
    return f"no check ran on the work with files that changed since the build began ({few(changed)})"


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
    _finish(context, workflow.slug)  # if that stops, the work is delivered again
    done = folder / _DONE
    if not done.is_file():
        return None
    plan = codec.from_json(done.read_bytes(), DeliveryPlan)
    if plan.patch_sha256 != work.tree.patch_sha256:
        return None
    states = {state_of(move, digest_of(context.project, move.path), undoing=False) for move in plan.moves}
    if states != {FileState.AFTER}:
        return None
    delivery = Delivery(how="patch", where=shown(context.project), before=plan.head, patch_sha256=plan.patch_sha256)
    return Delivered(delivery, "it was delivered before")


def finish(context: Context, slug: str) -> None:
    """Finish a delivery or an undo that a crash interrupted; `WorkflowRefused` if a person changed its files since."""
    stopped = _finish(context, slug)
    if stopped is not None:
        raise WorkflowRefused(
            "delivery_blocked",
            f"an interrupted delivery or undo of {slug} can't be finished: {stopped.sentence()}; all other files are "
            "as they were before it",
            next_command=f"loopwright status {slug}",
        )


def _finish(context: Context, slug: str) -> UnfinishedDelivery | None:
    folder = context.layout.workflow(slug).folder
    path = folder / _PLAN
    if not path.is_file():
        return None
    plan = codec.from_json(path.read_bytes(), DeliveryPlan)
    done = folder / (_UNDONE if plan.undoing else _DONE)
    if done.is_file() and done.read_bytes() == path.read_bytes():
        # Everything was done, and a person may work with the files since: only the plan was not removed.
        path.unlink()
        return None
    return _carry_out(context, slug, plan)


def undo(context: Context, workflow: Workflow, delivery: Delivery) -> str:
    """Undo a delivery, also in the specs; refused, without any change, if its files were changed since."""
    folder = context.layout.workflow(workflow.slug).folder
    finish(context, workflow.slug)
    plan = _undoing(context, folder, workflow, delivery)
    changed = list(in_the_way(plan, lambda name: digest_of(context.project, name)))
    if not changed and (left := obstacle(context.project, plan.moves, undoing=True)) is not None:
        changed.append(shown(left))
    if changed:
        raise WorkflowRefused(
            "undo_blocked",
            f"these files were changed after the delivery: {', '.join(changed[:5])}",
            next_command="set your changes to these files aside, then try again",
        )
    branch = _drop_branch(context, delivery) if delivery.how == "branch" else ""
    write_durably(folder / _PLAN, codec.to_json(plan))
    if (stopped := _carry_out(context, workflow.slug, plan)) is not None:
        raise WorkflowRefused(
            "undo_blocked",
            f"nothing was undone: {stopped.sentence()}",
            next_command="set your changes to these files aside, then try again",
        )
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
        if write.kind != "candidate" or digest_of(context.project, names[write.path]) == write.after
    )
    back = os.path.relpath(context.layout.change(at.change_id), context.layout.root)
    return msgspec.structs.replace(plan, moves=moves + specs, moved=(at.folder, back))


def _planned(context: Context, work: Built) -> PlannedMoves | str:
    """The plan for each file, or why the work does not apply to the current files."""
    try:
        planned = plan_moves(context.project, work.patch)
    except GitFailed as problem:
        return problem.message
    left = obstacle(context.project, planned.moves)
    return planned if left is None else f"{shown(left)} is in the way"


def _in_place(context: Context, workflow: Workflow, work: Built, repository: UserRepository | None) -> Delivered | str:
    """Change the user's files; a sentence if the work does not apply to them."""
    planned = _planned(context, work)
    if isinstance(planned, str):
        return planned
    folder = context.layout.workflow(workflow.slug).folder
    for data in planned.contents:
        write_durably(folder / OBJECTS / sha256(data), data)
    head = repository.head.commit if repository is not None and repository.head is not None else ""
    plan = DeliveryPlan(patch_sha256=work.tree.patch_sha256, head=head, moves=planned.moves)
    (folder / _DONE).unlink(missing_ok=True)
    write_durably(folder / _PLAN, codec.to_json(plan))
    if (stopped := _carry_out(context, workflow.slug, plan)) is not None:
        return stopped.sentence()
    delivery = Delivery(how="patch", where=shown(context.project), before=plan.head, patch_sha256=plan.patch_sha256)
    return Delivered(delivery, f"files changed in your checkout: {len(plan.moves)}; nothing is committed")


def _carry_out(context: Context, slug: str, plan: DeliveryPlan) -> UnfinishedDelivery | None:
    """Change every file that is not changed yet, then mark the plan as done.

    If a person changed a file meanwhile, nothing is changed and the plan is dropped. It stays if a file could not be
    restored either: `WorkflowRefused`, and the next command tries again.
    """
    folder = context.layout.workflow(slug).folder
    stopped = carry_out(context.project, folder / OBJECTS, plan)
    if stopped is not None and stopped.not_restored:
        raise WorkflowRefused(
            "delivery_blocked",
            f"a delivery or an undo of {slug} is incomplete: {stopped.sentence()}; all contents are in "
            f"{shown(folder / OBJECTS)}",
            next_command=f"set your changes to these files aside, then loopwright status {slug}",
        )
    if stopped is None:
        if plan.moved is not None:
            move_folder(context.layout.root / plan.moved[0], context.layout.root / plan.moved[1])
        write_durably(folder / (_UNDONE if plan.undoing else _DONE), codec.to_json(plan))
        (folder / (_DONE if plan.undoing else _UNDONE)).unlink(missing_ok=True)
    (folder / _PLAN).unlink(missing_ok=True)
    return stopped


def _branch(context: Context, workflow: Workflow, work: Built, repository: UserRepository) -> Delivered:
    """Create a branch with one commit on the build's base: exactly the tree that was judged."""
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
        below = _below(context.project, repository)
        there = (f"--directory={below}", *APPLY) if below else APPLY
        alone = maker.succeeds("apply", "--cached", *there, stdin=work.patch)
        tree = maker.run("write-tree").decode().strip()
        if not alone or work.patch != work.since_commit:
            # The work was judged with changes that were not committed when the build began.
            judged = _judged_tree(maker, work, below, context.layout.state_folders())
            alone, tree = alone and tree == judged, judged
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
        else " (with the changes that were not committed when it was built, because it was judged with them)"
    )
    return Delivered(delivery, f"the work is on the branch {name}{rest}: git merge {name}")


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


def _judged_tree(maker: git.PrivateRepository, work: Built, below: str, own: tuple[str, ...]) -> str:
    """The commit's tree with the project's files replaced by those that were judged; Loopwright's own files stay."""
    start = [work.tree.commit] if work.tree.commit else ["--empty"]
    maker.run("read-tree", *start)
    keep = () if below else (f"--exclude={folder}/*" for folder in own)
    maker.run("apply", "--cached", *keep, *APPLY, stdin=work.since_commit)
    tree = maker.run("write-tree").decode().strip()
    if not below:
        return tree
    maker.run("read-tree", *start)
    kept = (f":(exclude){below}/{folder}" for folder in own)
    maker.run("rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", below, *kept)
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

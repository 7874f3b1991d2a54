"""`loopwright build`: a loop builds the slices of the plan that was approved; what it left is audited and recorded."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.errors import WorkflowRefused
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.kernel.process import Cancellation
from loopwright.loop.desk import Ask
from loopwright.loop.marks import FIX
from loopwright.loop.model import DESLOP, LOOK, Completed, Created, Failed, Held, Holder, Loop
from loopwright.verbs.context import Context
from loopwright.verbs.loop import control
from loopwright.verbs.loop.answer import answer as answer_loop
from loopwright.verbs.loop.control import actor
from loopwright.verbs.loop.look import has_worker
from loopwright.verbs.loop.start import start
from loopwright.verbs.loop.tasks import TaskWish, add_task
from loopwright.verbs.person import require_person
from loopwright.verbs.workflow.craft import SliceCraft
from loopwright.verbs.workflow.document_language import documents_of
from loopwright.verbs.workflow.lanes import Lanes
from loopwright.verbs.workflow.names import slug_of, store_of
from loopwright.verbs.workflow.on_base import Tell, control_on_base
from loopwright.workflow import audit, ledger, manifest
from loopwright.workflow import commands as c
from loopwright.workflow.documents import record
from loopwright.workflow.facts import Facts
from loopwright.workflow.gather import LEDGER, MANIFEST, SPEC
from loopwright.workflow.model import Approved, Building, Decision, Key, Planning, Reviewing, Transition, Workflow
from loopwright.workflow.package import PLAN_DOCUMENTS, SLICES, prd_of, test_spec_of
from loopwright.workflow.project_tests import sentence
from loopwright.workflow.slices import Slices
from loopwright.workflow.store import Opened
from loopwright.workflow.verification import Verification

_PASS = {"lean": 3, "full": 6}
# What a build can mend by going on; a signature or an answer it can't give.
_BY_BUILDING = ("lane_incomplete_", "verification_", "tests_broken_", "completion_audit_")


class BuildWish(msgspec.Struct, frozen=True, kw_only=True):
    """How it is to be built."""

    agent: str
    max_iterations: int = 10
    deslop: bool = True
    # Whether these are more passes, for a loop that used up its own, or all that it may ever take.
    gives_more: bool = True


def slug_from(name: str) -> str:
    """A workflow by its name, or by its PRD's file name."""
    stem = Path(name).name
    return slug_of(stem.removeprefix("prd-").removesuffix(".md")) if stem.endswith(".md") else slug_of(name)


def prepare_build(context: Context, name: str, wish: BuildWish, tell: Tell, cancellation: Cancellation) -> str:
    """Enter the stage where that is still to be done, and make the loop that builds; its id."""
    # What is wrong with a text, or with an agent's name, comes to light before anything is entered.
    context.prompts()
    context.require_agents()
    slug = slug_from(name)
    base = _controlled(context, slug, tell, cancellation)
    with store_of(context).changing(slug) as opened:
        _enter(opened, base)
        workflow, facts = opened.workflow, opened.facts()
        opened.write({MANIFEST: _manifest(context, workflow)}, "tool")
        blocked = (one.code for one in opened.standing().readiness.review)
        unfinished = tuple(code for code in blocked if code.startswith(_BY_BUILDING))
    if isinstance(workflow.at, Building) and workflow.at.loop_id is not None:
        loop_id = workflow.at.loop_id
        _tell_answers(context, workflow, loop_id)
        _going_on(context, workflow, loop_id, wish, unfinished)
    elif workflow.confirmed is Transition.REVIEW_BUILD and workflow.loops:
        loop_id = _rework(context, workflow, wish)
    else:
        loop_id = _new_loop(context, workflow, facts, wish)
    with store_of(context).changing(slug) as opened:
        opened.apply(c.DriveBuild(loop_id=loop_id, deslop=wish.deslop), actor())
    return loop_id


def drive(context: Context, loop_id: str, cancellation: Cancellation, *, ask: Ask | None = None) -> Loop:
    """Drive any loop; one that builds a workflow by that workflow's craft, and with its record at the end."""
    found = control.store_of(context).load(loop_id)
    slug = found.workflow
    if slug is None:
        return start(context, loop_id, cancellation, ask=ask)
    if isinstance(found.phase, Completed):
        # We died, or were stopped, between the loop's end and its record.
        settle(context, slug, loop_id)
        return found
    try:
        return start(context, loop_id, cancellation, ask=ask, craft=SliceCraft(context, slug, cancellation))
    finally:
        settle(context, slug, loop_id)


def settle(context: Context, slug: str, loop_id: str) -> Workflow:
    """Write down what the build came to so far, and ask for the review where nothing blocks it."""
    loop = control.store_of(context).load(loop_id)
    with store_of(context).changing(slug) as opened:
        if not isinstance(opened.workflow.at, Building):
            return opened.workflow
        _take_decisions(opened, loop)
        facts = opened.facts()
        if opened.workflow.verification is not None and isinstance(facts.slices, Slices):
            opened.write(_documents(context, opened, facts, facts.slices, loop), "tool")
        opened.apply(c.RequestApproval(transition=Transition.BUILD_REVIEW, standing=opened.standing()), "tool")
        return opened.workflow


def _controlled(context: Context, slug: str, tell: Tell, cancellation: Cancellation) -> str:
    """The base may have moved since the plan was approved: what a check said of another one vouches for nothing."""
    with store_of(context).changing(slug) as opened:
        is_consented = isinstance(opened.workflow.approval(Key.BUILD), Approved)
        is_planned = isinstance(opened.workflow.at, Planning)
    return control_on_base(context, slug, tell, cancellation) if is_planned and is_consented else ""


def _enter(opened: Opened, base_tree: str) -> None:
    match opened.workflow.at:
        case Building():
            return
        case Planning():
            standing = opened.standing(base_tree=base_tree)
            if "plan_package_missing" in {one.code for one in standing.readiness.build}:
                raise WorkflowRefused(
                    "build_requires_workflow_plan_artifacts",
                    f"{opened.workflow.slug} has no plan yet",
                    next_command=f"loopwright plan {opened.workflow.slug}",
                    blockers=tuple((one.code, one.message, one.next) for one in standing.readiness.build),
                )
            opened.apply(c.Enter(transition=Transition.PLAN_BUILD, standing=standing), "tool")
        case Reviewing():
            opened.apply(c.Enter(transition=Transition.REVIEW_BUILD, standing=opened.standing()), "tool")
        case _:
            raise WorkflowRefused(
                "build_requires_approved_plan_artifacts",
                f"{opened.workflow.slug} is at {opened.workflow.stage.value}: there is no approved plan to build",
                next_command=f"loopwright status {opened.workflow.slug}",
            )


def _new_loop(context: Context, workflow: Workflow, facts: Facts, wish: BuildWish) -> str:
    slices = facts.slices.slices if isinstance(facts.slices, Slices) else ()
    wanted = control.Wish(
        title=f"build {workflow.slug}",
        description=workflow.idea,
        # Each pass is develop, validate and what mends; the slices come first.
        max_iterations=len(slices) + _passes(context, wish),
        agent=wish.agent,
        tags=("build", workflow.slug),
        tasks=tuple(f"{one.title}: {one.behavior}" for one in slices),
        task_ids=tuple(one.id for one in slices),
        workflow=workflow.slug,
    )
    return control.new_loop(context, wanted).loop_id


def _passes(context: Context, wish: BuildWish) -> int:
    return _PASS[context.settings.values.workflow.profile] * wish.max_iterations


def _going_on(context: Context, workflow: Workflow, loop_id: str, wish: BuildWish, unfinished: tuple[str, ...]) -> None:
    """A loop that is over goes on where building can still mend something."""
    loop = control.store_of(context).load(loop_id)
    if has_worker(context, loop_id):
        return
    if isinstance(loop.phase, Held) and any(hold.holder is not Holder.DECISION for hold in loop.phase.holds):
        control.resume(context, loop_id)  # whoever types `build` wants it to go on
        return
    if not unfinished or not isinstance(loop.phase, Completed | Failed):
        return
    if isinstance(loop.phase, Completed):
        if all(code.startswith("lane_incomplete_") for code in unfinished):
            Lanes(context, workflow.slug).take_up(loop)
            return
        # Its tasks are done, and the plan that was approved since asks for more.
        add_task(context, loop_id, TaskWish(description="What the plan asks for now", tool=wish.agent))
    slices = sum(not task.id.startswith((FIX, LOOK, DESLOP)) for task in loop.tasks)
    start = loop.iteration + 1 if wish.gives_more else slices
    control.retry(context, loop_id, max_iterations=start + _passes(context, wish))


def _rework(context: Context, workflow: Workflow, wish: BuildWish) -> str:
    """The loop that built it goes on from what it has, with what the review asks for as a task."""
    loop_id = workflow.loops[-1]
    before = control.store_of(context).load(loop_id)
    more = before.iteration + 1 + _passes(context, wish)
    if not isinstance(before.phase, Completed | Failed):
        return loop_id
    asked = workflow.review.rationale if workflow.review is not None else "what the review asks for"
    add_task(context, loop_id, TaskWish(description=f"The review asks: {asked}", tool=wish.agent))
    control.retry(context, loop_id, max_iterations=more)
    return loop_id


def prepare_from_review(context: Context, report: Path, wish: BuildWish, tell: Tell, cancellation: Cancellation) -> str:
    """A person who types it consents to the way back; the report must be the one that asked for it."""
    require_person(context.environment, "build --from-review")
    if not report.is_file():
        raise WorkflowRefused(
            "build_from_review_artifact_missing",
            f"there is no report {shown(report)}",
            next_command="loopwright status SLUG names it",
        )
    slug = slug_of(report.resolve().parent.name)
    with store_of(context).changing(slug) as opened:
        standing = opened.standing()
        rationale = opened.workflow.review.rationale if opened.workflow.review is not None else ""
        command = c.Approve(
            transition=Transition.REVIEW_BUILD, standing=standing, by=actor(), rationale=rationale,
            seals=opened.facts().judges,
        )  # fmt: skip
        opened.apply(command, actor())
    return prepare_build(context, slug, wish, tell, cancellation)


def _take_decisions(opened: Opened, loop: Loop) -> None:
    """What an agent asked in the loop is asked in the workflow, and what was answered there is answered here."""
    for one in loop.decisions:
        asked = Decision(id=one.id, question=one.question, options=one.options)
        opened.apply(c.AskDecision(decision=asked), "agent")
        here = next((known for known in opened.workflow.decisions if known.id == one.id), None)
        if here is not None and here.answer is None and one.answer is not None:
            opened.apply(c.AnswerDecision(id=one.id, answer=one.answer, by=one.answered_by or "a person"), "tool")


def _tell_answers(context: Context, workflow: Workflow, loop_id: str) -> None:
    """Who answered and died before the loop heard of it has answered: the loop hears of it now."""
    open_there = {one.id for one in control.store_of(context).load(loop_id).decisions if one.answer is None}
    for one in workflow.decisions:
        if one.answer and one.id in open_there:
            answer_loop(context, loop_id, one.id, one.answer)


def _manifest(context: Context, workflow: Workflow) -> bytes:
    """What the builder should read."""
    paths = context.layout.workflow(workflow.slug, workflow.change)
    root = context.layout.root
    wanted = (
        (SPEC, "spec", "what is wanted", 1, True),
        (prd_of(workflow.slug), "prd", "what is to be built", 1, True),
        (test_spec_of(workflow.slug), "test-spec", "how it is judged", 2, True),
        (SLICES, "slices", "the slices and their checks", 2, True),
        (PLAN_DOCUMENTS["plan"], "plan", "the approach", 3, True),
        (PLAN_DOCUMENTS["architecture"], "architecture", "the parts", 4, False),
    )
    rows = [
        manifest.Row(
            stage="build", kind=kind, path=str(paths.document(name).relative_to(root)), reason=reason,
            priority=priority, required=required,
        )
        for name, kind, reason, priority, required in wanted
    ]  # fmt: skip
    notes = sorted(context.layout.context_notes.glob("*.md")) if context.layout.context_notes.is_dir() else []
    rows += [
        manifest.Row(
            stage="build", kind="context", path=str(note.relative_to(root)), reason="notes on the project", priority=5
        )
        for note in notes
    ]
    return manifest.render(manifest.merged(rows, lambda path: (root / path).exists()))


def _documents(context: Context, opened: Opened, facts: Facts, slices: Slices, loop: Loop) -> dict[str, bytes]:
    workflow = opened.workflow
    requirements = {domain: one.requirements for domain, one in facts.deltas.items()}
    found = audit.audited(workflow, slices, requirements)
    return {
        "build-support/completion-audit.json": audit.render(found),
        LEDGER: ledger.render(facts.ledger),
        record.NAME: _record(context, workflow, loop, facts, is_through=_is_through(opened, loop)),
    }


def _is_through(opened: Opened, loop: Loop) -> bool:
    """Whether the build came to its end: by its loop, or by a person who signed for what kept the loop from ending."""
    blocked = (one.code for one in opened.standing().readiness.review)
    return isinstance(loop.phase, Completed) or all(code.startswith("execution_record_") for code in blocked)


def _record(context: Context, workflow: Workflow, loop: Loop, facts: Facts, *, is_through: bool) -> bytes:
    verified = workflow.verification
    runs = verified.run_ids if verified is not None else ()
    plan = workflow.at.plan if isinstance(workflow.at, Building) else ""
    values = {
        "schema_version": "1",
        "workflow_id": workflow.slug,
        "run_id": loop.validation.run_id or (runs[-1] if runs else ""),
        "stage": "build",
        "actor_id": record.actors_in(loop.agent, *loop.builders),
        "actor_role": "builder",
        "plan_digest": plan,
        "started_at": loop.created_at,
        "completed_at": stamp(context.clock()) if is_through else "",
        "checkpoint_count": str(len(loop.completed_actions)),
        "evidence_manifest": ", ".join(runs) or (loop.validation.run_id or ""),
    }
    checks = verified.checks if verified is not None else {}
    sections = {
        "Changes": "\n".join(f"- {path}" for path in (verified.files if verified is not None else ())),
        "Checkpoint Log": "\n".join(f"- {task.id} {task.status}: {task.description[:200]}" for task in loop.tasks),
        "Execution Evidence": f"loop {loop.loop_id}, tree {verified.tree if verified is not None else 'none'}",
        "Verification Evidence": "\n".join(
            f"- {name}: run {run.run_id}, exit {run.exit_code}, tree {run.tree[:12]}" for name, run in checks.items()
        ),
        "Limitations": _limitations(loop, verified, facts),
    }
    return record.write_record(workflow.slug, values, sections, documents_of(context))


def _limitations(loop: Loop, verified: Verification | None, facts: Facts) -> str:
    """What keeps the build from being whole, and what checks the rest of the project."""
    rest = sentence(verified, has_command=facts.gates.has_test_command) if verified is not None else ""
    return f"{_unfinished(loop)}\n\n{rest}".strip()


def _unfinished(loop: Loop) -> str:
    match loop.phase:
        case Held(holds=holds):
            return "; ".join(hold.message for hold in holds)
        case Failed(reason=reason):
            return reason
        case Created():
            return "not begun"
        case _:
            return "none known to the tool"

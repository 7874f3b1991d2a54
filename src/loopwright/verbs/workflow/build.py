"""`loopwright build`: a loop builds the slices of the plan that was approved; what it left is audited and recorded."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.errors import WorkflowRefused
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.kernel.process import Cancellation
from loopwright.loop.desk import Ask
from loopwright.loop.model import Completed, Created, Failed, Held, Holder, Loop
from loopwright.verbs.context import Context
from loopwright.verbs.loop import control
from loopwright.verbs.loop.control import actor
from loopwright.verbs.loop.start import start
from loopwright.verbs.loop.tasks import TaskWish, add_task
from loopwright.verbs.person import require_person
from loopwright.verbs.workflow.craft import SliceCraft
from loopwright.verbs.workflow.document_language import documents_of
from loopwright.verbs.workflow.names import slug_of, store_of
from loopwright.workflow import audit, ledger, manifest
from loopwright.workflow import commands as c
from loopwright.workflow.documents import record
from loopwright.workflow.facts import Facts
from loopwright.workflow.gather import LEDGER, MANIFEST, SPEC
from loopwright.workflow.model import Building, Decision, Planning, Reviewing, Transition, Workflow
from loopwright.workflow.package import PLAN_DOCUMENTS, SLICES, prd_of, test_spec_of
from loopwright.workflow.slices import Slices
from loopwright.workflow.store import Opened

_PASS = 3
# What a build can mend by going on; a signature or an answer it can't give.
_BY_BUILDING = ("lane_incomplete_", "verification_", "completion_audit_")


class BuildWish(msgspec.Struct, frozen=True, kw_only=True):
    """How it is to be built."""

    agent: str
    max_iterations: int = 10


def slug_from(name: str) -> str:
    """A workflow by its name, or by its PRD's file name."""
    stem = Path(name).name
    return slug_of(stem.removeprefix("prd-").removesuffix(".md")) if stem.endswith(".md") else slug_of(name)


def prepare_build(context: Context, name: str, wish: BuildWish) -> str:
    """Enter the stage where that is still to be done, and make the loop that builds; its id."""
    slug = slug_from(name)
    with store_of(context).changing(slug) as opened:
        _enter(opened)
        workflow, facts = opened.workflow, opened.facts()
        opened.write({MANIFEST: _manifest(context, workflow)}, "tool")
        unfinished = any(one.code.startswith(_BY_BUILDING) for one in opened.standing().readiness.review)
    if isinstance(workflow.at, Building) and workflow.at.loop_id is not None:
        return _going_on(context, workflow.at.loop_id, wish, unfinished=unfinished)
    if workflow.confirmed is Transition.REVIEW_BUILD and workflow.loops:
        loop_id = _rework(context, workflow, wish)
    else:
        loop_id = _new_loop(context, workflow, facts, wish)
    with store_of(context).changing(slug) as opened:
        opened.apply(c.DriveBuild(loop_id=loop_id), actor())
    return loop_id


def drive(context: Context, loop_id: str, cancellation: Cancellation, *, ask: Ask | None = None) -> Loop:
    """Drive any loop; one that builds a workflow by that workflow's craft, and with its record at the end."""
    slug = control.store_of(context).load(loop_id).workflow
    if slug is None:
        return start(context, loop_id, cancellation, ask=ask)
    if isinstance(control.store_of(context).load(loop_id).phase, Completed):
        # We died, or were stopped, between the loop's end and its record.
        settle(context, slug, loop_id)
        return control.store_of(context).load(loop_id)
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


def _enter(opened: Opened) -> None:
    match opened.workflow.at:
        case Building():
            return
        case Planning():
            standing = opened.standing()
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
        max_iterations=len(slices) + _PASS * wish.max_iterations,
        agent=wish.agent,
        tags=("build", workflow.slug),
        tasks=tuple(f"{one.title}: {one.behavior}" for one in slices),
        task_ids=tuple(one.id for one in slices),
        workflow=workflow.slug,
    )
    return control.new_loop(context, wanted).loop_id


def _going_on(context: Context, loop_id: str, wish: BuildWish, *, unfinished: bool) -> str:
    """A loop that is over goes on where building can still mend something."""
    loop = control.store_of(context).load(loop_id)
    if isinstance(loop.phase, Held) and any(hold.holder is not Holder.DECISION for hold in loop.phase.holds):
        control.resume(context, loop_id)  # whoever types `build` wants it to go on
        return loop_id
    if not unfinished or not isinstance(loop.phase, Completed | Failed):
        return loop_id
    if isinstance(loop.phase, Completed):
        # Its tasks are done, and the plan that was approved since asks for more.
        add_task(context, loop_id, TaskWish(description="What the plan asks for now", tool=wish.agent))
    control.retry(context, loop_id, max_iterations=loop.iteration + 1 + _PASS * wish.max_iterations)
    return loop_id


def _rework(context: Context, workflow: Workflow, wish: BuildWish) -> str:
    """The loop that built it goes on from what it has, with what the review asks for as a task."""
    loop_id = workflow.loops[-1]
    before = control.store_of(context).load(loop_id)
    more = before.iteration + 1 + _PASS * wish.max_iterations
    if not isinstance(before.phase, Completed | Failed):
        return loop_id
    asked = workflow.review.rationale if workflow.review is not None else "what the review asks for"
    add_task(context, loop_id, TaskWish(description=f"The review asks: {asked}", tool=wish.agent))
    control.retry(context, loop_id, max_iterations=more)
    return loop_id


def prepare_from_review(context: Context, report: Path, wish: BuildWish) -> str:
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
    return prepare_build(context, slug, wish)


def _take_decisions(opened: Opened, loop: Loop) -> None:
    """What an agent asked in the loop is asked in the workflow, and what was answered there is answered here."""
    for one in loop.decisions:
        asked = Decision(id=one.id, question=one.question, options=one.options)
        opened.apply(c.AskDecision(decision=asked), "agent")
        here = next((known for known in opened.workflow.decisions if known.id == one.id), None)
        if here is not None and here.answer is None and one.answer is not None:
            opened.apply(c.AnswerDecision(id=one.id, answer=one.answer, by=one.answered_by or "a person"), "tool")


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
        f"build-support/iteration-{workflow.verification.iteration if workflow.verification else 0}.md": _lane_notes(
            workflow
        ),
        record.NAME: _record(context, workflow, loop),
    }


def _lane_notes(workflow: Workflow) -> bytes:
    lines = [f"- {lane}: {status}" for lane, status in workflow.lanes.items()]
    return ("# Lanes of this iteration\n\n" + "\n".join(lines) + "\n").encode()


def _record(context: Context, workflow: Workflow, loop: Loop) -> bytes:
    verified = workflow.verification
    runs = sorted({run.run_id for run in verified.checks.values()}) if verified is not None else []
    plan = workflow.at.plan if isinstance(workflow.at, Building) else ""
    values = {
        "schema_version": "1",
        "workflow_id": workflow.slug,
        "run_id": loop.validation.run_id or (runs[-1] if runs else ""),
        "stage": "build",
        "actor_id": loop.agent or "nobody",
        "actor_role": "builder",
        "plan_digest": plan,
        "started_at": loop.created_at,
        "completed_at": stamp(context.clock()) if isinstance(loop.phase, Completed) else "",
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
        "Limitations": _limitations(loop),
    }
    return record.write_record(workflow.slug, values, sections, documents_of(context))


def _limitations(loop: Loop) -> str:
    match loop.phase:
        case Held(holds=holds):
            return "; ".join(hold.message for hold in holds)
        case Failed(reason=reason):
            return reason
        case Created():
            return "not begun"
        case _:
            return "none known to the tool"

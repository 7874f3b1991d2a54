"""Begins or continues the build of an approved plan: a loop builds the slices, and its result is recorded."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Role
from loopwright.errors import WorkflowRefused
from loopwright.kernel.files import shown
from loopwright.kernel.process import Cancellation
from loopwright.loop import commands as c_loop
from loopwright.loop import events as loop_events
from loopwright.loop.model import Budget, Completed, Failed, Held, Holder, TaskKind
from loopwright.loop.store import OpenedLoop
from loopwright.loop.taking_over import open_tasks_for
from loopwright.stages.agent_choice import require_agent
from loopwright.stages.building.controls import control_on_base
from loopwright.stages.building.lanes import BuildLanes
from loopwright.stages.building.sent_back import sent_back
from loopwright.stages.context import Context, Tell, ignore_progress, loops_of, workflows_of
from loopwright.stages.loop_control import (
    NO_LIMITS,
    LoopRequest,
    answer_decision,
    create_loop,
    has_worker,
    lift_holds,
    pending_task,
)
from loopwright.stages.loop_texts import checked_text, required_text
from loopwright.stages.names import slug_from, slug_of
from loopwright.stages.person import actor, require_person
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow import manifest
from loopwright.workflow.blockers import Family
from loopwright.workflow.facts import Facts
from loopwright.workflow.gather import MANIFEST, SPEC
from loopwright.workflow.model import Approved, Building, Key, Planning, Rejected, Reviewing, Transition, Workflow
from loopwright.workflow.package import PLAN_DOCUMENTS, SLICES, prd_of, test_spec_of
from loopwright.workflow.store import Opened

_PASS = {"lean": 3, "full": 6}
# Blockers that more building can remove. A signature or an answer has to come from a person.
# Blockers that another judgement of the same work may remove.
_BY_JUDGING = frozenset({Family.TESTS_UNREAD, Family.BASE_NOT_JUDGED, Family.JUDGING_RULES_CHANGED})
_BY_BUILDING = {
    Family.LANE_INCOMPLETE, Family.VERIFICATION, Family.TESTS_BROKEN, Family.COMPLETION_AUDIT_BLOCKED,
    Family.COMPLETION_AUDIT_MISSING_EVIDENCE, Family.COMPLETION_AUDIT_NOT_RUN, Family.APPROVAL_REJECTED,
}  # fmt: skip


class BuildRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a build."""

    # Empty: the agent of the loop that already builds, else the default agent of the settings.
    agent: str = ""
    max_iterations: int = 10
    deslop: bool = True
    # Whether a person typed the command: the iterations are added to those that are used up, and work that waits for
    # the decision of a person goes back to the agent. An autopilot gives a total, and decides nothing.
    by_person: bool = True
    # The limits of a new loop; those of a loop that goes on are raised to these.
    budget: Budget = NO_LIMITS


def begin_build(
    context: Context,
    name: str,
    request: BuildRequest,
    tell: Tell = ignore_progress,
    cancellation: Cancellation | None = None,
) -> str:
    """Start the build of an approved plan, or continue it; returns the id of its loop, for `drive`.

    `name` is the name of the workflow, or the path of its PRD.
    """
    slug = slug_from(name)
    builder = _builder(context, slug, request)
    # Invalid prompts and agent names are reported before the stage is entered.
    context.prompts()
    context.require_agents()
    base = _controlled(context, slug, tell, cancellation or Cancellation())
    with workflows_of(context).changing(slug) as opened:
        _enter(opened, base)
        workflow, facts = opened.workflow, opened.facts()
        opened.write({MANIFEST: _manifest(context, workflow)}, "tool")
        standing = opened.standing()
        blockers = (*standing.readiness.review, *standing.for_a_person.review)
        families = {blocker.family for blocker in blockers}
        unfinished = families & _BY_BUILDING
        opened.make_durable()  # the loop depends on it
        if isinstance(workflow.at, Building) and workflow.at.loop_id is not None:
            loop_id = workflow.at.loop_id
            _copy_answers(context, workflow, loop_id)
            task = sent_back(blockers) if request.by_person else ""
            _going_on(context, workflow, loop_id, request, unfinished, task, tell)
            if not unfinished and not task and families & _BY_JUDGING:
                _judge_again(context, loop_id, request, tell)
        elif workflow.confirmed is Transition.REVIEW_BUILD and workflow.loops:
            loop_id = _rework(context, workflow, request, tell)
        else:
            loop_id = _new_loop(context, workflow, facts, replace(request, agent=builder))
        opened.apply(e.BuildDriven(loop_id=loop_id, deslop=request.deslop), actor())
    return loop_id


def _builder(context: Context, slug: str, request: BuildRequest) -> str:
    """The agent that builds: the named agent, else the agent of the loop, else the default; an unknown is refused."""
    workflow = workflows_of(context).snapshot(slug).workflow
    goes_on = isinstance(workflow.at, Building | Reviewing) and workflow.loops
    named = request.agent or (loops_of(context).load(workflow.loops[-1]).agent if goes_on else "")
    agent = require_agent(context, Role.BUILDER, named, command=f"loopwright build {slug}")
    context.open_agent(agent)
    return agent


def _take_over(context: Context, opened: OpenedLoop, named: str, tell: Tell) -> None:
    """Give the open tasks to the agent that a person named. The tasks of a loop may have agents of their own."""
    if not named:
        return
    agent = checked_text(context, "the agent", named)
    if agent == opened.loop.agent and not open_tasks_for(opened.loop, agent):
        return
    require_person(context.environment, "build --agent")
    tell(f"{agent} takes over the build")
    opened.apply(loop_events.AgentSet(agent=agent), actor())


def _controlled(context: Context, slug: str, tell: Tell, cancellation: Cancellation) -> str:
    """The base may have moved since the plan was approved: what a check said of another base proves nothing."""
    snapshot = workflows_of(context).snapshot(slug)
    workflow = snapshot.workflow
    if not isinstance(workflow.at, Planning) or not isinstance(workflow.approval(Key.BUILD), Approved):
        return ""
    return control_on_base(context, snapshot, tell, cancellation)


def _enter(opened: Opened, base_tree: str) -> None:
    match opened.workflow.at:
        case Building():
            return
        case Planning():
            standing = opened.standing(base_tree=base_tree)
            blockers = standing.readiness.build
            if "plan_package_missing" in {blocker.code for blocker in blockers}:
                raise WorkflowRefused(
                    "build_requires_workflow_plan_artifacts",
                    f"{opened.workflow.slug} has no plan yet",
                    next_command=f"loopwright plan {opened.workflow.slug}",
                    blockers=tuple((blocker.code, blocker.message, blocker.next) for blocker in blockers),
                )
            opened.apply(c.Enter(transition=Transition.PLAN_BUILD, standing=standing), "tool")
        case Reviewing():
            opened.apply(c.Enter(transition=Transition.REVIEW_BUILD, standing=opened.standing()), "tool")
        case _:
            raise WorkflowRefused.see_status(
                opened.workflow.slug,
                "build_requires_approved_plan_artifacts",
                f"{opened.workflow.slug} is at {opened.workflow.stage.value}: there is no approved plan to build",
            )


def _new_loop(context: Context, workflow: Workflow, facts: Facts, build: BuildRequest) -> str:
    slices = facts.readable_slices.slices
    request = LoopRequest(
        title=f"build {workflow.slug}",
        description=workflow.idea,
        # A pass is develop, validate and a fix; the slices come first.
        max_iterations=len(slices) + _passes(context, build),
        agent=build.agent,
        budget=build.budget,
        tags=("build", workflow.slug),
        tasks=tuple(f"{piece.title}: {piece.behavior}" for piece in slices),
        task_ids=tuple(piece.id for piece in slices),
        workflow=workflow.slug,
    )
    return create_loop(context, request).loop_id


def _passes(context: Context, request: BuildRequest) -> int:
    return _PASS[context.settings.values.workflow.profile] * request.max_iterations


def _going_on(
    context: Context,
    workflow: Workflow,
    loop_id: str,
    request: BuildRequest,
    unfinished: set[Family | None],
    sent_back_for: str,
    tell: Tell,
) -> None:
    """Continue a loop that has ended, if more building can remove a blocker, or a person sends the work back."""
    if has_worker(context, loop_id):
        return
    with loops_of(context).changing(loop_id) as opened:
        loop = opened.loop
        if not isinstance(loop.phase, Completed | Failed):
            _take_over(context, opened, request.agent, tell)
    if isinstance(loop.phase, Held) and any(hold.holder is not Holder.DECISION for hold in loop.phase.holds):
        lift_holds(context, loop_id, budget=request.budget)  # a person who types `build` wants the loop to continue
        return
    if not (unfinished or sent_back_for) or not isinstance(loop.phase, Completed | Failed):
        return
    if isinstance(loop.phase, Completed) and unfinished == {Family.LANE_INCOMPLETE}:
        with loops_of(context).changing(loop_id) as opened:
            _take_over(context, opened, request.agent, tell)
            loop = opened.loop
        BuildLanes(context, workflow.slug).take_up(workflow, loop)
        return
    slices = sum(task.kind is TaskKind.WORK for task in loop.tasks)
    start = loop.iteration + 1 if request.by_person else slices
    # The tasks of a completed loop are done; the plan that was approved since asks for more.
    task = (sent_back_for or "What the plan asks for now") if isinstance(loop.phase, Completed) else ""
    rejected = workflow.approval(Key.REVIEW)
    if Family.APPROVAL_REJECTED in unfinished and isinstance(rejected, Rejected):
        task = f"{rejected.by} rejected the build: {rejected.reason}"
    _try_again(context, loop_id, start + _passes(context, request), task, request.agent, tell)


def _judge_again(context: Context, loop_id: str, request: BuildRequest, tell: Tell) -> None:
    """Judge finished work once more, without an agent: a person may have corrected the test command."""
    loop = loops_of(context).load(loop_id)
    if isinstance(loop.phase, Completed) and not has_worker(context, loop_id):
        _try_again(context, loop_id, loop.iteration + 1 + _passes(context, request), "", request.agent, tell)


def _rework(context: Context, workflow: Workflow, request: BuildRequest, tell: Tell) -> str:
    """Continue the loop of the build, with the review's request as a task."""
    loop_id = workflow.loops[-1]
    before = loops_of(context).load(loop_id)
    more = before.iteration + 1 + _passes(context, request)
    if not isinstance(before.phase, Completed | Failed):
        return loop_id
    # The prompt of the builder has the findings.
    asked = workflow.review.rationale if workflow.review is not None else ""
    asked = asked or "fix what the review found"
    _try_again(context, loop_id, more, f"The review asks: {asked}", request.agent, tell)
    return loop_id


def _try_again(context: Context, loop_id: str, max_iterations: int, task: str, agent: str, tell: Tell) -> None:
    """Start another attempt of a loop that has ended, with a new task if there is one."""
    require_person(context.environment, "loop retry --max-iterations")
    description = required_text(context, "a task", task) if task else ""
    with loops_of(context).changing(loop_id) as opened:
        _take_over(context, opened, agent, tell)
        if description:
            added = pending_task(context, opened.loop, description, tool="")
            opened.apply(loop_events.TaskAdded(task=added), actor())
        opened.apply(c_loop.Retry(max_iterations=max_iterations), actor())


def return_to_build(
    context: Context,
    report: Path,
    request: BuildRequest,
    tell: Tell = ignore_progress,
    cancellation: Cancellation | None = None,
) -> str:
    """Build again after a review that requested changes; the caller approves the way back."""
    require_person(context.environment, "build --from-review")
    if not report.is_file():
        raise WorkflowRefused(
            "build_from_review_artifact_missing",
            f"there is no report {shown(report)}",
            next_command="loopwright status SLUG names it",
        )
    slug = slug_of_report(report)
    _builder(context, slug, request)  # before the consent is recorded
    with workflows_of(context).changing(slug) as opened:
        standing = opened.standing()
        rationale = opened.workflow.review.rationale if opened.workflow.review is not None else ""
        command = c.Approve(
            transition=Transition.REVIEW_BUILD, standing=standing, by=actor(), rationale=rationale,
            seals=opened.facts().judges,
        )  # fmt: skip
        opened.apply(command, actor())
    return begin_build(context, slug, request, tell, cancellation)


def slug_of_report(report: Path) -> str:
    """The workflow that a review's report belongs to."""
    return slug_of(report.resolve().parent.name)


def _copy_answers(context: Context, workflow: Workflow, loop_id: str) -> None:
    """Copy answers of people into the loop that a crash kept from it."""
    asked = loops_of(context).load(loop_id).decisions
    open_there = {decision.id for decision in asked if decision.answer is None}
    for decision in workflow.decisions:
        if decision.answer and decision.id in open_there:
            answer_decision(context, loop_id, decision.id, decision.answer)


def _manifest(context: Context, workflow: Workflow) -> bytes:
    """The manifest of the documents that the builder should read."""
    paths = context.layout.workflow(workflow.slug, workflow.change)
    root = context.layout.root
    documents = (
        (SPEC, "spec", "what is wanted", 1, True),
        (prd_of(workflow.slug), "prd", "what is to be built", 1, True),
        (test_spec_of(workflow.slug), "test-spec", "how it is judged", 2, True),
        (SLICES, "slices", "the slices and their checks", 2, True),
        (PLAN_DOCUMENTS["plan"], "plan", "the approach", 3, True),
        (PLAN_DOCUMENTS["architecture"], "architecture", "the parts", 4, False),
    )
    entries = [
        (paths.document(name), kind, reason, priority, required)
        for name, kind, reason, priority, required in documents
        if name in (SPEC, SLICES) or not workflow.is_quick
    ]
    if workflow.sent_back is not None:
        entries.append((paths.document("review-report.md"), "review", "what the last review found", 1, False))
    notes = sorted(context.layout.context_notes.glob("*.md")) if context.layout.context_notes.is_dir() else []
    entries += [(note, "context", "notes on the project", 5, False) for note in notes]
    return manifest.write_manifest("build", root, entries)

"""Carries out the plan stage. The workflow is open only briefly, around turns of agents and runs of checks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path

from loopwright.agents.port import Role
from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.kernel.files import read_regular_file, shown
from loopwright.kernel.process import Cancellation
from loopwright.stages.agent_choice import agent_for
from loopwright.stages.building.controls import run_on_base
from loopwright.stages.clarifying.begin import opened_to_clarify, require_documents
from loopwright.stages.context import Context, Tell, ignore_progress, workflows_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor, require_person
from loopwright.stages.planning.documents import compose, report_rivals, write_skeletons
from loopwright.stages.planning.planner import ComposedPlan, PlanSession
from loopwright.stages.planning.rounds import plan_in_rounds
from loopwright.stages.planning.state import PlanRequest, PlanState, read_plan
from loopwright.stages.status import WorkflowView, view_of
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.delta.model import Delta
from loopwright.workflow.documents.page import MOST_BYTES, NotAPage
from loopwright.workflow.documents.spec import INTENT, read_spec
from loopwright.workflow.living import digests_of
from loopwright.workflow.model import (
    Building,
    Clarifying,
    Key,
    Planning,
    Reviewing,
    Transition,
)
from loopwright.workflow.standing import moved_approvals
from loopwright.workflow.store import Opened


class _PlanMode(Enum):
    """How the plan is made."""

    BY_AGENT = auto()
    # A person fills in skeletons.
    BY_HAND = auto()
    # A plan exists; only an agent named with --agent replaces it.
    KEEP = auto()
    # A person changed the plan during its build.
    DURING_BUILD = auto()


def plan_change(
    context: Context,
    name: str,
    request: PlanRequest,
    tell: Tell = ignore_progress,
    cancellation: Cancellation | None = None,
) -> WorkflowView:
    """Plan a workflow, run the checks of the plan on the base, and ask a person to approve it.

    With `request.spec` a person provides the spec; if the workflow does not exist yet, it starts with this spec.
    """
    cancellation = cancellation or Cancellation()
    if request.spec is not None:
        require_person(context.environment, "plan --direct")
    if request.ask is not None:
        require_person(context.environment, "plan --interactive")
    slug, agent = slug_of(name), agent_for(context, Role.PLANNER, request.agent)
    if request.ask is not None and not agent:
        raise WrongUsage(
            "--interactive asks after each round of an agent, but no agent is set for planning",
            hint="name an agent with --agent, or leave out --interactive",
        )
    # Read before the planning starts: agents do not see later changes to the specs.
    specs = digests_of(context.layout)
    session = PlanSession(
        context=context, request=request, agent=agent, specs=specs, tell=tell, cancellation=cancellation
    )
    mode, planned = _begin(session, name)
    if mode is _PlanMode.BY_AGENT:
        planned = plan_in_rounds(session, planned.state)
    if mode is _PlanMode.BY_AGENT and request.ask is not None:
        # The person may have edited the plan between the last round and their answer.
        with workflows_of(context).changing(slug) as opened:
            planned = ComposedPlan(compose(context, opened, specs), read_plan(opened))
    report_rivals(context, planned.state.workflow.change_id, planned.deltas, tell)
    _, controls = run_on_base(context, planned.state.snapshot, tell, cancellation)
    with workflows_of(context).changing(slug) as opened:
        if controls:
            opened.apply(e.ChecksControlled(controls=controls), "tool")
        if mode is not _PlanMode.DURING_BUILD:
            opened.apply(c.RequestApproval(transition=Transition.PLAN_BUILD, standing=opened.standing()), "tool")
        snapshot = opened.snapshot()
    return view_of(context, snapshot)


def _begin(session: PlanSession, name: str) -> tuple[_PlanMode, ComposedPlan]:
    """Enter the stage, and do everything that needs no agent."""
    notes: list[str] = []
    deltas: tuple[Delta, ...] = ()
    with _opened(session.context, name, session.request) as opened:
        mode = _enter(session, opened)
        if mode is _PlanMode.BY_HAND:
            notes = write_skeletons(session.context, opened)
        if mode is not _PlanMode.BY_AGENT:
            deltas = compose(session.context, opened, session.specs)
        planned = ComposedPlan(deltas, read_plan(opened))
    _tell(session, mode, planned.state, notes)
    return mode, planned


def _tell(session: PlanSession, mode: _PlanMode, state: PlanState, notes: list[str]) -> None:
    slug = state.workflow.slug
    sent_back = state.workflow.sent_back
    for sentence in sent_back.review.sentences() if sent_back is not None else ():
        session.tell(f"the last review found: {sentence}")
    if mode is _PlanMode.DURING_BUILD:
        session.tell(f"{slug} is being built: your changes to the plan are applied, and its checks run on the base")
    if mode is _PlanMode.KEEP:
        session.tell(f"{slug} has a plan; its checks run on the base. To plan again, use --agent NAME")
    for note in notes:
        session.tell(note)


@contextmanager
def _opened(context: Context, name: str, request: PlanRequest) -> Iterator[Opened]:
    """The workflow under its lock; with a spec of a person, also the approval to plan it."""
    if request.spec is None:
        with workflows_of(context).changing(slug_of(name)) as opened:
            yield opened
        return
    data = context.tools().redactor.clean(_read_spec_file(request.spec)).data
    with opened_to_clarify(context, name, read_spec(data).page.text_of(INTENT), spec=data) as opened:
        opened.apply(e.SpecGiven(source=shown(request.spec), by=actor()), actor())
        standing = opened.standing()
        opened.apply(c.Approve(transition=Transition.CLARIFY_PLAN, standing=standing, by=actor()), actor())
        yield opened


def _read_spec_file(source: Path) -> bytes:
    try:
        data = read_regular_file(source, most=MOST_BYTES)
        read_spec(data)
    except OSError as problem:
        raise WrongUsage(f"{shown(source)} is unreadable: {problem.strerror}", hint="check the path") from problem
    except NotAPage as problem:
        raise WrongUsage(f"{shown(source)}: {problem}", hint="fix the file; nothing was changed") from problem
    return data


def _enter(session: PlanSession, opened: Opened) -> _PlanMode:
    """Enter the plan stage if needed, and choose how the plan is made."""
    context, request = session.context, session.request
    require_documents(opened.workflow)
    if isinstance(opened.workflow.at, Building) and moved_approvals(opened.workflow, opened.standing(), Key.BUILD):
        return _PlanMode.DURING_BUILD
    if session.agent:
        # Invalid prompts and unknown agents are reported before the planning starts.
        context.prompts()
        context.require_agents()
    _enter_stage(opened)
    if not session.agent:
        return _PlanMode.BY_HAND
    if not request.agent and read_plan(opened).stays(reviewed=request.is_reviewed(context)):
        return _PlanMode.KEEP
    return _PlanMode.BY_AGENT


def _enter_stage(opened: Opened) -> None:
    match opened.workflow.at:
        case Planning():
            return
        case Clarifying():
            opened.apply(c.Enter(transition=Transition.CLARIFY_PLAN, standing=opened.standing()), "tool")
        case Reviewing():
            opened.apply(c.Enter(transition=Transition.REVIEW_PLAN, standing=opened.standing()), "tool")
        case _:
            raise WorkflowRefused.see_status(
                opened.workflow.slug,
                "invalid_transition",
                f"{opened.workflow.slug} is at {opened.workflow.stage.value}, and cannot be planned at this stage",
            )

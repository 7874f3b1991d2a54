"""Carries out the plan stage, with short openings of the workflow around the turns of agents and the run of checks."""

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
from loopwright.stages.clarifying.begin import opened_to_clarify
from loopwright.stages.context import Context, Tell, workflows_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor
from loopwright.stages.planning.documents import compose, tell_rivals, write_skeletons
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
    UsedApproval,
)
from loopwright.workflow.standing import void_parts
from loopwright.workflow.store import Opened


class _Way(Enum):
    """How this plan comes to be."""

    BY_AGENT = auto()
    # A person fills in skeletons.
    BY_HAND = auto()
    # There is a plan, which only an agent that is named replaces.
    AS_IT_IS = auto()
    # A person changed the plan while it is built.
    UNDER_THE_BUILD = auto()


def plan_change(
    context: Context, name: str, request: PlanRequest, tell: Tell, cancellation: Cancellation
) -> WorkflowView:
    """Enter the stage → write → compose → run the checks on the base → request the approval."""
    slug, agent = slug_of(name), agent_for(context, Role.PLANNER, request.agent)
    if request.ask is not None and not agent:
        raise WrongUsage(
            "--interactive asks after each round of an agent, and no agent is set for planning",
            hint="name one with --agent, or leave --interactive out",
        )
    # Read before anything is planned: no agent has read what another change does to the specs meanwhile.
    specs = digests_of(context.layout)
    session = PlanSession(
        context=context, request=request, agent=agent, specs=specs, tell=tell, cancellation=cancellation
    )
    way, planned = _begin(session, name)
    if way is _Way.BY_AGENT:
        planned = plan_in_rounds(session, planned.state)
    if way is _Way.BY_AGENT and request.ask is not None:
        planned = _compose_again(session, slug)
    tell_rivals(context, planned.state.workflow.change_id, planned.deltas, tell)
    _, controls = run_on_base(context, planned.state.snapshot, tell, cancellation)
    with workflows_of(context).changing(slug) as opened:
        if controls:
            opened.apply(e.ChecksControlled(controls=controls), "tool")
        if way is not _Way.UNDER_THE_BUILD:
            opened.apply(c.RequestApproval(transition=Transition.PLAN_BUILD, standing=opened.standing()), "tool")
        snapshot = opened.snapshot()
    return view_of(context, snapshot)


def _begin(session: PlanSession, name: str) -> tuple[_Way, ComposedPlan]:
    """Enter the stage, and do at once what needs no agent."""
    notes: list[str] = []
    deltas: tuple[Delta, ...] = ()
    with _opened(session.context, name, session.request) as opened:
        way = _enter(session, opened)
        if way is _Way.BY_HAND:
            notes = write_skeletons(session.context, opened)
        if way is not _Way.BY_AGENT:
            deltas = compose(session.context, opened, session.specs)
        planned = ComposedPlan(deltas, read_plan(opened))
    _tell(session, way, planned.state, notes)
    return way, planned


def _tell(session: PlanSession, way: _Way, state: PlanState, notes: list[str]) -> None:
    slug = state.workflow.slug
    if way is _Way.UNDER_THE_BUILD:
        session.tell(f"{slug} is being built: your changes to the plan are composed, and its checks run on the base")
    if way is _Way.AS_IT_IS:
        session.tell(f"{slug} has a plan, which is composed and run on the base; --agent NAME plans anew")
    for note in notes:
        session.tell(note)


@contextmanager
def _opened(context: Context, name: str, request: PlanRequest) -> Iterator[Opened]:
    """The workflow under its lock; with a spec that a person brings, and their consent to plan it."""
    if request.spec is None:
        with workflows_of(context).changing(slug_of(name)) as opened:
            yield opened
        return
    data = _read_spec_file(request.spec)
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
        raise WrongUsage(f"{shown(source)} can't be read: {problem.strerror}", hint="check the path") from problem
    except NotAPage as problem:
        raise WrongUsage(f"{shown(source)}: {problem}", hint="correct it; nothing was changed") from problem
    return data


def _enter(session: PlanSession, opened: Opened) -> _Way:
    """Enter the plan stage where that is still to be done, and choose how this plan comes to be."""
    context, request = session.context, session.request
    if _is_changed_under_the_build(opened):
        return _Way.UNDER_THE_BUILD
    if session.agent:
        # What is wrong with a prompt, or with an agent's name, is reported before anything is planned.
        context.prompts()
        context.require_agents()
    _enter_stage(opened)
    if not session.agent:
        return _Way.BY_HAND
    if not request.agent and read_plan(opened).stays(reviewed=request.is_reviewed(context)):
        return _Way.AS_IT_IS
    return _Way.BY_AGENT


def _is_changed_under_the_build(opened: Opened) -> bool:
    approval = opened.workflow.approval(Key.BUILD)
    changed = isinstance(approval, UsedApproval) and void_parts(approval, opened.standing())
    return isinstance(opened.workflow.at, Building) and bool(changed)


def _enter_stage(opened: Opened) -> None:
    match opened.workflow.at:
        case Planning():
            return
        case Clarifying():
            opened.apply(c.Enter(transition=Transition.CLARIFY_PLAN, standing=opened.standing()), "tool")
        case Reviewing():
            opened.apply(c.Enter(transition=Transition.REVIEW_PLAN, standing=opened.standing()), "tool")
        case _:
            raise WorkflowRefused(
                "invalid_transition",
                f"{opened.workflow.slug} is at {opened.workflow.stage.value}: it can't be planned from there",
                next_command=f"loopwright status {opened.workflow.slug}",
            )


def _compose_again(session: PlanSession, slug: str) -> ComposedPlan:
    """The person at the terminal may have edited the plan between the last round and their answer."""
    with workflows_of(session.context).changing(slug) as opened:
        return ComposedPlan(compose(session.context, opened, session.specs), read_plan(opened))

"""`loopwright clarify`: an idea becomes a spec, one question a round, by an agent or by the tool's own questions."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from loopwright.agents.port import Role
from loopwright.agents.structured import json_form
from loopwright.errors import WorkflowRefused
from loopwright.kernel.clock import compact_stamp
from loopwright.kernel.files import write_durably
from loopwright.kernel.process import Cancellation
from loopwright.runner.ask_agent import AgentRequest
from loopwright.stages.asking import StageCall, ask_for_stage
from loopwright.stages.context import Context
from loopwright.stages.document_language import documents_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor
from loopwright.stages.spending import Spending
from loopwright.stages.stores import workflows_of
from loopwright.workflow import commands as c
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import Spec, new_spec
from loopwright.workflow.facts import Damaged
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import PROFILES, Clarifying, Profile, Reviewing, Round, Stage, Transition, Workflow
from loopwright.workflow.questions import next_question
from loopwright.workflow.readiness import standing_of
from loopwright.workflow.store import Opened
from loopwright.workspace.layout import record_choice


class Clarified(msgspec.Struct, frozen=True):
    """How it stands after a round: the question that is open now, where there is one."""

    workflow: Workflow
    question: str | None = None
    item: str | None = None


class Clarification(msgspec.Struct, frozen=True, kw_only=True):
    """What a clarifier answers."""

    sections: dict[str, str] = {}
    question: str | None = None
    presses_on: str | None = None
    ambiguity: float | None = None


def begin(context: Context, name: str, idea: str, profile_name: str | None) -> Workflow:
    """The workflow of this name; a new one when there is none yet."""
    slug = slug_of(name)
    profile = profile_of(profile_name or context.settings.values.workflow.clarify)
    store = workflows_of(context)
    if not store.exists(slug):
        record_choice(context.layout)
        redacted = context.tools().redactor.clean(idea).text
        store.begin(c.Begin(slug=slug, idea=redacted, profile=profile), actor())
        with store.changing(slug) as opened:
            spec = new_spec(name.strip(), redacted, slug, documents_of(context))
            opened.write({SPEC: spec.page.render()}, actor())
            return opened.workflow
    with store.changing(slug) as opened:
        if isinstance(opened.workflow.at, Reviewing):
            _go_back(opened)
        _require_clarifying(opened.workflow)
        if profile_name is not None:
            opened.apply(c.SetProfile(profile=profile), actor())
        return opened.workflow


def _go_back(opened: Opened) -> None:
    """The review sent it here: the spec stays, and what it said against it is an open question."""
    review = opened.workflow.review
    opened.apply(c.Enter(transition=Transition.REVIEW_CLARIFY, standing=opened.standing()), "tool")
    spec = _spec(opened)
    answered = [item for item in spec.items if item.status == "answered"]
    if answered:
        spec = spec.reopening(answered[-1].id)
    else:
        spec = spec.asking(f"The review says: {review.rationale if review is not None else 'it is not clear'}")
    opened.write({SPEC: spec.page.render()}, "tool")


def take_round(
    context: Context,
    slug: str,
    agent: str | None,
    cancellation: Cancellation,
    *,
    tell: Callable[[str], None],
    spending: Spending | None = None,
) -> Clarified:
    """One round: unless a question is open already, the next one is asked, or it is said that there is none."""
    store = workflows_of(context)
    with store.changing(slug) as opened:
        _require_clarifying(opened.workflow)
        spec = _spec(opened)
        if spec.open_items:
            first = spec.open_items[0]
            return Clarified(opened.workflow, first.question, first.id)
        _require_rounds_left(opened)
        workflow = opened.workflow
    if agent:
        reply = _by_agent(context, workflow, spec, agent, cancellation, spending, tell)
    else:
        reply = _by_rule(context, workflow, spec)
    with store.changing(slug) as opened:
        return _taken(context, opened, reply)


def profile_of(name: str) -> Profile:
    """A profile by name."""
    if name not in PROFILES:
        raise WorkflowRefused(
            "invalid_clarify_profile",
            f"there is no clarify profile '{name}' (there are: {', '.join(PROFILES)})",
            next_command="loopwright clarify SLUG --profile standard",
        )
    return PROFILES[name]


def _by_rule(context: Context, workflow: Workflow, spec: Spec) -> Clarification:
    pressed = frozenset(one.presses_on for one in workflow.rounds if one.presses_on)
    asked = next_question(spec, pressed, documents_of(context))
    return Clarification() if asked is None else Clarification(question=asked.question, presses_on=asked.presses_on)


def _by_agent(
    context: Context,
    workflow: Workflow,
    spec: Spec,
    agent: str,
    cancellation: Cancellation,
    spending: Spending | None,
    tell: Callable[[str], None],
) -> Clarification:
    pressed = any(one.presses_on for one in workflow.rounds)
    book = context.prompts()
    prompt = book.prompt(
        "clarifier",
        idea=workflow.idea or book.part("idea_in_spec"),
        spec=spec.page.render().decode(),
        press="" if pressed or not spec.items else book.part("press"),
        sections=", ".join(name for name in s.SECTIONS if name not in s.KEPT_BY_TOOL),
    )
    request = AgentRequest(
        agent=agent, role=Role.CLARIFIER, prompt=prompt, form=json_form(Clarification),
        number=workflow.turns_of(Role.CLARIFIER.value),
    )  # fmt: skip
    call = StageCall(
        slug=workflow.slug, stage=Stage.CLARIFY, name=f"{workflow.slug}-clarify-{len(workflow.rounds) + 1}",
        spending=spending, tell=tell,
    )  # fmt: skip
    return ask_for_stage(context, call, request, cancellation).reply


def _taken(context: Context, opened: Opened, reply: Clarification) -> Clarified:
    """Put what came of the round on record; what a person wrote meanwhile stays."""
    _require_clarifying(opened.workflow)
    spec = _spec(opened)
    reported = reply.ambiguity
    # An agent fills what is empty; what somebody wrote there is theirs.
    written = spec.with_sections({name: body for name, body in reply.sections.items() if not spec.says(name)})
    if not (reply.question or "").strip() and _is_unclear(opened, written, reported):
        # Who asks nothing while something is not clear leaves that to the tool: an agent closes no question.
        reply = _by_rule(context, opened.workflow, written)
    question = (reply.question or "").strip() or None
    known = {item.id for item in spec.items if item.status == "answered"}
    presses_on = reply.presses_on if question is not None and reply.presses_on in known else None
    item = written.next_item_id() if question is not None else None
    if question is not None:
        written = written.asking(question)
    data = written.page.render()
    opened.write({SPEC: data}, "tool")
    number = len(opened.workflow.rounds) + 1
    taken = Round(number=number, asked=item, presses_on=presses_on, reported_score=reported)
    opened.apply(c.TakeRound(round=taken), "tool")
    snapshot = f"clarify-{opened.workflow.slug}-{compact_stamp(context.clock())}-{number}.md"
    write_durably(context.layout.snapshots / snapshot, data)
    request_approval(opened)
    return Clarified(opened.workflow, question, item)


def _is_unclear(opened: Opened, written: Spec, reported: float | None) -> bool:
    """Whether the spec as it is written now would still be kept from being planned."""
    workflow = opened.workflow
    silent = Round(number=len(workflow.rounds) + 1, asked=None, presses_on=None, reported_score=reported)
    after = msgspec.structs.replace(workflow, rounds=(*workflow.rounds, silent))
    return bool(standing_of(after, msgspec.structs.replace(opened.facts(), spec=written)).readiness.plan)


def request_approval(opened: Opened) -> None:
    """Where nothing blocks any more a person is asked."""
    opened.apply(c.RequestApproval(transition=Transition.CLARIFY_PLAN, standing=opened.standing()), "tool")


def _spec(opened: Opened) -> Spec:
    found = opened.facts().spec
    if isinstance(found, Spec):
        return found
    said = found.sentence() if isinstance(found, Damaged) else "it is not there"
    raise WorkflowRefused(
        "clarify_readiness_blocked",
        f"{opened.facts().spec_path} can't be read: {said}",
        next_command=f"correct it; every version that was is in {opened.facts().objects_path}",
    )


def _require_clarifying(workflow: Workflow) -> None:
    if not isinstance(workflow.at, Clarifying):
        raise WorkflowRefused(
            "invalid_transition",
            f"{workflow.slug} is at {workflow.stage.value}: it is clarified already",
            next_command=f"loopwright status {workflow.slug}",
        )


def _require_rounds_left(opened: Opened) -> None:
    workflow = opened.workflow
    blockers = opened.standing().readiness.plan
    if len(workflow.rounds) >= workflow.profile.max_rounds and blockers:
        raise WorkflowRefused(
            "clarify_readiness_blocked",
            f"all {workflow.profile.max_rounds} rounds of the profile {workflow.profile.name} were held",
            next_command=blockers[0].next,
            blockers=tuple((one.code, one.message, one.next) for one in blockers),
        )

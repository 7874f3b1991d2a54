"""Rounds of clarify: each asks one question, from an agent or from the built-in questions."""

from __future__ import annotations

from functools import partial

import msgspec

from loopwright.agents.port import Role
from loopwright.agents.structured import AgentRequest, json_form, verdict_form
from loopwright.errors import WorkflowRefused
from loopwright.kernel.clock import compact_stamp
from loopwright.kernel.files import write_durably
from loopwright.kernel.process import Cancellation
from loopwright.runner.ask_agent import AgentReply
from loopwright.stages.agent_choice import agent_for
from loopwright.stages.asking import StageCall, ask_for_stage
from loopwright.stages.clarifying.begin import bytes_of, opened_to_clarify, require_clarifying, require_spec
from loopwright.stages.context import Context, Tell, documents_of, ignore_progress
from loopwright.stages.spending import Spending
from loopwright.stages.status import WorkflowView, view_of
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.clarity import next_question
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.page import NotAPage
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Round, Transition, Workflow
from loopwright.workflow.readiness import standing_of
from loopwright.workflow.stage import Stage
from loopwright.workflow.store import Opened

# A person reads it in a terminal.
_LONGEST_QUESTION = 10_000
_LONGEST_REASON = 500


class ClarifyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The idea, how clear the spec has to be, and which agent asks.

    `agent` None: the default agent; empty: the built-in questions.
    """

    idea: str = ""
    profile: str | None = None
    agent: str | None = None
    spending: Spending | None = None


class ClarifyReport(msgspec.Struct, frozen=True):
    """The workflow after a round, and the open question, if there is one."""

    view: WorkflowView
    question: str | None = None
    item: str | None = None


class AnswerJudgment(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an answer of a person answers its question, and why not."""

    accepted: bool
    why: str = ""


class Clarification(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a clarifier. `answers` are its judgments of answers that people gave to its questions."""

    answers: dict[str, AnswerJudgment] = {}
    sections: dict[str, str] = {}
    question: str | None = None
    presses_on: str | None = None
    ambiguity: float | None = None


def clarify_change(
    context: Context,
    name: str,
    request: ClarifyRequest,
    tell: Tell = ignore_progress,
    cancellation: Cancellation | None = None,
) -> ClarifyReport:
    """Start or continue the workflow of this name, and ask its next question; an open question is asked again.

    A new workflow needs `request.idea`. The report holds the open question; `answer` records the answer to it.
    """
    agent = agent_for(context, Role.CLARIFIER, request.agent)
    if agent:
        context.require_agents()  # before anything is written
    with opened_to_clarify(context, name, request.idea, request.profile) as opened:
        workflow, spec = opened.workflow, require_spec(opened.facts())
        report: ClarifyReport | None = None
        if spec.open_items:
            report = _open_question(context, opened)
        else:
            _require_rounds_left(opened)
            if not agent:
                report = _take(context, opened, _built_in_question(context, workflow, spec))
    if report is None:
        agent_request = _request_for(context, workflow, spec, agent)
        call = StageCall(
            workflow=workflow, stage=Stage.CLARIFY, name=f"{workflow.slug}-clarify-{len(workflow.rounds) + 1}",
            spending=request.spending, tell=tell,
        )  # fmt: skip

        def keep(opened: Opened, answer: AgentReply[Clarification]) -> ClarifyReport:
            if len(opened.workflow.rounds) == len(workflow.rounds):
                return _take(context, opened, answer.reply, answer.by, tell)
            tell("another `clarify` took this round meanwhile; this question is not recorded")
            return _open_question(context, opened)

        report = ask_for_stage(context, call, agent_request, cancellation or Cancellation(), keep)
    return report


def _open_question(context: Context, opened: Opened) -> ClarifyReport:
    """The first open question, if there is one."""
    first = next(iter(require_spec(opened.facts()).open_items), None)
    view = view_of(context, opened.snapshot())
    return ClarifyReport(view, first.question, first.id) if first is not None else ClarifyReport(view)


def _built_in_question(context: Context, workflow: Workflow, spec: Spec) -> Clarification:
    challenged = frozenset(taken.presses_on for taken in workflow.rounds if taken.presses_on)
    question, presses_on = next_question(spec, challenged, documents_of(context)) or (None, None)
    return Clarification(question=question, presses_on=presses_on)


def _request_for(context: Context, workflow: Workflow, spec: Spec, agent: str) -> AgentRequest[Clarification]:
    is_challenged = any(taken.presses_on for taken in workflow.rounds)
    book = context.prompts()
    prompt = book.prompt(
        "clarifier",
        idea=workflow.idea or book.part("idea_in_spec"),
        spec=spec.page.render().decode(),
        press="" if is_challenged or not spec.items else book.part("press"),
        sections=", ".join(name for name in s.SECTIONS if name not in s.KEPT_BY_TOOL),
    )
    if workflow.unjudged:
        prompt = f"{prompt}\n{book.part('judge_answers', items=', '.join(workflow.unjudged))}\n"
    # A judgment of an answer can open the gate to the plan. A question can't.
    form_of = verdict_form if workflow.unjudged else json_form
    return AgentRequest(
        agent=agent, role=Role.CLARIFIER, prompt=prompt, form=form_of(Clarification, partial(_problem_of, spec)),
        number=workflow.turns_of(Role.CLARIFIER.value),
    )  # fmt: skip


def _problem_of(spec: Spec, reply: Clarification) -> str | None:
    """Why a reply cannot be recorded: the agent is asked again, before the spec becomes unreadable."""
    question = reply.question or ""
    if len(question) > _LONGEST_QUESTION:
        return f"the question has {len(question):,} characters; at most {_LONGEST_QUESTION:,} are allowed"
    try:
        spec.with_sections(reply.sections).asking(question).render()
    except NotAPage as problem:
        return f"the spec would be unreadable: {problem}"
    return None


def _take(
    context: Context, opened: Opened, reply: Clarification, by: str = "", tell: Tell = ignore_progress
) -> ClarifyReport:
    """Record a round. Edits that a person made meanwhile stay."""
    require_clarifying(opened.workflow)
    spec = require_spec(opened.facts())
    reported = reply.ambiguity
    judged = {name: reply.answers[name] for name in opened.workflow.unjudged if name in reply.answers}
    refused = {name: _reason(context, answer) for name, answer in judged.items() if not answer.accepted}
    # An agent fills only empty sections: a person may have written the others.
    written = spec.with_sections({name: body for name, body in reply.sections.items() if not spec.is_filled(name)})
    for name, why in refused.items():
        written = written.reopening(name)
        tell(f"the answer to {name} does not count: {why}")
    if refused:
        # The questions that are open again come first.
        reply, by = Clarification(sections=reply.sections), ""
    elif not (reply.question or "").strip() and _is_unclear(opened, written, reported):
        # If an agent asks nothing while the spec is unclear, a built-in question follows: agents cannot end the stage.
        reply, by = _built_in_question(context, opened.workflow, written), ""
    question = (reply.question or "").strip() or None
    known = {item.id for item in spec.items if item.status == "answered"}
    presses_on = reply.presses_on if question is not None and reply.presses_on in known else None
    item = written.next_item_id() if question is not None else None
    if question is not None:
        written = written.asking(question)
    data = bytes_of(written, opened.workflow.slug)
    opened.write({SPEC: data}, "tool")
    number = len(opened.workflow.rounds) + 1
    taken = Round(
        number=number, asked=item, presses_on=presses_on, reported_score=reported, asked_by=by if item else "",
        accepted=tuple(name for name in judged if name not in refused), refused=refused,
    )  # fmt: skip
    opened.apply(e.RoundTaken(round=taken), "tool")
    snapshot = f"clarify-{opened.workflow.slug}-{compact_stamp(context.clock())}-{number}.md"
    write_durably(context.layout.snapshots / snapshot, data)
    request_approval(opened)
    if refused:
        return _open_question(context, opened)
    return ClarifyReport(view_of(context, opened.snapshot()), question, item)


def _reason(context: Context, judgment: AnswerJudgment) -> str:
    text = " ".join(judgment.why.split())[:_LONGEST_REASON]
    return context.tools().redactor.clean(text).text or "the agent gave no reason"


def _is_unclear(opened: Opened, written: Spec, reported: float | None) -> bool:
    """Whether this spec would still block the plan stage."""
    workflow = opened.workflow
    silent = Round(number=len(workflow.rounds) + 1, asked=None, presses_on=None, reported_score=reported)
    after = msgspec.structs.replace(workflow, rounds=(*workflow.rounds, silent))
    return bool(standing_of(after, msgspec.structs.replace(opened.facts(), spec=written)).readiness.plan)


def request_approval(opened: Opened) -> None:
    """Ask a person for the approval if nothing blocks the plan stage."""
    opened.apply(c.RequestApproval(transition=Transition.CLARIFY_PLAN, standing=opened.standing()), "tool")


def _require_rounds_left(opened: Opened) -> None:
    workflow = opened.workflow
    blockers = opened.standing().readiness.plan
    if len(workflow.rounds) >= workflow.profile.max_rounds and blockers:
        raise WorkflowRefused(
            "clarify_readiness_blocked",
            f"the limit of {workflow.profile.max_rounds} rounds of the profile {workflow.profile.name} is reached",
            next_command=blockers[0].next,
            blockers=tuple((blocker.code, blocker.message, blocker.next) for blocker in blockers),
        )

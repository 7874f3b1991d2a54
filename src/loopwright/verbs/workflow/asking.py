"""Asks an agent on behalf of a workflow, outside its lock: one turn in a sandbox, one repair, paid for in any case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from loopwright.agents.port import Agent, Answer, NoAnswer, Reason, Role
from loopwright.errors import AgentFailed, Interrupted
from loopwright.kernel.files import make_folder
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.loop.answers import NotAnswered, read_answer
from loopwright.runner.meter import Allowance, Meter
from loopwright.runner.turn import Asked, Booth, meter_for, open_booth, take_turn
from loopwright.sandbox.confine import choose
from loopwright.sandbox.open import Wanted as Sandboxed
from loopwright.sandbox.open import opened
from loopwright.verbs.context import Context
from loopwright.verbs.workflow.document_language import demand_of
from loopwright.verbs.workflow.names import store_of
from loopwright.verbs.workflow.spending import Spending
from loopwright.workflow import commands as c
from loopwright.workflow.model import Cost, Stage
from loopwright.workspace.settings_model import AgentSettings

_T = TypeVar("_T")
_REPAIR = "\n\nYour last answer could not be used: {problem}. Answer again with the JSON alone."


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, of whom, for which workflow. `name` is the turn's in the record."""

    slug: str
    stage: Stage
    agent: str
    role: Role
    prompt: str
    name: str
    # How many turns in this role were taken before for this workflow.
    number: int
    # Where it works, when that is not the project as it is now; and what it finds in its mailbox.
    sandbox: Sandboxed | None = None
    letters: dict[str, bytes] = {}
    # Who pays, where somebody set limits.
    spending: Spending | None = None


def ask_agent(
    context: Context,
    wanted: Wanted,
    kind: type[_T],
    cancellation: Cancellation,
    wrong_with: Callable[[_T], str | None] = lambda _: None,
) -> _T:
    """One answer of this kind; `AgentFailed` when none is to be had, `Interrupted` when somebody stops it."""
    agent = context.open_agent(wanted.agent)
    redactor = context.tools().redactor
    try:
        with _booth(context, wanted, cancellation) as booth:
            problem = ""
            for attempt in (1, 2):
                asked = _asked(context, wanted, problem, attempt)
                answer = _taken(context, wanted, agent, asked, booth, cancellation)
                try:
                    reply = read_answer(redactor.clean(answer.text).text, kind)
                    problem = wrong_with(reply) or ""
                except NotAnswered as found:
                    problem = str(found)
                else:
                    if not problem:
                        return reply
    except Stopped as stop:
        raise Interrupted(str(stop), hint="the same command again goes on") from stop
    raise AgentFailed(
        Reason.INVALID_ANSWER,
        f"the agent {agent.name} gave no usable answer, also when asked again: {problem}",
        hint=f"read what it said in {context.layout.turn(wanted.name)}, or use another agent",
    )


def _asked(context: Context, wanted: Wanted, problem: str, attempt: int) -> Asked:
    settings = _settings(context, wanted.agent)
    repair = _REPAIR.format(problem=problem) if problem else ""
    record = context.layout.turn(wanted.name if attempt == 1 else f"{wanted.name}-repair")
    return Asked(
        role=wanted.role,
        prompt=wanted.prompt + demand_of(context) + repair,
        record=record,
        timeout_s=settings.timeout_s,
        number=wanted.number + attempt - 1,
        allowance=wanted.spending.allowance() if wanted.spending is not None else Allowance(),
    )


def _taken(
    context: Context, wanted: Wanted, agent: Agent, asked: Asked, booth: Booth, cancellation: Cancellation
) -> Answer:
    meter = meter_for(agent, asked, booth)
    answer: Answer | NoAnswer | None = None
    try:
        answer = take_turn(agent, asked, booth, _settings(context, wanted.agent), cancellation, meter).answer
    finally:
        # Also of a turn that somebody stopped.
        _count(context, wanted, agent, meter, answer if isinstance(answer, Answer) else None)
    if isinstance(answer, NoAnswer):
        if answer.reason is Reason.BUDGET_USED and wanted.spending is not None:
            raise wanted.spending.after_an_end("budget_used", answer.detail)
        detail = context.tools().redactor.clean(answer.detail).text
        raise AgentFailed(
            answer.reason, f"the agent {agent.name}: {answer.reason}: {detail}", hint="`loopwright doctor` says more"
        )
    return answer


def _count(context: Context, wanted: Wanted, agent: Agent, meter: Meter, said: Answer | None) -> None:
    """What was said at the end, or while it ran: the larger, since neither is known to be all."""
    usd = [one for one in (meter.used.usd, said.cost_usd if said is not None else None) if one is not None]
    tokens = [one for one in (meter.used.tokens, said.tokens if said is not None else None) if one is not None]
    cost = Cost(
        role=wanted.role.value,
        agent=agent.name,
        stage=wanted.stage,
        wall_s=round(meter.worked_s, 3),
        usd=max(usd, default=None),
        tokens=max(tokens, default=None),
    )
    with store_of(context).changing(wanted.slug) as open_workflow:
        open_workflow.apply(c.CountCost(cost=cost), "tool")


@contextmanager
def _booth(context: Context, wanted: Wanted, cancellation: Cancellation) -> Iterator[Booth]:
    environment = context.step_environment()
    with opened(
        wanted.sandbox or context.sandbox_request(),
        wanted.name,
        confine=lambda view: choose(
            context.settings.values.sandbox.isolation, context.isolations, view, context.shell(),
            environment.for_step(()),
        ),
        keep=False,
        cancellation=cancellation,
    ) as sandbox:  # fmt: skip
        booth = open_booth(sandbox, environment, context.tools().redactor, context.limits().log_bytes)
        for name, data in wanted.letters.items():
            make_folder((booth.mailbox / name).parent)
            (booth.mailbox / name).write_bytes(data)
        yield booth


def _settings(context: Context, name: str) -> AgentSettings:
    return context.settings.values.agents.named.get(name, AgentSettings())

"""Asks an agent on behalf of a workflow, outside its lock: one turn in a sandbox, one repair, paid for in any case."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from loopwright.agents import structured
from loopwright.agents.port import Agent, Answer, NoAnswer, Reason, Role
from loopwright.errors import AgentFailed, Interrupted, LoopwrightError
from loopwright.kernel.files import make_folder
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.runner.booth import Booth, open_booth
from loopwright.runner.meter import Allowance, Meter
from loopwright.runner.turn import Asked, meter_for, take_turn
from loopwright.sandbox.confine import choose
from loopwright.sandbox.homes import drop_homes
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
            numbers = itertools.count()

            def take(prompt: str) -> Answer | NoAnswer:
                asked = _asked(context, wanted, prompt, next(numbers), structured.schema_of(kind))
                return _taken(context, wanted, agent, asked, booth, cancellation)

            reply = structured.ask(
                take,
                wanted.prompt + demand_of(context),
                kind,
                lambda text: redactor.clean(text).text,
                wrong_with,
                context.prompts(),
            )
    except Stopped as stop:
        raise Interrupted(str(stop), hint="the same command again goes on") from stop
    if isinstance(reply, NoAnswer):
        raise _failed(context, wanted, agent, reply)
    return reply


def _asked(context: Context, wanted: Wanted, prompt: str, repairs: int, schema: Mapping[str, Any]) -> Asked:
    return Asked(
        role=wanted.role,
        prompt=prompt,
        record=context.layout.turn(f"{wanted.name}-repair" if repairs else wanted.name),
        timeout_s=_settings(context, wanted.agent).timeout_s,
        number=wanted.number + repairs,
        schema=schema,
        book=context.prompts(),
        allowance=wanted.spending.allowance() if wanted.spending is not None else Allowance(),
    )


def _taken(
    context: Context, wanted: Wanted, agent: Agent, asked: Asked, booth: Booth, cancellation: Cancellation
) -> Answer | NoAnswer:
    meter = meter_for(agent, asked, booth)
    answer: Answer | NoAnswer | None = None
    try:
        answer = take_turn(agent, asked, booth, _settings(context, wanted.agent), cancellation, meter).answer
    finally:
        # Also of a turn that somebody stopped.
        _count(context, wanted, agent, meter, answer if isinstance(answer, Answer) else None)
    return answer


def _failed(context: Context, wanted: Wanted, agent: Agent, answer: NoAnswer) -> LoopwrightError:
    if answer.reason is Reason.BUDGET_USED and wanted.spending is not None:
        return wanted.spending.after_an_end("budget_used", answer.detail)
    detail = context.tools().redactor.clean(answer.detail).text
    if answer.reason is Reason.INVALID_ANSWER:
        hint = f"read what it said in {context.layout.turn(wanted.name)}, or use another agent"
        return AgentFailed(answer.reason, f"the agent {agent.name} gave {detail}", hint=hint)
    return AgentFailed(
        answer.reason, f"the agent {agent.name}: {answer.reason}: {detail}", hint="`loopwright doctor` says more"
    )


def _count(context: Context, wanted: Wanted, agent: Agent, meter: Meter, said: Answer | None) -> None:
    """What was said at the end, or while it ran: the larger, since neither is known to be all."""
    is_final = said is not None and said.cost_source == "reported"
    usd = [
        one
        for one in (None if is_final else meter.used.usd, said.cost_usd if said is not None else None)
        if one is not None
    ]
    tokens = [one for one in (meter.used.tokens, said.tokens if said is not None else None) if one is not None]
    cost = Cost(
        role=wanted.role.value,
        agent=agent.name,
        stage=wanted.stage,
        wall_s=round(meter.worked_s, 3),
        usd=max(usd, default=None),
        tokens=max(tokens, default=None),
        is_computed=said is not None and said.cost_source == "computed",
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
        work = sandbox.place.folder.name
        booth = open_booth(sandbox, environment, context.tools().redactor, context.limits().log_bytes, work)
        for name, data in wanted.letters.items():
            make_folder((booth.mailbox / name).parent)
            (booth.mailbox / name).write_bytes(data)
        try:
            yield booth
        finally:
            # Every turn of a workflow is one of its own: nobody goes on with its session.
            drop_homes(sandbox.view.sandbox_root, context.project, work)


def _settings(context: Context, name: str) -> AgentSettings:
    return context.settings.values.agents.named.get(name, AgentSettings())

"""`loopwright loop task generate`: an agent proposes tasks; all of them are added, or none."""

from __future__ import annotations

import secrets

import msgspec

from loopwright.agents.port import Remedy, Role, reasons_for
from loopwright.errors import Interrupted, LoopRefused
from loopwright.kernel.process import Cancellation, Freezer, Stopped
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.actions.failing import HandedOver, HeldBack
from loopwright.loop.actions.planning import plan_tasks
from loopwright.loop.guidance import broke_down, is_own_limit, lifted_by
from loopwright.loop.model import Hold, Holder, Loop, Task
from loopwright.loop.store import LoopStore
from loopwright.loop.worker_context import WorkerContext
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_worker import as_worker, nobody, worker_context_for
from loopwright.stages.person import actor


class GenerateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted: by whom, how many at most, and whether to look only."""

    agent: str = ""
    most: int | None = None
    dry_run: bool = False


class Generated(msgspec.Struct, frozen=True):
    """What came of it; the turn is paid for also where nothing was added."""

    loop: Loop
    tasks: tuple[Task, ...]
    added: bool


def generate_tasks(context: Context, loop_id: str, request: GenerateRequest, cancellation: Cancellation) -> Generated:
    """Ask once, within the loop's budget and in a sandbox, while nobody drives the loop."""
    store = loops_of(context)
    loop = store.load(loop_id)
    if not loop.description.strip() and not loop.tasks:
        raise LoopRefused(
            "nothing_to_do",
            f"the loop {loop_id} has neither a description nor a task to plan from",
            hint="make it with --description",
        )
    with as_worker(context, loop_id):
        worker_context = worker_context_for(context, cancellation, Freezer(), nobody)
        try:
            tasks = _planned(store, loop_id, worker_context, request)
        except HeldBack as back:
            hint = _way_on(store.load(loop_id), back.hold)
            raise LoopRefused(back.hold.code, back.hold.message, hint=hint) from back
        except Stopped as stop:
            raise Interrupted(str(stop), hint="nothing was added; what the turn used is counted") from stop
        with store.changing(loop_id) as opened:
            if not request.dry_run:
                opened.apply(c.AddTasks(tasks=tasks), actor())
            return Generated(opened.loop, tasks, not request.dry_run)


def _planned(
    store: LoopStore, loop_id: str, worker_context: WorkerContext, request: GenerateRequest
) -> tuple[Task, ...]:
    """By whoever can; each of them is out for this command at most once, so there is an end."""
    work = f"g-{secrets.token_hex(4)}"
    while True:
        loop = store.load(loop_id)
        try:
            return plan_tasks(
                loop,
                worker_context,
                request.agent or worker_context.agent_for_role(Role.PLANNER, "") or worker_context.agent_of(loop),
                request.most,
                work,
            )
        except HandedOver as change:
            with store.changing(loop_id) as opened:
                opened.apply(e.AgentChanged(takeover=change.takeover), actor())


def _way_on(loop: Loop, hold: Hold) -> str:
    """Nothing holds the loop: what moves on is the same command, once what was in its way is not."""
    name = loop.loop_id
    if hold.holder is Holder.QUOTA and hold.until is not None:
        return f"nothing was added; the same command again after {hold.until}, or with another agent: --agent NAME"
    if hold.holder is Holder.QUOTA:
        return "nothing was added; the same command again later, or with another agent: --agent NAME"
    if is_own_limit(hold):
        return (
            "nothing was added; the limit is the agent's own: raise it, "
            "or the same command with another agent: --agent NAME"
        )
    if hold.holder is Holder.BUDGET:
        return (
            f"nothing was added; give it more: `loopwright loop resume {name} --no-start --usd …`, or `--tokens …`, "
            "`--wall …`, `--turns …`; then the same command again"
        )
    if broke_down(hold) or hold.reason in reasons_for(Remedy.RETRY):
        return (
            f"nothing was added; `loopwright loop logs {name} --agent` shows what it printed; the same command again, "
            "or with another agent: --agent NAME"
        )
    if hold.reason in reasons_for(Remedy.SET_UP):
        return (
            "nothing was added; `loopwright doctor` says what it needs; then the same command again, "
            "or with another agent: --agent NAME"
        )
    return f"nothing was added; {lifted_by(hold, loop)}; then the same command again"

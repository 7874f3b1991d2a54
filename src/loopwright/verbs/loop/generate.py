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
from loopwright.stages.loop_worker import as_worker, no_choice, worker_context_for
from loopwright.stages.person import actor


class GenerateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The planning agent, the limit of tasks, and whether to add them."""

    agent: str = ""
    most: int | None = None
    dry_run: bool = False


class Generated(msgspec.Struct, frozen=True):
    """The proposed tasks, and whether they were added. The turn costs in both cases."""

    loop: Loop
    tasks: tuple[Task, ...]
    added: bool


def generate_tasks(context: Context, loop_id: str, request: GenerateRequest, cancellation: Cancellation) -> Generated:
    """Ask an agent once, within the budget of the loop and in a sandbox, while no process drives the loop."""
    store = loops_of(context)
    loop = store.load(loop_id)
    if not loop.description.strip() and not loop.tasks:
        raise LoopRefused(
            "nothing_to_do",
            f"loop {loop_id} has neither a description nor tasks to plan from",
            hint="create a loop with `loopwright loop new TITLE --description TEXT`",
        )
    with as_worker(context, loop_id):
        worker_context = worker_context_for(context, cancellation, Freezer(), no_choice)
        try:
            tasks = _planned(store, loop_id, worker_context, request)
        except HeldBack as held_back:
            hint = _next_command(store.load(loop_id), held_back.hold)
            raise LoopRefused(held_back.hold.code, held_back.hold.message, hint=hint) from held_back
        except Stopped as stop:
            raise Interrupted(str(stop), hint="no task was added; the cost of the turn is counted") from stop
        with store.changing(loop_id) as opened:
            if not request.dry_run:
                opened.apply(c.AddTasks(tasks=tasks), actor())
            return Generated(opened.loop, tasks, not request.dry_run)


def _planned(
    store: LoopStore, loop_id: str, worker_context: WorkerContext, request: GenerateRequest
) -> tuple[Task, ...]:
    """Ask the agents in turn until one answers. Each agent can fail once per command, so the loop ends."""
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


def _next_command(loop: Loop, hold: Hold) -> str:
    """What to do before the same command is repeated. The loop itself is not held."""
    name = loop.loop_id
    if hold.holder is Holder.QUOTA and hold.until is not None:
        return f"no task was added; repeat the command after {hold.until}, or use another agent: --agent NAME"
    if hold.holder is Holder.QUOTA:
        return "no task was added; repeat the command later, or use another agent: --agent NAME"
    if is_own_limit(hold):
        return "no task was added; raise the limit of the agent, or repeat the command with another agent: --agent NAME"
    if hold.holder is Holder.BUDGET:
        return (
            f"no task was added; raise the limit: `loopwright loop resume {name} --no-start --usd …`, or `--tokens …`, "
            "`--wall …`, `--turns …`; then repeat the command"
        )
    if broke_down(hold) or hold.reason in reasons_for(Remedy.RETRY):
        return (
            f"no task was added; read the output with `loopwright loop logs {name} --agent`; then repeat the command, "
            "or use another agent: --agent NAME"
        )
    if hold.reason in reasons_for(Remedy.SET_UP):
        return (
            "no task was added; `loopwright doctor` shows what the agent needs; then repeat the command, "
            "or use another agent: --agent NAME"
        )
    return f"no task was added; {lifted_by(hold, loop)}; then repeat the command"

"""Open agent turns of a workflow, and the cost of turns whose process died."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.agents.port import ReportsCost
from loopwright.errors import AgentFailed
from loopwright.kernel.locks import locked, try_lock
from loopwright.runner.meter import TurnCost, used_at_last
from loopwright.sandbox import place
from loopwright.stages.context import Context, workflows_of
from loopwright.workflow import events as e
from loopwright.workflow.model import Cost, OpenTurn, Workflow
from loopwright.workflow.stage import Stage
from loopwright.workflow.store import Opened


@contextmanager
def under_way(context: Context, turn: OpenTurn) -> Iterator[None]:
    """Lock an open turn during the block. A recorded open turn without a lock belongs to a dead process."""
    path = _lock_of(context, turn)
    with locked(path):
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def count_dead_turns(context: Context, workflow: Workflow) -> Workflow:
    """Record once the cost of every turn whose process died; return the workflow after that."""
    for turn in workflow.open_turns:
        path = _lock_of(context, turn)
        if (lock := try_lock(path)) is None:
            continue  # another process takes the turn
        try:
            cost = _cost_of(context, turn)
            with workflows_of(context).changing(workflow.slug) as opened:
                if turn in opened.workflow.open_turns:
                    count_cost(opened, cost, turn.stage)
                workflow = opened.workflow
        finally:
            path.unlink(missing_ok=True)
            lock.release()
    return workflow


def count_cost(opened: Opened, cost: TurnCost, stage: Stage) -> None:
    """Record the cost of a turn in the journal of the workflow, and close the turn."""
    entry = Cost(
        role=cost.role, agent=cost.agent, stage=stage, wall_s=cost.worked_s, usd=cost.usd, tokens=cost.tokens,
        is_computed=cost.is_computed, is_cut_off=cost.is_cut_off,
    )  # fmt: skip
    opened.apply(e.CostCounted(cost=entry, turn=cost.turn), "tool")


def _cost_of(context: Context, turn: OpenTurn) -> TurnCost:
    mailbox = Path(turn.mailbox)
    end_processes(context, mailbox)
    used = used_at_last(reporter_of(context, turn.agent), mailbox, context.layout.turn(turn.name))
    return TurnCost(turn=turn.name, agent=turn.agent, role=turn.role, is_cut_off=True).with_usage(used, None)


def _lock_of(context: Context, turn: OpenTurn) -> Path:
    return context.layout.lock(f"turn-{turn.name}")


def end_processes(context: Context, mailbox: Path) -> None:
    """Before the sandbox is cleared: end an agent that outlived the process that started it."""
    folder, root = mailbox.parent, context.configured_sandbox_root().resolve()
    if folder in (*place.leftovers(root, context.project), *place.unfinished(root, context.project)):
        place.end_processes(folder)


def reporter_of(context: Context, agent: str) -> ReportsCost | None:
    """The adapter that reports the cost of this agent; None if it reports none, or is unknown."""
    try:
        adapter = context.open_agent(agent)
    except AgentFailed:
        return None
    return adapter if isinstance(adapter, ReportsCost) else None

"""`loopwright loop task generate`: an agent proposes tasks; all of them are added, or none."""

from __future__ import annotations

import msgspec

from loopwright.errors import Interrupted, LoopRefused
from loopwright.kernel.process import Cancellation, Freezer, Stopped
from loopwright.loop import commands as c
from loopwright.loop.actions.asking import HeldBack
from loopwright.loop.actions.planning import plan_tasks
from loopwright.loop.model import Loop, Task
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor, store_of
from loopwright.verbs.loop.start import as_worker, desk_for, nobody


class GenerateWish(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted: by whom, how many at most, and whether to look only."""

    agent: str = ""
    most: int | None = None
    dry_run: bool = False


class Generated(msgspec.Struct, frozen=True):
    """What came of it; the turn is paid for also where nothing was added."""

    loop: Loop
    tasks: tuple[Task, ...]
    added: bool


def generate_tasks(context: Context, loop_id: str, wish: GenerateWish, cancellation: Cancellation) -> Generated:
    """Ask once, within the loop's budget and in a sandbox, while nobody drives the loop."""
    store = store_of(context)
    loop = store.load(loop_id)
    if not loop.description.strip() and not loop.tasks:
        raise LoopRefused(
            "nothing_to_do",
            f"the loop {loop_id} has neither a description nor a task to plan from",
            hint="make it with --description",
        )
    with as_worker(context, loop_id):
        desk = desk_for(context, cancellation, Freezer(), nobody)
        try:
            tasks = plan_tasks(store.load(loop_id), desk, wish.agent or loop.agent, wish.most)
        except HeldBack as back:
            hint = f"`loopwright loop show {loop_id}` says what it has cost; nothing was added"
            raise LoopRefused(back.hold.code, back.hold.message, hint=hint) from back
        except Stopped as stop:
            raise Interrupted(str(stop), hint="nothing was added; what the turn used is counted") from stop
        with store.changing(loop_id) as opened:
            if not wish.dry_run:
                opened.apply(c.AddTasks(tasks=tasks), actor())
            return Generated(opened.loop, tasks, not wish.dry_run)

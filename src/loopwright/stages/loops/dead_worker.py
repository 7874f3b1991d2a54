"""What a loop's worker that died left behind: processes, a turn that nobody paid for, a sandbox."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.loop import events as e
from loopwright.loop.model import ErrorLine
from loopwright.loop.paying import count_open_turn
from loopwright.loop.store import LoopStore
from loopwright.sandbox import place
from loopwright.sandbox.model import SandboxFolders
from loopwright.stages.context import Context
from loopwright.stages.dead_turn import end_processes, reporter_of
from loopwright.stages.recover import recover


def settle_after_a_dead_worker(context: Context, loop_id: str, actor: str) -> None:
    """End what it left running, count what that used, clear its sandbox; the caller holds the worker's lock."""
    _end_its_turn(context, loop_id, actor)
    recover(context)


def _end_its_turn(context: Context, loop_id: str, actor: str) -> None:
    """Before its sandbox is cleared: an agent that outlived its worker is ended, and what it used is counted."""
    store = LoopStore(context.layout, context.clock)
    turn = store.load(loop_id).open_turn
    if turn is None:
        return
    mailbox = Path(turn.mailbox)
    end_processes(context, mailbox)
    if turn.is_by_hand and place.is_unfinished(mailbox.parent):
        _say_what_is_kept(store, context, loop_id, mailbox.parent, actor)
    count_open_turn(store, loop_id, reporter_of(context, turn.agent), actor, context.tools().redactor)


def _say_what_is_kept(store: LoopStore, context: Context, loop_id: str, folder: Path, actor: str) -> None:
    repo = shown(SandboxFolders(folder).repo)
    said = f"the worker died before the turn was handed in; what was done in {repo} is kept there"
    error = ErrorLine(action="worker", message=said, timestamp=stamp(context.clock()))
    with store.changing(loop_id) as opened:
        opened.apply(e.ErrorNoted(error=error), actor)

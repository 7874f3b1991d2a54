"""`loopwright loop turn`: a turn of a loop that is taken by hand: show it, hand it in, or give it up.

Handing in is a claim, not an approval: the author of the work may do it, even in the session of an agent.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from loopwright.agents.interactive.open_turn import (
    MOST_BYTES,
    GivenUp,
    HandedIn,
    OpenedTurn,
    TurnDone,
    opened_in,
    opened_since,
    submit,
)
from loopwright.agents.mailbox import SELF_REPORT, Checks, read_checks, write_file
from loopwright.errors import LoopRefused, WrongUsage
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import read_head, shown
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.loop import events as e
from loopwright.loop.guidance import way_on
from loopwright.loop.model import Completed, Loop, Running, Task
from loopwright.loop.projection import status_of
from loopwright.loop.sentences import hold_text
from loopwright.sandbox import place
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_control import has_worker
from loopwright.stages.person import actor
from loopwright.stages.upkeep.needed import left_by_hand

NOTHING_OPEN = "no_open_turn"
_LOOK_EVERY_S = 0.2
# A worker that restarts is absent for an instant.
_LOOKS_WITHOUT_WORKER = 5
_MOST_BYTES = 1 << 20
_LONGEST_REASON = 4000


class ManualTurn(msgspec.Struct, frozen=True, kw_only=True):
    """An open turn, with everything that its author needs."""

    loop: Loop
    mailbox: Path
    opened: OpenedTurn
    # From the loop, not from the mailbox: the author can write to the mailbox.
    task: Task | None
    checks: Checks
    prompt: str
    opened_at: str
    until: str
    # Sandboxes of earlier turns of this loop that were not handed in.
    kept: tuple[Path, ...]

    @property
    def holds(self) -> tuple[str, ...]:
        """Why the loop is held; empty if it is not held."""
        return tuple(hold_text(hold) for hold in self.loop.holds)

    @property
    def done(self) -> str:
        """The command that hands the turn in."""
        answer = " --answer FILE" if self.opened.schema is not None else ""
        return f"loopwright loop turn {self.loop.loop_id} --done{answer}"

    def document(self) -> dict[str, Any]:
        """The turn for programs."""
        return {
            "loop_id": self.loop.loop_id,
            "title": self.loop.title,
            "workflow": self.loop.workflow,
            "action": self.loop.under_way.action if self.loop.under_way is not None else None,
            "task_id": self.task.id if self.task is not None else None,
            "task": self.task.description if self.task is not None else None,
            **msgspec.to_builtins(self.opened),
            "state": "held" if self.holds else "open",
            "holds": list(self.holds),
            "mailbox": str(self.mailbox),
            "prompt_text": self.prompt,
            "checks": msgspec.to_builtins(self.checks.shown),
            "hidden_checks": self.checks.hidden,
            "opened_at": self.opened_at,
            "until": self.until,
            "decided": [
                {"id": asked.id, "question": asked.question, "answer": asked.answer} for asked in self.loop.decisions
            ],
            "kept": [str(path) for path in self.kept],
            "next": self.done,
        }


def open_turn(context: Context, loop_id: str) -> ManualTurn:
    """The open turn; `LoopRefused` says why no turn is open, and names the next command."""
    loop = loops_of(context).load(loop_id)
    turn = _manual_turn(context, loop)
    if turn is None:
        raise _no_open_turn(context, loop)
    return turn


def await_turn(context: Context, loop_id: str, cancellation: Cancellation) -> ManualTurn | None:
    """Wait for an open turn; `LoopRefused` if none can follow, None if the waiting is cancelled."""
    missing = 0
    while True:
        loop = loops_of(context).load(loop_id)
        if (turn := _manual_turn(context, loop)) is not None:
            return turn
        missing = 0 if has_worker(context, loop_id) else missing + 1
        if not isinstance(loop.phase, Running) or missing >= _LOOKS_WITHOUT_WORKER:
            raise _no_open_turn(context, loop)
        if wait_for_request(cancellation, _LOOK_EVERY_S):
            return None


def hand_in(context: Context, loop_id: str, answer: bytes, report: bytes | None = None) -> ManualTurn:
    """Hand the open turn in: the worker reads the changes, and the checks judge them."""
    turn = open_turn(context, loop_id)
    text = _as_text("the answer", answer)
    _require_short("the answer", codec.to_json(TurnDone(text)), MOST_BYTES)
    if turn.opened.schema is not None:
        _require_json("the answer", text, f"use --answer FILE; the JSON Schema is in {turn.opened.schema}")
    if report is not None:
        _require_short("the report", report, _MOST_BYTES)
        _require_json("the report", report, "use the fields of reflection-input.json: confidence, most_likely_wrong, …")
        write_file(turn.mailbox, SELF_REPORT, report)
    return _end(context, turn, TurnDone(text), f"handed in by {actor()}")


def give_up(context: Context, loop_id: str, why: str) -> ManualTurn:
    """Give the open turn up: it counts as failed, with this reason; the changes in its folder are discarded."""
    reason = " ".join(_as_text("the reason", os.fsencode(why)).split())
    if not reason:
        raise WrongUsage("giving up needs a reason", hint="describe the obstacle: --give-up WHY")
    if len(reason) > _LONGEST_REASON:
        raise WrongUsage(
            f"the reason has more than {_LONGEST_REASON} characters", hint="shorten it; nothing was written"
        )
    return _end(context, open_turn(context, loop_id), GivenUp(reason), f"given up by {actor()}")


def only_open_mailbox(context: Context) -> Path | None:
    """The mailbox of the only turn in this workspace that is taken by hand; None if there is none, or more than one."""
    store = loops_of(context)
    # Only loops with a worker are read: there may be a thousand old loops.
    driven = (store.load(name) for name in store.ids() if has_worker(context, name))
    turns = [turn for loop in driven if (turn := _manual_turn(context, loop)) is not None]
    return turns[0].mailbox if len(turns) == 1 else None


def _end(context: Context, turn: ManualTurn, outcome: HandedIn, note: str) -> ManualTurn:
    if not submit(turn.mailbox, outcome):
        raise _no_open_turn(context, turn.loop)
    # Records the person, whom the mailbox does not name.
    with loops_of(context).changing(turn.loop.loop_id) as opened:
        opened.apply(e.ProgressNoted(text=note, by=turn.opened.role), actor())
    return turn


def _manual_turn(context: Context, loop: Loop) -> ManualTurn | None:
    turn = loop.open_turn
    if turn is None or not turn.is_by_hand:
        return None
    mailbox = Path(turn.mailbox)
    opened, since = opened_in(mailbox), opened_since(mailbox)
    # The lock of the sandbox decides: after the death of a worker its turn is over, even if the log shows it as open.
    if opened is None or since is None or not place.is_in_use(mailbox.parent):
        return None
    return ManualTurn(
        loop=loop,
        mailbox=mailbox,
        opened=opened,
        task=loop.task(turn.task_id) if turn.task_id is not None else None,
        checks=read_checks(mailbox),
        prompt=_text(Path(opened.prompt)),
        opened_at=stamp(datetime.fromtimestamp(since, UTC)),
        until=stamp(datetime.fromtimestamp(since + max(0.0, opened.seconds), UTC)),
        kept=_kept(context, loop),
    )


def _kept(context: Context, loop: Loop) -> tuple[Path, ...]:
    return tuple(folder for folder, owner in left_by_hand(context).items() if owner == loop.loop_id)


def _no_open_turn(context: Context, loop: Loop) -> LoopRefused:
    """Why no turn is open, which folders of earlier turns are kept, and the next command."""
    name, turn, driven = loop.loop_id, loop.open_turn, has_worker(context, loop.loop_id)
    if not isinstance(loop.phase, Running):
        why = f"the loop is {status_of(loop)}"
        hints = way_on(loop, has_worker=driven)
        hint = hints[0] if hints else f"`loopwright loop show {name}` shows the loop"
        hint = hint if "`" in hint or not hints else f"`{hint}`"
        if loop.is_over and loop.workflow is not None:
            # Whether the loop is completed is for the build to say, which may not have said it yet.
            why = "all tasks are worked on" if isinstance(loop.phase, Completed) else why
            hint = f"`loopwright status {loop.workflow}` shows the result"
    elif not driven:
        why, hint = "no process drives the loop", f"`loopwright loop start {name} --detach` opens the next turn"
    elif turn is not None and not turn.is_by_hand:
        why, hint = f"agent {turn.agent} takes the current turn", f"`loopwright loop watch {name}` follows it"
    else:
        why, hint = "Loopwright runs checks", f"`loopwright loop turn {name} --wait` waits for the next turn"
    kept = [f"earlier work is kept in {shown(folder)}" for folder in _kept(context, loop)]
    return LoopRefused(NOTHING_OPEN, "; ".join((f"no turn of {name} is open", why, *kept)), hint=hint)


def _as_text(what: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise WrongUsage(f"{what} is not UTF-8; nothing was handed in", hint="save it as UTF-8") from problem


def _require_short(what: str, data: bytes, most: int) -> None:
    if len(data) > most:
        raise WrongUsage(f"{what} has more than {most:,} bytes; nothing was handed in", hint="shorten it")


def _require_json(what: str, text: str | bytes, hint: str) -> None:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise WrongUsage(f"{what} is not JSON; nothing was handed in", hint=hint) from problem


def _text(path: Path) -> str:
    try:
        return read_head(path, _MOST_BYTES)[0].decode("utf-8", "replace")
    except OSError:
        return ""

"""`loopwright loop turn`: the turn of a loop that somebody takes by hand: found, handed in, or given up.

Handing in is a claim and no consent: whoever did the work may do it, an agent's session too.
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
from loopwright.loop.model import Held, Loop, Running, Task
from loopwright.loop.projection import status_of
from loopwright.loop.sentences import hold_in_words
from loopwright.sandbox import place
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_control import has_worker
from loopwright.stages.person import actor
from loopwright.stages.upkeep.needed import left_by_hand

NOTHING_OPEN = "no_open_turn"
_LOOK_EVERY_S = 0.2
# A worker that leaves and comes back is gone for an instant.
_LOOKS_WITHOUT_WORKER = 5
_MOST_BYTES = 1 << 20
_LONGEST_REASON = 4000


class ManualTurn(msgspec.Struct, frozen=True, kw_only=True):
    """An open turn, with all that whoever takes it needs."""

    loop: Loop
    mailbox: Path
    opened: OpenedTurn
    # Not from the mailbox, which whoever works there can write: what is their own is a claim, this is the loop's.
    task: Task | None
    checks: Checks
    prompt: str
    opened_at: str
    until: str
    # Sandboxes of earlier turns of this loop that were not handed in.
    kept: tuple[Path, ...]

    @property
    def holds(self) -> tuple[str, ...]:
        """Why the loop is held while it is open; nothing where it is not."""
        return tuple(hold_in_words(hold) for hold in self.loop.phase.holds) if isinstance(self.loop.phase, Held) else ()

    @property
    def done(self) -> str:
        """The command that hands it in."""
        answer = " --answer FILE" if self.opened.schema is not None else ""
        return f"loopwright loop turn {self.loop.loop_id} --done{answer}"

    def document(self) -> dict[str, Any]:
        """For programs."""
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
            "decided": [{"id": one.id, "question": one.question, "answer": one.answer} for one in self.loop.decisions],
            "kept": [str(path) for path in self.kept],
            "next": self.done,
        }


def open_turn(context: Context, loop_id: str) -> ManualTurn:
    """The turn that waits for somebody; `LoopRefused` says why there is none, and what moves on."""
    loop = loops_of(context).load(loop_id)
    found = _by_hand(context, loop)
    if found is None:
        raise _nothing_open(context, loop)
    return found


def await_turn(context: Context, loop_id: str, cancellation: Cancellation) -> ManualTurn | None:
    """The same, as soon as there is one; `LoopRefused` when none can come, None when somebody stops the waiting."""
    missing = 0
    while True:
        loop = loops_of(context).load(loop_id)
        if (found := _by_hand(context, loop)) is not None:
            return found
        missing = 0 if has_worker(context, loop_id) else missing + 1
        if not isinstance(loop.phase, Running) or missing >= _LOOKS_WITHOUT_WORKER:
            raise _nothing_open(context, loop)
        if wait_for_request(cancellation, _LOOK_EVERY_S):
            return None


def hand_in(context: Context, loop_id: str, said: bytes, report: bytes | None = None) -> ManualTurn:
    """Whoever did it says that it is done; the worker reads what changed, and the checks judge it."""
    found = open_turn(context, loop_id)
    answer = _as_text("the answer", said)
    _require_short("the answer", codec.to_json(TurnDone(answer)), MOST_BYTES)
    if found.opened.schema is not None:
        _require_json("the answer", answer, f"its JSON Schema is in {found.opened.schema}: --answer FILE")
    if report is not None:
        _require_short("the report", report, _MOST_BYTES)
        _require_json("the report", report, "as reflection-input.json: confidence, most_likely_wrong, …")
        write_file(found.mailbox, SELF_REPORT, report)
    return _end(context, found, TurnDone(answer), f"handed in by {actor()}")


def give_up(context: Context, loop_id: str, why: str) -> ManualTurn:
    """It will not be done: a failed try, with its reason; what is in the folder is thrown away."""
    words = " ".join(_as_text("the reason", os.fsencode(why)).split())
    if not words:
        raise WrongUsage("giving up needs a reason", hint="say in a sentence what is in the way")
    if len(words) > _LONGEST_REASON:
        raise WrongUsage(
            f"the reason has more than {_LONGEST_REASON} characters", hint="shorten it; nothing was written"
        )
    return _end(context, open_turn(context, loop_id), GivenUp(words), f"given up by {actor()}")


def only_open_mailbox(context: Context) -> Path | None:
    """The mailbox of the one turn in this workspace that somebody takes by hand; None where it is not one."""
    store = loops_of(context)
    # Only what somebody drives: a thousand loops of old need not be read for it.
    driven = (store.load(name) for name in store.ids() if has_worker(context, name))
    found = [one for loop in driven if (one := _by_hand(context, loop)) is not None]
    return found[0].mailbox if len(found) == 1 else None


def _end(context: Context, found: ManualTurn, what: HandedIn, said: str) -> ManualTurn:
    if not submit(found.mailbox, what):
        raise _nothing_open(context, found.loop)
    # Who it was is on record: the mailbox does not say.
    with loops_of(context).changing(found.loop.loop_id) as opened:
        opened.apply(e.ProgressNoted(text=said, by=found.opened.role), actor())
    return found


def _by_hand(context: Context, loop: Loop) -> ManualTurn | None:
    turn = loop.open_turn
    if turn is None or not turn.is_by_hand:
        return None
    mailbox = Path(turn.mailbox)
    opened, since = opened_in(mailbox), opened_since(mailbox)
    # The lock of its sandbox: of a worker that died the turn is over, whatever the log says.
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


def _nothing_open(context: Context, loop: Loop) -> LoopRefused:
    """Why there is none, what of earlier ones is kept, and the command that moves on."""
    name, turn, driven = loop.loop_id, loop.open_turn, has_worker(context, loop.loop_id)
    if not isinstance(loop.phase, Running):
        why = f"the loop is {status_of(loop.phase)}"
        ways = way_on(loop, has_worker=driven)
        hint = ways[0] if ways else f"`loopwright loop show {name}` says how it stands"
        hint = hint if "`" in hint or not ways else f"`{hint}`"
        if loop.is_over and loop.workflow is not None:
            hint = f"`loopwright status {loop.workflow}` says what came of it"
    elif not driven:
        why, hint = "nobody drives the loop", f"`loopwright loop start {name} --detach` opens the next turn"
    elif turn is not None and not turn.is_by_hand:
        why, hint = f"{turn.agent} takes the turn, by itself", f"`loopwright loop watch {name}` follows it"
    else:
        why, hint = "the tool is at work", f"`loopwright loop turn {name} --wait` waits for the next one"
    kept = [f"what was done in {shown(folder)} is kept there" for folder in _kept(context, loop)]
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

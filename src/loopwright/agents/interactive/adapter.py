"""Manual work as an agent: the adapter puts the turn into the mailbox and waits until it is handed in."""

from __future__ import annotations

import json

from loopwright.agents.interactive.open_turn import BELL, HANDED_IN, OPENED, OpenedTurn, prepare_mailbox, read_handed_in
from loopwright.agents.mailbox import FOLDER, MAILBOX, SELF_REPORT, VARIABLE
from loopwright.agents.port import Answer, NoAnswer, Reason, Starter, Turn
from loopwright.agents.private_files import write_private_file
from loopwright.agents.program_turn import PROMPT
from loopwright.kernel import codec
from loopwright.kernel.files import clear_path

KIND = "interactive"
_SCHEMA = "schema.json"
_DAY_S = 24 * 3600.0
# A pipe that is open at both ends does not block when it is opened, and keeps what was written before we listened: no
# answer can be missed, and nothing has to be polled for hours.
_WAIT = 'exec 3<> "$1" || exit 1; while [ ! -e "$0" ]; do read -r _ <&3 || exit 1; done'


class InteractiveAgent:
    """Opens a turn and waits until a person hands it in."""

    # A person may come back to the work on the next day.
    patience_s = _DAY_S

    def __init__(self, name: str) -> None:
        self.name = name

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Open the turn, wait until it is handed in, and read the answer."""
        box = turn.mailbox
        prepare_mailbox(box)
        write_private_file(box / PROMPT, _with_paths(turn).encode())
        if turn.schema is not None:
            write_private_file(box / _SCHEMA, json.dumps(turn.schema, ensure_ascii=False, indent=2).encode())
        write_private_file(box / OPENED, codec.to_json(_opened(turn)))  # last: it refers to the other files
        command = ("sh", "-c", _WAIT, str(box / HANDED_IN), str(box / BELL))
        try:
            ran = start(command, env={}, timeout_s=turn.timeout_s)
        finally:
            clear_path(box / OPENED)
        if ran.timed_out:
            return NoAnswer(Reason.HUNG, f"the turn was not handed in within {turn.timeout_s:g} s")
        if ran.exit_code != 0:
            return NoAnswer(Reason.CRASHED, f"waiting for the turn ended with exit code {ran.exit_code}")
        return read_handed_in(box, ran.duration_s)


def _opened(turn: Turn) -> OpenedTurn:
    return OpenedTurn(
        role=turn.role.value,
        folder=str(turn.folder),
        prompt=str(turn.mailbox / PROMPT),
        schema=str(turn.mailbox / _SCHEMA) if turn.schema is not None else None,
        may_write=turn.may_write,
        context=str(turn.context) if turn.context is not None else None,
        seconds=min(limit for limit in (turn.timeout_s, turn.budget.wall_s) if limit is not None),
        decisions=str(turn.mailbox / FOLDER),
        self_report=str(turn.mailbox / SELF_REPORT),
    )


def _with_paths(turn: Turn) -> str:
    """The prompt with paths in place of our variables, which a shell that we did not start does not have."""
    text = f"{turn.prompt}\n\n{turn.schema_text}\n" if turn.nonce else turn.prompt
    for name, path in ((MAILBOX, turn.mailbox), (VARIABLE, turn.mailbox / FOLDER)):
        text = text.replace(f"${name}", str(path))
    return text

"""Any shell command as an agent, and the shell itself as an agent without a model."""

from __future__ import annotations

import json
from pathlib import Path

from loopwright.agents.port import Answer, NoAnswer, Reason, Starter, Turn, Usage
from loopwright.agents.private_files import write_private_file
from loopwright.agents.program_turn import NOT_FOUND, PROMPT
from loopwright.agents.structured import with_schema_in_prompt
from loopwright.agents.usage import FILE, VARIABLE, forget_usage, read_usage
from loopwright.errors import ToolMissing
from loopwright.kernel.files import clear_path, read_head

_MOST_BYTES = 8 << 20
_SCHEMA = "schema.json"


class CommandAgent:
    """Runs `command`, which reads $LOOPWRIGHT_PROMPT and writes $LOOPWRIGHT_ANSWER; both are paths of files.

    $LOOPWRIGHT_SCHEMA is the path of the answer's JSON Schema, if there is one; the prompt contains the schema as well.
    A verdict must contain $LOOPWRIGHT_NONCE: the answer file is not a protocol of its own, because a command usually
    copies the text of a model into it, and every process that the command starts can write it.
    $LOOPWRIGHT_CONTEXT is the manifest of what to read; $LOOPWRIGHT_TURN_USD, _TOKENS and _WALL_S are the budget left;
    $LOOPWRIGHT_WEB says whether the web is allowed.
    The command may append its usage to $LOOPWRIGHT_USAGE, as lines of JSON: {"usd": 0.01, "tokens": 1200}.
    """

    def __init__(self, name: str, command: str) -> None:
        self.name = name
        self._command = command

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Hand over the prompt, run the command, read the answer."""
        prompt, answer = turn.mailbox / PROMPT, turn.mailbox / "answer"
        # A command that ignores the schema's variable finds the schema in the prompt.
        write_private_file(prompt, with_schema_in_prompt(turn).prompt.encode())
        schema = turn.mailbox / _SCHEMA
        if turn.schema is not None:
            write_private_file(schema, json.dumps(turn.schema, ensure_ascii=False, indent=2).encode())
        clear_path(answer)  # an answer of an earlier turn is not this turn's answer
        forget_usage(turn.mailbox)
        env = {
            "LOOPWRIGHT_PROMPT": str(prompt),
            "LOOPWRIGHT_ANSWER": str(answer),
            VARIABLE: str(turn.mailbox / FILE),
            **({"LOOPWRIGHT_SCHEMA": str(schema)} if turn.schema is not None else {}),
            # For a program that writes the verdict itself; a model finds the nonce in the prompt.
            **({"LOOPWRIGHT_NONCE": turn.nonce} if turn.nonce else {}),
            # The command may pass this on: many agents can switch their web tools off.
            "LOOPWRIGHT_WEB": "allowed" if turn.may_use_web else "denied",
        }
        try:
            ran = start(("sh", "-c", self._command), env=env, timeout_s=turn.timeout_s)
        except ToolMissing as problem:
            return NoAnswer(Reason.AGENT_MISSING, problem.message)
        if ran.timed_out:
            return NoAnswer(Reason.HUNG, f"no answer within {turn.timeout_s:g} s")
        if ran.exit_code == NOT_FOUND:
            return NoAnswer(Reason.AGENT_MISSING, f"the command '{self._command}' was not found")
        if ran.exit_code != 0:
            detail = f": {ran.last_line}" if ran.last_line else ""
            return NoAnswer(Reason.CRASHED, f"the command exited with {ran.exit_code}{detail}")
        return _read(answer, ran.duration_s)

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the usage file says."""
        return read_usage(mailbox / FILE, is_over=is_over)


class ShellAgent:
    """Runs the prompt as a script: no model, no cost."""

    name = "bash"
    is_scripted = True

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Run the prompt."""
        ran = start(("bash", "-c", turn.prompt), env={}, timeout_s=turn.timeout_s)
        if ran.timed_out:
            return NoAnswer(Reason.HUNG, f"not done within {turn.timeout_s:g} s")
        if ran.exit_code != 0:
            return NoAnswer(Reason.CRASHED, f"it exited with {ran.exit_code}")
        return Answer("", ran.duration_s, tokens=0, cost_usd=0.0)


def _read(path: Path, duration_s: float) -> Answer | NoAnswer:
    try:
        data, is_longer = read_head(path, _MOST_BYTES)
    except FileNotFoundError:
        return NoAnswer(Reason.INVALID_ANSWER, "the command ended without writing its answer file")
    except OSError:
        return NoAnswer(Reason.INVALID_ANSWER, "the answer is not a regular file")
    if is_longer:
        return NoAnswer(Reason.INVALID_ANSWER, f"the answer has more than {_MOST_BYTES:,} bytes")
    try:
        return Answer(data.decode("utf-8"), duration_s)
    except UnicodeDecodeError:
        return NoAnswer(Reason.INVALID_ANSWER, "the answer is not UTF-8")

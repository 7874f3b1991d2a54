"""An agent that replays turns from a file: the same every time, no model, no network. Most tests use it.

A turns file is YAML: `turns:` with a list of turns. A turn has `role`, `expect` (text that the prompt must contain),
`run` (a shell script for the sandbox; usage that it appends to $LOOPWRIGHT_USAGE counts while it runs), `usage` (lines
for that file, written before the script runs), `tokens` and `usd` (the total cost of the turn), and either `answer` or
`fail` (a `Reason`; `reset_in_s` is the number of seconds until a rate limit ends). `session` is the agent's session;
the script finds the session to resume in $LOOPWRIGHT_SESSION. An answer that is nothing but JSON counts as a verdict.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import msgspec

from loopwright.agents.port import Answer, NoAnswer, Reason, Role, Starter, Turn, Usage
from loopwright.agents.private_files import write_private_file
from loopwright.agents.usage import FILE, VARIABLE, forget_usage, read_usage
from loopwright.errors import SettingsInvalid
from loopwright.kernel.clock import Clock, utc_now
from loopwright.kernel.files import shown
from loopwright.kernel.yaml_nodes import Mapping, Node, Scalar, Sequence, YamlProblem, read_nodes

_KEYS = {"role", "expect", "run", "answer", "fail", "tokens", "usd", "usage", "reset_in_s", "session"}


class WrittenTurn(msgspec.Struct, frozen=True):
    """One turn of the file."""

    role: Role
    expect: str
    answer: str
    fail: Reason | None
    run: str = ""
    tokens: int | None = None
    usd: float | None = None
    usage: str = ""
    reset_in_s: float | None = None
    session: str | None = None


class ScriptedAgent:
    """Replays the turns of each role in order."""

    is_scripted = True

    def __init__(self, name: str, turns: tuple[WrittenTurn, ...], clock: Clock = utc_now) -> None:
        self.name = name
        self._clock = clock
        self._turns = turns
        self._played: dict[Role, int] = {}

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """The next turn of this role in the file; if none is left, the turn fails."""
        of_role = [candidate for candidate in self._turns if candidate.role is turn.role]
        # Work that continues in another process counts its turns. Otherwise this object counts.
        number = self._played.get(turn.role, 0) if turn.number is None else turn.number
        if number >= len(of_role):
            return NoAnswer(Reason.CRASHED, f"no turns left for the role {turn.role}")
        written = of_role[number]
        self._played[turn.role] = number + 1
        usage = turn.mailbox / FILE
        forget_usage(turn.mailbox)
        if written.usage:
            write_private_file(usage, written.usage.encode())
        if written.fail is not None:
            after = written.reset_in_s
            reset_at = None if after is None else self._clock() + timedelta(seconds=after)
            return NoAnswer(written.fail, "as written", reset_at, written.session)
        if written.expect not in turn.prompt:
            return NoAnswer(Reason.REFUSED, f"the prompt does not contain '{written.expect}'")
        duration_s = 0.0
        if written.run:
            env = {VARIABLE: str(usage), "LOOPWRIGHT_SESSION": turn.session or ""}
            ran = start(("sh", "-c", written.run), env=env, timeout_s=turn.timeout_s)
            if ran.timed_out:
                return NoAnswer(Reason.HUNG, f"no answer within {turn.timeout_s:g} s")
            if ran.exit_code != 0:
                return NoAnswer(Reason.CRASHED, f"the script exited with {ran.exit_code}", None, written.session)
            duration_s = ran.duration_s
        session = written.session or turn.session
        # The answer comes from the turns file, which no process of the turn can write: it is this agent's protocol.
        return Answer(written.answer, duration_s, written.tokens, written.usd, session, is_structured=True)

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the usage file says."""
        return read_usage(mailbox / FILE, is_over=is_over)


def read_turns(path: Path) -> tuple[WrittenTurn, ...]:
    """The turns in a file."""
    try:
        root = read_nodes(path.read_bytes())
    except OSError as problem:
        raise _invalid(path, 0, problem.strerror or "the file can't be read") from problem
    except YamlProblem as problem:
        raise _invalid(path, problem.line, problem.message) from problem
    if not isinstance(root, Mapping) or [key.text for key, _ in root.entries] != ["turns"]:
        raise _invalid(path, root.line, "the file must have exactly one key, turns")
    turns = root.entries[0][1]
    if not isinstance(turns, Sequence):
        raise _invalid(path, turns.line, "turns must be a list")
    return tuple(_turn(path, item) for item in turns.items)


def _turn(path: Path, node: Node) -> WrittenTurn:
    if not isinstance(node, Mapping):
        raise _invalid(path, node.line, "a turn must be a mapping")
    fields: dict[str, str] = {}
    for key, value in node.entries:
        if key.text not in _KEYS or not isinstance(value, Scalar):
            allowed = ", ".join(sorted(_KEYS))
            raise _invalid(path, key.line, f"'{key.text}' is not one of {allowed}, or its value is not text")
        fields[key.text] = value.text
    try:
        role = Role(fields.get("role", ""))
        fail = Reason(fields["fail"]) if "fail" in fields else None
        tokens = int(fields["tokens"]) if "tokens" in fields else None
        usd = float(fields["usd"]) if "usd" in fields else None
        reset_in_s = float(fields["reset_in_s"]) if "reset_in_s" in fields else None
    except ValueError as problem:
        raise _invalid(path, node.line, str(problem)) from problem
    expect, answer, run, usage = (fields.get(name, "") for name in ("expect", "answer", "run", "usage"))
    return WrittenTurn(role, expect, answer, fail, run, tokens, usd, usage, reset_in_s, fields.get("session"))


def _invalid(path: Path, line: int, reason: str) -> SettingsInvalid:
    return SettingsInvalid(f"{shown(path)}:{line}: {reason}", hint="correct the turns file of the scripted agent")

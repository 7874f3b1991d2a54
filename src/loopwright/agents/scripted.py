"""An agent that plays written turns: the same every time, no model, no network. The agent of every test.

A turns file is YAML: `turns:` with a list of `role`, `expect` (text that the prompt must hold), and either
`answer` or `fail` (one of the contract's reasons).
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.agents.port import Answer, NoAnswer, Reason, Role, Starter, Turn
from loopwright.errors import SettingsInvalid
from loopwright.kernel.files import shown
from loopwright.kernel.yaml_nodes import Mapping, Node, Scalar, Sequence, YamlProblem, read_nodes

_KEYS = {"role", "expect", "answer", "fail"}


class WrittenTurn(msgspec.Struct, frozen=True):
    """One turn as it was written."""

    role: Role
    expect: str
    answer: str
    fail: Reason | None


class ScriptedAgent:
    """Plays the turns of its role in their order, one after the other."""

    def __init__(self, name: str, turns: tuple[WrittenTurn, ...]) -> None:
        self.name = name
        self._left = list(turns)

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """The next written turn of this role; that none is left is a failure, not a default."""
        del start
        written = next((candidate for candidate in self._left if candidate.role is turn.role), None)
        if written is None:
            return NoAnswer(Reason.CRASHED, f"no turn is left for the role {turn.role}")
        self._left.remove(written)
        if written.fail is not None:
            return NoAnswer(written.fail, "as written")
        if written.expect not in turn.prompt:
            return NoAnswer(Reason.REFUSED, f"the prompt does not hold '{written.expect}'")
        return Answer(written.answer, 0.0)


def read_turns(path: Path) -> tuple[WrittenTurn, ...]:
    """The turns in a file."""
    try:
        root = read_nodes(path.read_bytes())
    except OSError as problem:
        raise _invalid(path, 0, problem.strerror or "it can't be read") from problem
    except YamlProblem as problem:
        raise _invalid(path, problem.line, problem.message) from problem
    if not isinstance(root, Mapping) or [key.text for key, _ in root.entries] != ["turns"]:
        raise _invalid(path, root.line, "it needs one key, turns")
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
            raise _invalid(path, key.line, f"'{key.text}' is not one of {', '.join(sorted(_KEYS))}, or not text")
        fields[key.text] = value.text
    try:
        role = Role(fields.get("role", ""))
        fail = Reason(fields["fail"]) if "fail" in fields else None
    except ValueError as problem:
        raise _invalid(path, node.line, str(problem)) from problem
    return WrittenTurn(role, fields.get("expect", ""), fields.get("answer", ""), fail)


def _invalid(path: Path, line: int, reason: str) -> SettingsInvalid:
    return SettingsInvalid(f"{shown(path)}:{line}: {reason}", hint="correct the turns file of the scripted agent")

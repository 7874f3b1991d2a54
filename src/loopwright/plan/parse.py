"""Reads a plan file. Reports all problems together, each with its line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeVar

from loopwright.errors import InvalidPlan, MissingPlan
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import shown
from loopwright.kernel.ids import is_identifier
from loopwright.kernel.yaml_nodes import MOST_BYTES, Mapping, Node, Scalar, Sequence, YamlProblem, read_nodes
from loopwright.plan.model import (
    CommandPasses,
    Declared,
    ExitCodeIs,
    FileContains,
    FileExists,
    Plan,
    StdoutContains,
    Step,
    Verification,
)

_STEP_KEYS = ("id", "action", "commands", "cwd", "verification", "depends_on", "timeout_s", "env", "network")
_CHECK_KEYS = ("command", "file_exists", "file_contains", "stdout_contains", "exit_code")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_TIMEOUT_S = 7 * 24 * 3600
_T = TypeVar("_T")


def read_plan_file(path: Path) -> bytes:
    """The bytes of a plan file; raises `MissingPlan` or `InvalidPlan`."""
    try:
        if path.is_dir():
            raise InvalidPlan(f"{shown(path)} is a folder, not a plan", hint="name the plan file with --plan")
        if not path.is_file() and path.exists():
            raise InvalidPlan(f"{shown(path)} is not a regular file", hint="name the plan file with --plan")
        if path.stat().st_size > MOST_BYTES:
            raise InvalidPlan(
                f"{shown(path)} has {path.stat().st_size:,} bytes; the limit for a plan is {MOST_BYTES:,}",
                hint="move data into project files, and let the plan's commands read those files",
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise MissingPlan(
            f"there is no plan at {shown(path)}",
            hint="run `loopwright init`, or name a plan with --plan; then run `loopwright unlatch` and try again",
        ) from None
    except OSError as problem:
        raise InvalidPlan(
            f"can't read {shown(path)}: {problem.strerror}", hint="check the file's permissions"
        ) from problem


def parse_plan(data: bytes, name: str) -> Plan:
    """A plan from bytes; `InvalidPlan` lists every problem."""
    try:
        root = read_nodes(data)
    except YamlProblem as problem:
        raise _invalid(name, [(problem.line, problem.message)]) from problem
    reader = _Reader()
    plan = reader.plan(root, sha256(data))
    if reader.problems or plan is None:
        raise _invalid(name, reader.problems)
    return plan


def _invalid(name: str, problems: Iterable[tuple[int, str]]) -> InvalidPlan:
    lines = [f"{name}:{line}: {message}" for line, message in sorted(set(problems))]
    more = f"\n  … and {len(lines) - 20} more" if len(lines) > 20 else ""
    return InvalidPlan(
        "the plan can't be run:\n  " + "\n  ".join(lines[:20]) + more,
        hint=f"correct {name}, then `loopwright unlatch` and `loopwright run`",
    )


class _Reader:
    """Turns nodes into a plan, and collects problems."""

    def __init__(self) -> None:
        self.problems: list[tuple[int, str]] = []

    def plan(self, root: Node, source_hash: str) -> Plan | None:
        top = self._mapping(root, "the plan file")
        body = self._field(top, "new_plan", root.line) if top is not None else None
        fields = self._mapping(body, "new_plan") if body is not None else None
        if body is None or fields is None:
            return None
        steps_node = self._field(fields, "steps", body.line)
        goal = self._text(fields["unified_goal"], "unified_goal") if "unified_goal" in fields else ""
        run_id = None
        if "run_id" in fields and not _is_null(fields["run_id"]):
            run_id = self._text(fields["run_id"], "run_id") or None
        if steps_node is None:
            return None
        steps = self._steps(steps_node)
        if self.problems:
            return None
        return Plan(goal, run_id, steps, source_hash)

    def _steps(self, node: Node) -> tuple[Step, ...]:
        read: list[tuple[Step, Node]] = []
        for item in self._items(node, "steps"):
            step = self._step(item)
            if step is not None:
                read.append((step, item))
        self._check_references(read)
        if not any(step.commands for step, _ in read):
            self._problem(node, "no step has a command")
        return tuple(step for step, _ in read)

    def _step(self, node: Node) -> Step | None:
        fields = self._mapping(node, "a step")
        if fields is None:
            return None
        for key, value in fields.items():
            if key not in _STEP_KEYS:
                line = next(k.line for k, v in node.entries if v is value) if isinstance(node, Mapping) else node.line
                near = difflib.get_close_matches(key, _STEP_KEYS, 1, 0.4)
                hint = f"; did you mean '{near[0]}'?" if near else f"; known keys: {', '.join(_STEP_KEYS)}"
                self.problems.append((line, f"unknown key '{key}' in a step{hint}"))
        name = self._field(fields, "id", node.line)
        step_id = self._text(name, "id") if name is not None else ""
        if name is not None and not is_identifier(step_id):
            self._problem(name, f"the id '{shown(step_id)[:80]}' must be 1 to 64 of A-Z a-z 0-9 . _ -")
        return Step(
            id=step_id,
            action=self._optional(fields, "action", self._text) or "",
            commands=tuple(self._optional(fields, "commands", self._commands) or ()),
            cwd=self._optional(fields, "cwd", self._text) or ".",
            verification=tuple(self._optional(fields, "verification", self._verification) or ()),
            depends_on=tuple(self._optional(fields, "depends_on", self._texts) or ()),
            timeout_s=self._optional(fields, "timeout_s", self._seconds),
            env=tuple(self._optional(fields, "env", self._variables) or ()),
            network=bool(self._optional(fields, "network", self._truth)),
        )

    def _check_references(self, read: list[tuple[Step, Node]]) -> None:
        known: dict[str, int] = {}
        for step, node in read:
            if step.id in known:
                self._problem(node, f"duplicate id '{step.id}' (first in line {known[step.id]})")
            known.setdefault(step.id, node.line)
        for step, node in read:
            for dependency in step.depends_on:
                if dependency not in known:
                    near = difflib.get_close_matches(dependency, known, 1, 0.4)
                    hint = f"; did you mean '{near[0]}'?" if near else ""
                    self._problem(node, f"'{step.id}' depends on '{dependency}', which is not a step{hint}")
        cycle = _find_cycle({step.id: [d for d in step.depends_on if d in known] for step, _ in read})
        if cycle:
            self.problems.append((known[cycle[0]], "steps depend on each other: " + " → ".join(cycle)))

    def _commands(self, node: Node, what: str) -> list[str]:
        return [self._command(item, what) for item in self._items(node, what)]

    def _command(self, node: Node, what: str) -> str:
        text = self._text(node, what)
        if isinstance(node, Scalar) and not text.strip():
            self._problem(node, "a command is empty")
        if "\0" in text:
            self._problem(node, "a command contains a NUL character")
        return text

    def _verification(self, node: Node, what: str) -> list[Verification]:
        return [item for item in map(self._verify_item, self._items(node, what)) if item is not None]

    def _verify_item(self, node: Node) -> Verification | None:
        if isinstance(node, Scalar) and not node.is_null:
            return Declared(node.text)
        if not isinstance(node, Mapping) or len(node.entries) != 1:
            self._problem(node, f"a check is one of {', '.join(_CHECK_KEYS)}, or a plain sentence")
            return None
        key, value = node.entries[0]
        match key.text:
            case "command":
                return CommandPasses(self._command(value, "command"))
            case "file_exists":
                return FileExists(self._text(value, "file_exists"))
            case "file_contains":
                fields = self._mapping(value, "file_contains")
                if fields is None:
                    return None
                if set(fields) != {"path", "text"}:
                    self._problem(value, "file_contains needs exactly path and text")
                    return None
                return FileContains(self._text(fields["path"], "path"), self._text(fields["text"], "text"))
            case "stdout_contains":
                return StdoutContains(self._text(value, "stdout_contains"))
            case "exit_code":
                return ExitCodeIs(self._exit_code(value))
            case _:
                self._unknown_check(key)
                return None

    def _unknown_check(self, key: Scalar) -> None:
        near = difflib.get_close_matches(key.text, _CHECK_KEYS, 1, 0.4)
        self._problem(key, f"unknown check '{key.text}'" + (f"; did you mean '{near[0]}'?" if near else ""))

    def _exit_code(self, node: Node) -> int:
        text = self._text(node, "exit_code")
        if re.fullmatch(r"\d{1,3}", text) and int(text) < 256:
            return int(text)
        self._problem(node, f"exit_code must be a number from 0 to 255, not '{text}'")
        return 0

    def _seconds(self, node: Node, what: str) -> float | None:
        text = self._text(node, what)
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,3})?", text) and 0 < float(text) <= _LONGEST_TIMEOUT_S:
            return float(text)
        self._problem(node, f"{what} must be more than 0 and at most {_LONGEST_TIMEOUT_S} seconds, not '{text}'")
        return None

    def _truth(self, node: Node, what: str) -> bool:
        text = self._text(node, what)
        if text not in ("true", "false"):
            self._problem(node, f"{what} must be true or false, not '{text}'")
        return text == "true"

    def _variables(self, node: Node, what: str) -> list[str]:
        names = self._texts(node, what)
        for name in names:
            if not _VARIABLE.fullmatch(name):
                self._problem(
                    node,
                    f"'{shown(name)[:60]}' is not a variable name; only names are passed, never values",
                )
        return names

    def _texts(self, node: Node, what: str) -> list[str]:
        return [self._text(item, what) for item in self._items(node, what)]

    def _text(self, node: Node, what: str) -> str:
        if isinstance(node, Scalar) and not node.is_null:
            return node.text
        self._problem(node, f"{what} must be text")
        return ""

    def _items(self, node: Node, what: str) -> tuple[Node, ...]:
        if isinstance(node, Sequence):
            return node.items
        self._problem(node, f"{what} must be a list")
        return ()

    def _mapping(self, node: Node, what: str) -> dict[str, Node] | None:
        if isinstance(node, Mapping):
            return {key.text: value for key, value in node.entries}
        self._problem(node, f"{what} must be a mapping of keys to values")
        return None

    def _field(self, fields: dict[str, Node], key: str, line: int) -> Node | None:
        if key not in fields:
            self.problems.append((line, f"the key '{key}' is missing"))
        return fields.get(key)

    def _optional(self, fields: dict[str, Node], key: str, read: Callable[[Node, str], _T]) -> _T | None:
        value = fields.get(key)
        return None if value is None or _is_null(value) else read(value, key)

    def _problem(self, node: Node | Scalar, message: str) -> None:
        self.problems.append((node.line, message))


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null


def _find_cycle(edges: dict[str, list[str]]) -> tuple[str, ...]:
    """One cycle as a list of names, with the first name repeated at the end; empty if there is no cycle."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()

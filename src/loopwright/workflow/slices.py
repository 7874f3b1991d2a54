"""`slices.json`: the vertical slices of a plan, and the commands that make "done" true for each."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.digest import digest_of
from loopwright.kernel.yaml_nodes import Mapping, Node, Scalar, Sequence, YamlProblem, read_nodes
from loopwright.workflow.documents.page import PageProblem

PHILOSOPHY = "tracer-bullet-vertical-slices"
SCHEMA_VERSION = 1
_ID = re.compile(r"VS-\d{1,4}")
_SLICE_KEYS = (
    "id", "title", "type", "blocked_by", "behavior", "acceptance_criteria", "verification_signal", "checks",
    "requirements",
)  # fmt: skip
_CHECK_KEYS = (
    "id", "command", "cwd", "timeout_s", "regression", "hidden", "judges", "network", "tests", "known_failures",
)  # fmt: skip
_TOP_KEYS = ("schema_version", "philosophy", "workflow", "scope", "scope_wanted", "slices")
Kind = Literal["AFK", "HITL"]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A command that decides. `judges` are the files that it relies on; agents never see a `hidden` check."""

    id: str
    command: str
    cwd: str = ""
    timeout_s: int = 0
    regression: bool = False
    hidden: bool = False
    judges: tuple[str, ...] = ()
    network: bool = False
    # The tests that must go from failing to passing; empty: all that fail on the base.
    tests: tuple[str, ...] = ()
    # Tests that fail on the base and may go on failing.
    known_failures: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The identity of this exact check."""
        whole = digest_of([self.command, self.cwd, self.regression, self.hidden, list(self.judges), self.network])
        if not self.tests and not self.known_failures:
            return whole
        return digest_of([whole, list(self.tests), list(self.known_failures)])


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """One thin piece through all layers. AFK: an agent builds it alone; HITL: a person signs it."""

    id: str
    title: str
    type: Kind
    behavior: str
    acceptance_criteria: tuple[str, ...]
    verification_signal: str
    checks: tuple[Check, ...] = ()
    blocked_by: tuple[str, ...] = ()
    # The requirements of the delta that its checks prove, as `domain: name`; empty: all.
    requirements: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """What a signature on this slice covers."""
        return digest_of([self.id, self.title, self.behavior, list(self.acceptance_criteria), self.verification_signal])


def in_order_of_runs(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Hidden checks last: their files stay in the sandbox, and what ran before them can't print these files."""
    return tuple(sorted(checks, key=lambda check: check.hidden))


class Slices(msgspec.Struct, frozen=True):
    """All slices of a plan, in build order; and the files that the work may change, if the plan names them."""

    slices: tuple[Slice, ...]
    # Globs of work files, in place of `project.source`; None: the settings decide.
    scope: tuple[str, ...] | None = None
    # Globs of files that the work asks to change in addition.
    scope_wanted: tuple[str, ...] = ()

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every check of every slice, in the order in which all runs have them."""
        return in_order_of_runs(check for piece in self.slices for check in piece.checks)

    def slice(self, name: str) -> Slice | None:
        """The slice with this id."""
        return next((piece for piece in self.slices if piece.id == name), None)


class NotSlices(ValueError):
    """The file is not a valid list of slices; names every problem."""

    def __init__(self, problems: tuple[PageProblem, ...]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def read_slices(data: bytes) -> Slices:
    """The slices in these bytes; problems have line numbers."""
    try:
        json.loads(data)
        document = read_nodes(data)
    except json.JSONDecodeError as problem:
        raise NotSlices((PageProblem(problem.lineno, f"not JSON: {problem.msg}"),)) from problem
    except (ValueError, RecursionError) as problem:
        line = problem.line if isinstance(problem, YamlProblem) else 1
        raise NotSlices((PageProblem(line, f"unreadable JSON: {problem}"),)) from problem
    reader = _Reader()
    slices = reader.document(document)
    if reader.problems:
        raise NotSlices(tuple(sorted(reader.problems, key=lambda problem: problem.line)))
    return slices


def render_slices(workflow: str, slices: Slices) -> bytes:
    """The file's bytes."""
    pieces = [_document(piece) for piece in slices.slices]
    return draft_slices(workflow, pieces, slices.scope, slices.scope_wanted)


def draft_slices(
    workflow: str,
    slices: list[dict[str, Any]],
    scope: tuple[str, ...] | None = None,
    scope_wanted: tuple[str, ...] = (),
) -> bytes:
    """The file's bytes for slices that may be incomplete."""
    head: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "philosophy": PHILOSOPHY, "workflow": workflow}
    if scope is not None:
        head["scope"] = list(scope)
    if scope_wanted:
        head["scope_wanted"] = list(scope_wanted)
    return codec.to_json({**head, "slices": slices})


def _document(piece: Slice) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(piece)
    defaults = msgspec.to_builtins(Check(id="", command=""))
    plain["checks"] = [
        {key: value for key, value in check.items() if key in ("id", "command") or value != defaults[key]}
        for check in plain["checks"]
    ]
    ordered = {key: plain[key] for key in _SLICE_KEYS}
    if not piece.requirements:
        del ordered["requirements"]
    return ordered


class _Reader:
    """Walks the nodes and collects problems."""

    def __init__(self) -> None:
        self.problems: list[PageProblem] = []

    def document(self, node: Node) -> Slices:
        top = self._mapping(node, "the file", _TOP_KEYS)
        version = top.get("schema_version")
        if not isinstance(version, Scalar) or version.text != str(SCHEMA_VERSION):
            self._note(version or node, f"schema_version must be {SCHEMA_VERSION}")
        listed = top.get("slices")
        if not isinstance(listed, Sequence) or not listed.items:
            self._note(listed or node, "'slices' must be a list with at least one slice")
            return Slices(())
        slices = [self._slice(item) for item in listed.items]
        self._check_ids(slices, listed)
        scope = self._texts(top, "scope", node) if "scope" in top else None
        return Slices(self._in_order(slices, listed), scope, self._texts(top, "scope_wanted", node))

    def _slice(self, node: Node) -> Slice:
        fields = self._mapping(node, "a slice", _SLICE_KEYS)
        name = self._text(fields, "id", node)
        if name and not _ID.fullmatch(name):
            self._note(fields["id"], f"'{name}' is not a slice id: use VS-1, VS-2, …")
        kind = self._text(fields, "type", node)
        if kind and kind not in ("AFK", "HITL"):
            self._note(fields["type"], f"'{kind}' is not a type: use AFK (an agent alone) or HITL (a person signs)")
        checks = fields.get("checks")
        items = checks.items if isinstance(checks, Sequence) else ()
        if checks is not None and not isinstance(checks, Sequence):
            self._note(checks, "'checks' must be a list")
        return Slice(
            id=name,
            title=self._text(fields, "title", node),
            type="HITL" if kind == "HITL" else "AFK",
            behavior=self._text(fields, "behavior", node),
            acceptance_criteria=self._texts(fields, "acceptance_criteria", node, least=1),
            verification_signal=self._text(fields, "verification_signal", node),
            checks=tuple(self._check(item, name, number) for number, item in enumerate(items, start=1)),
            blocked_by=self._texts(fields, "blocked_by", node),
            requirements=self._texts(fields, "requirements", node),
        )

    def _check(self, node: Node, owner: str, number: int) -> Check:
        usual = f"{owner}-C{number}"
        if isinstance(node, Scalar):
            if not node.text.strip():
                self._note(node, "a check needs a command")
            return Check(id=usual, command=node.text)
        fields = self._mapping(node, "a check", _CHECK_KEYS)
        seconds = fields.get("timeout_s")
        number_text = seconds.text if isinstance(seconds, Scalar) else "0"
        if not number_text.isdigit():
            self._note(seconds or node, "'timeout_s' must be a whole number of seconds")
        return Check(
            id=self._text(fields, "id", node) if "id" in fields else usual,
            command=self._text(fields, "command", node),
            cwd=self._text(fields, "cwd", node) if "cwd" in fields else "",
            timeout_s=int(number_text) if number_text.isdigit() else 0,
            regression=self._flag(fields, "regression"),
            hidden=self._flag(fields, "hidden"),
            judges=self._texts(fields, "judges", node),
            network=self._flag(fields, "network"),
            tests=self._texts(fields, "tests", node),
            known_failures=self._texts(fields, "known_failures", node),
        )

    def _check_ids(self, slices: list[Slice], node: Node) -> None:
        for what, names in (
            ("slice", [piece.id for piece in slices if piece.id]),
            ("check", [check.id for piece in slices for check in piece.checks]),
        ):
            for name in sorted({name for name in names if names.count(name) > 1}):
                self._note(node, f"duplicate {what} {name}")
        known = {piece.id for piece in slices}
        for piece in slices:
            for name in piece.blocked_by:
                if name not in known:
                    self._note(node, f"{piece.id} is blocked by {name}, which does not exist")

    def _in_order(self, slices: list[Slice], node: Node) -> tuple[Slice, ...]:
        known = {piece.id: piece for piece in slices}
        place = {one.id: number for number, one in enumerate(slices)}
        order = TopologicalSorter({piece.id: [name for name in piece.blocked_by if name in known] for piece in slices})
        try:
            order.prepare()
        except CycleError as problem:
            self._note(node, f"slices block each other in a circle: {' → '.join(problem.args[1])}")
            return tuple(slices)
        return tuple(known[name] for name in _stable(order, place))

    def _mapping(self, node: Node, what: str, keys: tuple[str, ...]) -> dict[str, Node]:
        if not isinstance(node, Mapping):
            self._note(node, f"{what} must be an object with keys")
            return {}
        for key, _ in node.entries:
            if key.text not in keys:
                close = difflib.get_close_matches(key.text, keys, 1, 0.4)
                self._note(key, f"{what} has no key '{key.text}'" + (f"; did you mean '{close[0]}'?" if close else ""))
        return {key.text: value for key, value in node.entries}

    def _text(self, fields: dict[str, Node], key: str, owner: Node) -> str:
        node = fields.get(key)
        if isinstance(node, Scalar) and node.text.strip() and not node.is_null:
            return node.text.strip()
        if fields or isinstance(owner, Mapping):
            self._note(node or owner, f"'{key}' must not be empty")
        return ""

    def _texts(self, fields: dict[str, Node], key: str, owner: Node, *, least: int = 0) -> tuple[str, ...]:
        node = fields.get(key)
        items = node.items if isinstance(node, Sequence) else ()
        if (node is not None and not isinstance(node, Sequence)) or any(not isinstance(i, Scalar) for i in items):
            self._note(node or owner, f"'{key}' must be a list of texts")
        texts = tuple(item.text.strip() for item in items if isinstance(item, Scalar) and item.text.strip())
        if len(texts) < least and isinstance(owner, Mapping):
            self._note(node or owner, f"'{key}' needs at least {least}")
        return texts

    def _flag(self, fields: dict[str, Node], key: str) -> bool:
        node = fields.get(key)
        if node is None:
            return False
        if not isinstance(node, Scalar) or node.text not in ("true", "false"):
            self._note(node, f"'{key}' must be true or false")
            return False
        return node.text == "true"

    def _note(self, node: Node, message: str) -> None:
        self.problems.append(PageProblem(node.line, message))


def _stable(order: TopologicalSorter[str], place: dict[str, int]) -> Iterator[str]:
    """In dependency order, then in the written order."""
    ready: list[str] = []
    while order.is_active():
        ready = sorted([*ready, *order.get_ready()], key=place.__getitem__)
        name = ready.pop(0)
        yield name
        order.done(name)

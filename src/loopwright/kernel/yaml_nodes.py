"""YAML as a tree of nodes with line numbers, with limits for size, depth, nodes and aliases.

Scalars keep their written text: YAML 1.1's conversions (`no`, `1.10`, dates) do not apply.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec
import yaml

MOST_BYTES = 4 * 1024 * 1024
_DEEPEST = 32
_MOST_NODES = 200_000
_MOST_ALIASES = 100

# libyaml, where PyYAML was built with it: the same events, ten times as fast.
_Parser: type = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Scalar(msgspec.Struct, frozen=True):
    """A leaf: its text, and whether it was unquoted."""

    text: str
    plain: bool
    line: int

    @property
    def is_null(self) -> bool:
        """Whether the value is YAML's null."""
        return self.plain and self.text in ("", "~", "null", "Null", "NULL")


class Sequence(msgspec.Struct, frozen=True):
    """A list."""

    items: tuple[Node, ...]
    line: int


class Mapping(msgspec.Struct, frozen=True):
    """Keys with values in written order; no duplicate keys."""

    entries: tuple[tuple[Scalar, Node], ...]
    line: int


Node = Scalar | Sequence | Mapping


class YamlProblem(ValueError):
    """Why the text is not valid YAML, and the line (1 is the first)."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def read_nodes(data: bytes) -> Node:
    """The single document in these bytes."""
    if len(data) > MOST_BYTES:
        raise YamlProblem(f"the file has {len(data):,} bytes; the limit is {MOST_BYTES:,}", 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise YamlProblem("the file is not UTF-8", line) from problem
    try:
        return _Builder(text).document()
    except yaml.MarkedYAMLError as problem:
        # libyaml names the line behind the last one where a bracket or a quote is never closed.
        last = text.count("\n") + 1
        raise YamlProblem(problem.problem or "not YAML", min(_line_of(problem.problem_mark), last)) from problem
    except yaml.YAMLError as problem:
        raise YamlProblem(str(problem).splitlines()[0], 1) from problem


class _Mark(Protocol):
    line: int


class _Builder:
    """Builds nodes from the parser's events, and counts them."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = iter(self._parse(text))
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._nodes = 0
        self._aliases = 0

    @staticmethod
    def _parse(text: str) -> Iterator[yaml.Event]:
        parser = _Parser(text)
        try:
            while parser.check_event():
                yield parser.get_event()
        finally:
            parser.dispose()

    def document(self) -> Node:
        root: Node | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise YamlProblem("more than one document in the file", _line_of(event.start_mark))
                root = self._node(next(self._events), 0)
        if root is None:
            raise YamlProblem("the file is empty", 1)
        return root

    def _node(self, event: yaml.Event, depth: int) -> Node:
        line = _line_of(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, line)
        if depth > _DEEPEST:
            raise YamlProblem(f"nested deeper than {_DEEPEST} levels", line)
        before = self._nodes
        self._count(1, line)
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = Scalar(event.value, not event.style, line)  # plain is "" in libyaml, None in Python
        elif isinstance(event, yaml.SequenceStartEvent):
            node = Sequence(tuple(self._items(depth + 1)), line)
        else:
            node = Mapping(tuple(self._entries(depth + 1)), line)
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self._anchors[anchor] = (node, self._nodes - before)
        return node

    def _alias(self, event: yaml.AliasEvent, line: int) -> Node:
        self._aliases += 1
        if self._aliases > _MOST_ALIASES:
            raise YamlProblem(f"more than {_MOST_ALIASES} aliases", line)
        if event.anchor not in self._anchors:
            raise YamlProblem(f"alias *{event.anchor} is undefined, or its anchor contains the alias itself", line)
        node, size = self._anchors[event.anchor]
        # An alias counts as many nodes as its target: ten lines of aliases can mean a billion nodes.
        self._count(size, line)
        return node

    def _count(self, nodes: int, line: int) -> None:
        self._nodes += nodes
        if self._nodes > _MOST_NODES:
            raise YamlProblem(f"more than {_MOST_NODES:,} values after expanding aliases", line)

    def _items(self, depth: int) -> Iterator[Node]:
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self._node(event, depth)

    def _entries(self, depth: int) -> Iterator[tuple[Scalar, Node]]:
        seen: dict[str, int] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                return
            key = self._node(event, depth)
            if not isinstance(key, Scalar):
                raise YamlProblem("a key must be plain text", key.line)
            if key.text in seen:
                raise YamlProblem(f"duplicate key '{key.text}' (first in line {seen[key.text]})", key.line)
            seen[key.text] = key.line
            yield key, self._node(next(self._events), depth)


def _line_of(mark: _Mark | None) -> int:
    return mark.line + 1 if mark is not None else 1

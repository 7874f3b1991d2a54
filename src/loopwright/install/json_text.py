"""Reads and edits the JSON text of an agent's settings. Pure.

Parses strictly: a text that we could not write back is refused. Edits in place: whatever does not change keeps its
bytes, spelling and line ends.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from loopwright.install.model import NotEditable

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD = re.compile(r"[^\s,\]}]+")
_SPACE = re.compile(r"\s*")
# The index of the part that it precedes, the key of a member, and the value.
_Added = list[tuple[int, str | None, Any]]


class _Node(msgspec.Struct, frozen=True):
    """The position of a value in the text, and of its parts; a member starts at its key."""

    start: int
    end: int
    parts: tuple[_Part, ...] = ()


class _Part(msgspec.Struct, frozen=True):
    start: int
    value: _Node
    key: str = ""

    @property
    def end(self) -> int:
        return self.value.end


class _Edit(msgspec.Struct, frozen=True):
    start: int
    end: int
    text: str


def edited(text: str, before: Any, after: Any, indent: str) -> str:
    """Change the text of `before` into a text of `after`; `indent` is one level of indentation in new lines."""
    made, at = "", 0
    root = _node(text, _after_space(text, 0))
    for edit in sorted(_edits(root, before, after, _Style(text, indent)), key=_place):
        made, at = made + text[at : edit.start] + edit.text, edit.end
    return made + text[at:]


def _place(edit: _Edit) -> tuple[int, int]:
    return edit.start, edit.end


def _node(text: str, at: int) -> _Node:
    """The value that starts here; the text is known to be JSON."""
    if text[at] not in "{[":
        match = (_STRING if text[at] == '"' else _WORD).match(text, at)
        return _Node(at, match.end() if match is not None else at)
    start, is_object, parts = at, text[at] == "{", list[_Part]()
    at = _after_space(text, at + 1)
    while text[at] not in "}]":
        begin, key = at, ""
        if is_object:
            named = _STRING.match(text, at)
            assert named is not None  # noqa: S101 -- it was read as JSON
            key, at = json.loads(named[0]), _after_space(text, _after_space(text, named.end()) + 1)
        parts.append(_Part(begin, _node(text, at), key))
        at = _after_space(text, parts[-1].end)
        at = _after_space(text, at + 1) if text[at] == "," else at
    return _Node(start, at + 1, tuple(parts))


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match is not None else at


class _Style:
    """The file's own layout: indentation and line ends."""

    def __init__(self, text: str, indent: str) -> None:
        self._text = text
        self._indent = indent
        self._line_end = "\r\n" if "\r\n" in text else "\n"

    def whole(self, node: _Node, value: Any) -> str:
        """The text of a value that replaces this one."""
        return self._lines(value, self._margin(node.start))

    def between(self, node: _Node) -> str:
        """The separator of two parts."""
        first = node.parts[0].start
        if "\n" not in self._text[node.start : first]:
            return ", "
        return "," + self._line_end + self._margin(first)

    def part(self, node: _Node, value: Any, key: str | None) -> str:
        """The text of an added part."""
        first = node.parts[0].start
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        if "\n" not in self._text[node.start : first]:
            return name + json.dumps(value, ensure_ascii=False)
        return name + self._lines(value, self._margin(first))

    def _lines(self, value: Any, margin: str) -> str:
        lines = json.dumps(value, ensure_ascii=False, indent=self._indent).split("\n")
        return (self._line_end + margin).join(lines)

    def _margin(self, at: int) -> str:
        line = self._text[self._text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]


def _edits(node: _Node, before: Any, after: Any, style: _Style) -> Iterator[_Edit]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        gone = {number for number, part in enumerate(node.parts) if part.key not in after}
        added: _Added = [(len(node.parts), key, value) for key, value in after.items() if key not in before]
        pairs = [
            (part.value, before[part.key], after[part.key])
            for number, part in enumerate(node.parts)
            if number not in gone
        ]
    elif isinstance(before, list) and isinstance(after, list):
        gone, added, pairs = _aligned(node, before, after)
    else:
        yield _Edit(node.start, node.end, style.whole(node, after))
        return
    if len(gone) == len(node.parts):  # no part stays
        yield _Edit(node.start, node.end, style.whole(node, after))
        return
    for inner, old, new in pairs:
        yield from _edits(inner, old, new, style)
    yield from _removed(node, gone)
    yield from _added(node, added, style)


def _aligned(node: _Node, before: list[Any], after: list[Any]) -> tuple[set[int], _Added, list[tuple[_Node, Any, Any]]]:
    """Which items are removed, which are added and where, and which are changed."""
    gone, added, pairs = set[int](), _Added(), list[tuple[_Node, Any, Any]]()
    old, new = ([json.dumps(item, sort_keys=True) for item in items] for items in (before, after))
    for what, i, i_end, j, j_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        both = min(i_end - i, j_end - j)
        pairs += [(node.parts[i + step].value, before[i + step], after[j + step]) for step in range(both)]
        gone |= set(range(i + both, i_end))
        added += [(i + both, None, after[number]) for number in range(j + both, j_end)]
    return gone, added, pairs


def _removed(node: _Node, gone: set[int]) -> Iterator[_Edit]:
    """Remove each part with the comma before it, or after it if no earlier part stays."""
    is_first = True
    for number, part in enumerate(node.parts):
        if number not in gone:
            is_first = False
        elif is_first:
            yield _Edit(part.start, node.parts[number + 1].start, "")
        else:
            yield _Edit(node.parts[number - 1].end, part.end, "")


def _added(node: _Node, added: _Added, style: _Style) -> Iterator[_Edit]:
    between = style.between(node)
    for place in sorted({number for number, _, _ in added}):
        texts = [style.part(node, value, key) for number, key, value in added if number == place]
        if place == 0:
            yield _Edit(node.parts[0].start, node.parts[0].start, "".join(part + between for part in texts))
        else:
            at = node.parts[place - 1].end
            yield _Edit(at, at, "".join(between + part for part in texts))


Document = dict[str, Any]
SCHEMA = "$schema"
# Far more than settings need, and far less than would exhaust the stack of a recursive function.
_DEEPEST = 100
_TOO_DEEP = f"nested more than {_DEEPEST} levels deep"


def parse(text: str | None) -> Document:
    """The document; a missing or empty file is an empty document."""
    if text is None or not text.strip():
        return {}
    try:
        document = json.loads(
            text, object_pairs_hook=_without_repetition, parse_float=_finite, parse_constant=_no_constant
        )
    except NotEditable:
        raise
    except RecursionError as problem:
        raise NotEditable(_TOO_DEEP) from problem
    except ValueError as problem:
        raise NotEditable(f"not plain JSON (comments would be lost, too): {problem}") from problem
    if not isinstance(document, dict):
        raise NotEditable("not a JSON object")
    _check(document)
    return document


def render(document: Document, before: str | None) -> str | None:
    """The text `before` changed into the document, with the file's indentation; unchanged content keeps its bytes."""
    if parse(before) == document:
        return before
    indented = [line for line in (before or "").splitlines() if line[:1] in (" ", "\t")]
    first = indented[0] if indented else "  "
    indent = first[: len(first) - len(first.lstrip())]
    if before is not None and before.strip():
        return edited(before, parse(before), document, indent)
    end = "\n" if before is None or before.endswith("\n") else ""
    return json.dumps(document, indent=indent, ensure_ascii=False) + end


def is_blank(text: str) -> bool:
    """Whether the document is empty, apart from a `$schema`, which some agents add on their own."""
    return not set(parse(text)) - {SCHEMA}


def _without_repetition(pairs: list[tuple[str, Any]]) -> Document:
    members: Document = {}
    for key, value in pairs:
        if key in members:
            raise NotEditable(f"the key {json.dumps(key[:80])} appears twice in one object")
        members[key] = value
    return members


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotEditable(f"the number {digits[:40]} is too large")
    return number


def _no_constant(name: str) -> float:
    raise NotEditable(f"{name} is not valid JSON")


def _check(document: Document) -> None:
    waiting: list[tuple[Any, int]] = [(document, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise NotEditable(_TOO_DEEP)
        if isinstance(value, dict):
            waiting.extend((part, depth + 1) for pair in value.items() for part in pair)
        elif isinstance(value, list):
            waiting.extend((part, depth + 1) for part in value)
        elif isinstance(value, str):
            _check_text(value)


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise NotEditable("a string contains half a character (a lone surrogate such as \\ud800)") from problem

"""Changes a JSON text in place: whatever does not change keeps its bytes, spelling and line ends. Pure."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

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
    """Change the text of `before` into a text of `after`; `indent` is one step in what is written new."""
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
        found = (_STRING if text[at] == '"' else _WORD).match(text, at)
        return _Node(at, found.end() if found is not None else at)
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
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


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
        """The text of a part that is added."""
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
    """Remove each part with the comma before it, or after it where no earlier part stays."""
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
            yield _Edit(node.parts[0].start, node.parts[0].start, "".join(one + between for one in texts))
        else:
            at = node.parts[place - 1].end
            yield _Edit(at, at, "".join(between + one for one in texts))

"""Takes the words out of comments that the work added: a linter that then complains was silenced by one of them.

A comment keeps its place and its length, so that what formatters and length limits say stays the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher

import msgspec

from loopwright.judging.syntax.comments import Comment, comments_of

_MARK = re.compile(r"#[:!]?|/\*+!?|//[/!]?|<!--|--|%+|;+")
_WORD = re.compile(r"\S+")
_FRAME = frozenset("*/->")
# No tag such as XXX, and no code.
_NEUTRAL = "o"


class _Place(msgspec.Struct, frozen=True):
    """A comment and the number of the line of code that it is about: its own, or the next one."""

    comment: Comment
    number: int
    code: bytes


def without_added_comments(path: str, before: bytes | None, after: bytes) -> bytes | None:
    """The new file with meaningless words in its new comments; None if it has no new comments."""
    parts: list[bytes] = []
    position = 0
    for comment in _added(path, before or b"", after):
        parts += [after[position : comment.start], _neutral(comment)]
        position = comment.end
    source = b"".join([*parts, after[position:]])
    return source if source != after else None


def _added(path: str, before: bytes, after: bytes) -> list[Comment]:
    """The comments that were not in the old file at the same code. Code may move, and changed code may keep them."""
    new, new_code = _places(path, after)
    if not new:
        return []
    old, old_code = _places(path, before)
    old_blocks, new_blocks = _blocks(old_code, new_code)
    known: dict[tuple[int, bytes], list[_Place]] = {}
    for place in old:
        known.setdefault((old_blocks[place.number], place.comment.text), []).append(place)
    added = []
    for place in new:
        if rows := known.get((new_blocks[place.number], place.comment.text)):
            rows.pop()
        else:
            added.append(place)
    moved = Counter((place.code, place.comment.text) for rows in known.values() for place in rows)
    comments = []
    for place in added:
        key = place.code, place.comment.text
        if moved[key] and place.code:
            moved[key] -= 1
        else:
            comments.append(place.comment)
    return comments


def _places(path: str, source: bytes) -> tuple[list[_Place], list[bytes]]:
    """The comments with their places, and the lines of code without comments."""
    comments = comments_of(path, source)
    code = bytearray(source)
    for comment in comments:
        code[comment.start : comment.end] = re.sub(rb"[^\n]", b" ", comment.text)
    numbers, lines = list[int](), list[bytes]()
    for number, line in enumerate(bytes(code).split(b"\n")):
        if line.strip():
            numbers.append(number)
            lines.append(line.strip())
    ends = [found.start() for found in re.finditer(b"\n", source)]
    places = []
    for comment in comments:
        index = bisect_left(numbers, bisect_left(ends, comment.start))
        places.append(_Place(comment, index, lines[index] if index < len(lines) else b""))
    return places, lines


def _blocks(old: list[bytes], new: list[bytes]) -> tuple[list[int], list[int]]:
    """For each line of code the number of the old line that it is, or replaces; and -1 for new lines."""
    old_blocks, new_blocks = [-2] * len(old), [-1] * len(new)
    for kind, first, end, new_first, new_end in SequenceMatcher(None, old, new).get_opcodes():
        for number in range(first, end):
            # A comment before deleted lines is now about the line behind them.
            old_blocks[number] = {"equal": number, "delete": end}.get(kind, first)
        for number in range(new_first, new_end):
            new_blocks[number] = {"equal": first + number - new_first, "insert": -1}.get(kind, first)
    return [*old_blocks, len(old)], [*new_blocks, len(old)]


def _neutral(comment: Comment) -> bytes:
    text = comment.text.decode("utf-8", "replace")
    if text.startswith("#!") and comment.start == 0:
        # The system reads this line to find the program.
        line, mark, rest = text[2:].partition("#")
        return f"#!{line}{mark}{_NEUTRAL * len(rest)}".encode()
    mark_found = _MARK.match(text)
    end = mark_found.end() if mark_found is not None else 0
    return (text[:end] + _WORD.sub(_neutral_word, text[end:])).encode()


def _neutral_word(word: re.Match[str]) -> str:
    text = word[0]
    if _FRAME.issuperset(text):
        return text
    end = next((end for end in ("*/", "-->") if text.endswith(end)), "")
    return _NEUTRAL * (len(text) - len(end)) + end

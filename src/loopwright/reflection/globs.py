"""Globs of a project's risk rules. No regular expressions: a match takes at most len(pattern) × len(path) steps.

`*` and `?` match within a part; `**` matches any number of whole parts. A pattern without an inner `/` matches at any
depth; other patterns start at the top. A pattern that matches a folder covers everything below it; a pattern with a
final `/` covers only that. Case is ignored (ASCII).
"""

from __future__ import annotations

from loopwright.reflection.path_words import fold, parts_of

LONGEST = 200
_FOREIGN = "[]{}!\\"


def problem_of(pattern: str) -> str | None:
    """Why a pattern is invalid, or None."""
    if not pattern.strip("/ "):
        return "is empty"
    if len(pattern) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if any(character in _FOREIGN for character in pattern):
        return "may contain only *, ** and ?, and / between parts"
    if any("**" in part and part != "**" for part in pattern.split("/")):
        return "has ** next to other characters; ** matches whole parts"
    return None


def matches(pattern: str, path: str) -> bool:
    """Whether the pattern matches this path or a folder that contains it."""
    pieces = [piece for piece in fold(pattern).split("/") if piece]
    if "/" not in pattern.rstrip("/"):
        pieces.insert(0, "**")
    parts = parts_of(fold(path))
    # How many parts the pieces so far can match.
    reached = {0}
    for piece in pieces:
        if not reached:
            return False
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {count + 1 for count in reached if count < len(parts) and part_matches(piece, parts[count])}
    longest = len(parts) - 1 if pattern.endswith("/") else len(parts)
    return any(0 < count <= longest for count in reached)


def part_matches(piece: str, part: str) -> bool:
    """Match one part with `*` and `?`: on a mismatch only the last `*` takes one more character."""
    at = in_piece = 0
    star = taken = -1
    while at < len(part):
        if in_piece < len(piece) and piece[in_piece] == "*":
            star, taken = in_piece, at
            in_piece += 1
        elif in_piece < len(piece) and piece[in_piece] in ("?", part[at]):
            at += 1
            in_piece += 1
        elif star >= 0:
            taken += 1
            at, in_piece = taken, star + 1
        else:
            return False
    return not piece[in_piece:].strip("*")

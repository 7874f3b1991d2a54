"""Globs of a project's own risk rules. No regular expressions: a match takes at most len(pattern) × len(path) steps.

`*` and `?` stay inside a part, `**` is any number of whole parts. A pattern without an inner `/` holds at any depth,
others count from the top; one that means a folder covers what is below it, one that ends with `/` only that.
Case does not count (ASCII).
"""

from __future__ import annotations

from loopwright.reflection.path_words import fold, parts_of

LONGEST = 200
_FOREIGN = "[]{}!\\"


def problem_of(pattern: str) -> str | None:
    """Why a pattern can't be used, or None."""
    if not pattern.strip("/ "):
        return "is empty"
    if len(pattern) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if any(character in _FOREIGN for character in pattern):
        return "may hold *, ** and ? only, and / between parts"
    if any("**" in part and part != "**" for part in pattern.split("/")):
        return "has ** beside other characters; it stands for whole parts"
    return None


def matches(pattern: str, path: str) -> bool:
    """Whether the pattern means this path or a folder that holds it."""
    pieces = [piece for piece in fold(pattern).split("/") if piece]
    if "/" not in pattern.rstrip("/"):
        pieces.insert(0, "**")
    parts = parts_of(fold(path))
    # How many parts the pieces so far can stand for.
    reached = {0}
    for piece in pieces:
        if not reached:
            return False
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and part_matches(piece, parts[at])}
    longest = len(parts) - 1 if pattern.endswith("/") else len(parts)
    return any(0 < at <= longest for at in reached)


def part_matches(piece: str, part: str) -> bool:
    """One part with `*` and `?`: on a mismatch the last `*` takes one character more, and nothing else is retried."""
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

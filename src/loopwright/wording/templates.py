"""A sentence with places for facts: filled in, and found again in a sentence that was made of it."""

from __future__ import annotations

import re
from functools import cached_property
from string import Formatter

_LETTER = re.compile(r"[A-Za-z]")
_WORD = re.compile(r"[A-Za-z']+")
_TOUCHES_BEFORE = re.compile(r"^[A-Za-z']+")
_TOUCHES_BEHIND = re.compile(r"[A-Za-z']+$")
_NAME = r"[^\s,;:(]*"
# Fewer letters than this, and a sentence of somebody else may look the same.
_FEWEST_LETTERS = 8


def is_template(text: str) -> bool:
    """Whether it has places for facts, or braces that are written twice; a piece of JSON in a help page has neither."""
    if "{" not in text:
        return False
    try:
        return all(name is None or name.isidentifier() for _, name, _, _ in Formatter().parse(text))
    except ValueError:
        return False


def _inside(literal: str, after_a_fact: bool, before_a_fact: bool) -> str:
    """The literal without the words that touch a fact."""
    inner = _TOUCHES_BEFORE.sub("", literal) if after_a_fact else literal
    return _TOUCHES_BEHIND.sub("", inner) if before_a_fact else inner


def words_of(text: str) -> frozenset[str]:
    """The words of a text, as `key` has them."""
    return frozenset(_WORD.findall(text))


class MessageTemplate:
    """`{count} questions are open: {items}`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = [(literal, name) for literal, name, _, _ in Formatter().parse(text)]
        self._literals = tuple(literal for literal, _ in self._parts if literal)
        self.letters = sum(len(_LETTER.findall(literal)) for literal in self._literals)
        self.length = sum(map(len, self._literals))

    @property
    def facts(self) -> tuple[str, ...]:
        """The names of what is filled in."""
        return tuple(name for _, name in self._parts if name)

    @cached_property
    def announced(self) -> frozenset[str]:
        """Facts that a colon announces: any text may follow it."""
        return frozenset(name for literal, name in self._parts if name and literal.endswith(": "))

    @cached_property
    def is_distinct(self) -> bool:
        """Whether a text that fits can only be ours."""
        words = sum(len(_WORD.findall(literal)) for literal in self._literals)
        return self.letters >= _FEWEST_LETTERS and words >= 2

    @cached_property
    def key(self) -> str:
        """A word that every text made of it has, the longest; none where each touches a fact."""
        # With a sign of its own on each side that touches a fact, a word can't grow together with it.
        last = len(self._parts) - 1
        found = [
            word
            for number, (literal, name) in enumerate(self._parts)
            for word in _WORD.findall(_inside(literal, number > 0, name is not None or number < last))
        ]
        return max(found, key=len, default="")

    def facts_in(self, text: str) -> dict[str, str] | None:
        """The facts that were filled in, if the text is made of this template."""
        at = 0
        for literal in self._literals:  # cheap, and almost always the end of it
            at = text.find(literal, at)
            if at < 0:
                return None
            at += len(literal)
        found = self._pattern.fullmatch(text)
        return found.groupdict() if found is not None else None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        made, seen = "", set[str]()
        for number, (literal, name) in enumerate(self._parts):
            made += re.escape(literal)
            if not name:
                continue
            # Where a second fact follows at once, the first is a name or a number.
            is_followed = number + 1 < len(self._parts) and not self._parts[number + 1][0]
            made += f"(?P={name})" if name in seen else f"(?P<{name}>{_NAME if is_followed else '.*?'})"
            seen.add(name)
        return re.compile(made, re.DOTALL)

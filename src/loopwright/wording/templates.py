"""A message template: `{name}` marks a fact. Recognizes the text that was made from the template.

A --help page is translated in parts: each paragraph, and in a list of examples the note next to each command.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from string import Formatter

_LETTER = re.compile(r"[A-Za-z]")
_WORD = re.compile(r"[A-Za-z']+")
_TOUCHES_BEFORE = re.compile(r"^[A-Za-z']+")
_TOUCHES_BEHIND = re.compile(r"[A-Za-z']+$")
_NAME = r"[^\s,;:(]*"
# A template with fewer letters could match text that Loopwright did not write.
_FEWEST_LETTERS = 8


def is_template(text: str) -> bool:
    """Whether the text has `{name}` placeholders or doubled braces. JSON in a help page has neither."""
    if "{" not in text:
        return False
    try:
        return all(name is None or name.isidentifier() for _, name, _, _ in Formatter().parse(text))
    except ValueError:
        return False


def _between_facts(literal: str, after_a_fact: bool, before_a_fact: bool) -> str:
    """The literal without words that touch a fact."""
    inner = _TOUCHES_BEFORE.sub("", literal) if after_a_fact else literal
    return _TOUCHES_BEHIND.sub("", inner) if before_a_fact else inner


def words_of(text: str) -> frozenset[str]:
    """The words of a text, split as in `key`."""
    return frozenset(_WORD.findall(text))


class MessageTemplate:
    """For example `{count} questions are open: {items}`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = [(literal, name) for literal, name, _, _ in Formatter().parse(text)]
        self._literals = tuple(literal for literal, _ in self._parts if literal)
        self.letters = sum(len(_LETTER.findall(literal)) for literal in self._literals)
        self.length = sum(map(len, self._literals))

    @property
    def facts(self) -> tuple[str, ...]:
        """The names of the placeholders."""
        return tuple(name for _, name in self._parts if name)

    @cached_property
    def after_colon(self) -> frozenset[str]:
        """Facts that follow a colon: these can be any text."""
        return frozenset(name for literal, name in self._parts if name and literal.endswith(": "))

    @cached_property
    def is_distinct(self) -> bool:
        """Whether a text that matches must be a message of Loopwright."""
        words = sum(len(_WORD.findall(literal)) for literal in self._literals)
        return self.letters >= _FEWEST_LETTERS and words >= 2

    @cached_property
    def key(self) -> str:
        """The longest word that every text made from the template contains; empty if every word touches a fact."""
        # A word that touches a fact could merge with the fact, so only words separated by a sign count.
        last = len(self._parts) - 1
        words = [
            word
            for number, (literal, name) in enumerate(self._parts)
            for word in _WORD.findall(_between_facts(literal, number > 0, name is not None or number < last))
        ]
        return max(words, key=len, default="")

    def facts_in(self, text: str) -> dict[str, str] | None:
        """The facts in the text if the text was made from this template."""
        position = 0
        for literal in self._literals:  # a cheap test that rules out almost every text
            position = text.find(literal, position)
            if position < 0:
                return None
            position += len(literal)
        match = self._pattern.fullmatch(text)
        return match.groupdict() if match is not None else None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        pattern, seen = "", set[str]()
        for number, (literal, name) in enumerate(self._parts):
            pattern += re.escape(literal)
            if not name:
                continue
            # A fact that is directly followed by another fact is a name or a number.
            is_followed = number + 1 < len(self._parts) and not self._parts[number + 1][0]
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{_NAME if is_followed else '.*?'})"
            seen.add(name)
        return re.compile(pattern, re.DOTALL)


NO_REWRAP = "\b\n"
_LINE = re.compile(r"(\s*)(.*?)(?:(\s{2,})(\S.*))?")


def translate_page(text: str, translate: Callable[[str], str]) -> str:
    """The page with every part translated."""
    return "\n\n".join(_paragraph(paragraph, translate) for paragraph in text.split("\n\n"))


def _paragraph(paragraph: str, translate: Callable[[str], str]) -> str:
    if not paragraph.startswith(NO_REWRAP):
        return translate(" ".join(paragraph.split()))
    return NO_REWRAP + "\n".join(_line(line, translate) for line in paragraph.removeprefix(NO_REWRAP).splitlines())


def _line(line: str, translate: Callable[[str], str]) -> str:
    match = _LINE.fullmatch(line)
    if match is None or not match[2]:
        return line
    margin, command, gap, note = match.groups("")
    return f"{margin}{translate(command)}{gap}{translate(note) if note else ''}"

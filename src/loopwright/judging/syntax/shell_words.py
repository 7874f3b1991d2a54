"""The words of a shell command with their positions. Enough for single commands; anything else stays as it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import msgspec

_OPERATORS = frozenset(";&|()<>\n")
_KEYWORDS = frozenset({"if", "elif", "while", "until", "then", "else", "do", "!", "{", "time"})
_ASSIGNMENT = re.compile(r"\w+=")


class Word(msgspec.Struct, frozen=True):
    """A word of a command, or an operator between commands."""

    text: str
    start: int
    is_operator: bool = False

    @property
    def end(self) -> int:
        """The position after the word."""
        return self.start + len(self.text)

    @property
    def value(self) -> str | None:
        """The word without its quotes; None if the shell would replace a part of it."""
        if "$" in (unquoted := re.sub(r"'[^']*'", "", self.text)) or "`" in unquoted:
            return None
        try:
            values = shlex.split(self.text)
        except ValueError:
            return None
        return values[0] if len(values) == 1 else None


def shell_words(command: str) -> list[Word]:
    """All words and operators; an open quote or bracket ends the list."""
    words: list[Word] = []
    position = 0
    while position < len(command):
        character = command[position]
        if character in " \t" or command.startswith("\\\n", position):
            position += 1 if character in " \t" else 2
        elif character == "#":
            position = _until(command, position, "\n")
        elif character in _OPERATORS:
            words.append(Word(character, position, is_operator=True))
            position += 1
        else:
            end = _end_of_word(command, position)
            if end is None:
                break
            words.append(Word(command[position:end], position))
            position = end
    return words


def shell_comments(script: str) -> Iterator[tuple[int, int]]:
    """The positions of the comments, up to an open quote or bracket. Texts behind `<<END` must be gone."""
    position = 0
    while position < len(script):
        if script.startswith("\\\n", position):
            position += 2
        elif script[position] == "#":
            end = _until(script, position, "\n")
            yield position, end
            position = end
        elif script[position] in _OPERATORS or script[position] in " \t":
            position += 1
        else:
            end_of_word = _end_of_word(script, position)
            if end_of_word is None:
                return
            position = end_of_word


class SimpleCommand(msgspec.Struct):
    """The words of one program call, and what connects the call with its neighbours."""

    words: list[Word]
    before: str = ""
    after: str = ""
    keyword: str = ""


def simple_commands(command: str) -> list[SimpleCommand]:
    """The program calls of a script, without assignments and keywords before the program."""
    commands = [SimpleCommand([])]
    for word in shell_words(command):
        current = commands[-1]
        if word.is_operator and current.words:
            current.after = word.text
            commands.append(SimpleCommand([], before=word.text))
        elif word.is_operator:
            # `&&` and `||` are two operators, and a line may be empty.
            current.before += word.text
            if len(commands) > 1:
                commands[-2].after += word.text
        elif not current.words and word.text in _KEYWORDS:
            current.keyword = word.text
        elif current.words or not _ASSIGNMENT.match(word.text):
            current.words.append(word)
    return [found for found in commands if found.words]


def _end_of_word(command: str, start: int) -> int | None:
    position = start
    while position < len(command) and command[position] not in " \t" and command[position] not in _OPERATORS:
        match command[position]:
            case "\\":
                position += 2
            case "'" | "`" as quote:
                position = _until(command, position + 1, quote) + 1
            case '"':
                position = _end_of_text(command, position)
            case "$" if command.startswith("$(", position):
                position = _end_of_brackets(command, position + 1)
            case _:
                position += 1
        if position > len(command):
            return None
    return position


def _end_of_text(command: str, start: int) -> int:
    position = start + 1
    while position < len(command) and command[position] != '"':
        if command.startswith("$(", position):
            position = _end_of_brackets(command, position + 1)
        else:
            position += 2 if command[position] == "\\" else 1
    return position + 1


def _end_of_brackets(command: str, start: int) -> int:
    depth, position = 0, start
    while position < len(command):
        depth += {"(": 1, ")": -1}.get(command[position], 0)
        position += 1
        if depth == 0:
            return position
    return len(command) + 1


def _until(command: str, start: int, end: str) -> int:
    found = command.find(end, start)
    return found if found >= 0 else len(command)

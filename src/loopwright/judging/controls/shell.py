"""Inverts shell scripts and commands: conditions, patterns of grep, and code for python and node."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from itertools import pairwise, product

import msgspec

from loopwright.judging.controls.javascript_tests import invert_javascript
from loopwright.judging.controls.marks import Marks, marks_of
from loopwright.judging.controls.model import NO_ASSERTION, SCRIPT, UNREADABLE, Inverted
from loopwright.judging.controls.near_texts import near_texts, near_word
from loopwright.judging.controls.python_tests import invert_python
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.heredocs import Heredoc, find_heredocs, without_heredocs
from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.shell_words import SimpleCommand, Word, shell_words, simple_commands

_OPPOSITES = {
    "=": "!=", "==": "!=", "!=": "=", "-eq": "-ne", "-ne": "-eq", "-lt": "-ge", "-ge": "-lt", "-gt": "-le",
    "-le": "-gt", "-z": "-n", "-n": "-z",
}  # fmt: skip
# Recipes of make name programs by variables.
_PYTHON = re.compile(r"python[\d.]*|\$[({]\w*PY(?:THON)?\d?[)}]", re.IGNORECASE)
_NODE = re.compile(r"node|nodejs|\$[({]NODE[)}]", re.IGNORECASE)
# `$(cat expected.txt)`
_CONTENT = re.compile(r"\$\((?:cat +|< *)([\w./-]+) *\)")
# Characters of patterns and escapes; a dot is in many plain texts.
_PATTERN = re.compile(r"[\[\](){}*+?|\\$`]")
_CONDITIONS = frozenset({"test", "[", "[[", "grep"})
_FILE_TESTS = frozenset({"-e", "-f", "-d", "-s", "-x", "-r", "-w", "-L", "-h"})


class Expectation(msgspec.Struct, frozen=True):
    """A script with one changed expectation; and the script with a failure in its place."""

    inverted: bytes
    failing: bytes
    # Whether the expectation changed only slightly.
    is_near: bool = False


def invert_command(command: str, *, salt: str = "") -> str | None:
    """The command with changed expectations in its own text; None if it has none. `invert` explains the salt."""
    inverted = invert_shell(command.encode(), marks_of(salt))
    return inverted.source.decode() if inverted.altered else None


def invert_shell(source: bytes, marks: Marks) -> Inverted:
    """A shell script with changed expectations."""
    script = _read(source)
    if script is None:
        return Inverted(source, unaltered={SCRIPT: UNREADABLE})
    edits = Edits(source)
    if any_done(script.change(edits, index, marks) for index in range(len(script.commands))):
        return Inverted(edits.applied(), frozenset({SCRIPT}))
    return Inverted(source, unaltered={SCRIPT: NO_ASSERTION})


def expectations(source: bytes, *, salt: str = "") -> Iterator[Expectation]:
    """Each expectation of a shell script by itself: the first that fails may end the script before the others."""
    script = _read(source)
    # The near ones come last: the others must fail first.
    forms = [marks_of(salt), marks_of(salt, is_near=True)]
    commands = list(enumerate(script.commands)) if script is not None else []
    for marks, (index, command) in product(forms, commands):
        edits, failure = Edits(source), Edits(source)
        if script is not None and script.change(edits, index, marks):
            failure.insert(command.words[0].start, b"exit 1; ")
            yield Expectation(edits.applied(), failure.applied(), is_near=marks.is_near)


def expects_failure(command: str) -> bool:
    """Whether a command passes because a program in it fails: `! python3 -c …`, `…; test $? -ne 0`."""
    before = ""
    for word in shell_words(command):
        # `if ! program; then exit 1` expects a success.
        if word.text == "!" and before in {"", "then", "else", "do", "{"}:
            return True
        before = "" if word.is_operator else word.text
    commands = simple_commands(command)
    return any(_compares_code(found) for found in commands) or any(
        _is_unwanted(commands, index) for index, found in enumerate(commands) if found.words[0].text not in _CONDITIONS
    )


def _compares_code(command: SimpleCommand) -> bool:
    """`[ $? -ne 0 ]`"""
    texts = [word.text.strip('"') for word in command.words]
    place = texts.index("$?") if "$?" in texts[:-2] else None
    if place is None:
        return False
    operator, code = texts[place + 1 : place + 3]
    return operator in {"-ne", "!=", "-gt"} if code == "0" else operator in {"-eq", "=", "=="}


def compared_files(script: str) -> Iterator[str]:
    """The files that a script compares with others, if a difference is a failure."""
    commands = simple_commands(script)
    for index, command in enumerate(commands):
        program, *words = [word.value or "" for word in command.words]
        if program in {"test", "[", "[["} and _decides(commands, index):
            yield from (name for word in command.words for name in _CONTENT.findall(word.text))
        if program.rpartition("/")[2] in {"diff", "cmp"} and _decides(commands, index):
            yield from (word for word in words if word and not word.startswith("-"))
            # `diff - < expected.txt`
            if command.after == "<" and index + 1 < len(commands):
                yield commands[index + 1].words[0].value or ""


def compared_pairs(script: str) -> Iterator[tuple[str, str]]:
    """The pairs of files that a script compares with each other, if a difference is a failure."""
    commands = simple_commands(script)
    for index, command in enumerate(commands):
        program, *words = [word.value or "" for word in command.words]
        names: list[str] = []
        if program in {"test", "[", "[["}:
            names = [name for word in command.words for name in _CONTENT.findall(word.text)]
        elif program.rpartition("/")[2] in {"diff", "cmp"}:
            names = [word for word in words if not word.startswith("-")]
        if len(names) == 2 and all(names) and _decides(commands, index):
            yield names[0], names[1]


class _Script(msgspec.Struct, frozen=True):
    source: bytes
    commands: list[SimpleCommand]
    heredocs: tuple[Heredoc, ...]

    def change(self, edits: Edits, index: int, marks: Marks) -> bool:
        """Change the expectation of one command, if it has one."""
        words = self.commands[index].words
        program = (words[0].value or words[0].text).rpartition("/")[2]
        if _PYTHON.fullmatch(program):
            return self._change_code(edits, words, ("-c",), marks)
        if _NODE.fullmatch(program):
            return self._change_code(edits, words, ("-e", "--eval", "-p", "--print"), marks)
        if program not in _CONDITIONS or not _decides(self.commands, index):
            return False
        if program == "grep":
            is_unwanted = _is_unwanted(self.commands, index)
            pattern = _pattern(words)
            if marks.is_near and not is_unwanted:
                return self._change_slightly(edits, pattern, lambda text: near_word(text, marks.step))
            return not marks.is_near and _change_pattern(edits, pattern, marks, is_unwanted=is_unwanted)
        if marks.is_near:
            return self._change_slightly(edits, _compared(words), lambda text: next(near_texts(text, marks.step), None))
        return any_done(_flip(edits, words, place) for place in range(1, len(words)))

    def _change_code(self, edits: Edits, words: list[Word], options: tuple[str, ...], marks: Marks) -> bool:
        is_python = options == ("-c",)
        for option, word in pairwise(words[1:]):
            if option.value in options:
                original = Word(self._text(word.start, word.end), word.start).value
                changed = _changed_code(original, marks, is_python=is_python) if original is not None else None
                return changed is not None and edits.replace(word.start, word.end, shlex.quote(changed).encode())
        # Without a file among its arguments, a program reads its code from its input.
        if any(not word.text.startswith("-") for word in words[1:2]):
            return False
        for text in self.heredocs:
            if text.operator >= words[-1].end and not self._text(words[-1].end, text.operator).strip():
                original = self._text(text.start, text.end)
                changed = _changed_code(original, marks, is_python=is_python) if text.is_literal else None
                return changed is not None and edits.replace(text.start, text.end, changed.encode())
        return False

    def _change_slightly(self, edits: Edits, word: Word | None, near: Callable[[bytes], bytes | None]) -> bool:
        """Change a text, also one with letters of other alphabets; but no pattern, which may fit to both."""
        if word is None or _PATTERN.search(word.text):
            return False
        other = near(self.source[word.start : word.end])
        return other is not None and edits.replace(word.start, word.end, other)

    def _text(self, start: int, end: int) -> str:
        return self.source[start:end].decode("utf-8", "replace")


def _read(source: bytes) -> _Script | None:
    try:
        text = source.decode("utf-8")
        if not text.isascii():
            # Positions of characters must be positions of bytes.
            text = "".join(character if character.isascii() else "x" * len(character.encode()) for character in text)
        heredocs = find_heredocs(text)
        return _Script(source, simple_commands(without_heredocs(text, heredocs)), heredocs)
    except (UnicodeDecodeError, RecursionError):
        return None


def _changed_code(code: str, marks: Marks, *, is_python: bool) -> str | None:
    source = code.encode()
    inverted = unless_too_deep(Inverted(source), lambda: _inverted_code(source, marks, is_python=is_python))
    return inverted.source.decode("utf-8", "replace") if inverted.altered else None


def _inverted_code(source: bytes, marks: Marks, *, is_python: bool) -> Inverted:
    return invert_python(source, None, marks) if is_python else invert_javascript("command.js", source, None, marks)


def _decides(commands: list[SimpleCommand], index: int) -> bool:
    """Whether a condition is an expectation: its failure ends the script. Other conditions only choose a way."""
    command, rest = commands[index], commands[index + 1 :]
    if command.keyword in {"if", "elif"} or command.after.startswith("||"):
        ends = [later.words[0].text in {"fi", "esac", "done"} for later in rest]
        return any(map(_fails, rest[: min(3, ends.index(True) if True in ends else 3)]))
    # After `||` a condition is one of two ways to pass.
    is_plain = not command.keyword and command.before != "||" and command.after.strip("\n") in {"", ";", "&&", ")"}
    stops_at_errors = any(_is_set_e(earlier) for earlier in commands[:index])
    leads_to_end = all(later.before == "&&" for later in rest)
    return is_plain and (stops_at_errors or leads_to_end)


def _fails(command: SimpleCommand) -> bool:
    texts = [word.text for word in command.words]
    return texts[0] == "false" or (texts[0] in {"exit", "return"} and texts[1:] != ["0"] and len(texts) > 1)


def _is_set_e(command: SimpleCommand) -> bool:
    texts = [word.text for word in command.words]
    return texts[0] == "set" and any(re.fullmatch(r"-\w*e\w*|errexit", text) for text in texts[1:])


def _is_unwanted(commands: list[SimpleCommand], index: int) -> bool:
    """Whether the script fails if the condition holds: `if grep -q TODO notes; then exit 1; fi`."""
    if commands[index].keyword not in {"if", "elif"}:
        return False
    for later in commands[index + 1 :]:
        if later.keyword == "else" or _fails(later):
            return later.keyword != "else"
    return False


def _flip(edits: Edits, words: list[Word], index: int) -> bool:
    word = words[index]
    if word.text in _OPPOSITES:
        return edits.replace(word.start, word.end, _OPPOSITES[word.text].encode())
    if word.text not in _FILE_TESTS:
        return False
    before = words[index - 1]
    if before.text == "!":
        return edits.replace(before.start, before.end, b"")
    return edits.insert(word.start, b"! ")


def _compared(words: list[Word]) -> Word | None:
    """The text to which a result must be equal. With [[ it may be a pattern."""
    for left, operator, right in zip(words[1:], words[2:], words[3:], strict=False):
        if operator.text in {"=", "==", "-eq"} and (left.value is None) != (right.value is None):
            return right if left.value is None else left
    return None


def _pattern(words: list[Word]) -> Word | None:
    """The pattern that grep must find; None if it is named in another way, or if nothing may match."""
    options = [word.text for word in words[1:] if word.text.startswith("-")]
    # With -v or -L a pattern that matches nothing is a success; -e and -f name patterns in other ways.
    if any(re.match(r"-\w*[vLef]|--", option) for option in options):
        return None
    return next((word for word in words[1:] if not word.text.startswith("-")), None)


def _change_pattern(edits: Edits, pattern: Word | None, marks: Marks, *, is_unwanted: bool) -> bool:
    if pattern is None:
        return False
    if is_unwanted:
        # This pattern is in every line.
        return edits.replace(pattern.start, pattern.end, b"''")
    return edits.insert(pattern.start + (1 if pattern.text[0] in "'\"" else 0), marks.text)

"""Reads the texts that Go source code writes as constants: literals, sums of them, names of them and `fmt.Sprintf`.

Not a parser of Go. An expression that needs more is unreadable, and the caller counts it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<space>\s+)|(?P<raw>`[^`]*`)|(?P<quoted>"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<rune>'(?:[^'\\\n]|\\.)*')|(?P<word>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?P<sign>\.\.\.|:=|.)""",
    re.DOTALL,
)
_VERB = re.compile(r"%[#+ -]?(?:\[\d+\])?[svdq%]")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def tokens_of(source: str) -> list[str]:
    """The tokens of a file, without comments and white space."""
    return [m[0] for m in _TOKEN.finditer(source) if m.lastgroup not in {"comment", "space"}]


def end_of_group(tokens: Sequence[str], start: int) -> int:
    """The index after the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index] in _OPENING) - (tokens[index] in _CLOSING)
        if depth == 0:
            return index + 1
    return len(tokens)


def end_of_expression(tokens: Sequence[str], start: int) -> int:
    """The index of the comma or bracket that ends the expression at `start`."""
    index = start
    while index < len(tokens) and tokens[index] != "," and tokens[index] not in _CLOSING:
        index = end_of_group(tokens, index) if tokens[index] in _OPENING else index + 1
    return index


def items(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """The expressions between commas."""
    start = 0
    while start < len(tokens):
        end = end_of_expression(tokens, start)
        if end > start:
            yield tokens[start:end]
        start = end + 1


def constants(tokens: Sequence[str]) -> dict[str, str]:
    """The texts that are assigned to a name; of several texts the first, in the order of the file."""
    known: dict[str, str] = {}
    for index in range(1, len(tokens) - 1):
        if tokens[index] in {"=", ":="} and tokens[index - 1].isidentifier():
            text = _sum_at(tokens, index + 1, known)
            if text is not None:
                known.setdefault(tokens[index - 1], text)
    return known


def text_of(expression: Sequence[str], known: dict[str, str]) -> str | None:
    """The text of an expression, or None."""
    parts: list[str] = []
    index = 0
    while index < len(expression):
        part, index = _term(expression, index, known)
        if part is None or (index < len(expression) and expression[index] != "+"):
            return None
        parts.append(part)
        index += 1
    return "".join(parts) if parts else None


def _sum_at(tokens: Sequence[str], start: int, known: dict[str, str]) -> str | None:
    """The text that starts here. Go ends a statement at the end of a line, and tokens have no lines."""
    text, index = _term(tokens, start, known)
    while text is not None and index < len(tokens) and tokens[index] == "+":
        more, index = _term(tokens, index + 1, known)
        text = None if more is None else text + more
    return text


def _term(tokens: Sequence[str], index: int, known: dict[str, str]) -> tuple[str | None, int]:
    if index >= len(tokens):
        return None, index
    token = tokens[index]
    if token[0] in '`"':
        return _literal(token), index + 1
    if token == "fmt.Sprintf":
        end = end_of_group(tokens, index + 1)
        return _formatted([text_of(item, known) for item in items(tokens[index + 2 : end - 1])]), end
    return known.get(token), index + 1


def _literal(token: str) -> str | None:
    if token[0] == "`":
        return token[1:-1].replace("\r", "")
    try:
        value = ast.literal_eval(token)
    except (SyntaxError, ValueError):
        return None
    return value if isinstance(value, str) else None


def _formatted(arguments: list[str | None]) -> str | None:
    if not arguments or None in arguments:
        return None
    form, *values = (argument for argument in arguments if argument is not None)
    rest = iter(values)
    try:
        return _VERB.sub(lambda verb: "%" if verb[0] == "%%" else next(rest), form)
    except (StopIteration, RuntimeError):
        return None

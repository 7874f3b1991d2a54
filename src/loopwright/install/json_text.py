"""The JSON text of an agent's settings, parsed strictly: a text that we could not write back is refused. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

from loopwright.install.json_edit import edited
from loopwright.install.model import NotEditable

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
    """Whether the document says nothing: some agents add the address of a schema on their own."""
    return not set(parse(text)) - {SCHEMA}


def _without_repetition(pairs: list[tuple[str, Any]]) -> Document:
    found: Document = {}
    for key, value in pairs:
        if key in found:
            raise NotEditable(f"the key {json.dumps(key[:80])} appears twice in one object")
        found[key] = value
    return found


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

"""An agent's settings as text and as a document. Pure; what could not be written back as it was is refused."""

from __future__ import annotations

import json
import math
from typing import Any

from loopwright.agents.settings_edit import edited

Document = dict[str, Any]
# Far more than settings need, and far less than would exhaust the stack of whoever walks through them.
_DEEPEST = 100


class NotUnderstood(ValueError):
    """The file is not of the shape that the harness documents, or would not survive being written again."""


def parse(text: str | None) -> Document:
    """The document; no file and an empty one are an empty document."""
    if text is None or not text.strip():
        return {}
    try:
        document = json.loads(
            text, object_pairs_hook=_without_repetition, parse_float=_finite, parse_constant=_no_constant
        )
    except NotUnderstood:
        raise
    except RecursionError as problem:
        raise NotUnderstood(_TOO_DEEP) from problem
    except ValueError as problem:
        raise NotUnderstood(f"not plain JSON (comments, too, would be lost): {problem}") from problem
    if not isinstance(document, dict):
        raise NotUnderstood("not a JSON object")
    _check(document)
    return document


def render(document: Document, before: str | None) -> str:
    """In the indentation that the file has; what stood in it and stays keeps its bytes."""
    indented = [line for line in (before or "").splitlines() if line[:1] in (" ", "\t")]
    first = indented[0] if indented else "  "
    indent = first[: len(first) - len(first.lstrip())]
    if before is not None and before.strip():
        return edited(before, parse(before), document, indent)
    end = "\n" if before is None or before.endswith("\n") else ""
    return json.dumps(document, indent=indent, ensure_ascii=False) + end


_TOO_DEEP = f"nested more than {_DEEPEST} levels deep"


def _without_repetition(pairs: list[tuple[str, Any]]) -> Document:
    found: Document = {}
    for key, value in pairs:
        if key in found:
            raise NotUnderstood(f"the key {json.dumps(key[:80])} is there twice in one object")
        found[key] = value
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotUnderstood(f"the number {digits[:40]} is too large to be kept")
    return number


def _no_constant(name: str) -> float:
    raise NotUnderstood(f"{name} is no JSON")


def _check(document: Document) -> None:
    waiting: list[tuple[Any, int]] = [(document, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise NotUnderstood(_TOO_DEEP)
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
        raise NotUnderstood("a text in it holds half a character (a lone surrogate, as \\ud800)") from problem

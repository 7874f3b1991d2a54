"""What agents answer in a loop: JSON of a known shape, or an error that names what is wrong."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

from loopwright.loop.model import Criteria

_T = TypeVar("_T")


class NotAnswered(ValueError):
    """The answer is not what was asked for."""


class ProposedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task as a planner proposes it."""

    description: str
    tool: str = ""
    mode: str = "write"


class ProposedTasks(msgspec.Struct, frozen=True, kw_only=True):
    """The planner's answer."""

    tasks: list[ProposedTask]


class ProposedHypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """A possible cause as a debugger proposes it; `testable_condition` is a shell command that prints the evidence."""

    description: str
    testable_condition: str
    evidence_criteria: Criteria
    logging_point: str = ""
    likelihood: int = 1
    fix: str = ""


class ProposedHypotheses(msgspec.Struct, frozen=True, kw_only=True):
    """The debugger's answer."""

    hypotheses: list[ProposedHypothesis]


def read_answer(text: str, kind: type[_T]) -> _T:
    """The answer as this kind; a fence around the JSON is passed over."""
    body = text.strip()
    if body.startswith("```"):
        body = body.partition("\n")[2].rpartition("```")[0]
    try:
        document: Any = json.loads(body)
        return msgspec.convert(document, kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as problem:
        raise NotAnswered(f"the answer is not the JSON that was asked for: {problem}") from problem

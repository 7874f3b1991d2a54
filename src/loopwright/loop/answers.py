"""What agents answer in a loop: the shapes of the JSON."""

from __future__ import annotations

import msgspec

from loopwright.loop.model import Criteria


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

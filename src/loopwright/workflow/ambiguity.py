"""How much of a spec is still open, from 0 to 1: computed from the document. What an agent thinks can only raise it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from loopwright.workflow.documents import spec as s

# Shares of the whole, by how much harm a gap does later; they add up to 1.
SECTION_WEIGHTS: Mapping[str, float] = {
    s.INTENT: 0.12,
    s.OUTCOME: 0.10,
    s.IN_SCOPE: 0.10,
    s.NON_GOALS: 0.06,
    s.BOUNDARIES: 0.06,
    s.CONSTRAINTS: 0.05,
    s.SUCCESS: 0.10,
    s.ASSUMPTIONS: 0.04,
    s.BROWNFIELD: 0.03,
    s.INPUTS: 0.04,
    s.CRITERIA: 0.15,
}
OPEN_ITEMS_WEIGHT = 0.15


class Score(msgspec.Struct, frozen=True):
    """The score, and what it is made of, the largest part first."""

    value: float
    parts: tuple[tuple[str, float], ...]

    def sentence(self) -> str:
        """Where it comes from."""
        return ", ".join(f"{name}: {share:.2f}" for name, share in self.parts[:4]) or "nothing is open"


def ambiguity(spec: s.Spec, *, reported: float | None = None, floor: float = 0.0) -> Score:
    """The score of a spec."""
    parts = {f"{name} says nothing yet": weight for name, weight in SECTION_WEIGHTS.items() if not spec.says(name)}
    if spec.items:
        parts["open questions"] = OPEN_ITEMS_WEIGHT * len(spec.open_items) / len(spec.items)
    computed = sum(parts.values())
    if reported is not None and min(1.0, reported) > computed:
        parts["the agent's own doubt"] = min(1.0, reported) - computed
    if floor > sum(parts.values()):
        parts["the review sent it back"] = floor - sum(parts.values())
    listed = sorted(((name, share) for name, share in parts.items() if share > 0), key=lambda part: -part[1])
    return Score(round(sum(share for _, share in listed), 4), tuple(listed))

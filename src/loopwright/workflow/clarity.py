"""How much of a spec is still open, and what to ask about it without an agent. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import AmbiguityItem, Spec

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


# In the order in which answers help each other.
_QUESTIONS = {
    s.INTENT: "What is wanted, in a sentence or two?",
    s.OUTCOME: "What is different, and for whom, when it is done?",
    s.IN_SCOPE: "What belongs to it?",
    s.NON_GOALS: "What does not belong to it, although one could think so?",
    s.BOUNDARIES: "What may the builder decide alone, and what needs a person?",
    s.SUCCESS: "How does one see that it succeeded?",
    s.CRITERIA: "Which statements, each one decidable by a command, must be true at the end?",
    s.CONSTRAINTS: "What must stay as it is, or may not be used?",
    s.ASSUMPTIONS: "What is taken for granted?",
    s.BROWNFIELD: "What does the code say about this today, and what is only inferred?",
    s.INPUTS: "Which files, data or access does the work need?",
}
_MARK = "[{section}] "


class AskedQuestion(msgspec.Struct, frozen=True):
    """A question, and the earlier answer that it presses on."""

    question: str
    presses_on: str | None = None


def next_question(spec: Spec, pressed: frozenset[str], say: Catalogue = ENGLISH) -> AskedQuestion | None:
    """What to ask now; None when there is nothing left to ask."""
    for section, question in _QUESTIONS.items():
        if not spec.says(section):
            return AskedQuestion(_MARK.format(section=section) + say.text(question))
    answered = [item for item in spec.items if item.status == "answered"]
    if answered and not pressed:
        item = _weakest(answered)
        said = item.answer if len(item.answer) < 120 else item.answer[:117] + "…"
        template = "You said in {id}: “{said}” What would prove that wrong, and does it hold then?"
        return AskedQuestion(say.words(template, id=item.id, said=said), item.id)
    if not answered and not pressed:
        question = "[pressure] Which single fact, if it were otherwise, would change this spec, and how sure is it?"
        return AskedQuestion(say.text(question))
    return None


def section_of(item: AmbiguityItem) -> str | None:
    """The section that an answer to this question belongs into, where the question named one."""
    name, bracket, _ = item.question.removeprefix("[").partition("] ")
    return name if bracket and item.question.startswith("[") and name in _QUESTIONS else None


def _weakest(answered: list[AmbiguityItem]) -> AmbiguityItem:
    """The shortest answer tells least."""
    return min(answered, key=lambda item: (len(item.answer), item.id))

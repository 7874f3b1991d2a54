"""How much of a spec is still open, and what to ask about it without an agent. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.answer_rules import sections_without_content, unaccepted_answers
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import Spec

# Weights by the harm that a gap does later; the sum is 1.
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
    """The score and its parts, the largest part first."""

    value: float
    parts: tuple[tuple[str, float], ...]

    def sentence(self) -> str:
        """The largest parts, in a sentence."""
        return ", ".join(f"{name}: {share:.2f}" for name, share in self.parts[:4]) or "no open points"


def ambiguity(
    spec: s.Spec, *, reported: float | None = None, floor: float = 0.0, unjudged: Collection[str] = ()
) -> Score:
    """The score of a spec. `unjudged` are answers that the agent has not judged yet: they count as open."""
    empty = sections_without_content(spec, SECTION_WEIGHTS)
    parts = {why: SECTION_WEIGHTS[name] for name, why in empty.items()}
    if spec.items:
        without_answer = {item.id for item in spec.open_items} | unaccepted_answers(spec).keys()
        waiting = {item.id for item in spec.items if item.id in unjudged} - without_answer
        parts["open questions"] = OPEN_ITEMS_WEIGHT * len(without_answer) / len(spec.items)
        parts["answers that the agent has not judged"] = OPEN_ITEMS_WEIGHT * len(waiting) / len(spec.items)
    computed = sum(parts.values())
    if reported is not None and min(1.0, reported) > computed:
        parts["the agent's own estimate"] = min(1.0, reported) - computed
    if floor > sum(parts.values()):
        parts["the review sent the spec back"] = floor - sum(parts.values())
    listed = sorted(((name, share) for name, share in parts.items() if share > 0), key=lambda part: -part[1])
    return Score(round(sum(share for _, share in listed), 4), tuple(listed))


# In an order in which earlier answers help with later questions.
_QUESTIONS = {
    s.INTENT: "What do you want to build? Describe it in one or two sentences.",
    s.OUTCOME: "What changes, and for whom, when this is done?",
    s.IN_SCOPE: "What is in scope?",
    s.NON_GOALS: "What is out of scope, although a reader might expect it?",
    s.BOUNDARIES: "What may the builder decide alone, and what must a person decide?",
    s.SUCCESS: "How can you see that it succeeded?",
    s.CRITERIA: "Which statements must be true at the end? A command must be able to check each one.",
    s.CONSTRAINTS: "What must not change, and what must not be used?",
    s.ASSUMPTIONS: "What do you assume?",
    s.BROWNFIELD: "What does the code show about this today, and what do you only infer?",
    s.INPUTS: "Which files, data or access does the work need?",
}
_MARK = "[{section}] "


def next_question(spec: Spec, pressed: frozenset[str], catalogue: Catalogue = ENGLISH) -> tuple[str, str | None] | None:
    """The next question, and the earlier answer that it challenges; None if no question is left."""
    empty = sections_without_content(spec, _QUESTIONS)
    for section, question in _QUESTIONS.items():
        if section in empty:
            return _MARK.format(section=section) + catalogue.text(question), None
    answered = [item for item in spec.items if item.status == "answered"]
    if answered and not pressed:
        # The shortest answer says least.
        item = min(answered, key=lambda item: (len(item.answer), item.id))
        answer = item.answer if len(item.answer) < 120 else item.answer[:117] + "…"
        template = "In {id} you said: “{said}” What would prove that wrong, and have you checked it?"
        return catalogue.message(template, id=item.id, said=answer), item.id
    if not answered and not pressed:
        question = (
            "[pressure] Which single fact would change this spec if it were different, and how sure are you of it?"
        )
        return catalogue.text(question), None
    return None

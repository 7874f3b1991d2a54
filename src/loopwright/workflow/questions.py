"""Questions that need no agent: what a spec does not say yet, asked one at a time, then one answer put to the test."""

from __future__ import annotations

import msgspec

from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import AmbiguityItem, Spec

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

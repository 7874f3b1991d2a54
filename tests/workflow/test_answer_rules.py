"""Which answers count: a text counts once, and only if it says something about its question."""

from __future__ import annotations

import pytest

from loopwright.workflow.answer_rules import sections_without_content, unaccepted_answers
from loopwright.workflow.clarity import SECTION_WEIGHTS
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import new_spec

SCOPE = f"[{s.IN_SCOPE}] What is in scope?"
INPUTS = f"[{s.INPUTS}] Which files, data or access does the work need?"
FREE = "Do empty lines count?"
REPEATS = "it repeats the answer to A-1"


def problems(*pairs):
    spec = new_spec("T", "an idea", "x")
    for question, answer in pairs:
        spec = spec.asking(question)
        spec = spec.answering(spec.items[-1].id, answer)
    return [unaccepted_answers(spec).get(item.id, "") for item in spec.items]


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ([(SCOPE, "the parser"), (INPUTS, "the old files")], ""),
        ([(SCOPE, "the parser"), (INPUTS, "The  parser!")], REPEATS),
        ([(SCOPE, "we will see later on"), (FREE, "2. We will see later on (2)")], REPEATS),
        ([(SCOPE, "we will see about that later on"), (FREE, "we will see about that later on, friend")], REPEATS),
        ([(SCOPE, "以后再说吧"), (FREE, "以后再说吧。")], REPEATS),
        ([(SCOPE, "只有解析器"), (FREE, "空行不算价格")], ""),
        ([(SCOPE, "the parser"), (SCOPE, "what is in scope")], "it repeats the question"),
        ([(SCOPE, "the parser"), (SCOPE, "TBD")], "it is empty or a placeholder"),
        ([(SCOPE, "the parser"), (SCOPE, "yes")], "it does not answer the question"),
        ([(SCOPE, "the parser"), (SCOPE, "none")], "it does not answer the question"),
        ([(SCOPE, "the parser"), (INPUTS, "none")], ""),
        ([(INPUTS, "none"), (f"[{s.CONSTRAINTS}] What must not change?", "None.")], ""),
        # An agent asks what a person can answer with yes or no, and judges the answer itself.
        ([(FREE, "no"), ("Do tabs count?", "No.")], ""),
        ([("Which port?", "80"), ("Which other port?", "443")], ""),
        ([("Which port?", "80"), ("Which other port?", "80")], REPEATS),
    ],
)
def test_the_last_answer_counts_or_says_why_not(pairs, why):
    assert problems(*pairs)[-1] == why


def test_a_refused_answer_does_not_refuse_a_later_one():
    assert problems((SCOPE, "todo"), (INPUTS, "todo"), (FREE, "they do")) == [*["it is empty or a placeholder"] * 2, ""]


def test_a_section_that_repeats_another_one_or_says_nothing_counts_as_empty():
    spec = new_spec("T", "Greet people by name.", "x").with_sections(
        {s.OUTCOME: "- greet people, by name", s.SUCCESS: "none", s.INPUTS: "- none", s.CONSTRAINTS: "nothing"}
    )
    reasons = sections_without_content(spec, SECTION_WEIGHTS)
    assert reasons[s.OUTCOME] == f"{s.OUTCOME} repeats {s.INTENT}"
    assert reasons[s.SUCCESS] == f"{s.SUCCESS} says nothing"
    assert {s.INTENT, s.INPUTS, s.CONSTRAINTS}.isdisjoint(reasons)

"""Which answers and sections of a spec count: one text counts once, whatever it was written under. Pure.

No rule here understands a text. An agent that asked a question judges the answer as well; these rules come before it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import AmbiguityItem, Spec, is_placeholder

# Digits do not count: a number after the same sentence makes no other answer. A Han character is a word.
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+")
_ANYTHING = re.compile(r"\w+")
_MARK = re.compile(r"\[([^\]]*)\] ")
# From this length on, two texts with this share of common words are the same text.
_LONG, _SAME = 4, 0.8
_NONE = frozenset({"none", "nothing", "no", "n a", "无", "没有", "不适用"})
_YES = frozenset({"yes", "ok", "okay", "sure", "y", "n", "是", "好", "否", "对"})
# For these sections "none" says something.
MAY_BE_NONE = frozenset({s.NON_GOALS, s.CONSTRAINTS, s.ASSUMPTIONS, s.BROWNFIELD, s.INPUTS})


def section_of(question: str) -> str | None:
    """The section for the answer to this question, if the question names one."""
    match = _MARK.match(question)
    return match[1] if match is not None and match[1] in s.SECTIONS else None


def unaccepted_answers(spec: Spec) -> dict[str, str]:
    """Each answered question whose answer does not count, and why."""
    refused: dict[str, str] = {}
    earlier: dict[str, str] = {}
    for item in spec.items:
        if item.status != "answered":
            continue
        why = _problem_of(item, earlier)
        if why:
            refused[item.id] = why
        else:
            earlier[item.id] = item.answer
    return refused


def _problem_of(item: AmbiguityItem, earlier: Mapping[str, str]) -> str:
    section = section_of(item.question)
    if is_placeholder(item.answer):
        return "it is empty or a placeholder"
    if is_same_text(item.answer, _MARK.sub("", item.question, count=1)):
        return "it repeats the question"
    if _is_closed(item.answer):
        # Only an agent asks questions that a person can answer with yes or no; the agent judges the answer.
        return "" if section is None or _is_none_for(section, item.answer) else "it does not answer the question"
    repeated = next((name for name, answer in earlier.items() if is_same_text(answer, item.answer)), None)
    return f"it repeats the answer to {repeated}" if repeated is not None else ""


def sections_without_content(spec: Spec, names: Iterable[str]) -> dict[str, str]:
    """Of these sections those that do not count, and why."""
    empty: dict[str, str] = {}
    earlier: dict[str, str] = {}
    for name in names:
        text = spec.page.text_of(name)
        if not spec.is_filled(name):
            empty[name] = f"{name} is empty"
        elif _is_closed(text):
            if not _is_none_for(name, text):
                empty[name] = f"{name} says nothing"
        elif (same := next((other for other, known in earlier.items() if is_same_text(known, text)), None)) is not None:
            empty[name] = f"{name} repeats {same}"
        else:
            earlier[name] = text
    return empty


def is_same_text(first: str, second: str) -> bool:
    """Whether two texts are the same, apart from case, punctuation, digits and a few words."""
    ours, theirs = _tokens(first), _tokens(second)
    longest = max(len(ours), len(theirs))
    if longest < _LONG:
        return ours == theirs
    common = (Counter(ours) & Counter(theirs)).total()
    return common / longest >= _SAME


@lru_cache(maxsize=64)
def _tokens(text: str) -> tuple[str, ...]:
    """The words of a text, read once: each section is compared with all earlier sections."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple(_WORD.findall(plain) or _ANYTHING.findall(plain))


def _is_closed(text: str) -> bool:
    return _plain(text) in _NONE | _YES


def _is_none_for(section: str, text: str) -> bool:
    return section in MAY_BE_NONE and _plain(text) in _NONE


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ANYTHING.findall(plain))

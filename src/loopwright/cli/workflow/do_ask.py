"""Asks a person in the terminal what to do with the work of `loopwright do`. Carries out nothing."""

from __future__ import annotations

from enum import Enum, auto

import click
import msgspec

from loopwright.cli.language import message, translate
from loopwright.cli.plain import echo, put
from loopwright.stages.quick.result import DoOutcome, DoResult


class DoAction(Enum):
    """What a person wants."""

    ACCEPT = auto()
    BRANCH = auto()
    COMMENT = auto()
    AGAIN = auto()
    DISCARD = auto()
    ANSWER = auto()
    LATER = auto()


class DoChoice(msgspec.Struct, frozen=True):
    """What a person wants, their own words, and the question that these answer."""

    action: DoAction
    text: str = ""
    item: str = ""


_LETTERS = {
    "a": DoAction.ACCEPT, "b": DoAction.BRANCH, "c": DoAction.COMMENT,
    "t": DoAction.AGAIN, "d": DoAction.DISCARD, "q": DoAction.LATER,
}  # fmt: skip


def ask_person(result: DoResult) -> DoChoice:
    """One question about the work, or the question of the agent."""
    if result.question is not None:
        return _answer(result)
    letters = "acbtdq" if result.may_be_accepted else "ctdq"
    words = {
        "a": message("[a]ccept"), "c": message("[c]omment"), "b": message("[b]ranch"), "t": message("[t]ry again"),
        "d": message("[d]iscard"), "q": message("[q]uit and decide later"),
    }  # fmt: skip
    put(", ".join(words[letter] for letter in letters), bold=True)
    while True:
        letter = click.prompt(">", type=click.Choice(list(letters)), show_choices=False, prompt_suffix=" ")
        action = _LETTERS[letter]
        if action is DoAction.COMMENT:
            return DoChoice(action, click.prompt(translate("What should change?"), prompt_suffix="\n> "))
        if action not in (DoAction.ACCEPT, DoAction.BRANCH) or _is_confirmed(result):
            return DoChoice(action)


def _answer(result: DoResult) -> DoChoice:
    question = result.question
    if question is None:
        return DoChoice(DoAction.LATER)
    put(f"{question.id}: {question.question}", bold=True)
    for option in question.options:
        put(f"  - {option}")
    text = click.prompt(translate("Your answer (empty: later)"), default="", show_default=False)
    return DoChoice(DoAction.ANSWER, text, question.id) if text.strip() else DoChoice(DoAction.LATER)


def _is_confirmed(result: DoResult) -> bool:
    """Whatever is not proven is named once more before the person takes it in their name."""
    if result.outcome is DoOutcome.PROVEN:
        return True
    echo("you take this in your name:", fg="yellow")
    for reason in result.reasons:
        echo(f"  {reason.message}")
    return click.confirm(translate("Accept it?"), default=False)

"""Asks a person in the terminal what to do with the work of `loopwright do`."""

from __future__ import annotations

from enum import Enum, auto

import click
import msgspec

from loopwright.cli.language import message, translate
from loopwright.cli.plain import echo, put
from loopwright.loop.model import Budget
from loopwright.stages.context import Context
from loopwright.verbs.workflow import do
from loopwright.verbs.workflow.do import DoOutcome, DoRequest, DoResult
from loopwright.verbs.workflow.stages import answer


class Then(Enum):
    """What follows the decision."""

    BUILD = auto()
    FINISH = auto()
    # The person decides later.
    LEAVE = auto()


class Choice(msgspec.Struct, frozen=True):
    """The decision of a person, and the work that it is about."""

    then: Then
    slug: str


def ask_person(context: Context, result: DoResult, agent: str, budget: Budget, *, as_branch: bool) -> Choice:
    """Ask, and carry out the answer."""
    slug = result.view.workflow.slug
    if result.question is not None:
        return _answer(context, result)
    letters = "acbtdq" if result.may_be_accepted else "ctdq"
    words = {
        "a": message("[a]ccept"), "c": message("[c]omment"), "b": message("[b]ranch"), "t": message("[t]ry again"),
        "d": message("[d]iscard"), "q": message("[q]uit and decide later"),
    }  # fmt: skip
    put(", ".join(words[letter] for letter in letters), bold=True)
    while True:
        match click.prompt(">", type=click.Choice(list(letters)), show_choices=False, prompt_suffix=" "):
            case "a" | "b" as letter if _is_confirmed(result):
                echo(do.accept(context, slug, as_branch=as_branch or letter == "b").sentence)
                return Choice(Then.FINISH, slug)
            case "c":
                do.send_back(context, slug, click.prompt(translate("What should change?"), prompt_suffix="\n> "))
                return Choice(Then.BUILD, slug)
            case "t":
                return Choice(Then.BUILD, do.again(context, slug, DoRequest(idea="", agent=agent, budget=budget)))
            case "d":
                do.discard(context, slug)
                return Choice(Then.FINISH, slug)
            case "q":
                return Choice(Then.LEAVE, slug)
            case _:
                pass  # not accepted after all: the question is asked again


def _answer(context: Context, result: DoResult) -> Choice:
    slug, question = result.view.workflow.slug, result.question
    if question is None:
        return Choice(Then.BUILD, slug)
    put(f"{question.id}: {question.question}", bold=True)
    for option in question.options:
        put(f"  - {option}")
    text = click.prompt(translate("Your answer (empty: later)"), default="", show_default=False)
    if not text.strip():
        return Choice(Then.LEAVE, slug)
    answer(context, slug, question.id, text)
    return Choice(Then.BUILD, slug)


def _is_confirmed(result: DoResult) -> bool:
    """Whatever is not proven is named once more before the person takes it in their name."""
    if result.outcome is DoOutcome.PROVEN:
        return True
    echo("you take this in your name:", fg="yellow")
    for reason in result.reasons:
        echo(f"  {reason.message}")
    return click.confirm(translate("Accept it?"), default=False)

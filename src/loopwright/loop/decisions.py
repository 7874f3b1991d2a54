"""Decisions that only a person can make: each is asked once and answered once. Pure."""

from __future__ import annotations

import itertools

from loopwright.agents.mailbox import DecisionRequest
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.commands import Accepted, Verdict, refused
from loopwright.loop.model import Decision, Held, Hold, Holder, Loop, Running

# The answer that lets the work change the files that an agent asked for. Any other answer does not.
YES = "yes"


def ask_decisions(loop: Loop, command: c.AskDecisions) -> Verdict:
    """Record new questions. The loop is held while one of the questions is open."""
    if not isinstance(loop.phase, Running | Held):
        return Accepted(())
    known = list(loop.decisions)
    asked: list[Decision] = []
    for request in command.requests:
        decision = known_decision(known, request)
        if decision is None:
            decision = Decision(
                id=request.id or _free_id(known),
                question=_question(request),
                options=(YES, "no") if request.scope_wanted else request.options,
                scope_wanted=request.scope_wanted,
                asked_at=command.at,
            )
            known.append(decision)
        asked.append(decision)
    new = tuple(e.DecisionAsked(decision=decision) for decision in known[len(loop.decisions) :])
    waiting = [decision for decision in asked if decision.answer is None]
    held = (e.HoldPlaced(hold=_hold(waiting[0], command.at)),) if waiting else ()
    return Accepted((*new, *held))


def answer_decision(loop: Loop, answered: e.DecisionAnswered) -> Verdict:
    """Record an answer; the last answer lifts the hold."""
    decision = next((known for known in loop.decisions if known.id == answered.decision_id), None)
    if decision is None:
        waiting = ", ".join(other.id for other in loop.open_decisions) or "none"
        message = f"the loop {loop.loop_id} has no decision {answered.decision_id}"
        return refused("no_decision", message, f"these wait for an answer: {waiting}")
    if decision.answer is not None:
        message = f"{decision.id} was already answered by {decision.answered_by}: {decision.answer}"
        return refused("answered_already", message, "agents were told that answer; change the loop's tasks instead")
    if not answered.answer.strip():
        return refused("empty_answer", "an answer cannot be empty", f"{decision.id} asks: {decision.question}")
    if not any(hold.holder is Holder.DECISION for hold in loop.holds):
        return Accepted((answered,))
    rest = [other for other in loop.open_decisions if other.id != decision.id]
    after = e.HoldPlaced(hold=_hold(rest[0], loop.updated_at)) if rest else e.HoldLifted(holder=Holder.DECISION)
    return Accepted((answered, after))


def known_decision(known: list[Decision], request: DecisionRequest) -> Decision | None:
    """The decision that a request is about, by its id or its words."""
    words = _question(request).split()
    return next(
        (decision for decision in known if decision.id == request.id or decision.question.split() == words), None
    )


def _question(request: DecisionRequest) -> str:
    """The question that a person reads. It names every file that the agent asks for."""
    if not request.scope_wanted:
        return request.question
    return f"{request.question} May the work change {', '.join(request.scope_wanted)}?"


def granted_scope(loop: Loop) -> tuple[str, ...]:
    """The paths and globs outside its scope that a person allowed the work to change."""
    return tuple(
        pattern
        for decision in loop.decisions
        if decision.answer is not None and decision.answer.strip().casefold() == YES
        for pattern in decision.scope_wanted
    )


def _hold(decision: Decision, now: str) -> Hold:
    options = f" ({' / '.join(decision.options)})" if decision.options else ""
    return Hold(
        holder=Holder.DECISION,
        code=f"decision_required_{decision.id}",
        message=f"{decision.id}: {decision.question}{options}",
        since=now,
    )


def _free_id(known: list[Decision]) -> str:
    taken = {decision.id for decision in known}
    return next(name for number in itertools.count(1) if (name := f"D-{number}") not in taken)

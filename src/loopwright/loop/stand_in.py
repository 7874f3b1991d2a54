"""Who works when an agent can't: the next one in the user's order that is not out itself. Pure.

An agent is out until the moment that its limit ends; where nobody told that, for the action at which it was found,
or until somebody resumes the loop.
"""

from __future__ import annotations

from loopwright.loop.model import Loop, Takeover


def who_works(loop: Loop, agent: str, order: tuple[str, ...], now: str) -> str:
    """The agent itself, or who stands in for it; where all are out a person resumed the loop, and has it tried."""
    return next((name for name in in_turn(agent, order) if not is_out(loop, name, now)), agent)


def stands_in(loop: Loop, agent: str, order: tuple[str, ...], now: str) -> str | None:
    """Who takes over from this agent, which was just found out; None where nobody can."""
    others = in_turn(agent, order)[1:]
    return next((name for name in others if not is_out(loop, name, now)), None)


def is_out(loop: Loop, agent: str, now: str) -> bool:
    """Whether there is no use in asking it now."""
    at = loop.under_way.id if loop.under_way is not None else None
    untold = loop.takeovers[loop.takeovers_before_resume :]
    return _back(loop, agent, now) is not None or any(
        one.agent == agent and one.until is None and one.action_id == at for one in untold
    )


def next_back(loop: Loop, agent: str, order: tuple[str, ...], now: str) -> str | None:
    """When the first of them can be asked again, of whom that is known."""
    return min((back for name in in_turn(agent, order) if (back := _back(loop, name, now)) is not None), default=None)


def in_turn(agent: str, order: tuple[str, ...]) -> tuple[str, ...]:
    """The agent, then those after it in the order, then those before it."""
    if agent not in order:
        return (agent, *order)
    at = order.index(agent)
    return (*order[at:], *order[:at])


def takeover_in_words(one: Takeover) -> str:
    """What happened, in a sentence."""
    if one.until is None:
        return f"{one.agent} could not go on ({one.code}): {one.by} took over as {one.role}"
    return f"{one.agent} could not go on ({one.code} until {one.until}): {one.by} took over as {one.role}"


def _back(loop: Loop, agent: str, now: str) -> str | None:
    ends = [one.until for one in loop.takeovers if one.agent == agent and one.until is not None and one.until > now]
    return max(ends, default=None)

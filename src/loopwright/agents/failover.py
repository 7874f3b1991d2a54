"""Who works when an agent can't: the next one in the user's order that is not out itself. Pure, for all who ask.

An agent is out until the moment that its limit ends; where nobody told that, for the work at which it was found, or
until somebody has it tried again.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from loopwright.agents.port import INFRASTRUCTURE, NoAnswer, Reason
from loopwright.kernel.clock import stamp

# For these another one may do better; whoever refuses a task, or has no permission, has tried it.
PASSED_ON = INFRASTRUCTURE | {Reason.RATE_LIMITED}

_NEVER = datetime(9999, 1, 1, tzinfo=UTC)


class Takeover(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An agent could not go on, and another one took its place; `until` is when it is back, where that was told.

    `action_id` names the work at which that was found.
    """

    agent: str
    by: str
    role: str
    code: str
    message: str
    at: str
    action_id: str
    until: str | None = None


class FailoverOrder(msgspec.Struct, frozen=True):
    """The user's order of agents, and what is known of them at a piece of work now.

    Those of the takeovers that `settled` counts were there when somebody last had all agents tried again. `barred` are
    those who may not do this work, whatever they could.
    """

    order: tuple[str, ...]
    takeovers: tuple[Takeover, ...]
    work: str
    now: str
    settled: int = 0
    barred: frozenset[str] = frozenset()

    def who_works(self, agent: str) -> str:
        """The agent itself, or who stands in for it; where all are out somebody wants it tried."""
        return next((name for name in self._candidates(agent) if not self.is_out(name)), agent)

    def stands_in(self, agent: str) -> str | None:
        """Who takes over from this agent, which was just found out; None where nobody can.

        It is taken over from once at a piece of work: two whose limits are short would pass it on for ever.
        """
        if any(one.agent == agent and one.action_id == self.work for one in self.takeovers[self.settled :]):
            return None
        return next((name for name in self._candidates(agent)[1:] if not self.is_out(name)), None)

    def is_out(self, agent: str) -> bool:
        """Whether there is no use in asking it now."""
        untold = self.takeovers[self.settled :]
        return self._back(agent) is not None or any(
            one.agent == agent and one.until is None and one.action_id == self.work for one in untold
        )

    def next_back(self, agent: str) -> str | None:
        """When the first of them can be asked again, of whom that is known."""
        return min(
            (back for name in self._candidates(agent) if (back := self._back(name)) is not None),
            default=None,
        )

    def limited(self, agent: str) -> bool:
        """Whether a limit without a known end is what keeps one of them from this work."""
        names = self._candidates(agent)
        return any(
            one.agent in names and one.code == Reason.RATE_LIMITED and one.action_id == self.work
            for one in self.takeovers[self.settled :]
        )

    def _candidates(self, agent: str) -> tuple[str, ...]:
        first, *others = in_turn(agent, self.order)
        return (first, *(name for name in others if name not in self.barred))

    def _back(self, agent: str) -> str | None:
        ends = (one.until for one in self.takeovers if one.agent == agent)
        return max((end for end in ends if end is not None and end > self.now), default=None)


def told_end(failure: NoAnswer, now: datetime) -> str | None:
    """Until when a limit lasts, where that was told; never a part of a second before it.

    An end that is over says nothing: the limit was met after it.
    """
    end = failure.reset_at
    if end is not None and end.tzinfo is None:
        end = end.replace(tzinfo=UTC)  # an adapter of somebody else's that names no zone
    if end is None or not now < end < _NEVER:
        return None
    return stamp(end + timedelta(milliseconds=999))


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

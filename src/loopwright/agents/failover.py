"""Which agent takes over when an agent can't work: the next available agent in the user's order. Pure.

An agent at a limit is unavailable until the limit ends. If that time is unknown, the agent is unavailable for the
current piece of work, or until a person has all agents tried again.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from loopwright.agents.port import NoAnswer, Reason, Remedy, Role
from loopwright.kernel.clock import stamp

_NEVER = datetime(9999, 1, 1, tzinfo=UTC)


class Takeover(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An agent could not continue, and another agent took over. `until` is when the first agent is back, if known.

    `action_id` names the piece of work during which this happened.
    """

    agent: str
    by: str
    role: str
    code: str
    message: str
    at: str
    action_id: str
    until: str | None = None


class Unanswered(msgspec.Struct, frozen=True, kw_only=True):
    """No answer came, and no other agent takes over."""

    # The agent that was asked last, and why it gave no answer.
    agent: str
    failure: NoAnswer
    # The way forward. A limit of any agent in the order makes this WAIT.
    remedy: Remedy
    # When the limit of this agent ends, if known; and the earliest time at which any agent can be asked again.
    until: str | None = None
    back_at: str | None = None
    # Whether every agent in the user's order is unavailable.
    all_out: bool = False
    # The session and the record of the last turn, if there was a turn.
    session: str | None = None
    record: Path | None = None


class FailoverOrder(msgspec.Struct, frozen=True):
    """The user's order of agents, and the takeovers that make some of them unavailable for a piece of work.

    The first `settled` takeovers happened before a person last had all agents tried again. `barred` agents must not do
    this work. Without an order, no agent takes over.
    """

    order: tuple[str, ...]
    takeovers: tuple[Takeover, ...]
    work: str
    now: str
    settled: int = 0
    barred: frozenset[str] = frozenset()

    def available_agent(self, agent: str) -> str:
        """The agent itself, or its replacement. If no agent is available, the agent itself is tried."""
        return next((name for name in self._candidates(agent) if not self.is_unavailable(name)), agent)

    def successor(self, agent: str) -> str | None:
        """The agent that takes over from an agent that has just failed, or None.

        An agent is replaced once per piece of work. Otherwise two agents with short limits would hand the work back
        and forth for ever.
        """
        if any(takeover.agent == agent for takeover in self._at_this_work()):
            return None
        return next((name for name in self._candidates(agent)[1:] if not self.is_unavailable(name)), None)

    def is_unavailable(self, agent: str) -> bool:
        """Whether it is useless to ask this agent now."""
        return self._back(agent) is not None or any(
            takeover.agent == agent and takeover.until is None for takeover in self._at_this_work()
        )

    def next_available_at(self, agent: str) -> str | None:
        """The earliest known time at which this agent, or one that may take over from it, is back."""
        return min(
            (back for name in self._candidates(agent) if (back := self._back(name)) is not None),
            default=None,
        )

    def is_limited(self, agent: str) -> bool:
        """Whether a rate limit keeps one of these agents from this piece of work."""
        names = self._candidates(agent)
        return any(
            takeover.agent in names and takeover.code == Reason.RATE_LIMITED for takeover in self._at_this_work()
        )

    def _at_this_work(self) -> tuple[Takeover, ...]:
        return tuple(takeover for takeover in self.takeovers[self.settled :] if takeover.action_id == self.work)

    def _candidates(self, agent: str) -> tuple[str, ...]:
        first, *others = rotated_order(agent, self.order)
        return (first, *(name for name in others if name not in self.barred))

    def _back(self, agent: str) -> str | None:
        ends = (takeover.until for takeover in self.takeovers if takeover.agent == agent)
        return max((end for end in ends if end is not None and end > self.now), default=None)


# No agent takes over.
NO_FAILOVER = FailoverOrder((), (), "", "")


def after_failure(
    named: str, called: str, role: Role, failure: NoAnswer, order: FailoverOrder, now: datetime
) -> Takeover | Unanswered:
    """What follows when `called`, asked in place of `named`, gave no answer: the only rule of failover."""
    order = msgspec.structs.replace(order, now=stamp(now))
    until, remedy = limit_end(failure, now), failure.reason.remedy
    may_hand_over = remedy.allows_takeover and bool(order.order)
    if may_hand_over and (by := order.successor(called)) is not None:
        return Takeover(
            agent=called, by=by, role=role.value, code=failure.reason, message=failure.detail, at=order.now,
            action_id=order.work, until=until,
        )  # fmt: skip
    back_at = min((end for end in (until, order.next_available_at(named)) if end is not None), default=None)
    if may_hand_over and (back_at is not None or order.is_limited(named)):
        remedy = Remedy.WAIT
    return Unanswered(agent=called, failure=failure, remedy=remedy, until=until, back_at=back_at, all_out=may_hand_over)


def limit_end(failure: NoAnswer, now: datetime) -> str | None:
    """When a limit ends, if the agent reported that; rounded up to a whole second.

    An end in the past is ignored, because the limit was reached after it.
    """
    end = failure.reset_at
    if end is not None and end.tzinfo is None:
        end = end.replace(tzinfo=UTC)  # an adapter from another package that names no time zone
    if end is None or not now < end < _NEVER:
        return None
    return stamp(end + timedelta(milliseconds=999))


def rotated_order(agent: str, order: tuple[str, ...]) -> tuple[str, ...]:
    """The agent, then the agents after it in the order, then the agents before it."""
    if agent not in order:
        return (agent, *order)
    at = order.index(agent)
    return (*order[at:], *order[:at])


def takeover_sentence(takeover: Takeover) -> str:
    """What happened, in a sentence."""
    agent, code, by, role, until = takeover.agent, takeover.code, takeover.by, takeover.role, takeover.until
    if until is None:
        return f"{agent} could not continue ({code}): {by} took over as {role}"
    return f"{agent} could not continue ({code} until {until}): {by} took over as {role}"

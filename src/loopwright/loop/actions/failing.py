"""What a question without an answer does to a loop: the loop is held, or another agent takes over. Tries nothing.

A limit or a budget holds the loop. An agent that can't work stops the iterations until a person has looked. Any other
failure is a try, which the action counts.
"""

from __future__ import annotations

from datetime import timedelta
from typing import assert_never

from msgspec.structs import replace

from loopwright.agents.failover import FailoverOrder, Takeover, Unanswered
from loopwright.agents.port import NoAnswer, Remedy
from loopwright.kernel.clock import stamp
from loopwright.loop.model import Hold, Holder, Loop
from loopwright.loop.paying import SHELL
from loopwright.loop.worker_context import WorkerContext

# The first and the longest wait at a limit with a reported end. Such limits are often short.
LEAST_S = 1.0
LONGEST_FOR_REPORTED_S = 60.0


def wait_s(held_before: int, first_s: float, longest_s: float) -> float:
    """The first wait, doubled after each wait in vain, but never longer than the longest."""
    return min(first_s * 2.0 ** min(held_before, 60), longest_s)


_CANT_WORK = (Remedy.SET_UP, Remedy.INSPECT)


class HeldBack(Exception):
    """The action can't be done now; the loop waits."""

    def __init__(
        self,
        hold: Hold,
        *,
        turn_taken: bool = False,
        goes_on: bool = False,
        session: str | None = None,
        failure: NoAnswer | None = None,
    ) -> None:
        super().__init__(hold.message)
        self.hold = hold
        self.turn_taken = turn_taken
        # Whether the same action continues when the hold is lifted. Otherwise it starts again.
        self.goes_on = goes_on
        self.session = session
        # Why the agent could not work at all.
        self.failure = failure


class HandedOver(Exception):
    """The agent can't continue the action; another agent starts it again."""

    def __init__(self, takeover: Takeover) -> None:
        message = _sentence(takeover.agent, takeover.code, takeover.message)
        super().__init__(message)
        self.takeover = replace(takeover, message=message)


def order_for(loop: Loop, context: WorkerContext, agent: str, work: str) -> FailoverOrder:
    """The order of agents for a piece of a loop's work. No agent takes over from the shell."""
    order = () if agent == SHELL else context.order
    return FailoverOrder(order, loop.takeovers, work, stamp(context.clock()), settled=loop.takeovers_before_resume)


def is_a_try(agent: str, failure: NoAnswer) -> bool:
    """Whether the failure says something about the task. For a script, every way to fail does."""
    remedy = failure.reason.remedy
    return remedy is Remedy.RETRY or (agent == SHELL and remedy in _CANT_WORK)


def held_back(loop: Loop, context: WorkerContext, unanswered: Unanswered, *, turn_taken: bool) -> HeldBack:
    """The hold for a failure that is no try, and that no other agent takes over."""
    failure = unanswered.failure
    message = _sentence(unanswered.agent, failure.reason, failure.detail)
    hold = Hold(
        holder=_holder(unanswered.remedy),
        code=failure.reason,
        message=f"{message}; no other agent can take over" if unanswered.all_out else message,
        since=stamp(context.clock()),
        until=unanswered.back_at if unanswered.all_out else unanswered.until,
    )
    if hold.holder is not Holder.QUOTA:
        can_t_work = failure.reason.remedy in _CANT_WORK
        return HeldBack(hold, turn_taken=turn_taken, failure=failure if can_t_work else None)
    # An agent that only waits for its limit to end continues its session; another agent can't.
    session = unanswered.session if failure.reason.remedy is Remedy.WAIT else None
    return HeldBack(_with_an_end(loop, context, hold), turn_taken=turn_taken, goes_on=True, session=session)


def _sentence(agent: str, reason: str, detail: str) -> str:
    return f"the agent {agent}: {reason}: {detail}"


def _holder(remedy: Remedy) -> Holder:
    match remedy:
        case Remedy.WAIT:
            return Holder.QUOTA
        case Remedy.BUDGET:
            return Holder.BUDGET
        case Remedy.SET_UP | Remedy.INSPECT | Remedy.RETRY:
            return Holder.BLOCKER
        case _:
            assert_never(remedy)


def _with_an_end(loop: Loop, context: WorkerContext, hold: Hold) -> Hold:
    """After a limit without a known end the agent is asked again later, and later each time.

    The same holds for a reported end that was wrong: an agent that always names the next second is not asked at once.
    """
    if hold.until is not None:
        least = wait_s(loop.quota_holds, LEAST_S, LONGEST_FOR_REPORTED_S)
        return replace(hold, until=max(hold.until, stamp(context.clock() + timedelta(seconds=least))))
    if not context.waits_for_quota or loop.under_way is None:
        return hold
    wait = wait_s(loop.quota_holds, context.quota_wait_s, context.quota_longest_s)
    until = stamp(context.clock() + timedelta(seconds=wait, milliseconds=999))
    return replace(
        hold, message=f"{hold.message}; the end of the limit is unknown, so the agent is asked again later", until=until
    )

"""What a turn without an answer does to a loop: it is held, or another agent takes over. Tries nothing itself.

A limit and a budget hold it for their time; an agent that can't work at all stops the iterations until a person looked.
Whatever else went wrong is a try, which the action counts.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from loopwright.agents.failover import PASSED_ON, FailoverOrder, Takeover, told_end
from loopwright.agents.port import INFRASTRUCTURE, NoAnswer, Reason, Role
from loopwright.kernel.clock import stamp
from loopwright.loop.model import Hold, Holder, Loop
from loopwright.loop.paying import SHELL
from loopwright.loop.quota import LEAST_S, LONGEST_FOR_TOLD_S, wait_s
from loopwright.loop.worker_context import WorkerContext

_HOLDERS = {
    Reason.RATE_LIMITED: Holder.QUOTA,
    Reason.BUDGET_USED: Holder.BUDGET,
    **dict.fromkeys(INFRASTRUCTURE, Holder.BLOCKER),
}


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
        # Whether the same action is gone on with when the hold is lifted; else it is begun anew.
        self.goes_on = goes_on
        self.session = session
        # What kept the agent from working at all.
        self.failure = failure


class HandedOver(Exception):
    """The agent can't go on with the action; another one begins it anew."""

    def __init__(self, takeover: Takeover) -> None:
        super().__init__(takeover.message)
        self.takeover = takeover


def is_a_try(agent_name: str, failure: NoAnswer) -> bool:
    """Whether it says something of the task; a script that fails does, whatever way it fails."""
    return failure.reason not in _HOLDERS or (agent_name == SHELL and failure.reason in INFRASTRUCTURE)


def seats(loop: Loop, context: WorkerContext, work: str, now: str) -> FailoverOrder:
    """Who could do this work now."""
    return FailoverOrder(context.order, loop.takeovers, work, now, settled=loop.takeovers_before_resume)


def consequence(
    loop: Loop,
    context: WorkerContext,
    work: str,
    asked: tuple[str, str, Role],
    failure: NoAnswer,
    *,
    session: str | None = None,
    turn_taken: bool = True,
) -> HeldBack | HandedOver:
    """What follows from a failure that is no try. `asked` are who was named, who was asked, and in which role."""
    named, called, role = asked
    moment = context.clock()
    now, until = stamp(moment), told_end(failure, moment)
    name, reason, detail = called, failure.reason, context.tools().redactor.clean(failure.detail).text
    message = f"the agent {name}: {reason}: {detail}"
    hold = Hold(holder=_HOLDERS[reason], code=reason, message=message, since=now, until=until)
    limited = reason is Reason.RATE_LIMITED
    places = seats(loop, context, work, now)
    if context.order and work and failure.reason in PASSED_ON:
        if (by := places.stands_in(called)) is not None:
            return HandedOver(
                Takeover(
                    agent=called, by=by, role=role.value, code=hold.code, message=message, at=now, action_id=work,
                    until=until,
                )
            )  # fmt: skip
        hold = _for_all(places, named, hold)
    if hold.holder is not Holder.QUOTA:
        return HeldBack(hold, turn_taken=turn_taken, failure=failure if failure.reason in INFRASTRUCTURE else None)
    hold = _with_an_end(loop, context, hold)
    return HeldBack(hold, turn_taken=turn_taken, goes_on=True, session=session if limited else None)


def _for_all(places: FailoverOrder, named: str, hold: Hold) -> Hold:
    """Nobody is left: a limit of any of them ends at some time, and then there is somebody again."""
    ends = [one for one in (places.next_back(named), hold.until) if one is not None]
    is_limit = hold.holder is Holder.QUOTA or bool(ends) or places.limited(named)
    message = f"{hold.message}; nobody else can take over"
    holder = Holder.QUOTA if is_limit else hold.holder
    return replace(hold, holder=holder, message=message, until=min(ends, default=None))


def _with_an_end(loop: Loop, context: WorkerContext, hold: Hold) -> Hold:
    """A limit of which nobody told the end is tried again later, and each time later still.

    So is one whose end was told, and was not its end: who tells a moment from now each time is not asked in a circle.
    """
    if hold.until is not None:
        least = wait_s(loop.quota_holds, LEAST_S, LONGEST_FOR_TOLD_S)
        return replace(hold, until=max(hold.until, stamp(context.clock() + timedelta(seconds=least))))
    if not context.waits_for_quota or loop.under_way is None:
        return hold
    wait = wait_s(loop.quota_holds, context.quota_wait_s, context.quota_longest_s)
    until = stamp(context.clock() + timedelta(seconds=wait, milliseconds=999))
    return replace(hold, message=f"{hold.message}; it was not told until when, so it is tried again", until=until)

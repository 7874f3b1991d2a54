"""The effect of a missing answer on a loop: which hold, until when, and whether the action continues."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from loopwright.agents.failover import Takeover, Unanswered
from loopwright.agents.port import NoAnswer, Reason, Remedy
from loopwright.loop.actions.failing import HandedOver, held_back, is_a_try

UNTIL, BACK = "2026-01-01T01:00:00Z", "2026-01-01T00:30:00Z"


def context(*, waits=False):
    return SimpleNamespace(
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), waits_for_quota=waits, quota_wait_s=60, quota_longest_s=600
    )


def held(reason, *, waits=False, **more):
    loop = SimpleNamespace(quota_holds=0, under_way=object())
    unanswered = Unanswered(
        **{"agent": "a", "failure": NoAnswer(reason, "why"), "remedy": reason.remedy, "session": "s-1", **more}
    )
    return held_back(loop, context(waits=waits), unanswered, turn_taken=True)


@pytest.mark.parametrize(
    ("reason", "holder"),
    [
        (Reason.RATE_LIMITED, "quota"),
        (Reason.BUDGET_USED, "budget"),
        (Reason.AGENT_MISSING, "blocker"),
        (Reason.AGENT_TOO_OLD, "blocker"),
        (Reason.NOT_LOGGED_IN, "blocker"),
        (Reason.CRASHED, "blocker"),
        (Reason.HUNG, "blocker"),
        (Reason.INVALID_ANSWER, "blocker"),
    ],
)
def test_each_reason_holds_the_loop_in_its_own_way(reason, holder):
    back = held(reason)
    assert (back.hold.holder, back.hold.code, back.hold.until) == (holder, reason, None)
    assert back.hold.message == f"the agent a: {reason}: why"
    # A limit continues the action in its session; an agent that can't work is shown with its failure.
    assert (back.goes_on, back.session) == ((True, "s-1") if holder == "quota" else (False, None))
    assert (back.failure is not None) == (holder == "blocker")


@pytest.mark.parametrize(
    ("reason", "more", "holder", "until", "session"),
    [
        (Reason.RATE_LIMITED, {"until": UNTIL, "back_at": UNTIL}, "quota", UNTIL, "s-1"),
        (Reason.RATE_LIMITED, {"until": UNTIL, "back_at": BACK, "all_out": True}, "quota", BACK, "s-1"),
        (Reason.CRASHED, {"remedy": Remedy.WAIT, "back_at": BACK, "all_out": True}, "quota", BACK, None),
        (Reason.CRASHED, {"all_out": True}, "blocker", None, None),
        (Reason.BUDGET_USED, {"back_at": BACK}, "budget", None, None),
    ],
)
def test_a_hold_without_available_agents_names_the_earliest_return(reason, more, holder, until, session):
    back = held(reason, **more)
    assert (back.hold.holder, back.hold.until, back.session) == (holder, until, session)
    assert ("can take over" in back.hold.message) == more.get("all_out", False)


def test_a_limit_without_an_end_is_retried_if_the_loop_waits_for_limits():
    assert held(Reason.RATE_LIMITED, waits=True).hold.until == "2026-01-01T00:01:00Z"


@pytest.mark.parametrize("reason", Reason)
def test_a_refusal_or_denial_is_a_failed_try_and_so_is_every_failure_of_a_script_but_limits(reason):
    failure = NoAnswer(reason, "why")
    assert is_a_try("claude", failure) == (reason in (Reason.REFUSED, Reason.PERMISSION_DENIED))
    assert is_a_try("bash", failure) == (reason not in (Reason.RATE_LIMITED, Reason.BUDGET_USED))


def test_a_takeover_names_its_agent():
    takeover = Takeover(
        agent="a", by="b", role="builder", code="crashed", message="why", at=UNTIL, action_id="a-1", until=None
    )
    assert HandedOver(takeover).takeover.message == "the agent a: crashed: why"

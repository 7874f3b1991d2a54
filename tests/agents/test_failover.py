"""Which agent works if another is at its limit: by the user's order, the reported limits and their ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from loopwright.agents.failover import FailoverOrder, Takeover, Unanswered, after_failure, limit_end, rotated_order
from loopwright.agents.port import NoAnswer, Reason, Remedy, Role

NOW, LATER, LATEST = (f"2026-01-01T00:00:0{number}Z" for number in (1, 2, 3))
ORDER = ("a", "b", "c")


def out(agent, by="x", until=None, action_id="now", code="rate_limited"):
    return Takeover(
        agent=agent, by=by, role="builder", code=code, message="m", at=NOW, action_id=action_id, until=until
    )


def order_after(*takeovers, settled=0, order=ORDER, barred=()):
    return FailoverOrder(order, takeovers, "now", NOW, settled, frozenset(barred))


@pytest.mark.parametrize(
    ("takeovers", "agent", "works"),
    [
        ((), "a", "a"),
        ((), "elsewhere", "elsewhere"),
        ((out("a", until=LATER),), "a", "b"),
        ((out("a", until=NOW),), "a", "a"),
        ((out("b", until=LATER),), "b", "c"),
        ((out("c", until=LATER),), "c", "a"),
        ((out("elsewhere", until=LATER),), "elsewhere", "a"),
        ((out("a"),), "a", "b"),
        ((out("a", action_id="earlier"),), "a", "a"),
        ((out("a", until=LATER), out("b", until=LATER)), "a", "c"),
        # If every agent is out, a resumed loop tries the first agent again.
        ((out("a", until=LATER), out("b", until=LATER), out("c", until=LATER)), "a", "a"),
    ],
)
def test_the_first_available_agent_works(takeovers, agent, works):
    assert order_after(*takeovers).available_agent(agent) == works


def test_trying_all_agents_again_ends_limits_without_an_end_only():
    takeovers = (out("a"), out("b", until=LATER))
    assert order_after(*takeovers, settled=2).available_agent("a") == "a"
    assert order_after(*takeovers, settled=2).available_agent("b") == "c"


def test_no_agent_succeeds_itself_and_the_first_one_back_ends_the_wait():
    limited = order_after(out("a", until=LATEST, action_id="earlier"), out("b", until=LATER), out("b", until=NOW))
    assert limited.successor("a") == "c"
    assert limited.successor("c") is None
    assert order_after(order=("a",)).successor("a") is None
    assert limited.next_available_at("c") == LATER
    assert order_after(out("a")).next_available_at("a") is None
    assert rotated_order("b", ORDER) == ("b", "c", "a")


def test_an_agent_is_replaced_once_per_piece_of_work():
    back = (out("a", until=NOW), out("b", until=NOW))
    assert order_after(*back).successor("a") is None
    assert order_after(*back).successor("c") == "a", "who was not asked yet may pass it on"
    assert order_after(*back, settled=2).successor("a") == "b", "after a wait all may be tried again"
    assert order_after(out("a", until=NOW, action_id="earlier")).successor("a") == "b"


@pytest.mark.parametrize(
    ("after_s", "told"), [(None, None), (-3600, None), (0, None), (0.4, "01Z"), (1.2, "02Z"), (30, "30Z")]
)
def test_an_end_in_the_past_is_ignored(after_s, told):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    reset_at = None if after_s is None else now + timedelta(seconds=after_s)
    end = limit_end(NoAnswer(Reason.RATE_LIMITED, "m", reset_at), now)
    assert end == (told and f"2026-01-01T00:00:{told}")


def test_a_barred_agent_never_takes_over_and_is_never_waited_for():
    limited = order_after(out("a", until=LATEST, action_id="earlier"), out("b", until=LATER), barred="bc")
    assert limited.successor("a") is None
    assert limited.next_available_at("a") == LATEST
    assert order_after(barred="b").successor("a") == "c"


@pytest.mark.parametrize(
    ("takeovers", "settled", "limited"),
    [
        ((out("a"),), 0, True),
        ((out("a"),), 1, False),
        ((out("a", action_id="earlier"),), 0, False),
        ((out("a", code="crashed"),), 0, False),
    ],
)
def test_a_limit_without_an_end_differs_from_a_failure_that_a_person_must_fix(takeovers, settled, limited):
    assert order_after(*takeovers, settled=settled).is_limited("b") is limited


@pytest.mark.parametrize("told", [datetime.max.replace(tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 5)])  # noqa: DTZ001
def test_the_end_from_a_foreign_adapter_is_checked(told):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    end = limit_end(NoAnswer(Reason.RATE_LIMITED, "m", told), now)
    assert end == (None if told.year > 9000 else "2026-01-01T00:00:05Z")


REMEDIES = {
    Reason.AGENT_MISSING: Remedy.SET_UP,
    Reason.AGENT_TOO_OLD: Remedy.SET_UP,
    Reason.NOT_LOGGED_IN: Remedy.SET_UP,
    Reason.RATE_LIMITED: Remedy.WAIT,
    Reason.BUDGET_USED: Remedy.BUDGET,
    Reason.PERMISSION_DENIED: Remedy.RETRY,
    Reason.REFUSED: Remedy.RETRY,
    Reason.CRASHED: Remedy.INSPECT,
    Reason.HUNG: Remedy.INSPECT,
    Reason.INVALID_ANSWER: Remedy.INSPECT,
}


def test_every_reason_has_a_remedy():
    assert {reason: reason.remedy for reason in Reason} == REMEDIES


# How each situation ends, for an agent that can't work or is at a limit, and for an agent that tried.
# A name is the agent that takes over. None is the remedy of the reason itself.
SITUATIONS = {
    # order, takeovers, barred: (agent that takes over | remedy, earliest return), earliest return of the others
    "no order": ((), (), "", (None, None), None),
    "alone in the order": (("a",), (), "", (None, None), None),
    "another agent is free": (("a", "b"), (), "", "b", None),
    "not in the order itself": (("b", "c"), (), "", "b", None),
    "the next is barred": (("a", "b", "c"), (), "b", "c", None),
    "the next is out": (("a", "b", "c"), (out("b", until=LATER),), "", "c", LATER),
    "the others are at limits that end": (
        ("a", "b", "c"), (out("b", until=LATEST), out("c", until=LATER)), "", (Remedy.WAIT, LATER), LATER,
    ),
    "the other is at a limit without an end": (("a", "b"), (out("b"),), "", (Remedy.WAIT, None), None),
    "that limit was met at other work": (("a", "b"), (out("b", action_id="earlier"),), "", "b", None),
    "the other is broken": (("a", "b"), (out("b", code="crashed"),), "", (None, None), None),
    "handed over before at this work": (("a", "b"), (out("a", until=NOW),), "", (Remedy.WAIT, None), None),
    "the other is at a limit that is over": (("a", "b"), (out("b", until=NOW),), "", "b", None),
}  # fmt: skip


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("reason", Reason)
def test_one_rule_decides_what_follows_a_missing_answer(reason, situation):
    order, takeovers, barred, ends, others_back_at = SITUATIONS[situation]
    failure = NoAnswer(reason, "why")
    now = datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    outcome = after_failure("a", "a", Role.BUILDER, failure, order_after(*takeovers, order=order, barred=barred), now)
    if not reason.remedy.allows_takeover:
        expected = Unanswered(agent="a", failure=failure, remedy=reason.remedy, back_at=others_back_at)
    elif isinstance(ends, str):
        expected = Takeover(
            agent="a", by=ends, role="builder", code=reason, message="why", at=NOW, action_id="now", until=None
        )
    else:
        remedy, back_at = ends[0] or reason.remedy, ends[1]
        expected = Unanswered(agent="a", failure=failure, remedy=remedy, back_at=back_at, all_out=bool(order))
    assert outcome == expected


@pytest.mark.parametrize(
    ("reset_s", "takeovers", "until", "back_at"),
    [
        (2, (), "2026-01-01T00:00:03Z", "2026-01-01T00:00:03Z"),
        (9, (out("b", until=LATER),), "2026-01-01T00:00:10Z", LATER),
        (-9, (out("b", until=LATER),), None, LATER),
    ],
)
def test_a_reported_end_belongs_to_the_agent_and_the_first_one_back_ends_the_wait(reset_s, takeovers, until, back_at):
    now = datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    failure = NoAnswer(Reason.RATE_LIMITED, "m", now + timedelta(seconds=reset_s))
    order = order_after(*takeovers, out("a", until=NOW), order=("a", "b"))
    outcome = after_failure("a", "a", Role.BUILDER, failure, order, now)
    assert isinstance(outcome, Unanswered)
    assert (outcome.remedy, outcome.until, outcome.back_at) == (Remedy.WAIT, until, back_at)


def test_the_limit_of_the_named_agent_counts_if_its_replacement_fails():
    now = datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    order = order_after(out("a", by="b", until=LATER), order=("a", "b"))
    for reason, remedy in ((Reason.CRASHED, Remedy.WAIT), (Reason.REFUSED, Remedy.RETRY)):
        outcome = after_failure("a", "b", Role.BUILDER, NoAnswer(reason, "m"), order, now)
        assert isinstance(outcome, Unanswered)
        assert (outcome.agent, outcome.remedy, outcome.back_at) == ("b", remedy, LATER)

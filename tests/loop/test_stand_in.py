"""Who works when an agent is at its limit: by the user's order, what was told, and for how long."""

from __future__ import annotations

import pytest

from loopwright.loop.model import Action, Loop, Running, Takeover, UnderWay
from loopwright.loop.stand_in import in_turn, next_back, stands_in, who_works

NOW, LATER, LATEST = (f"2026-01-01T00:00:0{number}Z" for number in (1, 2, 3))
ORDER = ("a", "b", "c")


def out(agent, by="x", until=None, action_id="now"):
    return Takeover(
        agent=agent, by=by, role="builder", code="rate_limited", message="m", at=NOW, action_id=action_id, until=until
    )


def loop(*takeovers, before_resume=0):
    return Loop(
        loop_id="l", title="t", description="", max_iterations=9, created_at=NOW, updated_at=NOW, phase=Running(),
        revision=1, under_way=UnderWay(action=Action.DEVELOP, id="now", started_at=NOW), takeovers=takeovers,
        takeovers_before_resume=before_resume,
    )  # fmt: skip


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
        # Whoever resumed a loop whose agents are all out has the first of them tried.
        ((out("a", until=LATER), out("b", until=LATER), out("c", until=LATER)), "a", "a"),
    ],
)
def test_the_first_in_turn_that_is_not_out_works(takeovers, agent, works):
    assert who_works(loop(*takeovers), agent, ORDER, NOW) == works


def test_what_has_no_end_is_over_when_the_loop_is_resumed_and_what_has_one_is_not():
    takeovers = (out("a"), out("b", until=LATER))
    assert who_works(loop(*takeovers, before_resume=2), "a", ORDER, NOW) == "a"
    assert who_works(loop(*takeovers, before_resume=2), "b", ORDER, NOW) == "c"


def test_nobody_takes_over_from_themselves_and_the_first_back_ends_the_wait():
    limited = loop(out("a", until=LATEST), out("b", until=LATER), out("b", until=NOW))
    assert stands_in(limited, "a", ORDER, NOW) == "c"
    assert stands_in(limited, "c", ORDER, NOW) is None
    assert stands_in(loop(), "a", ("a",), NOW) is None
    assert next_back(limited, "c", ORDER, NOW) == LATER
    assert next_back(loop(out("a")), "a", ORDER, NOW) is None
    assert in_turn("b", ORDER) == ("b", "c", "a")

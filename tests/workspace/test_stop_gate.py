"""The stop gate's decision: a running build tells its own agent to continue, and any doubt lets the agent stop."""

from __future__ import annotations

import json

import pytest

from loopwright.workspace.stop_gate import MOST_BYTES, PHASES, Gate, StopRequest, answer, must_continue, read_gate

GATE = {
    "slug": "greet", "session": "", "pid": 7, "started": "99", "namespace": "pid:[1]", "phase": "executing",
    "expires": 1000.0, "blocks": 2, "reason": "go on",
}  # fmt: skip
STOP = {"session": "s1", "event": "Stop", "is_kept_going": False, "now": 500.0, "is_build_alive": True}


def decide(gate=None, **stop):
    return must_continue(Gate(**{**GATE, **(gate or {})}), StopRequest(**{**STOP, **stop}))


def test_a_running_build_tells_its_agent_to_continue():
    assert decide()
    assert decide(event="AfterAgent"), "Gemini's name for it"
    assert decide({"session": "s1"})
    assert decide(used=1, owner="s1")
    assert [phase for phase in PHASES if decide({"phase": phase})] == ["starting", "executing", "verifying", "fixing"]


@pytest.mark.parametrize(
    ("gate", "stop"),
    [
        ({}, {"now": 1000.0}),
        ({}, {"now": 2e9}),
        ({"expires": 1e12}, {}),
        ({"expires": float("nan")}, {}),
        ({}, {"is_build_alive": False}),
        ({"session": "s2"}, {}),
        ({}, {"session": ""}),
        ({}, {"used": 1, "owner": "s2"}),
        ({}, {"used": 2, "owner": "s1"}),
        ({"blocks": 0}, {}),
        ({"blocks": 1000}, {"used": 8, "owner": "s1"}),
        ({}, {"is_kept_going": True}),
        ({}, {"has_asked": True}),
        ({}, {"event": "SubagentStop"}),
        ({}, {"event": ""}),
        ({"reason": ""}, {}),
    ],
)
def test_any_doubt_lets_the_agent_stop(gate, stop):
    assert not decide(gate, **stop)
    assert not must_continue(None, StopRequest(**STOP))


def test_what_is_written_is_read():
    gate = Gate(**GATE)
    assert read_gate(json.dumps(gate.document()).encode()).document() == gate.document()


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 5000,
        json.dumps(GATE).encode(),
        json.dumps({**GATE, "version": 2}).encode(),
        json.dumps({**GATE, "version": 1, "more": 1}).encode(),
        json.dumps({**GATE, "version": 1, "phase": "dancing"}).encode(),
        json.dumps({**GATE, "version": 1, "pid": "7"}).encode(),
        json.dumps({**GATE, "version": 1, "blocks": True}).encode(),
        json.dumps({**GATE, "version": 1, "reason": None}).encode(),
        json.dumps({**GATE, "version": 1, "reason": "x" * MOST_BYTES}).encode(),
    ],
    ids=range(14),
)  # fmt: skip
def test_invalid_bytes_are_not_a_gate(data):
    assert read_gate(data) is None


def test_it_is_told_in_the_harnesses_own_words():
    assert json.loads(answer("go on — now")) == {"decision": "block", "reason": "go on — now"}

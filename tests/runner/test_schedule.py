"""The order of steps: dependencies first, then the plan's order, and nothing starts after a failure."""

from __future__ import annotations

import threading

import pytest

from loopwright.evidence.model import StepRecord
from loopwright.kernel.process import Cancellation
from loopwright.plan.model import Plan, Step
from loopwright.redaction.model import seal
from loopwright.runner.schedule import run_in_order


def record(step, outcome="passed"):
    return StepRecord(
        id=step.id, action=seal(b""), outcome=outcome, cwd=seal(b""), depends_on=list(step.depends_on), network=False,
        duration_s=0.0, commands=[], checks=[], reason=seal(b""),
    )  # fmt: skip


def plan(**steps):
    """A plan of steps; each is named with the steps it depends on."""
    listed = (Step(name, name, ("true",), depends_on=tuple(needs)) for name, needs in steps.items())
    return Plan("goal", None, tuple(listed), "")


@pytest.fixture
def run():
    """Run a plan, and return the steps that began, in order."""
    cancellation = Cancellation()

    def run(plan, failing="", *, jobs=1, stop_at_failure=True):
        began = []

        def run_one(step):
            began.append(step.id)
            return record(step, "failed" if step.id in failing else "passed")

        done = run_in_order(plan, run_one, jobs=jobs, stop_at_failure=stop_at_failure, cancellation=cancellation)
        assert set(began) == set(done)
        return "".join(began)

    run.cancellation = cancellation
    yield run
    cancellation.close()


@pytest.mark.parametrize(
    ("steps", "failing", "stop_at_failure", "began"),
    [
        ({"b": "", "a": ""}, "", True, "ba"),
        ({"c": "a", "b": "", "a": ""}, "", True, "bac"),
        ({"a": "", "b": "a", "c": "b"}, "", True, "abc"),
        ({"a": "", "b": "", "c": ""}, "b", True, "ab"),
        ({"a": "", "b": "", "c": ""}, "b", False, "abc"),
        ({"a": "", "b": "a", "c": "b", "d": ""}, "a", False, "ad"),
        ({"a": "", "b": "ax", "x": "", "c": "a"}, "x", False, "axc"),
        ({"a": "", "b": "", "x": "a", "y": "x", "d": "b", "c": "b"}, "a", False, "abdc"),
    ],
)
def test_steps_run_in_the_order_of_their_dependencies_and_of_the_plan(run, steps, failing, stop_at_failure, began):
    assert run(plan(**steps), failing, stop_at_failure=stop_at_failure) == began


def test_a_failure_is_the_reason_to_stop(run):
    run(plan(a="", b=""), "a")
    assert run.cancellation.reason == "step a failed"


def test_nothing_begins_after_a_request_to_stop(run):
    run.cancellation.request("enough")
    assert run(plan(a="", b="")) == ""


def test_as_many_steps_as_there_are_jobs_run_at_once():
    together, cancellation = threading.Barrier(2, timeout=60), Cancellation()
    most, now, lock = 0, 0, threading.Lock()

    def run_one(step):
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        together.wait()
        with lock:
            now -= 1
        together.wait()
        return record(step)

    steps = plan(a="", b="", c="", d="")
    done = run_in_order(steps, run_one, jobs=2, stop_at_failure=True, cancellation=cancellation)
    cancellation.close()
    assert (sorted(done), most) == (["a", "b", "c", "d"], 2)


def test_every_job_has_its_thread():
    together, cancellation = threading.Barrier(40, timeout=60), Cancellation()

    def run_one(step):
        together.wait()
        return record(step)

    steps = plan(**{f"s{number}": "" for number in range(40)})
    done = run_in_order(steps, run_one, jobs=40, stop_at_failure=True, cancellation=cancellation)
    cancellation.close()
    assert len(done) == 40


def test_a_step_starts_as_soon_as_its_own_dependencies_are_done():
    begun, cancellation = threading.Event(), Cancellation()

    def run_one(step):
        if step.id == "c":
            begun.set()
        return record(step, "passed" if step.id != "b" or begun.wait(60) else "failed")

    done = run_in_order(plan(a="", b="", c="a"), run_one, jobs=2, stop_at_failure=True, cancellation=cancellation)
    cancellation.close()
    assert {name: one.outcome for name, one in done.items()} == dict.fromkeys("abc", "passed")


def test_a_step_that_cannot_be_run_stops_the_others_and_is_raised():
    cancellation = Cancellation()

    def run_one(step):
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        run_in_order(plan(a="", b=""), run_one, jobs=1, stop_at_failure=False, cancellation=cancellation)
    assert cancellation.reason == "step a could not be run"
    cancellation.close()

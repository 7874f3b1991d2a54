"""The order of steps: ready steps start in the plan's order; after a failure, no further steps start."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter

from loopwright.evidence.model import StepRecord
from loopwright.kernel.process import Cancellation
from loopwright.plan.model import Plan, Step

RunOne = Callable[[Step], StepRecord]


def run_in_order(
    plan: Plan, run_one: RunOne, *, jobs: int, stop_at_failure: bool, cancellation: Cancellation
) -> dict[str, StepRecord]:
    """Run all steps that can run. Steps that never began are not in the result."""
    steps = {step.id: step for step in plan.steps}
    place = {step.id: number for number, step in enumerate(plan.steps)}
    order = TopologicalSorter({step.id: step.depends_on for step in plan.steps})
    order.prepare()
    done: dict[str, StepRecord] = {}
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        running: dict[Future[StepRecord], str] = {}
        ready: list[str] = []
        while order.is_active():
            ready = sorted([*ready, *order.get_ready()], key=place.__getitem__)
            while ready and len(running) < jobs and cancellation.reason is None:
                name = ready.pop(0)
                if _can_run(steps[name], done):
                    running[pool.submit(run_one, steps[name])] = name
                else:
                    order.done(name)
                    ready += order.get_ready()
            if not running:
                break
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                name = running.pop(future)
                try:
                    done[name] = future.result()
                except BaseException:
                    # After any exception the other steps must end; the pool waits for them.
                    cancellation.request(f"step {name} could not be run")
                    raise
                if done[name].outcome != "passed" and stop_at_failure:
                    cancellation.request(f"step {name} failed")
                order.done(name)
    return done


def _can_run(step: Step, done: dict[str, StepRecord]) -> bool:
    return all(name in done and done[name].outcome == "passed" for name in step.depends_on)

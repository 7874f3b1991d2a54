"""The mailbox of a loop's turn: a description of the turn, and what the agent leaves in addition to its answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loopwright.agents.mailbox import (
    Checks,
    ShownCheck,
    TurnFacts,
    read_checks,
    read_progress,
    read_self_report,
    write_checks,
    write_turn_facts,
)
from loopwright.agents.port import Allowance, Role
from loopwright.errors import LoopwrightError
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.loop import events as e
from loopwright.loop.model import Loop
from loopwright.loop.worker_context import WORKER, WorkerContext
from loopwright.runner.turn_sandbox import TurnSandbox

_LISTEN_EVERY_S = 0.25


def describe_turn(loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, role: Role, budget: Allowance) -> None:
    """Describe the turn to the agent, before the turn."""
    at = loop.under_way
    task = loop.task(at.task_id) if at is not None and at.task_id is not None else None
    facts = TurnFacts(
        role=role.value,
        loop_id=loop.loop_id,
        title=loop.title,
        workflow=loop.workflow,
        action=at.action.value if at is not None else "",
        task_id=task.id if task is not None else None,
        task=task.description if task is not None else "",
        iteration=loop.iteration,
        max_iterations=loop.max_iterations,
        budget=budget,
    )
    write_turn_facts(turn_sandbox.mailbox, facts)
    commands = context.project.test_commands
    # A build has written its own checks already.
    if commands and read_checks(turn_sandbox.mailbox) == Checks():
        tests = tuple(ShownCheck(id="tests", command=command.in_a_shell) for command in commands)
        write_checks(turn_sandbox.mailbox, Checks(shown=tests))


@contextmanager
def listening(loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, role: Role) -> Iterator[None]:
    """Copy the agent's progress notes into the loop's history during the turn, each once. They are claims."""
    # Notes of an earlier turn in the same sandbox were taken then.
    taken = len(read_progress(turn_sandbox.mailbox))

    def take_notes() -> None:
        nonlocal taken
        # The agent owns the mailbox, so a note may disappear.
        notes = read_progress(turn_sandbox.mailbox)[taken:]
        if notes:
            with context.store.changing(loop.loop_id) as opened:
                for text in notes:
                    note = e.ProgressNoted(text=turn_sandbox.redactor.clean(text).text, by=role.value)
                    opened.apply(note, WORKER)
            taken += len(notes)

    def listen() -> None:
        while not wait_for_request(done, _LISTEN_EVERY_S):
            with suppress(LoopwrightError):  # a note that can't be written now is taken again at the end
                take_notes()

    done, thread = Cancellation(), threading.Thread(target=listen, name="notes", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.request("over")
        thread.join()
        done.close()
        take_notes()


def collect(turn_sandbox: TurnSandbox, record: Path) -> None:
    """Copy the self-report into the turn's record, after the turn. It is a claim."""
    if report := read_self_report(turn_sandbox.mailbox):
        (record / "self-report.json").write_bytes(turn_sandbox.redactor.clean(report).data)

"""The mailbox of a loop's turn: a letter that says which turn it is, and what the agent left beside its answer."""

from __future__ import annotations

from pathlib import Path

from loopwright.agents.mailbox import (
    Checks,
    Letter,
    ShownCheck,
    leave_checks,
    leave_letter,
    read_checks,
    read_progress,
    read_self_report,
)
from loopwright.agents.port import Role
from loopwright.loop import commands as c
from loopwright.loop.desk import Desk
from loopwright.loop.model import Loop
from loopwright.runner.booth import Booth

WORKER = "worker"


def tell(loop: Loop, desk: Desk, booth: Booth, role: Role) -> None:
    """Before the turn."""
    at = loop.under_way
    task = loop.task(at.task_id) if at is not None and at.task_id is not None else None
    letter = Letter(
        role=role.value,
        loop_id=loop.loop_id,
        title=loop.title,
        workflow=loop.workflow,
        action=at.action.value if at is not None else "",
        task_id=task.id if task is not None else None,
        task=task.description if task is not None else "",
        iteration=loop.iteration,
        max_iterations=loop.max_iterations,
    )
    leave_letter(booth.mailbox, letter)
    command = desk.settings.test_command
    if command and read_checks(booth.mailbox) == Checks():  # a craft that has judges of its own told them already
        leave_checks(booth.mailbox, Checks(shown=(ShownCheck(id="tests", command=command),)))


def collect(loop: Loop, desk: Desk, booth: Booth, role: Role, record: Path) -> None:
    """After it: progress goes into the loop's history, the self-report to the turn's record. Both are claims."""
    clean = booth.redactor.clean
    if report := read_self_report(booth.mailbox):
        (record / "self-report.json").write_bytes(clean(report).data)
    notes = read_progress(booth.mailbox)
    if not notes:
        return
    with desk.store.changing(loop.loop_id) as opened:
        for text in notes:
            opened.apply(c.NoteProgress(text=clean(text).text, by=role.value), WORKER)

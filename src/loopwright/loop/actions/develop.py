"""develop: the task's tool works in the loop's sandbox, and its changes are kept, whatever it claims."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.agents.mailbox import read_reflections, read_self_report
from loopwright.agents.port import Answer, NoAnswer, Reason, Role
from loopwright.agents.structured import ANY_TEXT, AgentRequest
from loopwright.errors import LoopwrightError
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.actions import confidence
from loopwright.loop.actions.asking import ask
from loopwright.loop.actions.failing import HeldBack
from loopwright.loop.choice import mark_of
from loopwright.loop.left_out_changes import left_out_part
from loopwright.loop.model import Loop, Spent, Task
from loopwright.loop.paying import SHELL
from loopwright.loop.port import Briefing
from loopwright.loop.work_files import add_line, add_to_page
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import WorkerSandbox, workshop
from loopwright.reflection.points import ReflectedWork, claims_of


def perform(
    loop: Loop, context: WorkerContext, worker_sandbox: WorkerSandbox, action_id: str, task: Task
) -> c.FinishDevelop:
    """Let the tool do the task, and keep its changes. The changes of a review are not kept."""
    try:
        if context.lanes is not None and (request := context.lanes.look(task)) is not None:
            return _looked(loop, context, action_id, task, request)
        return _worked(loop, context, worker_sandbox, action_id, task)
    except HeldBack as back:
        if back.failure is not None and context.lanes is not None:
            back.hold = context.lanes.stopped(task, back.hold, back.failure)
        raise


def _worked(
    loop: Loop, context: WorkerContext, worker_sandbox: WorkerSandbox, action_id: str, task: Task
) -> c.FinishDevelop:
    redactor = context.tools().redactor
    briefing = context.brief(loop, task) if context.brief is not None else None
    prompt = _prompt(loop, context, task, briefing)
    confidence.ask_before(loop, context, task, prompt)
    with worker_sandbox.turn_sandbox(loop, redactor) as turn_sandbox:
        if briefing is not None:
            briefing.leave_in(turn_sandbox.mailbox)
        request = AgentRequest(agent=task.tool, role=Role.BUILDER, prompt=prompt, form=ANY_TEXT)
        outcome = ask(loop, context, turn_sandbox, request)
        answer, by = (outcome, "") if isinstance(outcome, NoAnswer) else (outcome.reply, outcome.by)
        error = f"{answer.reason}: {redactor.clean(answer.detail).text}" if isinstance(answer, NoAnswer) else None
        failure = answer if isinstance(answer, NoAnswer) else None
        is_tried = context.lanes is not None and context.lanes.is_tried(loop, task, failure)
        # Changes of a failed try are dropped: the next try starts from the kept work.
        tree, files = worker_sandbox.keep(loop, redactor) if error is None else (None, ())
        if isinstance(answer, Answer) and answer.denials and not files and task.mode == "write":
            # The agent claims to be done, and its own program did not let it change anything.
            denied = redactor.clean("; ".join(answer.denials[:3])).text
            error = f"{Reason.PERMISSION_DENIED}: nothing changed, and it was not allowed to: {denied}"
        if task.mode == "analysis" and files:
            worker_sandbox.discard()
            error, tree, files = f"an analysis changed files: {', '.join(files[:5])}", None, ()
        if isinstance(answer, Answer) and error is None and by != SHELL:
            _reflect(loop, context, task, by, answer, files, turn_sandbox.mailbox)
    again = error is not None and _may_be_tried_again(loop, context, task)
    _write_down(loop, context, task, files, error)
    return c.FinishDevelop(
        action_id=action_id,
        outcome="completed" if error is None else "pending" if again else "failed",
        files_changed=files,
        tree=tree,
        mark=mark_of(
            loop,
            tree=tree.tree if tree is not None else None,
            done=task if error is None else None,
            error=error,
        ),
        error=error,
        is_tried=is_tried,
    )


def _reflect(
    loop: Loop, context: WorkerContext, task: Task, by: str, answer: Answer, files: tuple[str, ...], mailbox: Path
) -> None:
    session = answer.session or f"{loop.loop_id}-{task.id}"
    report = claims_of(read_self_report(mailbox), read_reflections(mailbox))
    work = ReflectedWork(task_ref=confidence.task_ref(loop, task), session=session, agent=by, files=files)
    with suppress(OSError, LoopwrightError):  # a failed reflection does not end the work
        if context.reflections is not None:
            context.reflections.keep(work, report)


def asks_back(loop: Loop, context: WorkerContext, outcome: c.FinishDevelop) -> bool:
    """Whether the builder is asked how sure it is of this outcome."""
    return (
        outcome.outcome == "completed"
        and context.reflections is not None
        and loop.task(loop.task_id_under_way or "") is not None
    )


def ask_back(loop: Loop, context: WorkerContext, worker_sandbox: WorkerSandbox, outcome: c.FinishDevelop) -> Loop:
    """Ask the builder of recorded work how sure it is; the loop after that."""
    task = loop.task(loop.task_id_under_way or "")
    if task is None:
        return context.store.load(loop.loop_id)
    briefing = context.brief(loop, task) if context.brief is not None else None
    prompt = _prompt(loop, context, task, briefing)
    return confidence.ask_after(loop, context, worker_sandbox, task, prompt, outcome.files_changed)


def _looked(
    loop: Loop, context: WorkerContext, action_id: str, task: Task, request: AgentRequest[msgspec.Struct]
) -> c.FinishDevelop:
    """In a sandbox that is removed afterwards: only the answer counts."""
    with workshop(loop, context, context.tools().redactor) as turn_sandbox:
        if context.brief is not None:
            context.brief(loop, task).leave_in(turn_sandbox.mailbox)
        outcome = ask(loop, context, turn_sandbox, request)
    answer = outcome if isinstance(outcome, NoAnswer) else outcome.reply
    then = context.lanes.after_look(loop, answer) if context.lanes is not None else ()
    _write_down(loop, context, task, (), None)
    return c.FinishDevelop(
        action_id=action_id, outcome="completed", files_changed=(), tree=None, mark=mark_of(loop, done=task), then=then
    )


def _may_be_tried_again(loop: Loop, context: WorkerContext, task: Task) -> bool:
    """Whether a failed task is tried again: while its own limit allows that, else up to `max_retries`."""
    failed_before = loop.spent_by_task.get(task.id, Spent()).retries
    return loop.budget_of(task.id).retries is not None or failed_before < context.max_retries


def _prompt(loop: Loop, context: WorkerContext, task: Task, briefing: Briefing | None) -> str:
    if task.tool == "bash":
        return task.description
    if briefing is not None:
        return briefing.prompt()
    last = next((error for error in reversed(loop.errors)), None)
    failure = context.book.part("last_failure", message=last.message) if last is not None else ""
    told = (failure, left_out_part(loop, context.book))
    return context.book.prompt(
        "builder",
        task_id=task.id,
        task=task.description,
        title=loop.title,
        description=loop.description,
        blocker="".join(f"{part}\n" for part in told if part),
        test_command="; ".join(command.in_a_shell for command in context.project.test_commands)
        or context.book.part("no_test_command"),
    )


def _write_down(loop: Loop, context: WorkerContext, task: Task, files: tuple[str, ...], error: str | None) -> None:
    now = stamp(context.clock())
    listed = "\n".join(f"- {path}" for path in files) or "(no file changed)"
    text = f"## {task.id} at {now}\n\n{task.description}\n\n{error or 'done'}\n\n{listed}"
    add_to_page(context.progress(loop), "develop", context.tools().redactor.clean(text))
    add_line(
        context.progress(loop),
        "changes",
        {"at": now, "task": task.id, "files": list(files), "error": error, "iteration": loop.iteration},
    )

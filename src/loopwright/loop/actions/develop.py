"""develop: the next task, by its tool, in the loop's sandbox; what it changed is kept, whatever it said."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from loopwright.agents.mailbox import read_reflections, read_self_report
from loopwright.agents.port import Answer, NoAnswer, Reason, Role
from loopwright.errors import LoopwrightError
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.actions import confidence
from loopwright.loop.actions.asking import HeldBack, ask, ask_for
from loopwright.loop.craft import Look
from loopwright.loop.desk import Desk
from loopwright.loop.marks import mark_of
from loopwright.loop.model import Loop, Spent, Task
from loopwright.loop.pages import add_line, add_to_page
from loopwright.loop.paying import SHELL
from loopwright.loop.workshop import Workshop, workshop
from loopwright.reflection.points import Work, claims_of


def perform(loop: Loop, desk: Desk, shop: Workshop, action_id: str, task: Task) -> c.Command:
    """Let the tool do the task, and keep what came of it; a look at the work changes nothing of it."""
    try:
        if (look := desk.craft.look(loop, task)) is not None:
            return _looked(loop, desk, action_id, task, look)
        return _worked(loop, desk, shop, action_id, task)
    except HeldBack as back:
        if back.failure is not None:
            back.hold = desk.craft.stopped(task, back.hold, back.failure)
        raise


def _worked(loop: Loop, desk: Desk, shop: Workshop, action_id: str, task: Task) -> c.Command:
    redactor = desk.tools().redactor
    prompt = _prompt(loop, desk, task)
    confidence.ask_before(loop, desk, task, prompt)
    with shop.booth(loop, redactor) as booth:
        desk.craft.brief(loop, booth.mailbox)
        answer, by = ask(loop, desk, booth, task.tool, Role.BUILDER, prompt)
        error = f"{answer.reason}: {redactor.clean(answer.detail).text}" if isinstance(answer, NoAnswer) else None
        is_tried = desk.craft.tries(loop, task, answer if isinstance(answer, NoAnswer) else None)
        # Half of a failed try is no work: the next one starts from what was kept before.
        kept = None if error is not None else shop.keep(loop, redactor)
        files = kept.files if kept is not None else ()
        if isinstance(answer, Answer) and answer.denials and not files and task.mode == "write":
            # It says that it is done, and its own program let it do nothing.
            denied = redactor.clean("; ".join(answer.denials[:3])).text
            error = f"{Reason.PERMISSION_DENIED}: nothing changed, and it was not allowed to: {denied}"
        if task.mode == "analysis" and files:
            shop.discard()
            error, kept, files = f"an analysis changed files: {', '.join(files[:5])}", None, ()
        if isinstance(answer, Answer) and error is None and by != SHELL:
            _reflect(loop, desk, task, by, answer, files, booth.mailbox)
    again = error is not None and _may_be_tried_again(loop, desk, task)
    _write_down(loop, desk, task, files, error)
    return c.FinishDevelop(
        action_id=action_id,
        outcome="completed" if error is None else "pending" if again else "failed",
        files_changed=files,
        tree=kept.tree if kept is not None else None,
        mark=mark_of(
            loop,
            tree=kept.tree.tree if kept is not None else None,
            done=task if error is None else None,
            error=error,
        ),
        error=error,
        is_tried=is_tried,
    )


def _reflect(
    loop: Loop, desk: Desk, task: Task, by: str, answer: Answer, files: tuple[str, ...], mailbox: Path
) -> None:
    session = answer.session or f"{loop.loop_id}-{task.id}"
    said = claims_of(read_self_report(mailbox), read_reflections(mailbox))
    work = Work(task_ref=confidence.task_ref(loop, task), session=session, agent=by, files=files)
    with suppress(OSError, LoopwrightError):  # a reflection never ends the work that it is about
        desk.reflections.keep(work, said)


def ask_back(loop: Loop, desk: Desk, shop: Workshop, outcome: c.FinishDevelop) -> Loop:
    """What was done is on record; the loop as it is after whoever did it was asked how sure they are."""
    task = loop.task(loop.under_way.task_id or "") if loop.under_way is not None else None
    if task is None or outcome.outcome != "completed" or not desk.reflections.is_on:
        return desk.store.load(loop.loop_id)
    return confidence.ask_after(loop, desk, shop, task, _prompt(loop, desk, task), outcome.files_changed)


def _looked(loop: Loop, desk: Desk, action_id: str, task: Task, look: Look) -> c.Command:
    """In a sandbox of its own, which goes: what counts is the answer."""
    with workshop(loop, desk, desk.tools().redactor) as booth:
        desk.craft.brief(loop, booth.mailbox)
        answer = ask_for(loop, desk, booth, task.tool, look.role, look.prompt, look.kind, taken=look.taken)
    then = desk.craft.seen(loop, task, answer)
    _write_down(loop, desk, task, (), None)
    return c.FinishDevelop(
        action_id=action_id, outcome="completed", files_changed=(), tree=None, mark=mark_of(loop, done=task), then=then
    )


def _may_be_tried_again(loop: Loop, desk: Desk, task: Task) -> bool:
    """With a limit of its own it waits for more of that; without one it has failed after the usual tries."""
    failed_before = loop.spent_by_task.get(task.id, Spent()).retries
    return loop.budget_of(task.id).retries is not None or failed_before < desk.max_retries


def _prompt(loop: Loop, desk: Desk, task: Task) -> str:
    if task.tool == "bash":
        return task.description
    if (special := desk.craft.prompt(loop, task)) is not None:
        return special
    last = next((error for error in reversed(loop.errors)), None)
    return desk.book.prompt(
        "builder",
        task_id=task.id,
        task=task.description,
        title=loop.title,
        description=loop.description,
        blocker=f"{desk.book.part('last_failure', message=last.message)}\n" if last is not None else "",
        test_command=desk.settings.test_command or desk.book.part("no_test_command"),
    )


def _write_down(loop: Loop, desk: Desk, task: Task, files: tuple[str, ...], error: str | None) -> None:
    now = stamp(desk.clock())
    listed = "\n".join(f"- {path}" for path in files) or "(no file changed)"
    text = f"## {task.id} at {now}\n\n{task.description}\n\n{error or 'done'}\n\n{listed}"
    add_to_page(desk.progress(loop), "develop", desk.tools().redactor.clean(text))
    add_line(
        desk.progress(loop),
        "changes",
        {"at": now, "task": task.id, "files": list(files), "error": error, "iteration": loop.iteration},
    )

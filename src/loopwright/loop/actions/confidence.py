"""Asks a builder how sure it is: before its work, after it, and as its own opponent. Only where reflection is on.

What it answers is a claim, kept as a reflection; nothing follows from it. It is asked where it can spoil nothing:
before the work in a sandbox that goes, afterwards in the one whose work is kept already, which goes, too. A question
that fails is on record with its reason, and fails nothing else.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from loopwright.agents import structured
from loopwright.agents.port import Answer, NoAnswer, Reason, Role, seconds_for_a_turn
from loopwright.errors import LoopwrightError
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.process import Stopped
from loopwright.loop import commands as c
from loopwright.loop.actions.asking import WORKER, allowance_of, called_for, paid_for, record_folder
from loopwright.loop.budget import hold_before_call, left_for_a_turn
from loopwright.loop.model import LOOK, Action, Loop, Running, Task
from loopwright.loop.paying import SHELL
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import WorkerSandbox, workshop
from loopwright.reflection.capture.self_report import SelfReport
from loopwright.reflection.model import Point
from loopwright.reflection.points import ReflectedWork, SelfRating
from loopwright.runner.turn import RECORD, TurnRecord, TurnRequest, meter_for
from loopwright.runner.turn_sandbox import TurnSandbox

_MOST_FILES = 20
_ASKED: Mapping[Point, str] = {
    "before": "the builder, asked before the work how sure it is",
    "after": "the builder, asked after the work how sure it is",
    "adversarial": "the builder, asked as its own opponent how sure it is",
}


class ConfidenceQuestion(msgspec.Struct, frozen=True):
    """One question of one action: at which point, who is asked, in which session, in which words."""

    point: Point
    action_id: str
    agent: str
    prompt: str
    session: str | None = None


def session_of(loop_id: str, action_id: str, agent: str) -> str:
    """By what the captures of one action are found again."""
    return f"{loop_id}-{action_id}-{agent}"


def task_ref(loop: Loop, task: Task) -> str:
    """What the work was for."""
    return f"{loop.workflow or loop.loop_id}/{task.id}"


def ask_before(loop: Loop, context: WorkerContext, task: Task, prompt: str) -> None:
    """In a sandbox of its own; once for an action and agent, however often that is taken up."""
    action_id = loop.under_way.id if loop.under_way is not None else ""
    if not _is_asked(context, task) or not action_id:
        return
    agent = called_for(loop, context, task.tool)
    if context.reflections.has(_work(loop, task, action_id, agent), "before"):
        return
    question = ConfidenceQuestion("before", action_id, agent, context.book.prompt("builder_before", work=prompt))
    try:
        with workshop(loop, context, context.tools().redactor) as turn_sandbox:
            said, _ = _answered(loop, context, turn_sandbox, question)
    except LoopwrightError as problem:
        said = NoAnswer(Reason.CRASHED, problem.message)
    _keep(loop, context, task, question, (), said)


def ask_after(
    loop: Loop, context: WorkerContext, worker_sandbox: WorkerSandbox, task: Task, prompt: str, files: tuple[str, ...]
) -> Loop:
    """The work is durable by now: whoever stops us here, or kills us, loses two answers and nothing else."""
    now = context.store.load(loop.loop_id)
    action_id = loop.under_way.id if loop.under_way is not None else ""
    if not _is_asked(context, task) or not action_id or not isinstance(now.phase, Running):
        return now
    agent = called_for(loop, context, task.tool)
    named = ", ".join(files[:_MOST_FILES]) or context.book.part("no_files")
    asked: tuple[tuple[Point, str], ...] = (
        ("after", context.book.prompt("builder_after", work=prompt, files=named)),
        ("adversarial", context.book.prompt("builder_adversarial", work=prompt, files=named)),
    )
    session = _session_of_the_turn(context.progress(loop) / "turns", action_id)
    for point, words in asked:
        question = ConfidenceQuestion(point, action_id, agent, words, session)
        said: SelfRating | NoAnswer
        try:
            # Nothing is kept in this block: the sandbox goes, with whatever somebody who is only asked did in it.
            with worker_sandbox.turn_sandbox(now, context.tools().redactor) as turn_sandbox:
                context.cancellation.raise_if_requested()
                said, session = _answered(loop, context, turn_sandbox, question)
        except (LoopwrightError, Stopped) as problem:
            said = NoAnswer(Reason.CRASHED, str(problem))
        _keep(loop, context, task, question, files, said)
    return context.store.load(loop.loop_id)


def _is_asked(context: WorkerContext, task: Task) -> bool:
    return context.reflections.is_on and task.tool != SHELL and not task.id.startswith(LOOK)


def _answered(
    loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, question: ConfidenceQuestion
) -> tuple[SelfRating | NoAnswer, str | None]:
    """The answer, with one repair, and the session that the next question can go on with."""
    sessions = [question.session]
    tries = itertools.count()

    def take(prompt: str) -> Answer | NoAnswer:
        answer = _taken(loop, context, turn_sandbox, question, prompt, sessions[-1], next(tries))
        sessions.append(answer.session or sessions[-1])
        return answer

    said = structured.ask(
        take, question.prompt, SelfRating, lambda text: turn_sandbox.redactor.clean(text).text, book=context.book
    )
    return said, sessions[-1]


def _taken(
    loop: Loop,
    context: WorkerContext,
    turn_sandbox: TurnSandbox,
    question: ConfidenceQuestion,
    prompt: str,
    session: str | None,
    repairs: int,
) -> Answer | NoAnswer:
    now = context.store.load(loop.loop_id)
    if (hold := hold_before_call(now, stamp(context.clock()))) is not None:
        return NoAnswer(Reason.BUDGET_USED, hold.message)
    turns = left_for_a_turn(now, "turns")
    if question.point == "before" and turns is not None and turns <= 1:
        return NoAnswer(Reason.BUDGET_USED, "the turn that is left is for the work")
    agent = context.open_agent(question.agent)
    name = f"{question.action_id}-{Role.BUILDER.value}-{question.point}{'-repair' if repairs else ''}"
    asked = TurnRequest(
        role=Role.BUILDER,
        prompt=prompt,
        record=record_folder(context.progress(loop) / "turns", name),
        timeout_s=seconds_for_a_turn(agent, context.agent_settings(agent.name).timeout_s),
        may_use_web=False,
        session=session,
        number=now.turns.get(Action.DEVELOP.value, 0),
        allowance=allowance_of(now),
        schema=structured.schema_of(SelfRating),
        book=context.book,
        is_question=True,
    )
    return paid_for(
        loop, context, turn_sandbox, agent, question.agent, asked, meter_for(agent, asked, turn_sandbox), Action.DEVELOP
    )


def _keep(
    loop: Loop,
    context: WorkerContext,
    task: Task,
    question: ConfidenceQuestion,
    files: tuple[str, ...],
    said: SelfRating | NoAnswer,
) -> None:
    """As a reflection, and in the loop's history; that it can't be written fails nothing."""
    work = _work(loop, task, question.action_id, question.agent, files)
    clean = context.tools().redactor.clean
    if isinstance(said, SelfRating):
        told = f"{_ASKED[question.point]}: {said.confidence:g}"
    else:
        told = f"{_ASKED[question.point]}: unknown, {said.reason}: {clean(said.detail).text}"
    try:
        report = said.as_report() if isinstance(said, SelfRating) else SelfReport()
        context.reflections.keep(work, report, question.point)
    except (OSError, LoopwrightError) as problem:
        why = problem.message if isinstance(problem, LoopwrightError) else problem.strerror
        told += f"; not kept as a reflection: {why}"
    with context.store.changing(loop.loop_id) as opened:
        opened.apply(c.NoteProgress(text=told, by=WORKER), WORKER)


def _work(loop: Loop, task: Task, action_id: str, agent: str, files: tuple[str, ...] = ()) -> ReflectedWork:
    # An agent that is spelled out (`command:…`) goes by its kind, as in every record.
    name = agent.partition(":")[0]
    return ReflectedWork(
        task_ref=task_ref(loop, task), session=session_of(loop.loop_id, action_id, name), agent=name, files=files
    )


def _session_of_the_turn(turns: Path, action_id: str) -> str | None:
    """What the builder called the session of its work, from the record of the last try."""
    own = re.compile(rf"{re.escape(action_id)}-{Role.BUILDER.value}(-\d+)?")
    found = [path / RECORD for path in turns.iterdir() if own.fullmatch(path.name)] if turns.is_dir() else []
    found = sorted((path for path in found if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
    try:
        return codec.from_json(found[-1].read_bytes(), TurnRecord).session if found else None
    except (OSError, codec.Undecodable):
        return None

"""Asks a builder how sure it is: before its work, after it, and as its own opponent. Only if reflection is on.

The answer is a claim, kept as a reflection; nothing follows from it. The question is asked where it can't spoil the
work: before the work in a sandbox that is discarded, afterwards in the sandbox whose work is kept already. A question
that fails is on record with its reason, and stops nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from loopwright.agents.failover import NO_FAILOVER, FailoverOrder, Takeover, Unanswered
from loopwright.agents.port import Agent, Allowance, NoAnswer, Reason, Role, name_in_records
from loopwright.agents.structured import AgentRequest, json_form
from loopwright.errors import LoopwrightError
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.process import Stopped
from loopwright.loop import events as e
from loopwright.loop.actions.asking import allowance_of, asking_context, begin_turn, book_turn, turns_folder
from loopwright.loop.actions.failing import order_for
from loopwright.loop.budget import hold_before_call, left_for_a_turn
from loopwright.loop.model import Action, Loop, Running, Task, TaskKind
from loopwright.loop.paying import SHELL
from loopwright.loop.worker_context import WORKER, WorkerContext
from loopwright.loop.worker_sandbox import WorkerSandbox, workshop
from loopwright.reflection.capture.self_report import SelfReport
from loopwright.reflection.model import Point
from loopwright.reflection.points import ReflectedWork, SelfRating
from loopwright.runner.ask_agent import BookTurn, ask_agent
from loopwright.runner.turn import RECORD, TurnRecord, TurnRequest
from loopwright.runner.turn_sandbox import TurnSandbox

_MOST_FILES = 20
_ASKED: Mapping[Point, str] = {
    "before": "the builder, asked before the work how sure it is",
    "after": "the builder, asked after the work how sure it is",
    "adversarial": "the builder, asked as its own opponent how sure it is",
}


def session_of(loop_id: str, action_id: str, agent: str) -> str:
    """The session name of an action's captures."""
    return f"{loop_id}-{action_id}-{agent}"


def task_ref(loop: Loop, task: Task) -> str:
    """What the work is for, as reflections name it."""
    return f"{loop.workflow or loop.loop_id}/{task.id}"


def ask_before(loop: Loop, context: WorkerContext, task: Task, prompt: str) -> None:
    """Ask in a sandbox of its own; once per action and agent, even if the action starts again."""
    action_id = loop.under_way.id if loop.under_way is not None else ""
    if not _is_asked(context, task) or not action_id:
        return
    agent = order_for(loop, context, task.tool, action_id).available_agent(task.tool)
    if context.reflections is None or context.reflections.has(_work(loop, task, action_id, agent), "before"):
        return
    prompt = context.book.prompt("builder_before", work=prompt)
    rating: SelfRating | NoAnswer
    try:
        with workshop(loop, context, context.tools().redactor) as turn_sandbox:
            rating, _ = _rating(_ConfidenceAsker(loop, context, turn_sandbox, "before", action_id), agent, prompt, None)
    except LoopwrightError as problem:
        rating = NoAnswer(Reason.CRASHED, problem.message)
    _keep(loop, context, "before", _work(loop, task, action_id, agent), rating)


def ask_after(
    loop: Loop, context: WorkerContext, worker_sandbox: WorkerSandbox, task: Task, prompt: str, files: tuple[str, ...]
) -> Loop:
    """Ask about work that is durable already: a stop or a crash loses two answers, and nothing else."""
    now = context.store.load(loop.loop_id)
    action_id = loop.under_way.id if loop.under_way is not None else ""
    if not _is_asked(context, task) or not action_id or not isinstance(now.phase, Running):
        return now
    agent = order_for(loop, context, task.tool, action_id).available_agent(task.tool)
    named = ", ".join(files[:_MOST_FILES]) or context.book.part("no_files")
    prompts: tuple[tuple[Point, str], ...] = (
        ("after", context.book.prompt("builder_after", work=prompt, files=named)),
        ("adversarial", context.book.prompt("builder_adversarial", work=prompt, files=named)),
    )
    session = _session_of_the_turn(turns_folder(loop, context), action_id)
    for point, question in prompts:
        rating: SelfRating | NoAnswer
        try:
            # This block keeps nothing: the sandbox is discarded, with everything the agent did in it.
            with worker_sandbox.turn_sandbox(now, context.tools().redactor) as turn_sandbox:
                context.cancellation.raise_if_requested()
                asker = _ConfidenceAsker(loop, context, turn_sandbox, point, action_id)
                rating, session = _rating(asker, agent, question, session)
        except (LoopwrightError, Stopped) as problem:
            rating = NoAnswer(Reason.CRASHED, str(problem))
        _keep(loop, context, point, _work(loop, task, action_id, agent, files), rating)
    return context.store.load(loop.loop_id)


def _is_asked(context: WorkerContext, task: Task) -> bool:
    return context.reflections is not None and task.tool != SHELL and task.kind is not TaskKind.LOOK


def _rating(
    asker: _ConfidenceAsker, agent: str, prompt: str, session: str | None
) -> tuple[SelfRating | NoAnswer, str | None]:
    """The answer, and the session that the next question can continue."""
    request = AgentRequest(
        agent=agent, role=Role.BUILDER, prompt=prompt, form=json_form(SelfRating), number=asker.turns_before(),
        session=session, may_use_web=False, is_question=True,
    )  # fmt: skip
    outcome = ask_agent(asking_context(asker.context, asker.turn_sandbox), request, asker)
    return outcome.failure if isinstance(outcome, Unanswered) else outcome.reply, outcome.session


class _ConfidenceAsker:
    """Asks in addition to the work: turns are counted at once, and no other agent answers for the builder."""

    def __init__(
        self, loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, point: Point, action_id: str
    ) -> None:
        self._loop = loop
        self._point = point
        self.context = context
        self.turn_sandbox = turn_sandbox
        self.record = turns_folder(loop, context) / f"{action_id}-{Role.BUILDER.value}-{point}"

    def turns_before(self) -> int:
        """How many turns of builders the loop has had."""
        return self.context.store.load(self._loop.loop_id).turns.get(Action.DEVELOP.value, 0)

    def allowance(self) -> Allowance | NoAnswer:
        """What the budget leaves. The last turn is for the work."""
        loop = self.context.store.load(self._loop.loop_id)
        if (hold := hold_before_call(loop, stamp(self.context.clock()))) is not None:
            return NoAnswer(Reason.BUDGET_USED, hold.message)
        turns = left_for_a_turn(loop, "turns")
        if self._point == "before" and turns is not None and turns <= 1:
            return NoAnswer(Reason.BUDGET_USED, "the last turn of the budget is for the work")
        return allowance_of(loop)

    def sandbox(self, agent: Agent) -> AbstractContextManager[TurnSandbox]:
        """The sandbox that the caller discards."""
        del agent
        return nullcontext(self.turn_sandbox)

    @contextmanager
    def turn(self, called: str, turn: TurnRequest) -> Iterator[BookTurn]:
        """As a turn of the builder."""
        loop, context = self._loop, self.context
        begin_turn(loop, context, called, turn)
        yield lambda result: book_turn(loop, context, turn, result, Action.DEVELOP)

    def order(self) -> FailoverOrder:
        """Only the builder itself."""
        return NO_FAILOVER

    def hand_over(self, takeover: Takeover) -> None:
        """Never called: the order is empty."""
        raise NotImplementedError(takeover.by)


def _keep(loop: Loop, context: WorkerContext, point: Point, work: ReflectedWork, rating: SelfRating | NoAnswer) -> None:
    """Keep the answer as a reflection, and in the loop's history. If it can't be written, nothing else fails."""
    if isinstance(rating, SelfRating):
        note = f"{_ASKED[point]}: {rating.confidence:g}"
    else:
        note = f"{_ASKED[point]}: unknown, {rating.reason}: {context.tools().redactor.clean(rating.detail).text}"
    try:
        report = rating.as_report() if isinstance(rating, SelfRating) else SelfReport()
        if context.reflections is not None:
            context.reflections.keep(work, report, point)
    except (OSError, LoopwrightError) as problem:
        why = problem.message if isinstance(problem, LoopwrightError) else problem.strerror
        note += f"; not kept as a reflection: {why}"
    context.record(loop, e.ProgressNoted(text=note, by=WORKER))


def _work(loop: Loop, task: Task, action_id: str, agent: str, files: tuple[str, ...] = ()) -> ReflectedWork:
    name = name_in_records(agent)
    return ReflectedWork(
        task_ref=task_ref(loop, task), session=session_of(loop.loop_id, action_id, name), agent=name, files=files
    )


def _session_of_the_turn(turns: Path, action_id: str) -> str | None:
    """The session of the builder's work, from the record of its last turn."""
    own = re.compile(rf"{re.escape(action_id)}-{Role.BUILDER.value}(-repair)?(-\d+)?")
    records = [path / RECORD for path in turns.iterdir() if own.fullmatch(path.name)] if turns.is_dir() else []
    records = sorted((path for path in records if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
    try:
        return codec.from_json(records[-1].read_bytes(), TurnRecord).session if records else None
    except (OSError, codec.Undecodable):
        return None

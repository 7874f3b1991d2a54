"""The rules of a loop: what a proposal leads to in a state, and why not. Pure and total; the driver acts on them.

`decide` never reads a clock, a file or a process: the caller passes every fact that the rules need.
"""

from __future__ import annotations

from typing import assert_never

from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.budget import hold_before
from loopwright.loop.choice import (
    CHOICE_REQUIRED,
    awaits_choice,
    choice_hold,
    failed_tasks,
    legal_actions,
    next_action,
)
from loopwright.loop.commands import Accepted, Blocker, Refused, Verdict, refused
from loopwright.loop.completion import accept, finish, has_known_failures, held_unproven
from loopwright.loop.decisions import answer_decision, ask_decisions
from loopwright.loop.evolve import evolve
from loopwright.loop.guidance import in_the_way, lifted_by
from loopwright.loop.model import (
    ITERATIONS,
    TASK_FAILED,
    Action,
    Completed,
    Created,
    ErrorLine,
    Failed,
    Held,
    Hold,
    Holder,
    Loop,
    Running,
    Spent,
    Task,
)
from loopwright.loop.projection import status_of
from loopwright.loop.taking_over import open_tasks_for

__all__ = ["Accepted", "Blocker", "Refused", "decide", "evolve", "next_action"]


# The commands that a loop in this phase accepts.
_COMMANDS: dict[type, tuple[str, ...]] = {
    Created: ("start", "stop"),
    Running: ("pause", "stop"),
    Completed: ("retry",),
    Failed: ("retry",),
}


def decide(loop: Loop | None, proposal: c.Proposal) -> Verdict:
    """The events that a proposal leads to, or why the rules refuse it."""
    if isinstance(proposal, e.LoopCreated):
        return _create(loop, proposal)
    if loop is None:
        return refused("no_loop", "the loop does not exist", "`loopwright loop list` shows all loops")
    return _control(loop, proposal)


def _create(loop: Loop | None, proposal: e.LoopCreated) -> Verdict:
    if loop is not None:
        return refused("exists", f"the loop {loop.loop_id} already exists", "choose another id")
    if proposal.max_iterations < 1:
        return refused("no_iterations", "a loop needs at least one iteration", "set --max-iterations")
    return Accepted((proposal,))


def _control(loop: Loop, proposal: c.Proposal) -> Verdict:  # noqa: C901, PLR0912 -- the contract's table, row by row
    """The life cycle, row by row."""
    match loop.phase, proposal:
        case Created(), e.LoopStarted():
            return _start(loop)
        case Running(), e.HoldPlaced() as fact:
            return Accepted((fact,))
        case Held(holds=holds), e.HoldPlaced() as fact:
            if any(hold.holder == fact.hold.holder for hold in holds):
                return _illegal(loop, "pause")
            return Accepted((fact,))
        case Held(holds=holds), c.Resume(lifts=lifts):
            lifted = tuple(e.HoldLifted(holder=hold.holder) for hold in holds if hold.holder in lifts)
            return Accepted(lifted) if lifted else _still_held(loop, holds)
        case ((Created() | Running() | Held()), e.LoopStopped() as fact):
            return Accepted((fact,))
        case Running(), e.LoopFailed() as fact:
            return Accepted((fact,))
        case Running(), c.Finish(forced=forced):
            return finish(loop, forced)
        case ((Failed() | Completed()), c.Retry(max_iterations=most)):
            if most is not None and most <= loop.iteration:
                return _too_few(loop, most)
            more = (e.IterationsGiven(max_iterations=most),) if most is not None else ()
            return Accepted((*more, e.LoopRetried()))
        case Held(), c.Accept() as command:
            return accept(loop, command)
        case _, c.Accept():
            return _illegal(loop, "be accepted")
        case _, e.LoopStarted():
            return _illegal(loop, "start")
        case _, e.HoldPlaced():
            return _illegal(loop, "pause")
        case _, c.Resume():
            return _illegal(loop, "resume")
        case _, e.LoopStopped():
            return _illegal(loop, "stop")
        case _, e.LoopFailed() | c.Finish():
            return _illegal(loop, "complete")
        case _, c.Retry():
            return _illegal(loop, "retry")
        case ((Completed() | Failed()), e.DecisionAnswered()):
            return _illegal(loop, "be answered")
        case _:
            return _limits(loop, proposal)


def _start(loop: Loop) -> Verdict:
    if not loop.tasks and not loop.description.strip():
        return refused(
            "nothing_to_do",
            f"the loop {loop.loop_id} has no task, and no description to plan from",
            f"`loopwright loop task add {loop.loop_id} …` adds one",
        )
    return Accepted((e.LoopStarted(),))


def _limits(loop: Loop, proposal: c.Proposal) -> Verdict:
    """Limits, and who chooses the next action."""
    match proposal:
        case e.IterationsGiven(max_iterations=most):
            return _too_few(loop, most) if most <= loop.iteration else Accepted((proposal,))
        case e.TaskBudgetSet(task_id=str(task_id)) if loop.task(task_id) is None:
            return _no_task(loop, task_id)
        case e.BudgetSet() | e.TaskBudgetSet():
            return Accepted((proposal,))
        case e.AgentSet(agent=agent):
            return Accepted((proposal,) if agent != loop.agent or open_tasks_for(loop, agent) else ())
        case e.ModeSet(mode=mode):
            return Accepted((*_choice_lifted(loop), proposal) if mode != loop.mode else ())
        case _:
            return _facts(loop, proposal)


def _facts(loop: Loop, proposal: c.Proposal) -> Verdict:
    """Reports of a worker, an agent or another tool."""
    match proposal:
        case e.ErrorNoted() | e.ProgressNoted() | e.TurnBegun() | e.AgentChanged() | e.WorkerArrived():
            return Accepted((proposal,))
        case e.SkillStateTaken() | e.OutsideKeysTaken() | e.IterationTaken():
            return Accepted((proposal,))
        case e.BuildJudged(proofs=proofs):
            return Accepted((proposal,) if proofs != loop.validation.proofs else ())
        case e.WorkerLeft():
            return Accepted((proposal,) if loop.worker is not None else ())
        case e.CostCounted():
            return Accepted(() if _is_charged(loop, proposal) else (proposal,))
        case c.AskDecisions():
            return ask_decisions(loop, proposal)
        case e.DecisionAnswered():
            return answer_decision(loop, proposal)
        case e.TaskAdded() | c.AddTasks() | e.TaskEdited() | e.TaskRemoved() | e.TasksOrdered() | c.MarkTaskDone():
            return _tasks(loop, proposal)
        case _:
            return _work(loop, proposal)


def _is_charged(loop: Loop, proposal: e.CostCounted) -> bool:
    """Whether the turn is already counted. A turn of an agent is counted while it is open, so only once.

    Only agents have a role. A turn of a shell is never open.
    """
    is_open = loop.open_turn is not None and loop.open_turn.name == proposal.turn
    return proposal.turn is not None and proposal.role is not None and not is_open


def _tasks(loop: Loop, proposal: c.TaskEdit) -> Verdict:
    match proposal:
        case c.AddTasks(tasks=tasks):
            return _added(loop, tasks)
        case e.TaskAdded(task=task, before=before):
            if loop.task(task.id) is not None:
                return refused("task_exists", f"the task {task.id} already exists", "choose another id")
            if before is not None and loop.task(before) is None:
                return _no_task(loop, before)
            return Accepted((proposal,))
        case e.TasksOrdered(task_ids=ids):
            if sorted(ids) != sorted(task.id for task in loop.tasks):
                return refused("not_the_tasks", "an order must name every task exactly once", _listing(loop))
            return Accepted((proposal,))
        case e.TaskEdited(task=task):
            return _of_idle(loop, task.id, proposal)
        case e.TaskRemoved(task_id=task_id):
            return _of_idle(loop, task_id, proposal)
        case c.MarkTaskDone(task_id=task_id):
            return _of_idle(loop, task_id, e.TaskFinished(task_id=task_id, status="completed", by_person=True))
        case _:
            assert_never(proposal)


def _added(loop: Loop, tasks: tuple[Task, ...]) -> Verdict:
    known = {task.id for task in loop.tasks}
    if len({task.id for task in tasks} | known) != len(tasks) + len(known):
        return refused("task_exists", "two tasks have the same id", "give each task its own id")
    if not tasks:
        return refused("nothing_to_do", "the description led to no task", "add tasks by hand")
    return Accepted(tuple(e.TaskAdded(task=task) for task in tasks))


def _of_idle(loop: Loop, task_id: str, event: e.Event) -> Verdict:
    """A task can be changed unless it is under way."""
    task = loop.task(task_id)
    if task is None:
        return _no_task(loop, task_id)
    if loop.under_way is not None and loop.under_way.task_id == task_id:
        hint = f"wait until the task is done, or stop it: `loopwright loop stop {loop.loop_id}`, then `retry`"
        return refused("task_in_progress", f"the task {task_id} is under way", hint)
    return Accepted((event,))


def _work(loop: Loop, proposal: c.Proposal) -> Verdict:  # noqa: C901, PLR0912 -- a case per proposal
    """Proposals of the worker: an outcome counts only for the action under way."""
    match proposal:
        case c.Advance():
            return _advance(loop, proposal)
        case c.Choose():
            return _choose(loop, proposal)
        case c.AbandonAction(why=why, turn_taken=taken):
            if loop.under_way is None:
                return Accepted(())
            return Accepted((e.ActionAbandoned(action_id=loop.under_way.id, why=why, turn_taken=taken),))
        case e.ActionPaused(action_id=action_id) if _is_at(loop, action_id):
            return Accepted((proposal,))
        case c.HandOver(takeover=takeover) if _is_at(loop, takeover.action_id):
            paused = e.ActionPaused(action_id=takeover.action_id, turn_taken=True)
            return Accepted((e.AgentChanged(takeover=takeover), paused))
        case c.FinishInit(action_id=action_id, tasks=tasks) if _is_at(loop, action_id, Action.INIT):
            return _initialised(loop, action_id, tasks)
        case c.FinishDevelop(action_id=action_id) if _is_at(loop, action_id, Action.DEVELOP):
            return _developed(loop, proposal)
        case c.ProposeHypotheses(action_id=action_id) if _is_at(loop, action_id, Action.DEBUG):
            return _proposed(proposal)
        case c.JudgeHypothesis(action_id=action_id) if _is_at(loop, action_id, Action.DEBUG):
            return _judged(loop, proposal)
        case c.FinishDebug(action_id=action_id) if _is_at(loop, action_id, Action.DEBUG):
            return _debugged(loop, proposal)
        case c.FinishValidate(action_id=action_id) if _is_at(loop, action_id, Action.VALIDATE):
            return _validated(loop, proposal)
        case c.FinishComplete(action_id=action_id) if _is_at(loop, action_id, Action.COMPLETE):
            done = e.ActionDone(action_id=action_id, action=Action.COMPLETE)
            finished = decide(loop, c.Finish())
            if isinstance(finished, Refused):
                return held_unproven(loop, action_id) or finished
            return Accepted((done, *finished.events))
        case _:
            return refused(
                "not_running",
                f"the loop {loop.loop_id} has left that action",
                "its result does not count; `loopwright loop show` shows the current action",
            )


def _is_at(loop: Loop, action_id: str, action: Action | None = None) -> bool:
    at = loop.under_way
    return at is not None and at.id == action_id and (action is None or at.action is action)


def _advance(loop: Loop, command: c.Advance) -> Verdict:
    if not isinstance(loop.phase, Running):
        return _illegal(loop, "go on")
    if loop.under_way is not None:
        return Accepted(())
    if loop.mode == "interactive":
        return Accepted((e.HoldPlaced(hold=choice_hold(loop)),))
    action = next_action(loop)
    is_last = loop.iteration >= loop.max_iterations or _is_stuck(loop, command.no_progress)
    if is_last and loop.workflow is None and has_known_failures(loop):
        action = Action.COMPLETE  # which asks a person
    if action is not Action.COMPLETE and _is_stuck(loop, command.no_progress):
        said = (
            f"{command.no_progress} iterations in a row changed nothing: same tree, same failing tests, same evidence"
        )
        return _held_by_blocker(loop, "no_progress", said)
    if action is Action.COMPLETE and (failed := failed_tasks(loop)):
        return _held_by_blocker(loop, TASK_FAILED, f"the tests pass, but these tasks failed: {', '.join(failed[:5])}")
    return _begin(loop, action, command.action_id)


def _choose(loop: Loop, command: c.Choose) -> Verdict:
    """A person's choice replaces the choice of the rules, and lifts the hold that asked for it."""
    if isinstance(loop.phase, Held) and not awaits_choice(loop):
        return _still_held(loop, loop.phase.holds)
    if not isinstance(loop.phase, Running | Held):
        return _illegal(loop, "go on")
    if loop.under_way is None and command.action not in (legal := legal_actions(loop)):
        said = f"the loop {loop.loop_id} can't {command.action} now"
        return refused("not_legal_now", said, f"it can: {', '.join(legal)}")
    begun = _begin(loop, command.action, command.action_id)
    return begun if isinstance(begun, Refused) else Accepted((*_choice_lifted(loop), *begun.events))


def _choice_lifted(loop: Loop) -> tuple[e.Event, ...]:
    holds = loop.phase.holds if isinstance(loop.phase, Held) else ()
    return tuple(e.HoldLifted(holder=hold.holder) for hold in holds if hold.code == CHOICE_REQUIRED)


def _held_by_blocker(loop: Loop, code: str, message: str) -> Accepted:
    hold = Hold(holder=Holder.BLOCKER, code=code, message=message, since=loop.updated_at)
    return Accepted((e.HoldPlaced(hold=hold),))


def _is_stuck(loop: Loop, least: int) -> bool:
    """Whether this many iterations changed nothing: the state before them and after each is the same."""
    last = loop.marks[-(least + 1) :]
    return len(last) == least + 1 and len(set(last)) == 1


def _begin(loop: Loop, action: Action, action_id: str) -> Verdict:
    if loop.under_way is not None:
        return refused("busy", f"the loop {loop.loop_id} is at {loop.under_way.action}", "wait, or pause it")
    if action in ITERATIONS and loop.iteration >= loop.max_iterations:
        reason = f"all iterations are used (limit: {loop.max_iterations})"
        return Accepted((e.LoopFailed(code="iterations_used", reason=reason),))
    task = loop.pending[0].id if action is Action.DEVELOP and loop.pending else None
    if action is Action.DEVELOP and task is None:
        return refused("no_task", "no task is left to develop", "add a task, or validate")
    if (hold := hold_before(loop, action, task, loop.updated_at)) is not None:
        return Accepted((e.HoldPlaced(hold=hold),))
    return Accepted((e.ActionStarted(action=action, action_id=action_id, task_id=task),))


def _initialised(loop: Loop, action_id: str, tasks: tuple[Task, ...]) -> Verdict:
    added = _added(loop, tasks) if tasks or not loop.tasks else Accepted(())
    if isinstance(added, Refused):
        return added
    return Accepted((*added.events, e.LoopInitialised(), e.ActionDone(action_id=action_id, action=Action.INIT)))


def _developed(loop: Loop, command: c.FinishDevelop) -> Verdict:
    task_id = loop.under_way.task_id if loop.under_way is not None else None
    if isinstance(then := _then(loop, command.then), Refused):
        return then
    kept = (e.WorkKept(tree=command.tree, is_tried=command.is_tried),) if command.tree is not None else ()
    ended = e.TaskFinished(
        task_id=task_id or "",
        status=command.outcome,
        files_changed=command.files_changed,
        work=(command.tree or loop.tree) if command.outcome == "completed" else None,
    )
    done = e.ActionDone(action_id=command.action_id, action=Action.DEVELOP, mark=command.mark)
    failed = (e.CostCounted(spent=Spent(retries=1), task_id=task_id),) if command.error is not None else ()
    return Accepted((*kept, ended, *failed, *_error(Action.DEVELOP, command.error, loop), *then.events, done))


def _validated(loop: Loop, command: c.FinishValidate) -> Verdict:
    """A failed attempt is dropped, and the work before it is validated again."""
    if isinstance(then := _then(loop, command.then), Refused):
        return then
    found = command.validation
    dropped = (e.WorkDropped(tree=loop.fallback),) if loop.fallback is not None and not found.holds else ()
    done = e.ActionDone(action_id=command.action_id, action=Action.VALIDATE, mark=command.mark)
    return Accepted((e.ValidationRecorded(validation=found), *dropped, *then.events, done))


def _then(loop: Loop, tasks: tuple[Task, ...]) -> Verdict:
    """Tasks that follow from the outcome."""
    return _added(loop, tasks) if tasks else Accepted(())


def _proposed(command: c.ProposeHypotheses) -> Verdict:
    ids = [one.id for one in command.hypotheses]
    if not ids or len(set(ids)) != len(ids):
        return refused("no_hypotheses", "at least one hypothesis is required, and each needs its own id", "ask again")
    return Accepted((e.HypothesesProposed(bug=command.bug, hypotheses=command.hypotheses),))


def _judged(loop: Loop, command: c.JudgeHypothesis) -> Verdict:
    if command.hypothesis_id not in {one.id for one in loop.debug.hypotheses}:
        return refused("no_hypothesis", f"the hypothesis {command.hypothesis_id} does not exist", "propose it first")
    if command.status == "confirmed" and loop.debug.confirmed not in (None, command.hypothesis_id):
        return refused("confirmed_already", f"{loop.debug.confirmed} is already confirmed", "reject it first")
    return Accepted(
        (
            e.HypothesisJudged(
                hypothesis_id=command.hypothesis_id,
                status=command.status,
                evidence=command.evidence,
                verdict_reason=command.verdict_reason,
            ),
        )
    )


def _debugged(loop: Loop, command: c.FinishDebug) -> Verdict:
    if (command.fix is not None) != (loop.debug.confirmed is not None):
        return refused(
            "fix_without_cause",
            "a fix needs a confirmed hypothesis, and a confirmed hypothesis needs a fix",
            "judge first",
        )
    fix = (e.TaskAdded(task=command.fix),) if command.fix is not None else ()
    done = e.ActionDone(action_id=command.action_id, action=Action.DEBUG, mark=command.mark)
    return Accepted((*fix, *_error(Action.DEBUG, command.error, loop), done))


def _error(action: Action, message: str | None, loop: Loop) -> tuple[e.Event, ...]:
    if message is None:
        return ()
    return (e.ErrorNoted(error=ErrorLine(action=action, message=message, timestamp=loop.updated_at)),)


def _illegal(loop: Loop, move: str) -> Refused:
    status = status_of(loop)
    said = f"the loop {loop.loop_id} is {status}, and can't {move}"
    if isinstance(loop.phase, Held):  # different holds need different commands
        return refused("illegal_move", said, "; ".join(lifted_by(one, loop) for one in in_the_way(loop.phase.holds)))
    commands = (f"`loopwright loop {verb} {loop.loop_id}`" for verb in _COMMANDS[type(loop.phase)])
    return refused("illegal_move", said, " or ".join(commands))


def _still_held(loop: Loop, holds: tuple[Hold, ...]) -> Refused:
    return Refused(tuple(Blocker(f"held_{one.holder}", one.message, lifted_by(one, loop)) for one in in_the_way(holds)))


def _too_few(loop: Loop, most: int) -> Refused:
    said = f"iterations already used: {loop.iteration}"
    return refused("too_few_iterations", f"{said}, so {most} is too few", "set a higher limit")


def _no_task(loop: Loop, task_id: str) -> Refused:
    return refused("no_task", f"the loop {loop.loop_id} has no task {task_id}", _listing(loop))


def _listing(loop: Loop) -> str:
    return f"tasks: {', '.join(task.id for task in loop.tasks[:10])}" if loop.tasks else "the loop has no tasks"

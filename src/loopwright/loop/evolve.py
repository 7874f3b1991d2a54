"""The state of a loop after an event. Pure and total: every event that was ever stored can be replayed."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.agents.port import Role
from loopwright.loop import events as e
from loopwright.loop.choice import unproven_tasks
from loopwright.loop.model import (
    ITERATIONS,
    TASK_FAILED,
    Action,
    Completed,
    Created,
    Debugging,
    Decision,
    Failed,
    Held,
    Hold,
    Holder,
    Loop,
    Running,
    Spent,
    Task,
    TaskKind,
    UnderWay,
    Validation,
)
from loopwright.loop.outside import with_skill_state
from loopwright.loop.taking_over import taken_over

_MARKS_KEPT = 50
_ERRORS_KEPT = 200


def evolve(loop: Loop | None, event: e.Event, at: str) -> Loop:
    """The loop after this event; the revision counts events."""
    if isinstance(event, e.LoopCreated):
        return _created(event, at)
    if isinstance(event, e.LoopRestored):
        return event.loop
    if loop is None:
        raise ValueError("the first event of a loop must create it")
    after = _life(loop, event, at)
    return replace(after, revision=loop.revision + 1, updated_at=at)


def _created(event: e.LoopCreated, at: str) -> Loop:
    return Loop(
        loop_id=event.loop_id,
        title=event.title,
        description=event.description,
        max_iterations=event.max_iterations,
        created_at=at,
        updated_at=at,
        phase=Created(),
        revision=1,
        mode=event.mode,
        agent=event.agent,
        tags=event.tags,
        priority=event.priority,
        budget=event.budget,
        task_budget=event.task_budget,
        workflow=event.workflow,
    )


def _life(loop: Loop, event: e.Event, at: str) -> Loop:  # noqa: C901, PLR0912 -- a case per event
    """Events of the life cycle; other events are work."""
    match event:
        case e.LoopStarted():
            return replace(loop, phase=Running())
        case e.HoldPlaced(hold=hold):
            return _held(loop, hold)
        case e.HoldLifted(holder=holder):
            return _lifted(loop, holder)
        case e.LoopStopped(by=by):
            return _over(loop, Failed(at=at, code="stopped", reason=f"stopped by {by}"))
        case e.LoopFailed(code=code, reason=reason):
            return _over(loop, Failed(at=at, code=code, reason=reason))
        case e.LoopCompleted(forced=forced, accepted_by=by):
            known = tuple(dict.fromkeys((*loop.known_failures, *loop.validation.unfixed)))
            done = loop
            if by is not None:
                tasks, validation = _accepted(loop.tasks, at), _of_accepted(loop)
                done = replace(loop, tasks=tasks, known_failures=known, validation=validation)
            return _over(done, Completed(at=at, forced=forced, accepted_by=by))
        case e.LoopRetried():
            # By other settings, or with known failures, the same work may be judged differently now.
            still = loop.is_validated and not loop.validation.holds and not loop.known_failures
            return replace(loop, phase=Running(), attempt=loop.attempt + 1, marks=(), is_validated=still)
        case e.IterationsGiven(max_iterations=most):
            return replace(loop, max_iterations=most)
        case e.BudgetSet(budget=budget):
            return replace(loop, budget=budget)
        case e.ModeSet(mode=mode):
            return replace(loop, mode=mode)
        case e.AgentSet(agent=agent):
            return taken_over(loop, agent)
        case e.TaskBudgetSet(task_id=None, budget=budget):
            return replace(loop, task_budget=budget)
        case e.TaskBudgetSet(task_id=str(task_id), budget=budget):
            return replace(loop, task_budgets={**loop.task_budgets, task_id: budget})
        case e.WorkerArrived(worker=worker):
            return replace(loop, worker=worker)
        case e.WorkerLeft():
            return replace(loop, worker=None)
        case e.OutsideKeysTaken(extra=extra):
            return replace(loop, extra=extra)
        case e.IterationTaken():
            return replace(loop, iteration=loop.iteration + 1)
        case e.SkillStateTaken(skill_state=skill_state):
            return with_skill_state(loop, skill_state)
        case _:
            return _tasks(loop, event, at)


def _held(loop: Loop, hold: Hold) -> Loop:
    """Unproven work is not done: its tasks stay in progress until a person accepts them."""
    held = Held(holds=(*(other for other in loop.holds if other.holder != hold.holder), hold))
    unproven = unproven_tasks(loop) if hold.holder is Holder.PROOF else frozenset()
    tasks = (
        replace(task, status="in_progress", completed_at=None) if task.id in unproven else task for task in loop.tasks
    )
    quota_holds = loop.quota_holds + (hold.holder is Holder.QUOTA)
    return replace(loop, phase=held, tasks=tuple(tasks), quota_holds=quota_holds)


def _of_accepted(loop: Loop) -> Validation:
    """The results of the tree that a person accepted: with the protected changes, unless these were left out."""
    validation = loop.validation
    whole = validation.with_protected
    if whole is None or loop.tree == validation.without_protected:
        return validation
    return replace(validation, run_id=whole.run_id, results=whole.results, passed=whole.passed)


def _accepted(tasks: tuple[Task, ...], at: str) -> tuple[Task, ...]:
    return tuple(
        replace(task, status="completed", completed_at=at) if task.status == "in_progress" else task for task in tasks
    )


def _lifted(loop: Loop, holder: Holder) -> Loop:
    if holder in (Holder.QUOTA, Holder.BLOCKER):
        loop = replace(loop, takeovers_before_resume=len(loop.takeovers))
    holds = tuple(hold for hold in loop.holds if hold.holder != holder)
    # Half open: one more iteration without progress opens the circuit breaker again.
    marks = loop.marks[:-1] if holder is Holder.BLOCKER else loop.marks
    # A person who resumes the loop wants failed tasks to run again; otherwise they would hold the loop again at once.
    again = any(hold.holder == holder and hold.code == TASK_FAILED for hold in loop.holds)
    tasks = loop.tasks if not again else tuple(_tried_again(task) for task in loop.tasks)
    return replace(loop, phase=Held(holds=holds) if holds else Running(), marks=marks, tasks=tasks)


def _tried_again(task: Task) -> Task:
    is_moot = task.kind is TaskKind.FIX
    return replace(task, status="pending") if task.status == "failed" and not is_moot else task


def _over(loop: Loop, phase: Completed | Failed) -> Loop:
    return replace(loop, phase=phase, under_way=None, tasks=_idle(loop.tasks))


def _idle(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Tasks in progress become pending."""
    return tuple(replace(task, status="pending") if task.status == "in_progress" else task for task in tasks)


def _tasks(loop: Loop, event: e.Event, at: str) -> Loop:
    match event:
        case e.TaskAdded(task=task, before=before):
            ids = [known.id for known in loop.tasks]
            place = ids.index(before) if before in ids else len(ids)
            return replace(loop, tasks=(*loop.tasks[:place], task, *loop.tasks[place:]))
        case e.TaskEdited(task=task):
            return replace(loop, tasks=tuple(task if known.id == task.id else known for known in loop.tasks))
        case e.TaskRemoved(task_id=task_id):
            return _removed(loop, task_id)
        case e.TasksOrdered(task_ids=ids):
            return replace(loop, tasks=tuple(sorted(loop.tasks, key=lambda task: ids.index(task.id))))
        case e.TaskFinished():
            return _finished(loop, event, at)
        case _:
            return _work(loop, event, at)


def _finished(loop: Loop, event: e.TaskFinished, at: str) -> Loop:
    task_id, is_done = event.task_id, event.status == "completed"
    done = (
        replace(known, status=event.status, files_changed=event.files_changed, completed_at=at if is_done else None)
        if known.id == task_id
        else known
        for known in loop.tasks
    )
    by_people = tuple(name for name in loop.done_by_people if name != task_id)
    worked = ((task_id, event.work),) if event.work is not None else ()
    # The test results are about the work before this task; a review without changes leaves the work as it was.
    looked = TaskKind.of(task_id) is TaskKind.LOOK and not event.files_changed
    return replace(
        loop,
        tasks=tuple(done),
        is_validated=looked and loop.is_validated,
        last_progress_at=at,
        work_after=(*loop.work_after, *worked),
        done_by_people=(*by_people, task_id) if event.by_person else by_people,
    )


def _removed(loop: Loop, task_id: str) -> Loop:
    """Remove a task with everything stored by its id: another task may get the id."""
    return replace(
        loop,
        tasks=tuple(task for task in loop.tasks if task.id != task_id),
        tries={name: count for name, count in loop.tries.items() if name != task_id},
        task_budgets={name: budget for name, budget in loop.task_budgets.items() if name != task_id},
        spent_by_task={name: spent for name, spent in loop.spent_by_task.items() if name != task_id},
    )


def _work(loop: Loop, event: e.Event, at: str) -> Loop:
    match event:
        case e.ActionStarted(action=action, action_id=action_id, task_id=task_id):
            return _begun(loop, UnderWay(action=action, id=action_id, started_at=at, task_id=task_id))
        case e.ActionPaused(session=session, turn_taken=taken) if loop.under_way is not None:
            turns = _turned(loop) if taken else loop.turns
            return replace(loop, under_way=replace(loop.under_way, session=session), turns=turns)
        case e.ActionAbandoned(turn_taken=taken):
            turns = _turned(loop) if taken else loop.turns
            return replace(loop, under_way=None, tasks=_idle(loop.tasks), turns=turns)
        case e.ActionDone(action=action, mark=mark):
            marks = (*loop.marks, mark)[-_MARKS_KEPT:] if mark is not None else loop.marks
            done = (*loop.completed_actions, action)
            return replace(
                loop, under_way=None, last_action=action, completed_actions=done, marks=marks, turns=_turned(loop),
                quota_holds=0,
            )  # fmt: skip
        case e.LoopInitialised():
            return replace(loop, is_initialised=True)
        case e.WorkKept(tree=tree, is_tried=tried):
            return replace(loop, tree=tree, fallback=(loop.fallback or loop.tree) if tried else None)
        case e.WorkDropped(tree=tree):
            return replace(loop, tree=tree, fallback=None, is_validated=False)
        case e.ErrorNoted(error=error):
            return replace(loop, errors=(*loop.errors, error)[-_ERRORS_KEPT:])
        case e.ProgressNoted():
            return loop
        case e.TurnBegun(turn=turn):
            built = (turn.agent,) if turn.role == Role.BUILDER else ()
            return replace(loop, open_turn=turn, builders=tuple(dict.fromkeys((*loop.builders, *built))))
        case e.CostCounted():
            return _counted(loop, event)
        case _:
            return _findings(loop, event, at)


def _counted(loop: Loop, event: e.CostCounted) -> Loop:
    spent, task_id = event.spent, event.task_id
    by_task = loop.spent_by_task
    if task_id is not None:
        by_task = {**by_task, task_id: by_task.get(task_id, Spent()) + spent}
    by_role, role = loop.spent_by_role, event.role
    if role is not None:
        by_role = {**by_role, role: by_role.get(role, Spent()) + spent}
    at, of = loop.open_turn, event.turn_of
    return replace(
        loop,
        turns=loop.turns if of is None else {**loop.turns, of: loop.turns.get(of, 0) + 1},
        open_turn=None if at is not None and at.name == event.turn else at,
        spent=loop.spent + spent,
        spent_on_task=loop.spent_on_task + spent,
        spent_by_task=by_task,
        spent_by_role=by_role,
    )


def _turned(loop: Loop) -> dict[str, int]:
    """Count a turn when its action ends, so that the next worker after a crash takes the same turn again."""
    name = loop.under_way.turns_as if loop.under_way is not None else ""
    return {**loop.turns, name: loop.turns.get(name, 0) + 1}


def _begun(loop: Loop, under_way: UnderWay) -> Loop:
    iteration = loop.iteration + (under_way.action in ITERATIONS)
    tasks = tuple(replace(t, status="in_progress") if t.id == under_way.task_id else t for t in loop.tasks)
    debug = loop.debug
    if under_way.action is Action.DEBUG:
        # Hypotheses about an earlier failure do not apply to this one.
        debug = Debugging(iteration=debug.iteration + 1)
    tries = loop.tries
    if under_way.task_id is not None:
        tries = {**tries, under_way.task_id: tries.get(under_way.task_id, 0) + 1}
    return replace(
        loop, under_way=under_way, iteration=iteration, tasks=tasks, debug=debug, spent_on_task=Spent(), tries=tries
    )


def _findings(loop: Loop, event: e.Event, at: str) -> Loop:
    match event:
        case e.HypothesesProposed(bug=bug, hypotheses=hypotheses):
            debug = Debugging(
                active_bug=bug, hypotheses=hypotheses, iteration=loop.debug.iteration, last_analysis_at=at
            )
            return replace(loop, debug=debug)
        case e.HypothesisJudged(hypothesis_id=name, status=status, evidence=evidence, verdict_reason=reason):
            judged = tuple(
                replace(hypothesis, status=status, evidence=evidence, verdict_reason=reason)
                if hypothesis.id == name
                else hypothesis
                for hypothesis in loop.debug.hypotheses
            )
            return replace(loop, debug=replace(loop.debug, hypotheses=judged, last_analysis_at=at))
        case e.AgentChanged(takeover=takeover):
            return replace(loop, takeovers=(*loop.takeovers, takeover))
        case e.DecisionAsked(decision=decision):
            return replace(loop, decisions=(*loop.decisions, decision))
        case e.DecisionAnswered():
            return replace(loop, decisions=tuple(_answered(decision, event, at) for decision in loop.decisions))
        case e.ValidationRecorded(validation=validation):
            kept = None if validation.holds else loop.fallback
            return replace(loop, validation=validation, is_validated=True, fallback=kept)
        case e.BuildJudged(proofs=proofs):
            return replace(loop, validation=replace(loop.validation, proofs=proofs))
        case e.ActionPaused():
            return loop  # of an action that has ended
        case _:
            # The functions above handle all other kinds.
            raise ValueError(f"this version does not know the event {type(event).__name__}")


def _answered(decision: Decision, event: e.DecisionAnswered, at: str) -> Decision:
    if decision.id != event.decision_id:
        return decision
    return replace(decision, answer=event.answer, answered_by=event.by, answered_at=at)

"""What happened to a loop, as sentences for people: one for each kind of event. Pure and total."""

from __future__ import annotations

from loopwright.loop import events as e
from loopwright.loop.model import Budget, Hold, Spent, Validation

_MOST_NAMES = 5


def sentence(event: e.Event) -> str:
    """The event in words; text from outside is as it was written, for whoever prints it to neutralise."""
    match event:
        case e.LoopCreated(title=title, max_iterations=most):
            return f"made: {title}, at most {most} iterations"
        case e.LoopStarted():
            return "started"
        case e.HoldPlaced(hold=hold):
            return hold_in_words(hold)
        case e.HoldLifted(holder=holder):
            return f"the hold of {holder} is lifted"
        case e.LoopStopped(by=by):
            return f"stopped by {by}"
        case e.LoopFailed(reason=reason):
            return f"failed: {reason}"
        case e.LoopCompleted(forced=forced):
            return "completed" if forced is None else f"closed as done by a person: {forced}"
        case e.LoopRetried():
            return "another attempt begins"
        case e.LoopInitialised():
            return "it has its tasks"
        case e.WorkerArrived(worker=worker):
            return f"process {worker.pid} on {worker.host} drives it"
        case e.WorkerLeft(why=why):
            return f"its worker left: {why}"
        case _:
            return _of_settings(event)


def _of_settings(event: e.Event) -> str:
    match event:
        case e.IterationsGiven(max_iterations=most):
            return f"it may take {most} iterations now"
        case e.BudgetSet(budget=budget):
            return f"its budget is {budget_in_words(budget)} now"
        case e.TaskBudgetSet(task_id=task_id, budget=budget):
            whose = f"task {task_id}" if task_id else "each task"
            return f"{whose} may cost {budget_in_words(budget)} now"
        case e.ModeSet(mode=mode):
            return "the rules choose what is next" if mode == "auto" else "a person chooses what is next"
        case e.TaskAdded(task=task, before=before):
            where = f" before {before}" if before else ""
            return f"task {task.id} is added{where}: {task.description}"
        case e.TaskEdited(task=task):
            return f"task {task.id} reads now: {task.description}"
        case e.TaskRemoved(task_id=task_id):
            return f"task {task_id} is removed"
        case e.TasksOrdered(task_ids=ids):
            return f"the tasks are in another order: {_named(ids)}"
        case _:
            return _of_others(event)


def _of_others(event: e.Event) -> str:
    match event:
        case e.SkillStateTaken():
            return "another tool changed the worker's fields of the state file"
        case e.OutsideKeysTaken(extra=extra):
            return f"another tool's keys are kept: {_named(tuple(extra)) or 'none any more'}"
        case e.LoopRestored(source=source):
            return f"its log was lost; it is rebuilt from {source}"
        case e.IterationTaken():
            return "another tool counted an iteration"
        case _:
            return _of_work(event)


def _of_work(event: e.Event) -> str:
    match event:
        case e.ActionStarted(action=action, task_id=task_id):
            return f"{action} begins" + (f": task {task_id}" if task_id else "")
        case e.ActionPaused(session=session):
            return "the action is interrupted and stays under way" + (
                ", the agent's session is kept" if session else ""
            )
        case e.ActionAbandoned(why=why):
            return f"the action is given up: {why}"
        case e.ActionDone(action=action):
            return f"{action} is done"
        case e.TaskFinished(task_id=task_id, status=status, files_changed=files):
            return f"task {task_id} {_TASK_ENDS[status]}" + (f", changed: {_named(files)}" if files else "")
        case e.WorkKept(tree=tree):
            return f"the work is kept as tree {tree.tree[:12]}"
        case e.WorkDropped(tree=tree):
            return f"what was tried does not hold: the work is tree {tree.tree[:12]} again"
        case e.HypothesesProposed(bug=bug, hypotheses=hypotheses):
            return f"possible causes of {bug}: {len(hypotheses)}"
        case e.HypothesisJudged(hypothesis_id=name, status=status, verdict_reason=reason):
            return f"{name} is {status}: {reason}"
        case e.ValidationRecorded(validation=validation):
            return f"the tests {validation_in_words(validation)}"
        case e.ErrorNoted(error=error):
            return f"{error.action} went wrong: {error.message}"
        case _:
            return _of_turns(event)


def _of_turns(event: e.Event) -> str:
    match event:
        case e.TurnBegun(turn=turn):
            return f"{turn.agent} is asked" + (f" about task {turn.task_id}" if turn.task_id else "")
        case e.CostCounted(spent=spent):
            return f"it cost {_spent_in_words(spent)}"
        case e.DecisionAsked(decision=decision):
            return f"an agent asks {decision.id}: {decision.question}"
        case e.DecisionAnswered(decision_id=name, answer=answer, by=by):
            return f"{by} answers {name}: {answer}"
        case _:
            return _never(event)


def hold_in_words(hold: Hold) -> str:
    """Who holds a loop, why, and until when where that is known."""
    return f"held by {hold.holder}: {hold.message}" + (f" (until {hold.until})" if hold.until else "")


def _never(event: e.Event) -> str:
    """Every kind was taken above; a test goes through all of them."""
    raise ValueError(f"no sentence for {type(event).__name__}")


_TASK_ENDS = {
    "completed": "is done",
    "failed": "failed",
    "pending": "is to be tried again",
    "in_progress": "is in progress",
}


def validation_in_words(validation: Validation) -> str:
    """How the tests went."""
    ran = f"{validation.pass_rate:g} % of {len(validation.results)}"
    covered = f", coverage {validation.coverage:g} %" if validation.coverage is not None else ""
    if validation.passed:
        return f"passed: {ran}{covered}"
    failing = _named(validation.failed_tests)
    return f"failed: {ran}{covered}" + (f"; failing: {failing}" if failing else "")


def budget_in_words(budget: Budget) -> str:
    """The limits that are set."""
    limits = {"USD": budget.usd, "tokens": budget.tokens, "s of work": budget.wall_s, "turns": budget.turns}
    return ", ".join(f"{limit:g} {word}" for word, limit in limits.items() if limit is not None) or "without limits"


def _spent_in_words(spent: Spent) -> str:
    usd = f"{spent.usd:.2f} USD" if spent.usd_known else "an untold sum"
    turns = f", {spent.turns} turn{'s' if spent.turns != 1 else ''}" if spent.turns else ""
    return f"{usd}, {spent.tokens:,} tokens, {spent.wall_s:.1f} s{turns}"


def _named(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

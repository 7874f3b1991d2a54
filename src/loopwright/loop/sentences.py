"""A sentence for people for each kind of event of a loop. Pure and total.

A sentence consists of several parts, and each part is translated by its own template.
"""

from __future__ import annotations

from loopwright.agents.failover import takeover_sentence
from loopwright.loop import events as e
from loopwright.loop.model import Budget, Hold, Loop, OpenTurn, Spent, Task, TaskKind, Validation
from loopwright.wording.catalogue import ENGLISH, Catalogue

_MOST_NAMES = 5


def sentence(event: e.Event, say: Catalogue = ENGLISH) -> str:
    """The event in words. Text from outside is not escaped; the caller that prints it does that."""
    match event:
        case e.LoopCreated(title=title, max_iterations=most):
            return say.words("created: {title}, at most {most} iterations", title=title, most=most)
        case e.LoopStarted():
            return say.words("started")
        case e.HoldPlaced(hold=hold):
            return hold_in_words(hold, say)
        case e.HoldLifted(holder=holder):
            return say.words("the hold of {holder} is lifted", holder=holder)
        case e.LoopStopped(by=by):
            return say.words("stopped by {by}", by=by)
        case e.LoopFailed(reason=reason):
            return say.words("failed: {reason}", reason=say.translate(reason))
        case e.LoopCompleted():
            return _of_completion(event, say)
        case e.LoopRetried():
            return say.words("another attempt begins")
        case e.LoopInitialised():
            return say.words("the tasks are set")
        case e.WorkerArrived(worker=worker):
            return say.words("process {pid} on {host} drives it", pid=worker.pid, host=worker.host)
        case e.WorkerLeft(why=why):
            return say.words("its worker left: {why}", why=say.translate(why))
        case _:
            return _of_settings(event, say)


def _of_completion(event: e.LoopCompleted, say: Catalogue) -> str:
    if event.accepted_by is not None:
        return say.words("accepted by {by}: {reason}", by=event.accepted_by, reason=say.translate(event.forced or ""))
    done = say.words("completed")
    return done if event.forced is None else say.words("closed as done by a person: {forced}", forced=event.forced)


def _of_settings(event: e.Event, say: Catalogue) -> str:  # noqa: C901, PLR0912 -- a case per event
    match event:
        case e.IterationsGiven(max_iterations=most):
            return say.words("iteration limit: {most}", most=most)
        case e.BudgetSet(budget=budget):
            return say.words("budget: {budget}", budget=budget_in_words(budget, say))
        case e.TaskBudgetSet(task_id=task_id, budget=budget):
            whose = say.words("task {task_id}", task_id=task_id) if task_id else say.words("each task")
            return say.words("budget of {whose}: {budget}", whose=whose, budget=budget_in_words(budget, say))
        case e.ModeSet(mode=mode):
            rules = say.words("the rules choose what is next")
            return rules if mode == "auto" else say.words("a person chooses what is next")
        case e.TaskAdded(task=task, before=before):
            where = say.words(" before {before}", before=before) if before else ""
            facts = {"id": task.id, "where": where, "description": task_in_words(task, say)}
            return say.words("task {id} is added{where}: {description}", **facts)
        case e.TaskEdited(task=task):
            return say.words("task {id} changed: {description}", id=task.id, description=task_in_words(task, say))
        case e.TaskRemoved(task_id=task_id):
            return say.words("task {task_id} is removed", task_id=task_id)
        case e.TasksOrdered(task_ids=ids):
            return say.words("new order of tasks: {ids}", ids=_named(ids, say))
        case e.SkillStateTaken():
            return say.words("another tool changed the worker's fields of the state file")
        case e.OutsideKeysTaken(extra=extra):
            named = _named(tuple(extra), say) or say.words("none any more")
            return say.words("another tool's keys are kept: {extra}", extra=named)
        case e.LoopRestored(source=source):
            return say.words("its log was lost; it is rebuilt from {source}", source=say.translate(source))
        case e.IterationTaken():
            return say.words("another tool counted an iteration")
        case _:
            return _of_work(event, say)


def _of_work(event: e.Event, say: Catalogue) -> str:
    match event:
        case e.ActionStarted(action=action, task_id=task_id):
            begins = say.words("{action} begins", action=action)
            return begins + (say.words(": task {task_id}", task_id=task_id) if task_id else "")
        case e.ActionPaused(session=session):
            paused = say.words("the action is interrupted and stays under way")
            return paused + (say.words(", the agent's session is kept") if session else "")
        case e.ActionAbandoned(why=why):
            return say.words("the action is given up: {why}", why=say.translate(why))
        case e.ActionDone(action=action):
            return say.words("{action} is done", action=action)
        case e.TaskFinished(task_id=task_id, status=status, files_changed=files):
            ended = say.words("task {task_id} {ended}", task_id=task_id, ended=say.text(_TASK_ENDS[status]))
            return ended + (say.words(", changed: {files}", files=_named(files, say)) if files else "")
        case e.WorkKept(tree=tree):
            return say.words("the work is kept as tree {tree}", tree=tree.tree[:12])
        case e.WorkDropped(tree=tree):
            return say.words("the tried changes failed: the work is tree {tree} again", tree=tree.tree[:12])
        case e.HypothesesProposed(bug=bug, hypotheses=hypotheses):
            return say.words("possible causes of {bug}: {count}", bug=say.translate(bug), count=len(hypotheses))
        case e.HypothesisJudged(hypothesis_id=name, status=status, verdict_reason=reason):
            return say.words("{name} is {status}: {reason}", name=name, status=status, reason=say.translate(reason))
        case e.ValidationRecorded(validation=validation):
            return say.words("the tests {validation}", validation=validation_in_words(validation, say))
        case e.ErrorNoted(error=error):
            return say.words(
                "{action} went wrong: {message}", action=error.action, message=say.translate(error.message)
            )
        case _:
            return _of_turns(event, say)


def task_in_words(task: Task, say: Catalogue) -> str:
    """The task's description: as a person or an agent wrote it, or the loop's own in the reader's language."""
    return say.translate(task.description) if task.kind is not TaskKind.WORK else task.description


def beside_the_work(loop: Loop, say: Catalogue) -> str | None:
    """The turn if no action is under way: an agent rates its own work, or plans tasks."""
    return _asked(loop.open_turn, say) if loop.under_way is None and loop.open_turn is not None else None


def _asked(turn: OpenTurn, say: Catalogue) -> str:
    if turn.is_by_hand:
        return say.words("a turn waits for {agent} (`loopwright loop turn` shows it)", agent=turn.agent)
    if turn.is_question:
        return say.words("{agent} is asked how sure it is", agent=turn.agent)
    return say.words("{agent} is asked", agent=turn.agent)


def _of_turns(event: e.Event, say: Catalogue) -> str:
    match event:
        case e.TurnBegun(turn=turn):
            asked = _asked(turn, say)
            return asked + (say.words(" about task {task_id}", task_id=turn.task_id) if turn.task_id else "")
        case e.AgentChanged(takeover=one):
            return say.translate(takeover_sentence(one))
        case e.CostCounted(spent=spent):
            return say.words("cost: {spent}", spent=_spent_in_words(spent, say))
        case e.ProgressNoted(text=text, by="worker"):
            return say.translate(text)  # Loopwright's own words; all others are an agent's
        case e.ProgressNoted(text=text, by=by):
            return say.words("{by} says: {text}", by=by, text=text)
        case e.DecisionAsked(decision=decision):
            return say.words("an agent asks {id}: {question}", id=decision.id, question=decision.question)
        case e.DecisionAnswered(decision_id=name, answer=answer, by=by):
            return say.words("{by} answers {name}: {answer}", by=by, name=name, answer=answer)
        case _:
            raise ValueError(f"no sentence for {type(event).__name__}")  # never reached: a test covers every kind


def hold_in_words(hold: Hold, say: Catalogue = ENGLISH) -> str:
    """Who holds a loop, why, and until when, if known."""
    held = say.words("held by {holder}: {message}", holder=hold.holder, message=say.translate(hold.message))
    return held + (say.words(" (until {until})", until=hold.until) if hold.until else "")


_TASK_ENDS = {
    "completed": "is done",
    "failed": "failed",
    "pending": "will be tried again",
    "in_progress": "is in progress",
}


def validation_in_words(validation: Validation, say: Catalogue = ENGLISH) -> str:
    """The result of the tests."""
    ran = say.words("{rate} % of {count}", rate=f"{validation.pass_rate:g}", count=len(validation.results))
    if validation.coverage is not None:
        ran += say.words(", coverage {coverage} %", coverage=f"{validation.coverage:g}")
    if validation.passed:
        return say.words("passed: {ran}", ran=ran)
    failing = _named(tuple(say.translate(name) for name in validation.failed_tests), say)
    return say.words("failed: {ran}", ran=ran) + (say.words("; failing: {failing}", failing=failing) if failing else "")


def budget_in_words(budget: Budget, say: Catalogue = ENGLISH) -> str:
    """The limits that are set."""
    limits = [
        (say.words("{limit} USD", limit=_shortly(budget.usd)), budget.usd),
        (say.words("{limit} tokens", limit=_shortly(budget.tokens)), budget.tokens),
        (say.words("{limit} s of work", limit=_shortly(budget.wall_s)), budget.wall_s),
        (say.words("{limit} turns", limit=_shortly(budget.turns)), budget.turns),
    ]
    return ", ".join(said for said, limit in limits if limit is not None) or say.words("without limits")


def _shortly(limit: float | None) -> str:
    return "" if limit is None else f"{limit:g}"


def _spent_in_words(spent: Spent, say: Catalogue) -> str:
    usd = say.words("{usd} USD", usd=f"{spent.usd:.2f}") if spent.usd_known else say.words("not reported")
    turns = say.words("{turns} turns", turns=spent.turns) if spent.turns != 1 else say.words("{turns} turn", turns=1)
    tokens = say.words("{tokens} tokens", tokens=f"{spent.tokens:,}")
    return f"{usd}, {tokens}, {spent.wall_s:.1f} s" + (f", {turns}" if spent.turns else "")


def _named(names: tuple[str, ...], say: Catalogue) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (say.words(" and {more} more", more=more) if more > 0 else "")

"""A sentence for people for each kind of event of a loop. Pure and total.

A sentence consists of several parts, and each part is translated by its own template.
"""

from __future__ import annotations

from loopwright.agents.failover import takeover_sentence
from loopwright.loop import events as e
from loopwright.loop.model import Budget, Hold, Loop, OpenTurn, Spent, Task, TaskKind, Validation
from loopwright.wording.catalogue import ENGLISH, Catalogue

_MOST_NAMES = 5


def sentence(event: e.Event, catalogue: Catalogue = ENGLISH) -> str:
    """The event in words. Text from outside is not escaped; the caller that prints it does that."""
    match event:
        case e.LoopCreated(title=title, max_iterations=most):
            return catalogue.words("created: {title}, at most {most} iterations", title=title, most=most)
        case e.LoopStarted():
            return catalogue.words("started")
        case e.HoldPlaced(hold=hold):
            return hold_text(hold, catalogue)
        case e.HoldLifted(holder=holder):
            return catalogue.words("the hold of {holder} is lifted", holder=holder)
        case e.LoopStopped(by=by):
            return catalogue.words("stopped by {by}", by=by)
        case e.LoopFailed(reason=reason):
            return catalogue.words("failed: {reason}", reason=catalogue.translate(reason))
        case e.LoopCompleted():
            return _of_completion(event, catalogue)
        case e.LoopRetried():
            return catalogue.words("another attempt begins")
        case e.LoopInitialised():
            return catalogue.words("the tasks are set")
        case e.WorkerArrived(worker=worker):
            return catalogue.words("process {pid} on {host} drives it", pid=worker.pid, host=worker.host)
        case e.WorkerLeft(why=why):
            return catalogue.words("its worker left: {why}", why=catalogue.translate(why))
        case _:
            return _of_settings(event, catalogue)


def _of_completion(event: e.LoopCompleted, catalogue: Catalogue) -> str:
    if event.accepted_by is not None:
        return catalogue.words(
            "accepted by {by}: {reason}", by=event.accepted_by, reason=catalogue.translate(event.forced or "")
        )
    done = catalogue.words("completed")
    return (
        done if event.forced is None else catalogue.words("closed as done by a person: {forced}", forced=event.forced)
    )


def _of_settings(event: e.Event, catalogue: Catalogue) -> str:  # noqa: C901, PLR0912 -- a case per event
    match event:
        case e.IterationsGiven(max_iterations=most):
            return catalogue.words("iteration limit: {most}", most=most)
        case e.BudgetSet(budget=budget):
            return catalogue.words("budget: {budget}", budget=budget_text(budget, catalogue))
        case e.TaskBudgetSet(task_id=task_id, budget=budget):
            whose = catalogue.words("task {task_id}", task_id=task_id) if task_id else catalogue.words("each task")
            return catalogue.words("budget of {whose}: {budget}", whose=whose, budget=budget_text(budget, catalogue))
        case e.ModeSet(mode=mode):
            rules = catalogue.words("the rules choose what is next")
            return rules if mode == "auto" else catalogue.words("a person chooses what is next")
        case e.TaskAdded(task=task, before=before):
            where = catalogue.words(" before {before}", before=before) if before else ""
            facts = {"id": task.id, "where": where, "description": task_text(task, catalogue)}
            return catalogue.words("task {id} is added{where}: {description}", **facts)
        case e.TaskEdited(task=task):
            return catalogue.words(
                "task {id} changed: {description}", id=task.id, description=task_text(task, catalogue)
            )
        case e.TaskRemoved(task_id=task_id):
            return catalogue.words("task {task_id} is removed", task_id=task_id)
        case e.TasksOrdered(task_ids=ids):
            return catalogue.words("new order of tasks: {ids}", ids=_named(ids, catalogue))
        case e.SkillStateTaken():
            return catalogue.words("another tool changed the worker's fields of the state file")
        case e.OutsideKeysTaken(extra=extra):
            named = _named(tuple(extra), catalogue) or catalogue.words("none any more")
            return catalogue.words("another tool's keys are kept: {extra}", extra=named)
        case e.LoopRestored(source=source):
            return catalogue.words("its log was lost; it is rebuilt from {source}", source=catalogue.translate(source))
        case e.IterationTaken():
            return catalogue.words("another tool counted an iteration")
        case _:
            return _of_work(event, catalogue)


def _of_work(event: e.Event, catalogue: Catalogue) -> str:
    match event:
        case e.ActionStarted(action=action, task_id=task_id):
            begins = catalogue.words("{action} begins", action=action)
            return begins + (catalogue.words(": task {task_id}", task_id=task_id) if task_id else "")
        case e.ActionPaused(session=session):
            paused = catalogue.words("the action is interrupted and stays under way")
            return paused + (catalogue.words(", the agent's session is kept") if session else "")
        case e.ActionAbandoned(why=why):
            return catalogue.words("the action is given up: {why}", why=catalogue.translate(why))
        case e.ActionDone(action=action):
            return catalogue.words("{action} is done", action=action)
        case e.TaskFinished(task_id=task_id, status=status, files_changed=files):
            ended = catalogue.words("task {task_id} {ended}", task_id=task_id, ended=catalogue.text(_TASK_ENDS[status]))
            return ended + (catalogue.words(", changed: {files}", files=_named(files, catalogue)) if files else "")
        case e.WorkKept(tree=tree):
            return catalogue.words("the work is kept as tree {tree}", tree=tree.tree[:12])
        case e.WorkDropped(tree=tree):
            return catalogue.words("the tried changes failed: the work is tree {tree} again", tree=tree.tree[:12])
        case e.HypothesesProposed(bug=bug, hypotheses=hypotheses):
            return catalogue.words(
                "possible causes of {bug}: {count}", bug=catalogue.translate(bug), count=len(hypotheses)
            )
        case e.HypothesisJudged(hypothesis_id=name, status=status, verdict_reason=reason):
            return catalogue.words(
                "{name} is {status}: {reason}", name=name, status=status, reason=catalogue.translate(reason)
            )
        case e.ValidationRecorded(validation=validation):
            return catalogue.words("the tests {validation}", validation=validation_text(validation, catalogue))
        case e.ErrorNoted(error=error):
            return catalogue.words(
                "{action} went wrong: {message}", action=error.action, message=catalogue.translate(error.message)
            )
        case _:
            return _of_turns(event, catalogue)


def task_text(task: Task, catalogue: Catalogue) -> str:
    """The task's description: as a person or an agent wrote it, or the loop's own in the reader's language."""
    return catalogue.translate(task.description) if task.kind is not TaskKind.WORK else task.description


def beside_the_work(loop: Loop, catalogue: Catalogue) -> str | None:
    """The turn if no action is under way: an agent rates its own work, or plans tasks."""
    return _asked(loop.open_turn, catalogue) if loop.under_way is None and loop.open_turn is not None else None


def _asked(turn: OpenTurn, catalogue: Catalogue) -> str:
    if turn.is_by_hand:
        return catalogue.words("a turn waits for {agent} (`loopwright loop turn` shows it)", agent=turn.agent)
    if turn.is_question:
        return catalogue.words("{agent} is asked how sure it is", agent=turn.agent)
    return catalogue.words("{agent} is asked", agent=turn.agent)


def _of_turns(event: e.Event, catalogue: Catalogue) -> str:
    match event:
        case e.TurnBegun(turn=turn):
            asked = _asked(turn, catalogue)
            return asked + (catalogue.words(" about task {task_id}", task_id=turn.task_id) if turn.task_id else "")
        case e.AgentChanged(takeover=takeover):
            return catalogue.translate(takeover_sentence(takeover))
        case e.CostCounted(spent=spent):
            return catalogue.words("cost: {spent}", spent=_spent_text(spent, catalogue))
        case e.ProgressNoted(text=text, by="worker"):
            return catalogue.translate(text)  # Loopwright's own words; all others are an agent's
        case e.ProgressNoted(text=text, by=by):
            return catalogue.words("{by} says: {text}", by=by, text=text)
        case e.DecisionAsked(decision=decision):
            return catalogue.words("an agent asks {id}: {question}", id=decision.id, question=decision.question)
        case e.DecisionAnswered(decision_id=name, answer=answer, by=by):
            return catalogue.words("{by} answers {name}: {answer}", by=by, name=name, answer=answer)
        case _:
            raise ValueError(f"no sentence for {type(event).__name__}")  # never reached: a test covers every kind


def hold_text(hold: Hold, catalogue: Catalogue = ENGLISH) -> str:
    """Who holds a loop, why, and until when, if known."""
    held = catalogue.words("held by {holder}: {message}", holder=hold.holder, message=catalogue.translate(hold.message))
    return held + (catalogue.words(" (until {until})", until=hold.until) if hold.until else "")


_TASK_ENDS = {
    "completed": "is done",
    "failed": "failed",
    "pending": "will be tried again",
    "in_progress": "is in progress",
}


def validation_text(validation: Validation, catalogue: Catalogue = ENGLISH) -> str:
    """The result of the tests."""
    ran = catalogue.words("{rate} % of {count}", rate=f"{validation.pass_rate:g}", count=len(validation.results))
    if validation.coverage is not None:
        ran += catalogue.words(", coverage {coverage} %", coverage=f"{validation.coverage:g}")
    if validation.passed:
        return catalogue.words("passed: {ran}", ran=ran)
    failing = _named(tuple(catalogue.translate(name) for name in validation.failed_tests), catalogue)
    return catalogue.words("failed: {ran}", ran=ran) + (
        catalogue.words("; failing: {failing}", failing=failing) if failing else ""
    )


def budget_text(budget: Budget, catalogue: Catalogue = ENGLISH) -> str:
    """The limits that are set."""
    limits = [
        (catalogue.words("{limit} USD", limit=_shortly(budget.usd)), budget.usd),
        (catalogue.words("{limit} tokens", limit=_shortly(budget.tokens)), budget.tokens),
        (catalogue.words("{limit} s of work", limit=_shortly(budget.wall_s)), budget.wall_s),
        (catalogue.words("{limit} turns", limit=_shortly(budget.turns)), budget.turns),
    ]
    return ", ".join(said for said, limit in limits if limit is not None) or catalogue.words("without limits")


def _shortly(limit: float | None) -> str:
    return "" if limit is None else f"{limit:g}"


def _spent_text(spent: Spent, catalogue: Catalogue) -> str:
    usd = catalogue.words("{usd} USD", usd=f"{spent.usd:.2f}") if spent.usd_known else catalogue.words("not reported")
    turns = (
        catalogue.words("{turns} turns", turns=spent.turns)
        if spent.turns != 1
        else catalogue.words("{turns} turn", turns=1)
    )
    tokens = catalogue.words("{tokens} tokens", tokens=f"{spent.tokens:,}")
    return f"{usd}, {tokens}, {spent.wall_s:.1f} s" + (f", {turns}" if spent.turns else "")


def _named(names: tuple[str, ...], catalogue: Catalogue) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (catalogue.words(" and {more} more", more=more) if more > 0 else "")

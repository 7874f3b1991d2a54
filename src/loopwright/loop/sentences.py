"""A sentence for people for each kind of event of a loop. Pure and total.

A sentence consists of several parts, and each part is translated by its own template.
"""

from __future__ import annotations

from loopwright.agents.failover import takeover_sentence
from loopwright.loop import events as e
from loopwright.loop.model import Budget, Hold, Loop, OpenTurn, Spent, Task, TaskKind, Validation
from loopwright.loop.proof import WAITS_FOR_A_PERSON
from loopwright.wording.catalogue import ENGLISH, Catalogue, few


def sentence(event: e.Event, catalogue: Catalogue = ENGLISH) -> str:
    """The event in words. Text from outside is not escaped; the caller that prints it does that."""
    message = catalogue.message
    match event:
        case e.LoopCreated(title=title, max_iterations=most):
            return message("created: {title}, at most {most} iterations", title=title, most=most)
        case e.LoopStarted():
            return message("started")
        case e.HoldPlaced(hold=hold):
            return hold_text(hold, catalogue)
        case e.HoldLifted(holder=holder):
            return message("the hold of {holder} is lifted", holder=holder)
        case e.LoopStopped(by=by):
            return message("stopped by {by}", by=by)
        case e.LoopFailed(reason=reason):
            return message("failed: {reason}", reason=catalogue.translate(reason))
        case e.LoopCompleted():
            return _of_completion(event, catalogue)
        case e.LoopRetried():
            return message("another attempt begins")
        case e.LoopInitialised():
            return message("the tasks are set")
        case e.WorkerArrived(worker=worker):
            return message("process {pid} on {host} drives it", pid=worker.pid, host=worker.host)
        case e.WorkerLeft(why=why):
            return message("its worker left: {why}", why=catalogue.translate(why))
        case _:
            return _of_settings(event, catalogue)


def _of_completion(event: e.LoopCompleted, catalogue: Catalogue) -> str:
    if event.accepted_by is not None:
        return catalogue.message(
            "accepted by {by}: {reason}", by=event.accepted_by, reason=catalogue.translate(event.forced or "")
        )
    if event.workflow is not None and event.forced is None:
        return catalogue.message("all tasks are worked on; the build of {workflow} decides", workflow=event.workflow)
    done = catalogue.message("completed")
    return (
        done if event.forced is None else catalogue.message("closed as done by a person: {forced}", forced=event.forced)
    )


def accepted_text(by: str, at: str, reason: str, catalogue: Catalogue = ENGLISH) -> str:
    """Who accepted work that nothing proves, when and why, with the grade of the proof."""
    facts = {"by": by, "at": at, "reason": catalogue.translate(reason)}
    return catalogue.message("accepted by {by} at {at} [person]: {reason}", **facts)


def _of_settings(event: e.Event, catalogue: Catalogue) -> str:  # noqa: C901, PLR0912 -- a case per event
    message = catalogue.message
    match event:
        case e.IterationsGiven(max_iterations=most):
            return message("iteration limit: {most}", most=most)
        case e.BudgetSet(budget=budget):
            return message("budget: {budget}", budget=budget_text(budget, catalogue))
        case e.TaskBudgetSet(task_id=task_id, budget=budget):
            whose = message("task {task_id}", task_id=task_id) if task_id else message("each task")
            return message("budget of {whose}: {budget}", whose=whose, budget=budget_text(budget, catalogue))
        case e.ModeSet(mode=mode):
            rules = message("the rules choose what is next")
            return rules if mode == "auto" else message("a person chooses what is next")
        case e.AgentSet(agent=agent):
            return message("{agent} does the open tasks from now on", agent=agent)
        case e.TaskAdded(task=task, before=before):
            where = message(" before {before}", before=before) if before else ""
            facts = {"id": task.id, "where": where, "description": task_text(task, catalogue)}
            return message("task {id} is added{where}: {description}", **facts)
        case e.TaskEdited(task=task):
            return message("task {id} changed: {description}", id=task.id, description=task_text(task, catalogue))
        case e.TaskRemoved(task_id=task_id):
            return message("task {task_id} is removed", task_id=task_id)
        case e.TasksOrdered(task_ids=ids):
            return message("new order of tasks: {ids}", ids=few(ids, catalogue=catalogue))
        case e.SkillStateTaken():
            return message("another tool changed the worker's fields of the state file")
        case e.OutsideKeysTaken(extra=extra):
            named = few(tuple(extra), catalogue=catalogue) or message("none any more")
            return message("another tool's keys are kept: {extra}", extra=named)
        case e.LoopRestored(source=source):
            return message("its log was lost; it is rebuilt from {source}", source=catalogue.translate(source))
        case e.IterationTaken():
            return message("another tool counted an iteration")
        case _:
            return _of_work(event, catalogue)


def _of_work(event: e.Event, catalogue: Catalogue) -> str:
    message = catalogue.message
    match event:
        case e.ActionStarted(action=action, task_id=task_id):
            begins = message("{action} begins", action=action)
            return begins + (message(": task {task_id}", task_id=task_id) if task_id else "")
        case e.ActionPaused(session=session):
            paused = message("the action is interrupted and stays under way")
            return paused + (message(", the agent's session is kept") if session else "")
        case e.ActionDone(action=action):
            return message("{action} is done", action=action)
        case e.TaskFinished(task_id=task_id, status=status, files_changed=files):
            ended = message("task {task_id} {ended}", task_id=task_id, ended=catalogue.text(_TASK_ENDS[status]))
            return ended + (message(", changed: {files}", files=few(files, catalogue=catalogue)) if files else "")
        case e.WorkKept(tree=tree):
            return message("the work is kept as tree {tree}", tree=tree.tree[:12])
        case e.WorkDropped(tree=tree):
            return message("the tried changes failed: the work is tree {tree} again", tree=tree.tree[:12])
        case e.HypothesesProposed(bug=bug, hypotheses=hypotheses):
            return message("possible causes of {bug}: {count}", bug=catalogue.translate(bug), count=len(hypotheses))
        case e.HypothesisJudged(hypothesis_id=name, status=status, verdict_reason=reason):
            return message("{name} is {status}: {reason}", name=name, status=status, reason=catalogue.translate(reason))
        case e.ValidationRecorded(validation=validation):
            said = validation_text(validation, catalogue)
            tested = said if validation.checks else message("the tests {validation}", validation=said)
            left_out = validation.left_out
            return tested if left_out is None else f"{tested}; {catalogue.translate(left_out.sentence)}"
        case e.BuildJudged(proofs=proofs):
            graded = tuple(f"{proof.task_id} {catalogue.text(proof.grade.value)}" for proof in proofs)
            return message("the build says: {graded}", graded=few(graded, catalogue=catalogue))
        case e.ActionAbandoned() | e.ErrorNoted():
            return _of_trouble(event, catalogue)
        case _:
            return _of_turns(event, catalogue)


def _of_trouble(event: e.ActionAbandoned | e.ErrorNoted, catalogue: Catalogue) -> str:
    """What went wrong; work that is held by design is no failure."""
    message = catalogue.message
    match event:
        case e.ActionAbandoned(why=why) if why == WAITS_FOR_A_PERSON:
            return message("held: a person decides about the work")
        case e.ActionAbandoned(why=why):
            return message("the action is given up: {why}", why=catalogue.translate(why))
        case e.ErrorNoted(is_hold=True):
            return message("the next builder is told the reason")
        case e.ErrorNoted(error=error):
            return message(
                "{action} went wrong: {message}", action=error.action, message=catalogue.translate(error.message)
            )


def task_text(task: Task, catalogue: Catalogue) -> str:
    """The task's description: as a person or an agent wrote it, or the loop's own in the reader's language."""
    return catalogue.translate(task.description) if task.kind is not TaskKind.WORK else task.description


def beside_the_work(loop: Loop, catalogue: Catalogue) -> str | None:
    """The turn if no action is under way: an agent rates its own work, or plans tasks."""
    return _asked(loop.open_turn, catalogue) if loop.under_way is None and loop.open_turn is not None else None


def _asked(turn: OpenTurn, catalogue: Catalogue) -> str:
    if turn.is_by_hand:
        return catalogue.message("a turn waits for {agent} (`loopwright loop turn` shows it)", agent=turn.agent)
    if turn.is_question:
        return catalogue.message("{agent} is asked how sure it is", agent=turn.agent)
    return catalogue.message("{agent} is asked", agent=turn.agent)


def _of_turns(event: e.Event, catalogue: Catalogue) -> str:
    message = catalogue.message
    match event:
        case e.TurnBegun(turn=turn):
            asked = _asked(turn, catalogue)
            return asked + (message(" about task {task_id}", task_id=turn.task_id) if turn.task_id else "")
        case e.AgentChanged(takeover=takeover):
            return catalogue.translate(takeover_sentence(takeover))
        case e.CostCounted(spent=spent):
            return message("cost: {spent}", spent=_spent_text(spent, catalogue))
        case e.ProgressNoted(text=text, by="worker"):
            return catalogue.translate(text)  # Loopwright's own words; all others are an agent's
        case e.ProgressNoted(text=text, by=by):
            return message("{by} says: {text}", by=by, text=text)
        case e.DecisionAsked(decision=decision):
            return message("an agent asks {id}: {question}", id=decision.id, question=decision.question)
        case e.DecisionAnswered(decision_id=name, answer=answer, by=by):
            return message("{by} answers {name}: {answer}", by=by, name=name, answer=answer)
        case _:
            raise ValueError(f"no sentence for {type(event).__name__}")  # never reached: a test covers every kind


def hold_text(hold: Hold, catalogue: Catalogue = ENGLISH) -> str:
    """Who holds a loop, why, and until when, if known."""
    held = catalogue.message(
        "held by {holder}: {message}", holder=hold.holder, message=catalogue.translate(hold.message)
    )
    return held + (catalogue.message(" (until {until})", until=hold.until) if hold.until else "")


_TASK_ENDS = {
    "completed": "was worked on",
    "failed": "failed",
    "pending": "will be tried again",
    "in_progress": "is in progress",
}


def _checks_text(validation: Validation, catalogue: Catalogue) -> str:
    """The result of the checks of a plan, and the tests of the project that fail."""
    message, results = catalogue.message, validation.results
    checks, tests = results[: validation.checks], results[validation.checks :]
    failing, broken = (
        few(tuple(result.test_name for result in part if result.status == "failed"), catalogue=catalogue)
        for part in (checks, tests)
    )
    facts = {"good": sum(check.status == "passed" for check in checks), "count": len(checks)}
    said = message("checks passed: {good} of {count}", **facts)
    if validation.passed and validation.needs_protected:
        said = message("checks passed only with changes to protected files: {good} of {count}", **facts)
    said += message("; failing: {failing}", failing=failing) if failing else ""
    return said + (message("; failing tests of the project: {failing}", failing=broken) if broken else "")


def validation_text(validation: Validation, catalogue: Catalogue = ENGLISH) -> str:
    """The result of the tests."""
    if validation.checks:
        return _checks_text(validation, catalogue)
    message = catalogue.message
    good = sum(result.status == "passed" for result in validation.results)
    facts = {"good": good, "count": len(validation.results)}
    if validation.passed and all(result.status == "skipped" for result in validation.results):
        # The only result stands for the command.
        return message("passed: {ran}", ran=message("{good} of {count}", good=0, count=0))
    ran = message("{good} of {count}", **facts) if validation.passed else message("{good} of {count} passed", **facts)
    if skipped := sum(result.status == "skipped" for result in validation.results):
        ran += message(", {skipped} skipped", skipped=skipped)
    if validation.coverage is not None:
        ran += message(", coverage {coverage} %", coverage=f"{validation.coverage:g}")
    if validation.passed and validation.needs_protected:
        return message("passed only with changes to protected files: {ran}", ran=ran)
    if validation.passed:
        return message("passed: {ran}", ran=ran)
    failing = few(tuple(catalogue.translate(name) for name in validation.failed_tests), catalogue=catalogue)
    return message("failed: {ran}", ran=ran) + (message("; failing: {failing}", failing=failing) if failing else "")


def budget_text(budget: Budget, catalogue: Catalogue = ENGLISH) -> str:
    """The limits that are set."""
    message = catalogue.message
    limits = [
        (message("{limit} USD", limit=_shortly(budget.usd)), budget.usd),
        (message("{limit} tokens", limit=_shortly(budget.tokens)), budget.tokens),
        (message("{limit} s of work", limit=_shortly(budget.wall_s)), budget.wall_s),
        (message("{limit} turns", limit=_shortly(budget.turns)), budget.turns),
    ]
    return ", ".join(said for said, limit in limits if limit is not None) or message("without limits")


def _shortly(limit: float | None) -> str:
    return "" if limit is None else f"{limit:g}"


def _spent_text(spent: Spent, catalogue: Catalogue) -> str:
    message = catalogue.message
    usd = message("{usd} USD", usd=f"{spent.usd:.2f}") if spent.usd_known else message("not reported")
    turns = message("{turns} turns", turns=spent.turns) if spent.turns != 1 else message("{turns} turn", turns=1)
    tokens = message("{tokens} tokens", tokens=f"{spent.tokens:,}")
    return f"{usd}, {tokens}, {spent.wall_s:.1f} s" + (f", {turns}" if spent.turns else "")

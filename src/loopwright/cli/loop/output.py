"""How a loop is shown: its status, its details, its cost, and the exit code for its state."""

from __future__ import annotations

import shlex
import shutil
import sys
from typing import Any

from loopwright.agents.failover import takeover_sentence
from loopwright.cli.language import catalogue, message, translate
from loopwright.cli.plain import echo, echo_json, put
from loopwright.exit_codes import ExitCode
from loopwright.kernel.cells import one_line, wrapped
from loopwright.kernel.files import shown
from loopwright.loop.completion import accepted_doubts, is_accepted, is_unproven
from loopwright.loop.guidance import way_on
from loopwright.loop.model import Budget, Completed, Decision, Failed, Held, Holder, Loop, Spent, Task
from loopwright.loop.projection import document_of, status_of
from loopwright.loop.sentences import accepted_text, beside_the_work, hold_text, task_text, validation_text
from loopwright.loop.task_standing import TaskStanding, done_tasks, percent_done, percent_of_tasks, standing_of
from loopwright.stages.context import Context
from loopwright.verbs.loop.look import has_worker

COLORS = {"created": "white", "running": "cyan", "paused": "yellow", "completed": "green", "failed": "red"}
MARKS = {
    TaskStanding.PENDING: "·",
    TaskStanding.IN_PROGRESS: "▶",
    TaskStanding.UNTESTED: "◐",
    TaskStanding.TESTS_FAIL: "◐",
    TaskStanding.UNPROVEN: "◐",
    TaskStanding.ONLY_WITH_PROTECTED: "◐",
    TaskStanding.DONE: "✓",
    TaskStanding.FAILED: "✗",
}


def exit_code(loop: Loop, stopped_by: str | None) -> int:
    """The exit code for a loop; a pause by a person is not a failure."""
    match loop.phase:
        case Failed():
            return ExitCode.LOOP_FAILED
        case _ if signal_code(stopped_by):
            return signal_code(stopped_by)
        case Held() if is_unproven(loop):
            return ExitCode.UNPROVEN
        case Held(holds=holds) if any(hold.holder is not Holder.OPERATOR for hold in holds):
            return ExitCode.LOOP_HELD
        case _:
            return ExitCode.DONE


def signal_code(stopped_by: str | None) -> int:
    """The exit code for a signal; 0 without a signal."""
    return {"SIGINT": ExitCode.SIGINT, "SIGTERM": ExitCode.SIGTERM}.get(stopped_by or "", ExitCode.DONE)


def echo_status(context: Context, loop: Loop, *, as_json: bool = False) -> None:
    """Print the loop, the process that drives it, and the next command."""
    echo_loop(loop, as_json=as_json)
    if as_json:
        return
    driven = has_worker(context, loop.loop_id)
    if not loop.is_over:
        worker = loop.worker
        process = f"process {worker.pid} on {worker.host} since {worker.since}" if worker else "a process that starts"
        _echo_section(message("Worker"), [translate(f"driven by {process}" if driven else "no worker")])
    patch = context.layout.loop(loop.loop_id).progress / "changes.patch"
    if isinstance(loop.phase, Completed) and loop.workflow is not None:
        echo(f"  → loopwright status {loop.workflow}", bold=True)  # the workflow delivers the work
    elif isinstance(loop.phase, Completed) and patch.is_file():
        echo(f"  → git apply {shlex.quote(shown(patch))}", bold=True)
    if is_unproven(loop) and patch.is_file():
        echo(f"  the diff: {shlex.quote(shown(patch))}", bold=True)
    for hint in way_on(loop, has_worker=driven):
        echo(f"  → {hint}", bold=True)  # not wrapped, so that a user can copy the command


def echo_loop(loop: Loop, *, as_json: bool, brief: bool = False) -> None:
    """Print the loop with all details, or as one line."""
    if as_json:
        progress = {"develop": percent_of_tasks(loop), "overall": percent_done(loop)}
        echo_json({**document_of(loop), "progress": progress})
        return
    status = status_of(loop)
    echo(f"{loop.loop_id}: ", nl=False, bold=True)
    echo(status, fg=COLORS[status], nl=False)
    iteration = message("iteration {number} of {most}", number=loop.iteration, most=loop.max_iterations)
    attempt = message(", attempt {attempt}", attempt=loop.attempt) if loop.attempt > 1 else ""
    # A share of work that is over says nothing: a loop can complete without debugging.
    done = "" if loop.is_over else message(", {percent}% done", percent=f"{percent_done(loop):g}")
    put(f", {iteration}{attempt}{done}: {one_line(loop.title)}")
    for hold in loop.holds:
        _echo_wrapped(hold_text(hold, catalogue()), fg="yellow")
    if not brief:
        _echo_work(loop)


def _echo_work(loop: Loop) -> None:
    _echo_end(loop)
    if loop.under_way is not None:
        task = loop.task(loop.under_way.task_id or "")
        what = f" {task.id}: {task_text(task, catalogue())}" if task is not None else ""
        since = message("since {at}", at=loop.under_way.started_at)
        _echo_section(message("Now"), [f"{loop.under_way.action}{what}, {since}"])
    elif (beside := beside_the_work(loop, catalogue())) is not None:
        _echo_section(message("Now"), [beside])
    _echo_section(
        translate(f"Tasks, {done_tasks(loop)} of {len(loop.tasks)} done"),
        [line for task in loop.tasks for line in _of_task(loop, task)],
    )
    _echo_section(message("Agents"), [translate(takeover_sentence(takeover)) for takeover in loop.takeovers])
    if loop.validation.last_run_at:
        run = translate(f"run {loop.validation.run_id or 'by another tool'}")
        left_out = loop.validation.left_out.sentence if loop.validation.left_out is not None else ""
        notes = [translate(note) for note in (loop.validation.proof, left_out, *loop.validation.notes) if note]
        _echo_section(message("Tests"), [validation_text(loop.validation, catalogue()), run, *notes])
    _echo_section(message("Questions"), [_decision(decision) for decision in loop.decisions])
    causes = [
        f"{hypothesis.id} {hypothesis.status}: {translate(hypothesis.description)}"
        + (f" ({translate(hypothesis.verdict_reason)})" if hypothesis.verdict_reason else "")
        for hypothesis in loop.debug.hypotheses
    ]
    _echo_section(message("Possible causes of {bug}", bug=translate(loop.debug.active_bug or "")), causes)
    errors = [
        f"{error.action}: {translate(error.message)}"
        for error in loop.errors[-3:]
        if not _is_shown(loop, error.message)
    ]
    _echo_section(message("Last errors"), errors, fg="red")
    _echo_section(message("Cost"), [cost_of(loop.spent, loop.budget)])


def _echo_end(loop: Loop) -> None:
    """Print why the loop is over, or who accepted its work."""
    match loop.phase:
        case Failed(reason=reason):
            _echo_wrapped(translate(reason))
        case Completed(accepted_by=str(by), at=at, forced=forced):
            _echo_wrapped(accepted_text(by, at, forced or "", catalogue()))
            if doubts := accepted_doubts(loop):
                _echo_wrapped(message("not proven by tests: {doubts}", doubts=translate(doubts)))
        case Completed(forced=str(reason)):
            _echo_wrapped(message("closed as done by a person: {forced}", forced=translate(reason)))
        case _:
            pass


def _is_shown(loop: Loop, reason: str) -> bool:
    """Whether there is nothing to tell that a hold, or the person who accepted the work, does not tell already."""
    shown = (accepted_doubts(loop), getattr(loop.phase, "forced", None) or "") if is_accepted(loop) else ()
    return not reason or any(text.startswith(reason) for text in (*(hold.message for hold in loop.holds), *shown))


def _of_task(loop: Loop, task: Task) -> list[str]:
    """A task, and what it used of its budget."""
    standing = standing_of(loop, task)
    lines = [f"{MARKS[standing]} {task.id} [{task.tool}] {task_text(task, catalogue())}"]
    lines += [f"    {translate(standing.note)}"] if standing.note else []
    if (proof := next((proof for proof in loop.validation.proofs if proof.task_id == task.id), None)) is not None:
        reason = "" if is_accepted(loop) or _is_shown(loop, proof.reason) else f": {translate(proof.reason)}"
        grade = message("person") if is_accepted(loop) and not proof.is_proven else translate(proof.grade.value)
        lines.append(f"    {grade}{reason}")
    if (limits := loop.budget_of(task.id)) != Budget():
        spent, tries = loop.spent_by_task.get(task.id, Spent()), loop.tries.get(task.id, 0)
        iterations = message("{tries}{most} iterations", tries=tries, most=_of(limits.iterations))
        lines.append(f"    {cost_of(spent, limits)}, {iterations}")
    return lines


def _decision(decision: Decision) -> str:
    answer = message("not answered yet") if decision.answer is None else f"{decision.answer} ({decision.answered_by})"
    return f"{decision.id} {decision.question} : {answer}"


def _echo_section(title: str, lines: list[str], **style: Any) -> None:
    if lines:
        put(one_line(title), bold=True)
        for line in lines:
            _echo_wrapped(line, **style)


def _echo_wrapped(text: str, **style: Any) -> None:
    """Print an indented text, wrapped to the terminal; a pipe gets each text as one line."""
    if not sys.stdout.isatty():
        put(f"  {one_line(text)}", **style)
        return
    first, *rest = wrapped(text, max(20, shutil.get_terminal_size().columns - 6))
    for line in (f"  {first}", *(f"      {line}" for line in rest)):
        put(line, **style)


def cost_of(spent: Spent, budget: Budget) -> str:
    """What was used of a budget."""
    usd = message("{usd} USD", usd=f"{spent.usd:.2f}{_of(budget.usd)}") + price_note(spent)
    tokens = message("{tokens} tokens", tokens=f"{spent.tokens:,}{_of(budget.tokens)}")
    turns = f"{spent.turns}{_of(budget.turns)}"
    is_one = (budget.turns or spent.turns) == 1
    counted = message("{turns} turn", turns=turns) if is_one else message("{turns} turns", turns=turns)
    parts = [usd, tokens, f"{spent.wall_s:.0f}{_of(budget.wall_s)} s", counted]
    if spent.retries or budget.retries is not None:
        parts.append(message("{tries} retries", tries=f"{spent.retries}{_of(budget.retries)}"))
    return ", ".join(parts)


def price_note(spent: Spent) -> str:
    """Says which costs were not reported, or computed; empty if agents reported all costs."""
    note = "" if spent.usd_known else message(" (cost of some turns not reported)")
    if spent.usd_computed:
        note += message(" (including {usd} computed from a price list)", usd=f"{spent.usd_computed:.2f}")
    return note


def duration(seconds: float) -> str:
    """A duration for people, such as `2 min 05 s`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _of(limit: float | None) -> str:
    return "" if limit is None else message(" of {limit}", limit=f"{limit:,g}")

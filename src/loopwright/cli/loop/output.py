"""A loop as people and programs read it."""

from __future__ import annotations

from loopwright.cli.loop.colors import COLORS
from loopwright.cli.plain import say, say_json
from loopwright.loop.model import Budget, Held, Hold, Loop, Spent
from loopwright.loop.projection import document_of, progress_of
from loopwright.loop.rules import HOW_TO_LIFT, status_of

MARKS = {"pending": "·", "in_progress": "▶", "completed": "✓", "failed": "✗"}


def say_loop(loop: Loop, *, as_json: bool, brief: bool = False) -> None:
    """The loop, whole or in a line."""
    if as_json:
        progress = progress_of(loop)
        say_json({**document_of(loop), "progress": {"develop": progress.develop, "overall": progress.overall}})
        return
    status = status_of(loop.phase)
    say(f"{loop.loop_id}: ", nl=False, bold=True)
    say(status, fg=COLORS[status], nl=False)
    say(f", iteration {loop.iteration} of {loop.max_iterations}, {progress_of(loop).overall:g} % : {loop.title}")
    for hold in loop.phase.holds if isinstance(loop.phase, Held) else ():
        say(f"  {hold_line(hold)}", fg="yellow")
        if not brief:
            say(f"    → {HOW_TO_LIFT[hold.holder]}")
    if not brief:
        _say_work(loop)


def _say_work(loop: Loop) -> None:
    reason = getattr(loop.phase, "reason", None) or getattr(loop.phase, "forced", None)
    if reason:
        say(f"  {reason}")
    for task in loop.tasks:
        say(f"  {MARKS[task.status]} {task.id} [{task.tool}] {task.description}")
        if (limits := loop.budget_of(task.id)) != Budget():
            spent, tries = loop.spent_by_task.get(task.id, Spent()), loop.tries.get(task.id, 0)
            say(f"      {cost_of(spent, limits)}, taken up {tries} times{_of(limits.iterations)}")
    if loop.validation.last_run_at:
        found = loop.validation
        said = "passed" if found.passed else f"failed: {', '.join(found.failed_tests[:5])}"
        covered = f", coverage {found.coverage:g} %" if found.coverage is not None else ""
        say(f"  tests {said} ({found.pass_rate:g} %{covered}), run {found.run_id or 'of another tool'}")
    for decision in loop.decisions:
        said = "waits for an answer" if decision.answer is None else f"{decision.answer} ({decision.answered_by})"
        say(f"  {decision.id} {decision.question} : {said}")
    for one in loop.debug.hypotheses:
        say(f"  {one.id} {one.status}: {one.description}")
    for error in loop.errors[-3:]:
        say(f"  ! {error.action}: {error.message}", fg="red")
    say(f"  cost: {cost_of(loop.spent, loop.budget)}")


def hold_line(hold: Hold) -> str:
    """Who holds a loop, why, and until when where that is known."""
    return f"held by {hold.holder}: {hold.message}" + (f" (until {hold.until})" if hold.until else "")


def cost_of(spent: Spent, budget: Budget) -> str:
    """What it has cost, of what it may cost."""
    usd = f"{spent.usd:.2f} USD" + ("" if spent.usd_known else " and what was not told")
    parts = [f"{usd}{_of(budget.usd)}", f"{spent.tokens:,} tokens{_of(budget.tokens)}"]
    parts += [f"{spent.wall_s:.0f} s{_of(budget.wall_s)}", f"{spent.turns} turns{_of(budget.turns)}"]
    if spent.retries or budget.retries is not None:
        parts.append(f"{spent.retries} failed tries{_of(budget.retries)}")
    return ", ".join(parts)


def _of(limit: float | None) -> str:
    return "" if limit is None else f" of {limit:g}"

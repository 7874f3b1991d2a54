"""A loop as rows for a terminal of any size. Pure: the same view, size and language make the same rows."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from loopwright.cli.language import catalogue, message, translate
from loopwright.cli.loop.output import COLORS, MARKS, cost_of, duration
from loopwright.cli.loop.screen.surface import Row, Span
from loopwright.kernel.cells import cut, one_line, width_of, wrapped
from loopwright.loop.guidance import way_on
from loopwright.loop.model import Action, Completed, Created, Failed, Held, Loop, Running
from loopwright.loop.projection import status_of
from loopwright.loop.sentences import accepted_text, beside_the_work, hold_text, task_text, validation_text
from loopwright.loop.task_standing import (
    TaskStanding,
    awaits_its_build,
    done_tasks,
    percent_done,
    standing_of,
    worked_on_tasks,
)
from loopwright.verbs.loop.follow import Seen

_BAR, _WIDE = 20, 100
_LEAST_FOR_ARROWS = 4
_TASK_COLORS = {
    TaskStanding.PENDING: "dim",
    TaskStanding.IN_PROGRESS: "cyan",
    TaskStanding.UNTESTED: "cyan",
    TaskStanding.TESTS_FAIL: "red",
    TaskStanding.UNPROVEN: "yellow",
    TaskStanding.DONE: "green",
    TaskStanding.FAILED: "red",
}
_JUDGED = {
    "pending": ("·", "dim"),
    "confirmed": ("✓", "green"),
    "rejected": ("✗", "dim"),
    "inconclusive": ("?", "yellow"),
}
HELP = (
    ("q", "quit; if this terminal drives the loop: the same as Ctrl-C"),
    ("Ctrl-C", "quit; if this terminal drives the loop: interrupt its action"),
    ("p", "pause: freeze all processes within a second"),
    ("r", "resume; if no process drives the loop, offer to start one"),
    ("s", "stop the loop for good, with all its processes"),
    ("↑ ↓ j k", "scroll the log by a line; PgUp, PgDn and Space scroll by a page"),
    ("g G", "go to the start or the end of the log"),
    ("?", "show or hide this help"),
)


class LoopView(msgspec.Struct, frozen=True):
    """What a frame shows of the loop."""

    seen: Seen
    happened: tuple[str, ...] = ()
    log_name: str = ""
    log: tuple[str, ...] = ()


class ScreenState(msgspec.Struct, frozen=True):
    """What the person at the screen selected, scrolled to or was asked."""

    has_keys: bool = True
    drives: bool = False
    scroll: int = 0
    shows_help: bool = False
    question: str = ""
    notice: str = ""
    choices: tuple[Action, ...] = ()
    picked: int = 0


class FrameSection(msgspec.Struct, frozen=True):
    """A part of the frame: a title, and as many rows as fit."""

    title: str
    count: int
    draw: Callable[[int], list[Row]]
    weight: int = 1
    most: int = 1000


def frame(view: LoopView, screen: ScreenState, columns: int, rows: int) -> list[Row]:
    """Exactly `rows` rows; the last row lists the keys."""
    top = [*_head(view.seen, columns), *_notes(view.seen, columns), *_menu(view.seen.loop, screen)]
    if screen.shows_help:
        top += [_rule("help", columns), *_help()]
        sections: list[FrameSection] = []
    else:
        top += _facts(view.seen)
        sections = _sections(view, screen)
    room = max(0, rows - 1 - len(top))
    body = top[: rows - 1]
    for section, count in zip(sections, shares(sections, room), strict=True):
        if count:
            body += [_rule(section.title, columns), *section.draw(count)]
    body += [()] * (rows - 1 - len(body))
    return [*body[: rows - 1], _foot(screen)]


def shares(sections: list[FrameSection], room: int) -> list[int]:
    """Rows for each section: first a title and one row each, then the remaining rows in rounds, by weight."""
    given = [0] * len(sections)
    for at, section in enumerate(sections):
        if room >= 2 and section.count:
            given[at], room = 1, room - 2
    grew = True
    while room and grew:
        grew = False
        for at, section in enumerate(sections):
            missing = min(section.count, section.most) - given[at] if given[at] else 0
            more = max(0, min(section.weight, missing, room))
            given[at], room, grew = given[at] + more, room - more, grew or more > 0
    return given


def _head(seen: Seen, columns: int) -> list[Row]:
    loop = seen.loop
    status = status_of(loop)
    overall = percent_done(loop)
    cells = _BAR if columns >= _WIDE else _BAR // 2
    full = round(cells * overall / 100)
    iteration = translate(f"  iteration {loop.iteration} of {loop.max_iterations}, attempt {loop.attempt}  ")
    bar, percent = "█" * full + "░" * (cells - full), f" {overall:g} %"
    rest = width_of(f"  ● {status}{iteration}{bar}{percent}")
    title = cut(one_line(loop.title), max(8, columns - rest))
    first = (
        Span(title, "bold"), Span("  "), Span(f"● {status}", f"bold {COLORS[status]}"), Span(iteration),
        Span(bar, COLORS[status]), Span(percent),
    )  # fmt: skip
    worked = f"{loop.loop_id}  {message('worked {time}', time=duration(seen.clocked.total_s))}  "
    return [first, (Span(worked, "dim"), *_driver(seen))]


def _driver(seen: Seen) -> Row:
    worker = seen.loop.worker
    if seen.has_worker:
        process = f"process {worker.pid} on {one_line(worker.host)}" if worker is not None else "a process that starts"
        return (Span(translate(f"driven by {process}"), "dim"),)
    needs_worker = status_of(seen.loop) == "running"
    return (Span(message("no worker"), "bold red" if needs_worker else "dim"),)


def _notes(seen: Seen, columns: int) -> list[Row]:
    """Why the loop does not continue, and the command that continues it."""
    notes: list[tuple[str, str]] = []
    match seen.loop.phase:
        case Held(holds=holds):
            held = [(message("since {at}", at=hold.since[11:19]), hold_text(hold, catalogue())) for hold in holds]
            notes = [(f"{since} {hold}", "yellow") for since, hold in held]
        case Failed(reason=reason):
            notes = [(message("failed: {reason}", reason=translate(reason)), "red")]
        case Completed() if awaits_its_build(seen.loop):
            notes = [
                (
                    message("all tasks are worked on; the build of {workflow} decides", workflow=seen.loop.workflow),
                    "yellow",
                )
            ]
        case Completed(forced=None):
            notes = [(message("completed"), "green")]
        case Completed(accepted_by=str(by), at=at, forced=forced):
            notes = [(accepted_text(by, at, forced or "", catalogue()), "green")]
        case Completed(forced=forced):
            notes = [(message("closed as done by a person: {forced}", forced=forced), "green")]
        case Created() | Running():
            pass
    rows: list[Row] = []
    for text, style in notes:
        rows += [(Span(line, style),) for line in wrapped(text, columns)[:3]]
    if not (seen.has_worker and status_of(seen.loop) == "running"):
        for hint in way_on(seen.loop, has_worker=seen.has_worker):
            rows += [(Span(f"  {line}", "bold"),) for line in wrapped(f"→ {translate(hint)}", columns - 2)[:3]]
    return rows


def _menu(loop: Loop, screen: ScreenState) -> list[Row]:
    if not screen.choices:
        return []
    rows: list[Row] = [(Span(message("Choose the next action:"), "bold cyan"),)]
    for at, action in enumerate(screen.choices):
        mark, style = ("▸", "reverse") if at == screen.picked else (" ", "")
        default = "  (default)" if at == 0 else ""
        rows.append(
            (
                Span(f" {mark} {at + 1} {action:<9}", style),
                Span(translate(f" {_meaning(loop, action)}{default}"), "dim"),
            )
        )
    keys = "   Enter or a number chooses; p pauses, s stops, q quits without a choice"
    tasks = f"   edit the tasks: loopwright loop task edit {loop.loop_id} …"
    return [*rows, (Span(translate(keys), "dim"),), (Span(translate(tasks), "dim"),)]


def _meaning(loop: Loop, action: Action) -> str:
    match action:
        case Action.INIT:
            return "use the tasks, or let an agent split the description into tasks"
        case Action.DEVELOP:
            task = loop.pending[0] if loop.pending else None
            return one_line(f"{task.id}: {task_text(task, catalogue())}") if task is not None else "the next task"
        case Action.DEBUG:
            return "look for the cause of the failure"
        case Action.VALIDATE:
            return "run the tests"
        case Action.COMPLETE:
            return "finish; the tests pass"


def _facts(seen: Seen) -> list[Row]:
    """A row each for the current action, the tests and the cost."""
    loop = seen.loop
    rows: list[Row] = []
    if loop.under_way is not None:
        at = loop.under_way
        task = loop.task(at.task_id or "")
        what = f"{at.action} {one_line(task.id)}" if task is not None else str(at.action)
        rows.append(_now(seen, what))
    elif (beside := beside_the_work(loop, catalogue())) is not None:
        rows.append(_now(seen, one_line(beside)))
    if loop.validation.last_run_at:
        stale = "" if loop.is_validated else message(" (stale)")
        style = "green" if loop.validation.passed else "red"
        tests = one_line(validation_text(loop.validation, catalogue()))
        rows.append((Span(message("tests  "), "dim"), Span(tests, style), Span(stale, "dim")))
    return [*rows, (Span(message("cost   "), "dim"), Span(cost_of(loop.spent, loop.budget)))]


def _now(seen: Seen, what: str) -> Row:
    return (Span(message("now    "), "dim"), Span(what, "bold cyan"), Span(f"  {_since(seen)}", "dim"))


def _since(seen: Seen) -> str:
    if not seen.has_worker:
        return message("interrupted")
    time = duration(seen.clocked.action_s)
    return (
        message("frozen after {time}", time=time)
        if isinstance(seen.loop.phase, Held)
        else message("for {time}", time=time)
    )


def _sections(view: LoopView, screen: ScreenState) -> list[FrameSection]:
    loop = view.seen.loop
    title = f"tasks: {done_tasks(loop)} of {len(loop.tasks)} done"
    if worked := worked_on_tasks(loop):
        title += f", {worked} worked on"
    hypotheses = loop.debug.hypotheses
    log = view.log_name or "log"
    if screen.scroll:
        log += f", lines below: {screen.scroll}"
    return [
        FrameSection(title, len(loop.tasks), lambda count: _tasks(loop, count)),
        FrameSection(
            f"debugging: {one_line(loop.debug.active_bug or '')}",
            len(hypotheses),
            lambda count: _hypotheses(loop, count),
            most=6,
        ),
        FrameSection(log, len(view.log), lambda count: _log(view.log, screen.scroll, count), weight=2),
        FrameSection("recent events", len(view.happened), lambda count: _plain(view.happened[-count:]), most=8),
    ]


def _tasks(loop: Loop, count: int) -> list[Row]:
    """The rows around the current task, or around the next one."""
    now = [at for at, task in enumerate(loop.tasks) if task.status == "in_progress"]
    then = [at for at, task in enumerate(loop.tasks) if task.status == "pending"]
    current = (now or then or [len(loop.tasks) - 1])[0]
    start = max(0, min(current - count // 2, len(loop.tasks) - count))
    rows: list[Row] = []
    for task in loop.tasks[start : start + count]:
        standing = standing_of(loop, task)
        style = _TASK_COLORS[standing]
        weight = "bold" if task.status == "in_progress" else "dim" if standing is TaskStanding.DONE else ""
        text = f" {one_line(task.id)} [{one_line(task.tool)}] {one_line(task_text(task, catalogue()))}"
        note = f" ({translate(standing.note)})" if standing.note else ""
        rows.append((Span(f"  {MARKS[standing]}", style), Span(f"{text}{note}", weight)))
    if count < _LEAST_FOR_ARROWS:
        return rows  # in few rows the current task matters more than the number of other tasks
    if start > 0:
        rows[0] = (*rows[0][:1], Span(message(" ↑ {count} more", count=start + 1), "dim"))
    if (below := len(loop.tasks) - start - count) > 0:
        rows[-1] = (*rows[-1][:1], Span(message(" ↓ {count} more", count=below + 1), "dim"))
    return rows


def _hypotheses(loop: Loop, count: int) -> list[Row]:
    rows: list[Row] = []
    for hypothesis in loop.debug.hypotheses[:count]:
        mark, style = _JUDGED[hypothesis.status]
        why = f": {one_line(hypothesis.verdict_reason)}" if hypothesis.verdict_reason else ""
        status = Span(f"  {mark} {hypothesis.id} {hypothesis.status}", style)
        rows.append((status, Span(f" {one_line(hypothesis.description)}{why}")))
    return rows


def _log(lines: tuple[str, ...], scroll: int, count: int) -> list[Row]:
    end = max(count, len(lines) - scroll)
    return _plain(lines[max(0, end - count) : end])


def _plain(lines: tuple[str, ...]) -> list[Row]:
    return [(Span(f"  {one_line(line)}", "dim"),) for line in lines]


def _help() -> list[Row]:
    return [(Span(f"  {keys:<8}", "bold"), Span(f" {translate(text)}")) for keys, text in HELP]


def _rule(title: str, columns: int) -> Row:
    text = f"── {cut(one_line(translate(title)), max(0, columns - 6))} "
    return (Span(text + "─" * (columns - width_of(text)), "dim"),)


def _foot(screen: ScreenState) -> Row:
    if screen.question:
        return (Span(f" {translate(screen.question)} y/n ", "reverse"),)
    if screen.notice:
        return (Span(f" {translate(screen.notice)} ", "yellow"),)
    if not screen.has_keys:
        keys = "Ctrl-C interrupts the loop" if screen.drives else "Ctrl-C quits; the loop continues"
        return (Span(f" {translate(keys)}", "dim"),)
    return (Span(message(" q quit   p pause   r resume   s stop   ↑↓ scroll   ? help"), "reverse"),)

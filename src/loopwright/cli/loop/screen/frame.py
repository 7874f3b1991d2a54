"""A loop as rows for a terminal of any size. Pure: the same sight, size and language make the same rows."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from loopwright.cli.language import spoken, told, words
from loopwright.cli.loop.output import COLORS, MARKS, cost_of, duration
from loopwright.cli.loop.screen.surface import Row, Span
from loopwright.kernel.cells import cut, one_line, width_of, wrapped
from loopwright.loop.guidance import way_on
from loopwright.loop.model import Action, Completed, Created, Failed, Held, Loop, Running
from loopwright.loop.projection import progress_of, status_of
from loopwright.loop.sentences import beside_the_work, hold_in_words, task_in_words, validation_in_words
from loopwright.verbs.loop.follow import Seen

_BAR, _WIDE = 20, 100
_LEAST_FOR_ARROWS = 4
_TASK_COLORS = {"pending": "dim", "in_progress": "cyan", "completed": "green", "failed": "red"}
_JUDGED = {
    "pending": ("·", "dim"),
    "confirmed": ("✓", "green"),
    "rejected": ("✗", "dim"),
    "inconclusive": ("?", "yellow"),
}
HELP = (
    ("q", "quit; where this terminal drives the loop, as Ctrl-C"),
    ("Ctrl-C", "quit; where this terminal drives the loop its action stays under way"),
    ("p", "pause: what runs is frozen within a second"),
    ("r", "resume; where no process drives the loop, offers to start one"),
    ("s", "stop the loop for good, and every process of it"),
    ("↑ ↓ j k", "scroll the log by a line; PgUp, PgDn and Space by a page"),
    ("g G", "to the begin and the end of the log"),
    ("?", "this help, and back"),
)


class LoopView(msgspec.Struct, frozen=True):
    """All that a frame shows of the loop."""

    seen: Seen
    happened: tuple[str, ...] = ()
    log_name: str = ""
    log: tuple[str, ...] = ()


class ScreenState(msgspec.Struct, frozen=True):
    """What the person at the screen has done with it."""

    has_keys: bool = True
    drives: bool = False
    scroll: int = 0
    shows_help: bool = False
    question: str = ""
    notice: str = ""
    choices: tuple[Action, ...] = ()
    picked: int = 0


class FrameSection(msgspec.Struct, frozen=True):
    """A part that takes as many rows as it is given: a title, and the rows that fit."""

    title: str
    count: int
    draw: Callable[[int], list[Row]]
    weight: int = 1
    most: int = 1000


def frame(sight: LoopView, desktop: ScreenState, columns: int, rows: int) -> list[Row]:
    """Exactly `rows` rows; the last one says which keys there are."""
    top = [*_head(sight.seen, columns), *_notes(sight.seen, columns), *_menu(sight.seen.loop, desktop)]
    if desktop.shows_help:
        top += [_rule("help", columns), *_help()]
        sections: list[FrameSection] = []
    else:
        top += _facts(sight.seen)
        sections = _sections(sight, desktop)
    room = max(0, rows - 1 - len(top))
    body = top[: rows - 1]
    for section, count in zip(sections, shares(sections, room), strict=True):
        if count:
            body += [_rule(section.title, columns), *section.draw(count)]
    body += [()] * (rows - 1 - len(body))
    return [*body[: rows - 1], _foot(desktop)]


def shares(sections: list[FrameSection], room: int) -> list[int]:
    """Rows for each section: one for everybody and its title first, then the rest in rounds, by weight."""
    given = [0] * len(sections)
    for at, section in enumerate(sections):
        if room >= 2 and section.count:
            given[at], room = 1, room - 2
    grew = True
    while room and grew:
        grew = False
        for at, section in enumerate(sections):
            wanted = min(section.count, section.most) - given[at] if given[at] else 0
            more = max(0, min(section.weight, wanted, room))
            given[at], room, grew = given[at] + more, room - more, grew or more > 0
    return given


def _head(seen: Seen, columns: int) -> list[Row]:
    loop = seen.loop
    status = status_of(loop.phase)
    overall = progress_of(loop).overall
    cells = _BAR if columns >= _WIDE else _BAR // 2
    full = round(cells * overall / 100)
    said = told(f"  iteration {loop.iteration} of {loop.max_iterations}, attempt {loop.attempt}  ")
    bar, percent = "█" * full + "░" * (cells - full), f" {overall:g} %"
    rest = width_of(f"  ● {status}{said}{bar}{percent}")
    title = cut(one_line(loop.title), max(8, columns - rest))
    first = (
        Span(title, "bold"), Span("  "), Span(f"● {status}", f"bold {COLORS[status]}"), Span(said),
        Span(bar, COLORS[status]), Span(percent),
    )  # fmt: skip
    worked = f"{loop.loop_id}  {words('worked {time}', time=duration(seen.clocked.total_s))}  "
    return [first, (Span(worked, "dim"), *_driver(seen))]


def _driver(seen: Seen) -> Row:
    worker = seen.loop.worker
    if seen.has_worker:
        who = f"process {worker.pid} on {one_line(worker.host)}" if worker is not None else "a process that begins"
        return (Span(told(f"driven by {who}"), "dim"),)
    is_missed = status_of(seen.loop.phase) == "running"
    return (Span(words("no worker"), "bold red" if is_missed else "dim"),)


def _notes(seen: Seen, columns: int) -> list[Row]:
    """Why it does not go on, and what to type so that it does."""
    said: list[tuple[str, str]] = []
    match seen.loop.phase:
        case Held(holds=holds):
            held = [(words("since {at}", at=hold.since[11:19]), hold_in_words(hold, spoken())) for hold in holds]
            said = [(f"{since} {hold}", "yellow") for since, hold in held]
        case Failed(reason=reason):
            said = [(words("failed: {reason}", reason=told(reason)), "red")]
        case Completed(forced=forced):
            done = words("completed")
            said = [(done if forced is None else words("closed as done by a person: {forced}", forced=forced), "green")]
        case Created() | Running():
            pass
    rows: list[Row] = []
    for text, style in said:
        rows += [(Span(line, style),) for line in wrapped(text, columns)[:3]]
    if not (seen.has_worker and status_of(seen.loop.phase) == "running"):
        for hint in way_on(seen.loop, has_worker=seen.has_worker):
            rows += [(Span(f"  {line}", "bold"),) for line in wrapped(f"→ {told(hint)}", columns - 2)[:3]]
    return rows


def _menu(loop: Loop, desktop: ScreenState) -> list[Row]:
    if not desktop.choices:
        return []
    rows: list[Row] = [(Span(words("What is next?"), "bold cyan"),)]
    for at, action in enumerate(desktop.choices):
        mark, style = ("▸", "reverse") if at == desktop.picked else (" ", "")
        default = "  (the rules' own choice)" if at == 0 else ""
        rows.append(
            (Span(f" {mark} {at + 1} {action:<9}", style), Span(told(f" {_meaning(loop, action)}{default}"), "dim"))
        )
    keys = "   Enter takes it, or its number; p pauses, s stops, q leaves it waiting"
    tasks = f"   edit the tasks: loopwright loop task edit {loop.loop_id} …"
    return [*rows, (Span(told(keys), "dim"),), (Span(told(tasks), "dim"),)]


def _meaning(loop: Loop, action: Action) -> str:
    match action:
        case Action.INIT:
            return "take the tasks, or let an agent split the description"
        case Action.DEVELOP:
            task = loop.pending[0] if loop.pending else None
            return one_line(f"{task.id}: {task_in_words(task, spoken())}") if task is not None else "the next task"
        case Action.DEBUG:
            return "look for the cause of what fails"
        case Action.VALIDATE:
            return "run the tests"
        case Action.COMPLETE:
            return "hand over; the tests pass"


def _facts(seen: Seen) -> list[Row]:
    """One row each for what is done now, the tests and the cost."""
    loop = seen.loop
    rows: list[Row] = []
    if loop.under_way is not None:
        at = loop.under_way
        task = loop.task(at.task_id or "")
        what = f"{at.action} {one_line(task.id)}" if task is not None else str(at.action)
        rows.append(_now(seen, what))
    elif (beside := beside_the_work(loop, spoken())) is not None:
        rows.append(_now(seen, one_line(beside)))
    if loop.validation.last_run_at:
        stale = "" if loop.is_validated else words(" (stale)")
        style = "green" if loop.validation.passed else "red"
        said = one_line(validation_in_words(loop.validation, spoken()))
        rows.append((Span(words("tests  "), "dim"), Span(said, style), Span(stale, "dim")))
    return [*rows, (Span(words("cost   "), "dim"), Span(cost_of(loop.spent, loop.budget)))]


def _now(seen: Seen, what: str) -> Row:
    return (Span(words("now    "), "dim"), Span(what, "bold cyan"), Span(f"  {_since(seen)}", "dim"))


def _since(seen: Seen) -> str:
    if not seen.has_worker:
        return words("interrupted")
    time = duration(seen.clocked.action_s)
    return (
        words("frozen after {time}", time=time) if isinstance(seen.loop.phase, Held) else words("for {time}", time=time)
    )


def _sections(sight: LoopView, desktop: ScreenState) -> list[FrameSection]:
    loop = sight.seen.loop
    done = sum(task.status == "completed" for task in loop.tasks)
    hypotheses = loop.debug.hypotheses
    log = sight.log_name or "log"
    if desktop.scroll:
        log += f", {desktop.scroll} lines below"
    return [
        FrameSection(f"tasks: {done} of {len(loop.tasks)} done", len(loop.tasks), lambda count: _tasks(loop, count)),
        FrameSection(
            f"debugging: {one_line(loop.debug.active_bug or '')}",
            len(hypotheses),
            lambda count: _hypotheses(loop, count),
            most=6,
        ),
        FrameSection(log, len(sight.log), lambda count: _log(sight.log, desktop.scroll, count), weight=2),
        FrameSection("what happened", len(sight.happened), lambda count: _plain(sight.happened[-count:]), most=8),
    ]


def _tasks(loop: Loop, count: int) -> list[Row]:
    """A window around the task that is under way, or that is next."""
    now = [at for at, task in enumerate(loop.tasks) if task.status == "in_progress"]
    then = [at for at, task in enumerate(loop.tasks) if task.status == "pending"]
    current = (now or then or [len(loop.tasks) - 1])[0]
    start = max(0, min(current - count // 2, len(loop.tasks) - count))
    rows: list[Row] = []
    for task in loop.tasks[start : start + count]:
        style = _TASK_COLORS[task.status]
        weight = "bold" if task.status == "in_progress" else "dim" if task.status == "completed" else ""
        text = f" {one_line(task.id)} [{one_line(task.tool)}] {one_line(task_in_words(task, spoken()))}"
        rows.append((Span(f"  {MARKS[task.status]}", style), Span(text, weight)))
    if count < _LEAST_FOR_ARROWS:
        return rows  # the task that it is about is worth more than to know how many there are
    if start > 0:
        rows[0] = (*rows[0][:1], Span(words(" ↑ {count} more", count=start + 1), "dim"))
    if (below := len(loop.tasks) - start - count) > 0:
        rows[-1] = (*rows[-1][:1], Span(words(" ↓ {count} more", count=below + 1), "dim"))
    return rows


def _hypotheses(loop: Loop, count: int) -> list[Row]:
    rows: list[Row] = []
    for one in loop.debug.hypotheses[:count]:
        mark, style = _JUDGED[one.status]
        why = f": {one_line(one.verdict_reason)}" if one.verdict_reason else ""
        rows.append((Span(f"  {mark} {one.id} {one.status}", style), Span(f" {one_line(one.description)}{why}")))
    return rows


def _log(lines: tuple[str, ...], scroll: int, count: int) -> list[Row]:
    end = max(count, len(lines) - scroll)
    return _plain(lines[max(0, end - count) : end])


def _plain(lines: tuple[str, ...]) -> list[Row]:
    return [(Span(f"  {one_line(line)}", "dim"),) for line in lines]


def _help() -> list[Row]:
    return [(Span(f"  {keys:<8}", "bold"), Span(f" {told(text)}")) for keys, text in HELP]


def _rule(title: str, columns: int) -> Row:
    text = f"── {cut(one_line(told(title)), max(0, columns - 6))} "
    return (Span(text + "─" * (columns - width_of(text)), "dim"),)


def _foot(desktop: ScreenState) -> Row:
    if desktop.question:
        return (Span(f" {told(desktop.question)} y/n ", "reverse"),)
    if desktop.notice:
        return (Span(f" {told(desktop.notice)} ", "yellow"),)
    if not desktop.has_keys:
        said = "Ctrl-C ends the watching, not the loop" if not desktop.drives else "Ctrl-C interrupts it"
        return (Span(f" {told(said)}", "dim"),)
    return (Span(words(" q quit   p pause   r resume   s stop   ↑↓ scroll   ? help"), "reverse"),)

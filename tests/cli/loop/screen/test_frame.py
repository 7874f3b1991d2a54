"""The frame of a loop at several sizes: it fits, shows all important facts, and equals its golden file.

`REDRAW=1 pytest tests/cli/loop/screen` draws the goldens again; look at them before you commit them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from loopwright.cli.language import set_language
from loopwright.cli.loop.screen.frame import FrameSection, LoopView, ScreenState, frame, shares
from loopwright.cli.loop.screen.surface import fitted
from loopwright.judging.reports.model import TestResult
from loopwright.kernel.cells import width_of
from loopwright.loop.clocking import Clocked
from loopwright.loop.model import (
    Action,
    Budget,
    Completed,
    Created,
    Criteria,
    Debugging,
    Failed,
    Held,
    Hold,
    Holder,
    Hypothesis,
    Loop,
    OpenTurn,
    Running,
    Spent,
    Task,
    UnderWay,
    Validation,
    Worker,
)
from loopwright.verbs.loop.follow import Seen

GOLDENS = Path(__file__).resolve().parents[3] / "goldens" / "screens"
NOW = "2026-01-01T00:00:10Z"
ID = "loop-v2-20260101-abcdef"


def task(number, status="pending", text="write a part of it"):
    return Task(id=f"T-{number}", description=text, tool="claude", mode="write", status=status, created_at=NOW)


def cause(name, status, text):
    criteria = Criteria(confirm="yes", reject="no")
    return Hypothesis(
        id=name, description=text, testable_condition="c", logging_point="", evidence_criteria=criteria, likelihood=1,
        status=status, verdict_reason="" if status == "pending" else "its command said so",
    )  # fmt: skip


DONE = [task(n, "completed") for n in range(1, 8)]
WIDE = task(
    8,
    "in_progress",
    "写一个说明 with wide characters 日本語テキスト and a description that is longer than the screen is wide",
)
TASKS = (*DONE, WIDE, *(task(n) for n in range(9, 31)))
RESULTS = (*(TestResult(f"test_{n}", "s", "passed") for n in range(8)), TestResult("test_import", "s", "failed"))
LOOP = Loop(
    loop_id=ID, title="faster imports 更快", description="d", max_iterations=20, created_at=NOW, updated_at=NOW,
    phase=Running(), revision=40, iteration=9, attempt=2, is_initialised=True, tasks=TASKS,
    under_way=UnderWay(action=Action.DEVELOP, id="a1", started_at=NOW, task_id="T-8"),
    worker=Worker(pid=4711, host="box", since=NOW), budget=Budget(usd=5, turns=30),
    spent=Spent(usd=1.25, tokens=123456, wall_s=185, turns=9),
    debug=Debugging(
        active_bug="test_import",
        hypotheses=(
            cause("H1", "rejected", "a typo"), cause("H2", "confirmed", "a slow module"), cause("H3", "pending", "x"),
        ),
    ),
    validation=Validation(results=RESULTS, coverage=93.5, last_run_at=NOW, run_id="r"),
)  # fmt: skip
HAPPENED = tuple(f"00:00:{n:02}  worker    something happened, number {n}" for n in range(20))
LOG = tuple(f"line {n} of the agent's log" for n in range(300))
SIGHT = LoopView(
    Seen(LOOP, (), has_worker=True, clocked=Clocked(total_s=3725, action_s=72)),
    HAPPENED,
    "turns/a1-builder/program-1.log",
    LOG,
)


def of(loop=LOOP, *, has_worker=True, **fields):
    return replace(SIGHT, seen=replace(SIGHT.seen, loop=loop, has_worker=has_worker), **fields)


BARE = ScreenState()


def drawn(view=SIGHT, screen=BARE, columns=80, rows=24):
    made = frame(view, screen, columns, rows)
    return ["".join(span.text for span in fitted(row, columns)) for row in made]


PAUSE = Hold(holder=Holder.OPERATOR, code="paused", message="paused by ann", since="2026-01-01T12:00:00Z")
BUDGET = Hold(holder=Holder.BUDGET, code="budget_usd", message="the loop has used 5 of 5 US dollars", since=NOW)
IDLE = replace(LOOP, under_way=None, worker=None)
SCREENS = {
    "running-80x24": (SIGHT, ScreenState(), 80, 24),
    "running-200x60": (SIGHT, ScreenState(), 200, 60),
    "held-80x24": (of(replace(LOOP, phase=Held(holds=(PAUSE, BUDGET)))), ScreenState(), 80, 24),
    "menu-80x24": (
        of(IDLE, has_worker=True), ScreenState(drives=True, choices=(Action.DEVELOP, Action.VALIDATE)), 80, 24
    ),
    "help-80x24": (SIGHT, ScreenState(shows_help=True), 80, 24),
    "no-worker-60x15": (of(has_worker=False), ScreenState(question="start one?"), 60, 15),
    "failed-100x20": (
        of(replace(IDLE, phase=Failed(at=NOW, code="stopped", reason="stopped by ann")), has_worker=False),
        ScreenState(), 100, 20,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_it_was_drawn(name):
    text = "\n".join(line.rstrip() for line in drawn(*SCREENS[name])) + "\n"
    golden = GOLDENS / f"{name}.txt"
    if os.environ.get("REDRAW"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.fixture
def in_chinese():
    set_language("zh")
    yield
    set_language("en")


@pytest.mark.parametrize("name", ["running-80x24", "held-80x24", "menu-80x24", "help-80x24", "no-worker-60x15"])
def test_a_screen_in_chinese_fits_too(name, in_chinese):
    _, _, columns, rows = SCREENS[name]
    lines = drawn(*SCREENS[name])
    assert len(lines) == rows
    assert all(width_of(line) <= columns for line in lines)
    golden = GOLDENS / f"zh-{name}.txt"
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    if os.environ.get("REDRAW"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


PHASES = st.sampled_from(
    [Created(), Running(), Held(holds=(PAUSE,)), Held(holds=(PAUSE, BUDGET)), Completed(at=NOW, forced=None),
     Failed(at=NOW, code="iterations_used", reason="all iterations are used (limit: 20)")]
)  # fmt: skip


@given(
    st.integers(1, 250), st.integers(2, 80), PHASES, st.booleans(), st.integers(0, 30), st.integers(0, 5), st.booleans()
)
def test_at_any_size_it_has_as_many_rows_as_the_terminal_and_none_is_wider(
    columns, rows, phase, has_worker, tasks, choices, shows_help
):
    loop = replace(LOOP, phase=phase, tasks=TASKS[:tasks])
    screen = ScreenState(choices=tuple(Action)[:choices], shows_help=shows_help, scroll=7)
    lines = drawn(of(loop, has_worker=has_worker), screen, columns, rows)
    assert len(lines) == rows
    assert all(width_of(line) <= columns for line in lines)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 60), (60, 15)])
def test_the_current_task_is_in_the_window_wherever_it_stands(columns, rows):
    for number in range(30):
        tasks = tuple(replace(one, status="in_progress" if at == number else "pending") for at, one in enumerate(TASKS))
        loop = replace(LOOP, tasks=tasks, under_way=replace(LOOP.under_way, task_id=tasks[number].id))
        assert any(line.startswith(f"  ▶ T-{number + 1} ") for line in drawn(of(loop), columns=columns, rows=rows))


def test_the_log_follows_its_end_and_stays_where_it_is_scrolled_to():
    assert any("line 299 " in line for line in drawn())
    back = drawn(screen=ScreenState(scroll=100))
    assert any("line 199 " in line for line in back)
    assert not any("line 299 " in line for line in back)
    assert any("lines below: 100" in line for line in back)
    first = drawn(screen=ScreenState(scroll=299))
    assert any("line 0 " in line for line in first), "the begin can be reached"


@pytest.mark.parametrize(
    ("hold", "typed"),
    [
        (PAUSE, f"loopwright loop resume {ID}"),
        (BUDGET, f"loopwright loop resume {ID} --usd"),
        (replace(PAUSE, holder=Holder.DECISION, code="choice_required"), f"loopwright loop choose {ID} develop"),
    ],
)
def test_a_hold_is_shown_with_what_to_type(hold, typed):
    lines = drawn(of(replace(LOOP, phase=Held(holds=(hold,)))))
    assert any(f"held by {hold.holder}" in line for line in lines)
    assert any(typed in line for line in lines)


def test_text_from_outside_is_harmless_everywhere():
    evil = "x\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r\ny"
    loop = replace(
        LOOP, title=evil, tasks=(replace(WIDE, id=evil, tool=evil, description=evil),),
        phase=Held(holds=(replace(PAUSE, message=evil),)), worker=Worker(pid=1, host=evil, since=evil),
        debug=Debugging(active_bug=evil, hypotheses=(replace(cause("H1", "confirmed", evil), verdict_reason=evil),)),
        validation=Validation(results=(TestResult(evil, evil, "failed"),), last_run_at=NOW),
    )  # fmt: skip
    for screen in (ScreenState(), ScreenState(choices=(Action.DEVELOP,))):
        text = "".join(drawn(of(loop, happened=(evil,), log_name=evil, log=(evil,)), screen, 200, 60))
        assert all(character.isprintable() for character in text), [c for c in text if not c.isprintable()]


def test_rows_are_distributed_by_weight_and_no_part_gets_more_than_it_needs():
    def section(count, weight=1, most=1000):
        return FrameSection("t", count, lambda count: [], weight, most)

    assert shares([section(3), section(100, 2), section(100, most=4)], 20) == [3, 10, 4]
    assert shares([section(0), section(5)], 10) == [0, 5]
    assert shares([section(5), section(5)], 3) == [2, 0]
    assert shares([section(5)], 1) == [0]


def test_a_question_after_the_work_is_shown_as_what_goes_on():
    turn = OpenTurn(name="a1-builder-after", agent="claude", mailbox="m", is_question=True)
    asked = "\n".join(drawn(of(replace(IDLE, open_turn=turn))))
    assert "claude is asked how sure it is" in asked
    assert "how sure" not in "\n".join(drawn(of(replace(LOOP, open_turn=turn)))), "the action is what goes on"

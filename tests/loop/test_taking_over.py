"""Which tasks an agent takes over that a person names for a loop that has begun."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from loopwright.loop.model import Action, Loop, ProgressMark, Running, Task, UnderWay
from loopwright.loop.taking_over import open_tasks_for, taken_over

NOW = "2026-01-01T00:00:00Z"
LOOP = Loop(
    loop_id="l", title="t", description="", max_iterations=3, created_at=NOW, updated_at=NOW, phase=Running(),
    revision=1, agent="liar",
)  # fmt: skip


def task(name, tool="liar", status="pending"):
    return Task(id=name, description="d", tool=tool, mode="write", status=status, created_at=NOW)


@pytest.mark.parametrize(
    ("kept", "tool"),
    [
        (task("T-1"), "codex"),
        (task("T-1", status="in_progress"), "codex"),
        (task("T-1", status="failed"), "codex"),
        (task("F-5", tool="gemini"), "codex"),
        (task("T-1", status="completed"), "liar"),
        (task("T-1", tool="bash"), "bash"),
        (task("LOOK-1"), "codex"),
        (task("LOOK-1", tool="architect"), "architect"),
    ],
)
def test_the_agent_takes_over_open_tasks_and_no_command_and_no_review_of_another_agent(kept, tool):
    before = replace(LOOP, tasks=(kept,))
    after = taken_over(before, "codex")
    assert (after.agent, after.tasks[0].tool) == ("codex", tool)
    assert bool(open_tasks_for(before, "codex")) == (after.tasks != before.tasks)


def test_what_another_agent_tried_in_vain_does_not_count_against_the_agent():
    mark = ProgressMark(tree="", failing=(), evidence="")
    assert taken_over(replace(LOOP, marks=(mark,) * 3), "codex").marks == ()


def test_the_agent_does_not_continue_the_session_of_another_agent():
    at = UnderWay(action=Action.DEVELOP, id="a", started_at=NOW, task_id="T-1", session="s")
    assert taken_over(replace(LOOP, under_way=at), "codex").under_way == replace(at, session=None)

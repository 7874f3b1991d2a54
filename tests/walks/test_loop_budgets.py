"""What a loop and each of its tasks may cost: before a call, during it, and after a worker that was killed."""

from __future__ import annotations

import pytest

DONE = "echo done > done"
FAILING = {"role": "builder", "run": "exit 1"}
WORKS = {"role": "builder", "run": DONE, "usd": 0.5, "tokens": 100}


@pytest.mark.parametrize(
    ("flag", "amount", "code"),
    [("--usd", "0.4", "budget_usd"), ("--tokens", "50", "budget_tokens"), ("--turns", "1", "budget_turns")],
)
def test_a_task_that_has_used_its_own_holds_the_loop_and_another_does_not(loops, flag, amount, code):
    """The first costs as much, and has no limit; the second is reopened after it was done once."""
    loops.configure([WORKS] * 4)
    loop_id = loops.new("--task", "one", "--task", "two")
    loops.run("task", "edit", loop_id, "T-2", flag, amount)
    loops.run("start", loop_id)
    loops.run("retry", loop_id)
    loops.run("task", "edit", loop_id, "T-1", "--reopen")
    loops.run("task", "edit", loop_id, "T-2", "--reopen")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("budget", code)]
    assert "the task T-2 has used" in loops.run("show", loop_id).stdout
    spent = {name: one["spent"] for name, one in loops.shown(loop_id)["loopwright"]["tasks"].items()}
    assert (spent["T-1"]["usd"], spent["T-2"]["usd"]) == (1.0, 0.5), "each has its own account"
    assert (spent["T-1"]["turns"], spent["T-1"]["iterations"]) == (2, 2)
    refused = loops.run("resume", loop_id, code=1)
    assert "give it more" in refused.stderr
    loops.run("task", "edit", loop_id, "T-2", flag, "1000")
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


@pytest.mark.parametrize(
    ("flag", "amount", "more", "code"),
    [
        ("--task-usd", "0.4", "9", "budget_usd"),
        ("--task-tokens", "50", "900", "budget_tokens"),
        ("--task-turns", "1", "9", "budget_turns"),
        ("--task-iterations", "1", "9", "budget_iterations"),
    ],
)
def test_what_every_task_may_cost_can_be_given_and_raised(loops, flag, amount, more, code):
    loops.configure([WORKS, WORKS])
    loop_id = loops.new("--task", "one", flag, amount)
    loops.run("start", loop_id)
    loops.run("retry", loop_id)
    loops.run("task", "edit", loop_id, "T-1", "--reopen")
    before = loops.shown(loop_id)["current_iteration"]
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("budget", code)]
    assert loops.shown(loop_id)["current_iteration"] == before, "what may not begin is no iteration"
    loops.run("resume", loop_id, flag, amount, code=1)
    loops.run("resume", loop_id, flag, more)
    assert loops.shown(loop_id)["status"] == "completed"


def test_retries_of_one_task_are_counted_apart(loops):
    loops.configure([FAILING, FAILING, WORKS], loop={"no_progress": 9})
    loop_id = loops.new("--task", "one", "--task-retries", "1")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("budget", "budget_retries")]
    assert loops.shown(loop_id)["skill_state"]["develop"]["tasks"][0]["status"] == "pending", (
        "it waits, it has not failed"
    )
    assert loops.shown(loop_id)["loopwright"]["tasks"]["T-1"]["spent"]["retries"] == 2
    loops.run("resume", loop_id, "--task-retries", "2")
    assert loops.shown(loop_id)["status"] == "completed"


def test_retries_of_all_tasks_are_counted_together(loops):
    loops.configure([FAILING, WORKS, FAILING, WORKS], loop={"no_progress": 9})
    loop_id = loops.new("--task", "one", "--task", "two", "--retries", "1")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("budget", "budget_retries")]
    assert loops.spent(loop_id)["retries"] == 2
    loops.run("resume", loop_id, "--retries", "2")
    assert loops.shown(loop_id)["status"] == "completed"


def test_without_a_limit_of_its_own_a_task_fails_after_the_usual_tries(loops):
    loops.configure([FAILING] * 3, loop={"no_progress": 9}, more="[run]\nmax_retries = 1")
    loop_id = loops.new("--task", "one")
    loops.run("task", "add", loop_id, DONE, "--tool", "bash")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("blocker", "task_failed")]
    assert loops.spent(loop_id)["retries"] == 2


def test_the_settings_say_what_nobody_said_otherwise(loops):
    loops.configure([WORKS], more="[budget]\nretries = 4\ntask_usd = 2\ntask_retries = 3\ntask_wall_s = 7")
    own = loops.shown(loops.new("--task", "one", "--task-retries", "5"))["loopwright"]
    assert own["budget"]["retries"] == 4
    assert own["task_budget"] == {"usd": 2.0, "wall_s": 7.0, "retries": 5}


def test_a_task_that_was_removed_leaves_no_account_to_the_next_of_its_id(loops):
    loops.configure([FAILING, WORKS], loop={"no_progress": 9})
    loop_id = loops.new("--task", "one", "--task-retries", "0")
    loops.run("start", loop_id, code=11)
    loops.run("task", "remove", loop_id, "T-1")
    loops.run("task", "add", loop_id, "another")
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"

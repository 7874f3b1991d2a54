"""Budgets of a loop and of each task: before a call, during the call, and after a killed worker."""

from __future__ import annotations

import json
import time

import pytest

DONE = "echo done > done"
FAILING = {"role": "builder", "fail": "refused"}
WORKS = {"role": "builder", "run": DONE, "usd": 0.5, "tokens": 100}


@pytest.mark.parametrize(
    ("flag", "amount", "code"),
    [("--usd", "0.4", "budget_usd"), ("--tokens", "50", "budget_tokens"), ("--turns", "1", "budget_turns")],
)
def test_a_task_with_a_used_budget_holds_the_loop_and_another_task_does_not(loops, flag, amount, code):
    """The first task costs as much, but has no limit; the second task is reopened after its first completion."""
    loops.configure([WORKS] * 4)
    loop_id = loops.new("--task", "one", "--task", "two")
    loops.run("task", "edit", loop_id, "T-2", flag, amount)
    loops.run("start", loop_id, code=14)  # the second task changed nothing
    loops.run("accept", loop_id, "--reason", "fine")
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
    loops.run("resume", loop_id, code=14)
    assert loops.holds(loop_id) == [("proof", "unproven")]


@pytest.mark.parametrize(
    ("flag", "amount", "more", "code"),
    [
        ("--task-usd", "0.4", "9", "budget_usd"),
        ("--task-tokens", "50", "900", "budget_tokens"),
        ("--task-turns", "1", "9", "budget_turns"),
        ("--task-iterations", "1", "9", "budget_iterations"),
    ],
)
def test_a_budget_for_each_task_can_be_set_and_raised(loops, flag, amount, more, code):
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


def test_retries_of_each_task_are_counted_separately(loops):
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
    loops.run("resume", loop_id, "--retries", "2", code=14)
    assert [holder for holder, _ in loops.holds(loop_id)] == ["proof"], "the second task changed nothing"


def test_without_a_limit_of_its_own_a_task_fails_after_the_usual_tries(loops):
    loops.configure([FAILING] * 3, loop={"no_progress": 9}, more="[run]\nmax_retries = 1")
    loop_id = loops.new("--task", "one")
    loops.run("task", "add", loop_id, DONE, "--tool", "bash")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("blocker", "task_failed")]
    assert loops.spent(loop_id)["retries"] == 2


def test_the_settings_give_default_budgets(loops):
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


USES = 'echo \'{"usd": 0.3, "tokens": 30}\' >> "$LOOPWRIGHT_USAGE"; '
# Reports use without end: the turn runs until it is killed.
SPENDING = f"while :; do {USES}sleep 0.02; done"


@pytest.mark.parametrize("isolation", ["none", pytest.param("auto", marks=pytest.mark.needs("bwrap"))])
@pytest.mark.parametrize(
    ("flag", "amount", "code", "whose"),
    [
        ("--usd", "1", "budget_usd", "the loop"),
        ("--tokens", "100", "budget_tokens", "the loop"),
        ("--wall", "0.5", "budget_wall_s", "the loop"),
        ("--task-usd", "1", "budget_usd", "the task T-1"),
        ("--task-tokens", "100", "budget_tokens", "the task T-1"),
        ("--task-wall", "0.5", "budget_wall_s", "the task T-1"),
    ],
)
def test_a_turn_that_exceeds_the_remaining_budget_is_ended_while_it_runs(loops, flag, amount, code, whose, isolation):
    loops.configure([{"role": "builder", "run": SPENDING}, WORKS])
    loops.project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = isolation
    loop_id = loops.new("--task", "one", flag, amount)
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("budget", code)]
    assert f"{whose} has used" in loops.run("show", loop_id).stdout
    spent = loops.spent(loop_id)
    name = code.removeprefix("budget_")
    assert spent[name] >= float(amount)
    assert spent["turns"] == 1
    assert spent["usd_known"]
    assert loops.shown(loop_id)["loopwright"]["tasks"]["T-1"]["spent"][name] == spent[name]
    loops.run("resume", loop_id, flag, "100000")
    assert loops.shown(loop_id)["status"] == "completed"
    assert loops.errors(loop_id) == [], "it was no fault of the agent's"


def test_a_commands_use_counts_even_if_it_crashes_or_is_stopped(loops, wait_until):
    loops.configure(
        more=f"[agents.mine]\nkind = \"command\"\ncommand = '''{USES}touch started; exit 3'''", isolation="auto"
    )
    loop_id = loops.new("--task", "one", "--agent", "mine", "--task-retries", "0")
    loops.run("start", loop_id, code=11)
    assert (loops.spent(loop_id)["usd"], loops.spent(loop_id)["tokens"]) == (0.3, 30)
    waits = f"{USES}touch reached; sleep 1000"
    loops.configure(more=f"[agents.mine]\nkind = \"command\"\ncommand = '''{waits}'''", isolation="auto")
    loops.run("resume", loop_id, "--task-retries", "5", "--no-start")
    with loops.started(loop_id) as child:
        wait_until(lambda: list(loops.project.sandboxes.glob("*/repo/reached")))
        child.terminate()
        assert child.wait() == 143
    assert loops.spent(loop_id)["usd"] == 0.6


def test_the_use_of_a_killed_workers_turn_is_counted_once_by_the_next_worker(loops, wait_until):
    mark = loops.project.root / "reached"
    loops.configure(
        [{"role": "builder", "run": f"{USES}if [ -e {mark} ]; then {DONE}; else touch {mark}; sleep 1000; fi"}]
    )
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as child:
        wait_until(mark.exists)
        child.kill()
    assert loops.spent(loop_id)["usd"] == 0
    loops.run("resume", loop_id)
    assert loops.spent(loop_id)["usd"] == 0.6
    assert loops.spent(loop_id)["turns"] == 2
    assert loops.shown(loop_id)["status"] == "completed"


def test_the_recorded_use_of_a_turn_counts_even_if_its_sandbox_is_gone(loops, wait_until):
    loops.configure([{"role": "builder", "run": f"{USES}sleep 1000"}, WORKS])
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as child:
        wait_until(lambda: list(loops.project.own.glob("loops/*/turns/*/usage.json")))
        child.kill()
    assert loops.project.run("doctor", "--fix").exit_code == 0
    assert list(loops.project.sandboxes.glob("loop-*")) == []
    with loops.started(loop_id):
        wait_until(lambda: loops.spent(loop_id)["usd"] == 0.3)


@pytest.mark.parametrize(
    ("lines", "said", "usd"),
    [
        ('{"usd": 0.25}\\nnot json\\n{"usd": 0.25}', "line 2 of the usage file is invalid: not json", 0.5),
        (
            '{"usd": -5}\\n{"usd": NaN}\\n{"usd": true}\\n{"usd": "9"}\\n{"usd": 0.5}\\n',
            "has 4 invalid lines in total",
            0.5,
        ),
        ('{"tokens": 1.5}\\n[]\\n{"usd": 0.5, "more": 1}\\n', "line 1 of the usage file", 0.5),
    ],
)
def test_invalid_usage_lines_are_named_and_the_others_count(loops, lines, said, usd):
    loops.configure([{"role": "builder", "run": f"printf '{lines}' > $LOOPWRIGHT_USAGE; {DONE}"}])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id)
    assert loops.spent(loop_id)["usd"] == usd
    assert any(said in message for message in loops.errors(loop_id))


@pytest.mark.parametrize(
    ("write", "said"),
    [
        ("yes '{\"tokens\": 1}' | head -c 50000000 > $LOOPWRIGHT_USAGE", "has more than 1,048,576 bytes"),
        ("ln -s /etc/passwd $LOOPWRIGHT_USAGE", "can't be read"),
        ("mkfifo $LOOPWRIGHT_USAGE", "can't be read"),
        ("head -c 2000000 /dev/zero > $LOOPWRIGHT_USAGE", "has more than 1,048,576 bytes"),
    ],
)
def test_an_invalid_or_huge_usage_file_is_bounded_and_named(loops, write, said):
    loops.configure([{"role": "builder", "run": f"{write}; {DONE}"}])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id)
    assert any(said in message for message in loops.errors(loop_id))
    assert not any("root:" in message for message in loops.errors(loop_id))


def test_a_scripted_turn_can_report_use_apart_from_its_answer(loops):
    loops.configure([{"role": "builder", "usage": '{"usd": 0.2}\n{"tokens": 7}\n', "run": DONE}])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id)
    assert (loops.spent(loop_id)["usd"], loops.spent(loop_id)["tokens"]) == (0.2, 7)


def test_the_time_of_a_pause_does_not_count(loops, wait_until):
    """Measured from outside: the counted time is at most the total time without the pause."""
    mark = loops.project.root / "go"
    loops.configure()
    loop_id = loops.new("--wall", "600")
    script = f"touch {mark}.reached; while [ ! -e {mark} ]; do sleep 0.01; done; {DONE}"
    loops.run("task", "add", loop_id, script, "--tool", "bash")
    began = time.monotonic()
    with loops.started(loop_id) as child:
        wait_until((loops.project.root / "go.reached").exists)
        loops.run("pause", loop_id)
        frozen = time.monotonic()
        wait_until(lambda: time.monotonic() - frozen > 3)
        paused_s = time.monotonic() - frozen - 1  # a pause takes hold within a second
        loops.run("resume", loop_id)
        mark.touch()
        assert child.wait() == 0
    assert loops.spent(loop_id)["wall_s"] <= time.monotonic() - began - paused_s


def test_the_time_of_the_tests_counts_and_interrupted_tests_have_no_result(loops):
    loops.configure([WORKS])
    config = loops.project.own / "config.toml"
    wait = "while [ ! -e go ] && [ ! -e /nowhere ]; do sleep 0.01; done"
    config.write_text(config.read_text().replace("test -e done", wait))
    loop_id = loops.new("--task", "one", "--wall", "1")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("budget", "budget_wall_s")]
    assert loops.spent(loop_id)["wall_s"] >= 1
    assert loops.shown(loop_id)["skill_state"]["validate"]["test_results"] == []
    config.write_text(config.read_text().replace(wait, "test -e done"))
    loops.run("resume", loop_id, "--wall", "600")
    assert loops.shown(loop_id)["status"] == "completed"


def test_the_time_of_probes_is_work_and_their_causes_are_not_paid_for_again(loops):
    slow = {"description": "slow", "testable_condition": "while :; do sleep 0.01; done",
            "evidence_criteria": {"confirm": "yes", "reject": "no"}}  # fmt: skip
    answer = json.dumps({"hypotheses": [slow]})
    loops.configure([{"role": "builder", "run": "true"}, {"role": "debugger", "answer": answer}])
    loop_id = loops.new("--task", "one", "--wall", "1")
    loops.run("start", loop_id, code=11)
    assert loops.holds(loop_id) == [("budget", "budget_wall_s")]
    assert loops.spent(loop_id)["wall_s"] >= 1
    loops.run("resume", loop_id, "--wall", "2", code=11)
    assert loops.spent(loop_id)["wall_s"] >= 2
    assert loops.spent(loop_id)["turns"] == 2, "one builder's, one debugger's"


def test_the_time_of_tests_that_were_interrupted_is_work(loops, wait_until):
    loops.configure([WORKS])
    config = loops.project.own / "config.toml"
    mark = loops.project.root / "reached"
    config.write_text(config.read_text().replace("test -e done", f"touch {mark}; sleep 100"))
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as child:
        wait_until(mark.exists)
        time.sleep(0.5)
        child.terminate()
        assert child.wait() == 143
    assert loops.spent(loop_id)["wall_s"] >= 0.5


def test_a_turn_is_told_its_remaining_budget(loops):
    """The second task gets the rest of the budget; a program may limit itself to it."""
    says = 'env | grep ^LOOPWRIGHT_TURN_ | sort; test -z "$LOOPWRIGHT_CONTEXT" && echo no manifest'
    loops.configure([WORKS, {**WORKS, "run": says}])
    loop_id = loops.new("--task", "one", "--task", "two", "--usd", "2", "--tokens", "1000", "--task-usd", "5")
    loops.run("start", loop_id, code=14)  # the second task changes nothing
    (record,) = [
        one
        for one in (loops.project.own / "loops").rglob("turn.json")
        if json.loads(one.read_bytes())["budget"]["usd"] < 2
    ]
    told = (record.parent / "program-1.log").read_text().splitlines()
    assert told[:2] == ["LOOPWRIGHT_TURN_TOKENS=900", "LOOPWRIGHT_TURN_USD=1.5"]
    assert told[2] == "LOOPWRIGHT_TURN_WALL_S=1800", "how long a turn may take at most"
    assert told[3] == "no manifest"
    assert json.loads(record.read_bytes())["budget"] == {"usd": 1.5, "tokens": 900.0, "wall_s": 1800.0}

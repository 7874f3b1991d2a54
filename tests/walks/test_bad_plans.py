"""Invalid plans: each is refused with its code, its line, the reason and the next command."""

from __future__ import annotations

import json
import os
import sys

import pytest

from loopwright.kernel import process

# Root reads everything; a root without these two capabilities is like any other owner of a file.
_LIKE_ANY_OWNER = (
    "import ctypes, os, sys; libc = ctypes.CDLL(None); [libc.prctl(24, right, 0, 0, 0) for right in (1, 2)];"
    "os.execv(sys.argv[1], sys.argv[1:])"
)
GOOD = "new_plan: {unified_goal: g, steps: [{id: A, commands: ['true']}]}\n"


@pytest.fixture
def write_plan(project):
    def write(content):
        path = project.own / "plan.latest.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(project, done, code="INVALID_PLAN"):
    """The typed error on standard error, in the result, in the card and in the latch; returns its text."""
    assert done.exit_code == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(f"{code}: ")
    assert done.stderr.rstrip().splitlines()[-1].startswith("  → ")
    assert project.latest()["envelope"]["error_code"] == code
    assert project.latest("blocker")["envelope"]["error_code"] == code
    assert code in (project.own / "latch.lock").read_text()
    assert project.evidence(project.latest()["run_id"])["status"] == "ERROR"
    return done.stderr


def step(*lines):
    """A plan with one step; its first own line is line 3 of the file."""
    return "new_plan:\n  steps:\n  - " + "\n    ".join(lines) + "\n"


def test_a_missing_plan_latches_and_says_how_to_make_one(project):
    said = refused(project, project.run("run"), "MISSING_PLAN")
    assert "`loopwright init`" in said
    assert ".loopwright/plan.latest.yaml" in said
    assert project.latest()["envelope"]["missing_inputs"] == [".loopwright/plan.latest.yaml"]
    assert project.latest()["envelope"]["next"].startswith("loopwright init")

    again = project.run("run")
    assert again.stderr.startswith("LATCHED: ")
    assert project.latest("blocker")["envelope"]["error_code"] == "MISSING_PLAN"
    assert project.run("verify").exit_code == 0


def test_the_commands_that_a_missing_plan_suggests_lead_to_a_passed_run(project):
    refused(project, project.run("run"), "MISSING_PLAN")
    for command in project.latest()["envelope"]["next"].split(" && "):
        done = project.run(*command.split()[1:])
        assert done.exit_code == 0, done.stderr


def test_a_missing_plan_from_the_command_line_is_named(project):
    assert "nowhere.yaml" in refused(project, project.run("run", "--plan", "nowhere.yaml"), "MISSING_PLAN")


def test_a_folder_is_not_a_plan(project):
    assert "is a folder" in refused(project, project.run("run", "--plan", "."))


def test_a_fifo_is_not_a_plan_and_does_not_block(project):
    os.mkfifo(project.home / "plan.yaml")
    assert "not a regular file" in refused(project, project.run("run", "--plan", str(project.home / "plan.yaml")))


def test_a_plan_that_is_a_link_to_itself_is_refused(project):
    project.own.mkdir()
    (project.own / "plan.latest.yaml").symlink_to("plan.latest.yaml")
    assert "plan.latest.yaml" in refused(project, project.run("run"))


def test_a_plan_behind_a_link_is_run(project, write_plan):
    write_plan(GOOD).rename(project.home / "plan.yaml")
    (project.own / "plan.latest.yaml").symlink_to(project.home / "plan.yaml")
    assert project.run("run").exit_code == 0


def test_a_plan_that_may_not_be_read_is_named_with_the_reason(project, write_plan):
    write_plan(GOOD).chmod(0)
    command = (sys.executable, "-c", _LIKE_ANY_OWNER, *project.command("run"))
    done = process.capture(command, cwd=project.root, env=project.environment)
    assert done.exit_code == 1
    said = done.stderr.decode()
    assert said.startswith("INVALID_PLAN: ")
    assert "Permission denied" in said
    assert "  → check the file's permissions" in said


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        pytest.param("new_plan:\n\tsteps: []\n", 2, "cannot start any token", id="no YAML"),
        pytest.param(b"new_plan:\n  unified_goal: caf\xe9\n", 2, "not UTF-8", id="latin-1"),
        pytest.param(step("id: A"), 3, "no step has a command", id="no command"),
    ],
)
def test_an_invalid_plan_is_refused_with_its_line_and_reason(project, write_plan, content, line, reason):
    """Every other case is a row of tests/plan/test_refused.py."""
    path = write_plan(content)
    before = path.read_bytes()
    said = refused(project, project.run("run"))
    assert f".loopwright/plan.latest.yaml:{line}: " in said
    assert reason in said
    assert path.read_bytes() == before


def test_every_problem_is_reported_at_once_and_in_the_order_of_the_lines(project, write_plan):
    write_plan(
        "new_plan:\n  steps:\n  - {id: A, comands: [x]}\n  - {id: A, timeout_s: no}\n  - {id: 'b c', cwd: [1]}\n"
        "  - {id: D, commands: [x], depends_on: [E]}\n"
    )
    said = refused(project, project.run("run"))
    parts = ["'comands'", "duplicate id 'A'", "timeout_s must be", "'b c' must be", "cwd must be", "'E', which is not"]
    assert all(part in said for part in parts)
    numbers = [int(text.split(":")[1]) for text in said.splitlines() if "plan.latest.yaml:" in text]
    assert numbers == sorted(numbers)
    assert set(numbers) == {3, 4, 5, 6}


def test_a_plan_of_100_mb_is_refused_by_its_size(project, write_plan):
    os.truncate(write_plan(GOOD), 100_000_000)
    assert "has 100,000,000 bytes; the limit for a plan is" in refused(project, project.run("run"))


def test_aliases_in_an_honest_plan_are_fine(project, write_plan):
    write_plan(
        "new_plan:\n  steps:\n  - {id: A, commands: &c ['echo hello']}\n  - {id: B, commands: *c, depends_on: [A]}\n"
        "  run_id: alias\n"
    )
    assert project.run("run").exit_code == 0
    assert (project.own / "runs/alias/logs/B-1.log").read_text() == "hello\n"


def test_plain_words_that_yaml_would_turn_into_something_else_stay_as_written(project, write_plan):
    write_plan(
        "new_plan:\n  unified_goal: yes\n  run_id: 0777\n  steps:\n"
        "  - {id: 1.10, action: off, commands: [echo 1.10]}\n"
        "  - {id: no, action: 2024-01-01, commands: ['true'], depends_on: [1.10]}\n"
        "  - {id: 0x1F, commands: ['true'], depends_on: [no], timeout_s: 010}\n"
        "  - {id: 1e3, commands: ['true'], depends_on: [0x1F], verification: [no, 1.10]}\n"
    )
    assert project.run("run").exit_code == 0
    evidence = project.evidence("0777")
    assert [item["id"] for item in evidence["steps"]] == ["1.10", "no", "0x1F", "1e3"]
    assert [item["action"] for item in evidence["steps"][:2]] == ["off", "2024-01-01"]
    assert [check["expected"] for check in evidence["steps"][3]["checks"]] == ["no", "1.10"]
    assert evidence["goal"] == "yes"


def test_a_byte_order_mark_and_windows_line_ends_are_no_problem(project, write_plan):
    write_plan(b"\xef\xbb\xbf" + step("id: A", "commands: ['true']").replace("\n", "\r\n").encode())
    assert project.run("run").exit_code == 0


def test_a_step_may_have_the_name_of_the_set_up(project):
    project.write(".loopwright/config.toml", '[sandbox]\nsetup = ["echo ready"]\n')
    project.plan({"id": "sandbox-setup", "commands": ["echo step"]}, run_id="s")
    done = project.run("run")
    assert "Traceback" not in done.stderr
    assert done.exit_code == 0 or done.stderr.startswith("INVALID_PLAN: "), done.stderr


def test_with_json_the_refusal_is_one_record_with_code_sentence_and_next(project):
    done = project.run("run", "--json", "--plan", "nowhere.yaml")
    record = json.loads(done.stderr)
    assert (record["ok"], record["error"]) == (False, "MISSING_PLAN")
    assert record["next"]
    assert done.events()[-1]["error_code"] == "MISSING_PLAN"

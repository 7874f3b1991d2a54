"""Cases that an independent review found: each was true once."""

from __future__ import annotations

import json
import os
import shlex
import subprocess

import pytest

from loopwright.redaction.examples import expand

TOKEN = expand("ghp_<alnum:36>", 11)
KEY = "AKIA" + expand("<base32:16>", 2)
MINE = "a long value of my own"


def log_of(project, run="r", name="A-1"):
    return (project.own / "runs" / run / "logs" / f"{name}.log").read_bytes()


@pytest.mark.needs("bwrap")
def test_a_confined_step_can_not_steer_the_machine_also_as_root(project):
    switches = [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sysrq-trigger",
        "/proc/irq/0/smp_affinity",
    ]
    tries = "; ".join(f"( : >> {switch} ) 2>/dev/null && echo OPENED {switch}" for switch in switches)
    project.plan({"id": "A", "commands": [f"{tries}; grep CapEff /proc/self/status"]}, run_id="r")
    assert project.run("run", "--isolation", "strict").exit_code == 0
    assert b"OPENED" not in log_of(project)
    assert b"CapEff:\t0000000000000000" in log_of(project)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_reader_that_goes_away_ends_neither_the_run_nor_its_record(project, form):
    project.plan({"id": "A", "commands": ["sleep 0.3", "exit 3"]}, run_id="r")
    command = " ".join(project.command("run", *form))
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1; exit ${{PIPESTATUS[0]}}"],
        cwd=project.root, env=project.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert project.evidence("r")["error_code"] == "STEP_FAILED"
    assert (project.own / "latch.lock").exists()


def test_the_name_of_a_run_that_gc_removed_is_not_given_again(project):
    project.plan({"id": "A", "commands": ["true"]}, run_id="r")
    assert project.run("run").exit_code == 0
    assert project.run("gc", "--keep", "0").exit_code == 0
    assert project.run("run").exit_code == 0
    assert [run["run_id"] for run in project.run("verify", "--json").json()["runs"]] == ["r-2"]


def test_two_secrets_that_show_in_different_readings_of_a_line_are_both_hidden(project):
    project.write("out", f'{{"msg": "token {TOKEN}\\n{KEY} x"}}\n')
    project.commit("output to be")
    project.plan({"id": "A", "commands": ["cat out"]}, run_id="r")
    assert project.run("run").exit_code == 99
    assert TOKEN.encode() not in log_of(project)
    assert KEY.encode() not in log_of(project)


def test_a_step_can_not_exempt_the_callers_own_secret_in_the_change(project):
    line = 'echo "k = $MY_TOKEN # pragma: allowlist-secret why=FIXTURE" > config.ini'
    project.plan({"id": "A", "commands": [line], "env": ["MY_TOKEN"]}, run_id="r")
    assert project.run("run", env={"MY_TOKEN": MINE}).exit_code == 99
    assert MINE.encode() not in project.everything_kept()


def test_a_binary_file_with_a_line_break_in_its_name_is_searched_too(project):
    project.plan(
        {"id": "A", "commands": [f"printf '\\0%s%s\\0' {TOKEN[:9]} {TOKEN[9:]} > \"$(printf 'a\\nb')\""]}, run_id="r"
    )
    assert project.run("run").exit_code == 99


@pytest.mark.parametrize(
    "name", ["PGPASSWORD", "SSHPASS", "OPENAI_KEY", "STORAGE_KEY", "DB_PW", "SLACK_WEBHOOK", "MONGODB_URI"]
)
def test_more_names_that_hold_secrets_are_known(project, name):
    project.plan({"id": "A", "commands": [f"echo ${name}"], "env": [name]}, run_id="r")
    assert project.run("run", env={name: MINE}).exit_code == 99
    assert MINE.encode() not in project.everything_kept()


def test_halves_on_two_streams_do_not_make_a_whole_in_the_log(project):
    project.plan({"id": "A", "commands": [f"printf {KEY[:10]}; printf {KEY[10:]} >&2"]}, run_id="r")
    project.run("run")
    assert KEY.encode() not in log_of(project)


@pytest.mark.needs("bwrap")
def test_a_program_on_path_shows_its_own_folder_and_not_its_neighbours(project):
    tools = project.home / ".claude" / "local"
    tools.mkdir(parents=True)
    (tools / "tool").write_text("#!/bin/sh\necho from the tool\n")
    (tools / "tool").chmod(0o755)
    (project.home / ".claude" / ".credentials.json").write_text("PRIVATE\n")
    path = f"{os.environ['PATH']}:{tools}"
    project.plan({"id": "A", "commands": ["tool", "cat ~/.claude/.credentials.json || true"]}, run_id="r")
    assert project.run("run", "--isolation", "strict", env={"PATH": path}).exit_code == 0
    assert log_of(project) == b"from the tool\n"
    assert b"PRIVATE" not in log_of(project, name="A-2")


def test_the_python_of_a_provided_environment_is_visible_although_it_lies_in_the_home(project):
    """A virtual environment links to its Python, which version managers install in the home folder."""
    home = project.home / "python" / "bin"
    home.mkdir(parents=True)
    (home / "python3").write_text("#!/bin/sh\necho from the home\n")
    (home / "python3").chmod(0o755)
    (project.home / "python" / "lib" / "python3.11").mkdir(parents=True)
    (project.home / "python" / "lib" / "python3.11" / "os.py").write_text("")
    (project.home / "python" / "private").write_text("PRIVATE\n")
    environment = project.root / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {home}\n")
    (environment / "bin" / "python").symlink_to(home / "python3")
    project.write(".loopwright/config.toml", '[sandbox]\nprovide = [".venv"]\n')
    project.plan({"id": "A", "commands": [".venv/bin/python", "cat ~/python/private || true"]}, run_id="r")
    assert project.run("run", "--isolation", "strict").exit_code == 0
    assert log_of(project) == b"from the home\n"
    assert b"PRIVATE" not in log_of(project, name="A-2")


def test_the_blocker_of_a_failed_check_has_the_log_and_its_needs(project):
    project.plan(
        {"id": "A", "commands": ["echo 'AssertionError: expected 3'"], "verification": [{"file_exists": "nope"}]}
    )
    assert project.run("run").exit_code == 1
    blocker = project.latest("blocker")
    assert "AssertionError: expected 3" in blocker["log_tail"]
    assert "nope does not exist" in blocker["log_tail"]
    assert blocker["needs"] == "REPLAN"


@pytest.mark.needs("strace")
def test_a_failed_run_that_was_killed_before_the_latch_latches_at_the_next_start(project):
    project.plan({"id": "A", "commands": ["true"]}, run_id="good")
    assert project.run("run").exit_code == 0
    project.plan({"id": "A", "commands": ["exit 4"]}, run_id="bad")
    argv = ["strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=linkat,link", "-P", str(project.own / "latch.lock"),
            "-e", "inject=linkat,link:signal=SIGKILL", *project.command("run", "--isolation", "none")]  # fmt: skip
    subprocess.run(argv, cwd=project.root, env=project.environment, capture_output=True, check=False)
    assert project.evidence("bad")["error_code"] == "STEP_FAILED"
    assert not (project.own / "latch.lock").exists()
    again = project.run("run")
    assert again.exit_code == 1
    assert "LATCHED" in again.stderr
    assert project.run("unlatch").exit_code == 0


def test_settings_show_no_secret(project):
    project.write(".loopwright/config.toml", f'[server]\nwebhooks = ["https://host.example/?token={TOKEN}"]\n')
    for form in ((), ("--json",)):
        done = project.run("settings", *form)
        assert done.exit_code == 0
        assert TOKEN not in done.stdout


def test_an_invalid_plan_that_an_agent_replaces_is_kept(project):
    bad = project.write(".loopwright/plan.latest.yaml", "new_plan: {steps: [{id: A, comands: [x]}]}\n").read_bytes()
    turns = "turns:\n  - role: replanner\n    answer: 'new_plan: {steps: [{id: A, commands: [\"true\"]}]}'\n"
    project.write(".loopwright/turns.yaml", turns)
    assert project.run("run", "--replan-with", "scripted:.loopwright/turns.yaml").exit_code == 0
    assert bad in [path.read_bytes() for path in (project.own / "runs").glob("*/plan.yaml")]


def test_gc_does_not_disturb_a_person_in_a_kept_sandbox(project):
    project.plan({"id": "A", "commands": ["true"]}, run_id="r")
    assert project.run("run", "--keep").exit_code == 0
    person = subprocess.Popen(["sleep", "60"], cwd=project.sandboxes / "r" / "repo")
    try:
        assert project.run("gc").exit_code == 0
        assert person.poll() is None
    finally:
        person.kill()
        person.wait()


@pytest.mark.parametrize("spelling", ['"true {0}\\u{1:04x}{2}"', '"true {0}\\\n        {3}{2}"'])
def test_a_secret_that_shows_only_when_yaml_is_read_is_found_in_the_command(project, spelling):
    command = spelling.format(KEY[:6], ord(KEY[6]), KEY[7:], KEY[6])
    project.write(
        ".loopwright/plan.latest.yaml", f"new_plan:\n  run_id: r\n  steps:\n    - id: A\n      commands: [{command}]\n"
    )
    done = project.run("run")
    assert done.exit_code == 99
    assert KEY.encode() not in project.everything_kept()
    assert KEY not in done.stdout + done.stderr


def test_a_secret_can_not_become_a_name_also_when_its_rule_only_masks(project):
    project.write(".loopwright/config.toml", '[secrets.rules]\naws-access-key-id = "mask"\n')
    plan = project.plan({"id": KEY, "commands": ["true"]})
    assert project.run("run").exit_code == 99
    plan.unlink()
    assert KEY.encode() not in project.everything_kept()


@pytest.mark.parametrize("mode", ["auto", "worktree"])
def test_git_inside_a_sandbox_does_not_bring_a_secrets_folder_back(make_project, mode):
    project = make_project({"README": "x\n", ".claude/private/secrets/key": "top secret\n"})
    steal = "git show HEAD:.claude/private/secrets/key; git checkout HEAD -- . ; cat .claude/private/secrets/key"
    project.plan({"id": "A", "commands": [f"({steal}) 2>/dev/null || true"]}, run_id="r")
    assert project.run("run", "--mode", mode).exit_code == 0
    assert b"top secret" not in project.everything_kept()
    project.run("rerun", "r")
    assert b"top secret" not in project.everything_kept()


def test_a_secrets_folder_can_not_be_provided(make_project):
    project = make_project({"README": "x\n", ".claude/private/secrets/key": "top secret\n"})
    project.write(".loopwright/config.toml", '[sandbox]\nprovide = [".claude"]\n')
    project.plan({"id": "A", "commands": ["true"]})
    done = project.run("run")
    assert done.exit_code == 1
    assert "contains a secrets folder" in done.stderr


def test_folders_of_others_among_the_runs_are_left_alone(project):
    project.plan({"id": "A", "commands": ["true"]}, run_id="r")
    assert project.run("run").exit_code == 0
    notes = project.write(".loopwright/runs/notes/mine.txt", "mine\n")
    forged = project.write(".loopwright/runs/forged/evidence.json", "{}\n")
    (forged.parent / "logs").mkdir()
    assert project.run("run").exit_code == 0
    assert [path.name for path in notes.parent.iterdir()] == ["mine.txt"]
    assert [run["run_id"] for run in project.run("verify", "--json").json()["runs"]] == ["r", "r-2"]


def test_the_agent_is_given_the_evidence(project):
    failing = "echo seen in the log; test -e fixed"
    project.plan({"id": "A", "commands": [failing]}, run_id="r")
    better = {
        "new_plan": {
            "steps": [{"id": "N", "commands": ["touch fixed"]}, {"id": "A", "commands": [failing], "depends_on": ["N"]}]
        }
    }
    agent = (
        "command:cd $(dirname $LOOPWRIGHT_PROMPT) && grep -q STEP_FAILED run/evidence.json && "
        "grep -q 'seen in the log' run/logs/A-1.log && "
        f"echo {shlex.quote(json.dumps(better))} > $LOOPWRIGHT_ANSWER"
    )
    assert project.run("run", "--replan-with", agent).exit_code == 0


def test_leftovers_of_a_sandbox_root_that_was_a_flag_are_found_by_the_same_flag(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    project.plan({"id": "A", "commands": ["touch begun; echo begun; sleep 60"]}, run_id="r")
    child = subprocess.Popen(
        project.command("run", "--sandbox-root", str(elsewhere), "--json"), cwd=project.root, env=project.environment,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert any('"output.seen"' in line for line in child.stdout)
    child.kill()
    child.wait()
    child.stdout.close()
    assert (elsewhere / "r").exists()
    assert project.run("doctor", "--sandbox-root", str(elsewhere)).exit_code == 1
    assert project.run("doctor", "--fix", "--sandbox-root", str(elsewhere)).exit_code == 0
    assert not (elsewhere / "r").exists()


def test_a_base_commit_that_is_gone_is_a_mismatch(project):
    project.plan({"id": "A", "commands": ["echo x > x"]}, run_id="r")
    assert project.run("run").exit_code == 0
    project.git("update-ref", "-d", "HEAD")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("read-tree", "--empty")
    project.git("gc", "--prune=now", "-q")
    done = project.run("verify")
    assert done.exit_code == 13
    assert "is not in this repository" in done.stdout

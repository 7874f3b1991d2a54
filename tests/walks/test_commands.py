"""The other commands, as a user types them."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
import yaml

from loopwright.cli.main import COMMANDS


@pytest.mark.usefixtures("cold_starts")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(project, name):
    done = project.run(name, "--help")
    assert done.exit_code == 0
    assert "Example" in done.stdout
    assert f"loopwright {name}" in done.stdout


@pytest.mark.usefixtures("cold_starts")
def test_init_and_run_work_in_a_new_project(make_project):
    project = make_project({"Makefile": "test:\n\t@echo all is well\n"})
    done = project.run("init", "--json")
    assert done.exit_code == 0
    assert done.json()["test_command"] == "make test"
    assert project.run("run").exit_code == 0
    assert project.latest()["mode"] == "worktree"
    assert project.git("status", "--porcelain").strip() in ("", "?? .loopwright/")


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, ""),
        ({"Cargo.toml": "x"}, "cargo test"),
        ({"go.mod": "x"}, "go test ./..."),
        ({"README": "x"}, ""),
    ],
)
def test_init_finds_the_test_command(make_project, files, command):
    project = make_project(files)
    assert project.run("init", "--json").json()["test_command"] == command
    assert project.run("settings").exit_code == 0


@pytest.mark.parametrize("python", ["python", "python3"])
def test_init_names_an_existing_python(make_project, tmp_path, python):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("git", "bash", python):
        (tools / name).symlink_to(shutil.which("git") if name == "git" else "/bin/sh")
    for files, module in (
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest -q"),
        ({"setup.py": "", "test_a.py": "import unittest\n"}, "unittest"),
    ):
        found = make_project(files).run("init", "--json", env={"PATH": str(tools)}).json()
        assert found["test_command"] == f"{python} -m {module}"


def test_init_finds_folders_to_provide_and_overwrites_nothing(project):
    (project.root / "node_modules").mkdir()
    plan = project.plan({"id": "mine", "commands": ["true"]})
    before = plan.read_bytes()
    done = project.run("init", "--json").json()
    assert done["provide"] == ["node_modules"]
    assert done["kept"] == [str(plan)]
    assert plan.read_bytes() == before
    again = project.run("init", "--json").json()
    assert again["written"] == []


def test_init_writes_the_settings_that_another_command_only_began(project):
    """The first command of a workspace writes a config with the layout alone."""
    project.write("Makefile", "test:\n\ttrue\n")
    project.run("loop", "new", "first", "--task", "work", "--agent", "scripted")
    config = project.own / "config.toml"
    assert "[project]" not in config.read_text()
    assert str(config) in project.run("init", "--json").json()["written"]
    assert 'test_command = "make test"' in config.read_text()
    assert str(config) in project.run("init", "--json").json()["kept"]


def test_settings_show_values_and_where_they_come_from(project):
    project.write(".loopwright/config.toml", "[run]\ntimeout_s = 7\n")
    listed = {
        f"{one['section']}.{one['key']}": one
        for one in project.run("settings", "--json", env={"LOOPWRIGHT_RUN_JOBS": "3"}).json()
    }
    assert (listed["run.jobs"]["value"], listed["run.jobs"]["origin"]) == (3, "LOOPWRIGHT_RUN_JOBS")
    assert listed["run.timeout_s"]["value"] == 7
    assert listed["run.timeout_s"]["origin"].endswith(".loopwright/config.toml")
    assert listed["sandbox.mode"]["origin"] == "default"
    rows = [line.split() for line in project.run("settings", "--changed").stdout.splitlines()]
    assert ["run.timeout_s", "7"] in [row[:2] for row in rows]


def test_an_unknown_setting_is_an_error_with_the_nearest_known_one(project):
    project.write(".loopwright/config.toml", "[run]\ntimout_s = 7\n")
    done = project.run("run")
    assert done.exit_code == 1
    assert "SETTINGS_INVALID" in done.stderr
    assert "did you mean 'timeout_s'?" in done.stderr


@pytest.mark.parametrize(
    "topic",
    ["errors", "exit-codes", "isolation", "needs", "preregistered", "risk", "secrets", "settings", "STEP_FAILED"],
)
def test_explain_shows_the_tables_that_are_used(project, topic):
    assert project.run("explain", topic).exit_code == 0
    assert project.run("explain", topic, "--json").json()


def test_explain_refuses_an_unknown_code(project):
    done = project.run("explain", "the meaning of life")
    assert done.exit_code == 2
    assert "needs" in done.stderr


def test_doctor_passes_on_a_healthy_machine_and_lists_its_checks(project):
    done = project.run("doctor", "--json")
    assert done.exit_code == 0
    looked_at = {check["what"] for check in done.json()["checks"]}
    assert {
        "git",
        "shell",
        "isolation auto",
        "isolation strict",
        "sandbox root",
        "workspace",
        "evidence chain",
    } <= looked_at


def test_selftest_passes_and_leaves_nothing(project):
    done = project.run("selftest", "--json")
    assert done.exit_code == 0, done.stdout
    assert len(done.json()["checks"]) >= 12
    assert not project.own.exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(project, shell):
    done = project.run("completion", shell)
    assert done.exit_code == 0
    assert "_LOOPWRIGHT_COMPLETE" in done.stdout


def test_the_bash_script_really_completes(project):
    command = " ".join(project.command())
    script = f"""
loopwright() {{ {command} "$@"; }}
export COMP_WORDS="loopwright unl" COMP_CWORD=1 _LOOPWRIGHT_COMPLETE=bash_complete
loopwright
"""
    done = subprocess.run(["bash", "-c", script], env=project.environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "plain,unlatch"


def test_gc_lists_its_candidates_and_removes_them(project):
    project.plan({"id": "A", "commands": ["true"]}, run_id="r")
    for _ in range(3):
        assert project.run("run").exit_code == 0
    assert project.run("gc", "--keep", "1", "--dry-run", "--json").json()["runs"] == ["r", "r-2"]
    assert len(list((project.own / "runs").iterdir())) == 3
    assert project.run("gc", "--keep", "1").exit_code == 0
    assert [path.name for path in (project.own / "runs").iterdir()] == ["r-3"]


@pytest.mark.parametrize("arguments", [("run", "--jobs", "0"), ("run", "--mode", "magic"), ("nonsense",), ("rerun",)])
def test_wrong_usage_is_2_with_a_hint(project, arguments):
    done = project.run(*arguments)
    assert done.exit_code == 2
    assert "--help" in done.stderr
    error = json.loads(project.run(*arguments, "--json").stderr)
    assert error["ok"] is False
    assert error["error"] == "WRONG_USAGE"


def test_the_interop_layout_puts_files_where_other_tools_look(project):
    plan = {"new_plan": {"unified_goal": "g", "run_id": "i", "steps": [{"id": "A", "commands": ["exit 2"]}]}}
    project.write(".claude/state/thinking/plan.latest.yaml", yaml.safe_dump(plan))
    assert project.run("run").exit_code == 1
    state = project.root / ".claude" / "state"
    assert (state / "reflectloop" / "reflectloop.latest.yaml").exists()
    assert (state / "reflectloop" / "runs" / "i" / "evidence.json").exists()
    assert (state / "thinking" / "blocker.latest.yaml").exists()
    assert (project.home / ".claude" / "latch.lock").exists()
    assert 'layout = "interop"' in (project.own / "config.toml").read_text()
    assert project.run("unlatch").exit_code == 0
    assert not (project.home / ".claude" / "latch.lock").exists()
    assert project.run("verify").exit_code == 0


def test_a_workspace_is_found_from_a_folder_below_it(project):
    project.plan({"id": "A", "commands": ["true"]}, run_id="deep")
    below = project.root / "a" / "b"
    below.mkdir(parents=True)
    assert project.run("run", cwd=below).exit_code == 0
    assert project.evidence("deep")["status"] == "OK"


def test_a_workspace_above_a_repository_is_not_the_workspace_of_that_repository(project):
    project.plan({"id": "A", "commands": ["true"]}, run_id="outer")
    inner = project.root / "inner"
    below = inner / "a" / "b"
    below.mkdir(parents=True)
    project.git("init", "-q", str(inner))
    done = project.run("run", cwd=below)
    assert (done.exit_code, "MISSING_PLAN" in done.stderr) == (1, True)
    assert str(inner / ".loopwright") in done.stderr
    assert project.run("init", "--json", cwd=below).json()["root"] == str(inner)
    assert not (project.own / "runs").exists()


def test_output_to_a_closed_pipe_is_no_error(project):
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {' '.join(project.command('explain', 'secrets'))} | head -1"],
        env=project.environment, cwd=project.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_an_internal_error_is_a_sentence_with_a_report_and_not_a_traceback(project, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import loopwright.verbs.init as broken\ndef settings(context): raise ValueError('broken on purpose')\n"
        "broken.settings = settings\n"
    )
    done = project.run("settings", env={"PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path)})
    assert done.exit_code == 1
    assert done.stderr.startswith("INTERNAL_ERROR: ValueError")
    assert "Traceback" not in done.stderr
    (report,) = tmp_path.glob("loopwright-bug-*.txt")
    assert "broken on purpose" in report.read_text()
    assert report.stat().st_mode & 0o077 == 0


NO_WORKSPACE = {
    "": 2, "foo": 2, "--nope": 2, "loop": 2, "approve": 2, "run": 1, "status": 0, "next": 0, "loop show x": 1,
    "verify zzz": 1, "gc": 0, "doctor": None, "show nope": None, "do": None, "serve --port x": None,
    "fleet status": None, "specs": 2, "--help": 0,
}  # fmt: skip


def test_no_command_line_in_an_empty_folder_ends_in_a_traceback(make_project):
    """None accepts any code, for example of a command that only a later version has."""
    project = make_project(commit=False)
    (project.root / "README").unlink()
    for typed, code in NO_WORKSPACE.items():
        done = project.run(*typed.split())
        said = done.stdout + done.stderr
        assert "Traceback" not in said, typed
        assert "INTERNAL_ERROR" not in said, typed
        assert said.strip(), typed
        assert done.exit_code == code if code is not None else done.exit_code in (0, 1, 2), typed
    bare, group = project.run(), project.run("loop")
    assert bare.stderr.startswith("Usage: loopwright [OPTIONS] COMMAND")
    assert "Start here:" in bare.stderr
    assert group.stderr.startswith("Usage: loopwright loop [OPTIONS] COMMAND")

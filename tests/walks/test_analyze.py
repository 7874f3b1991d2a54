"""The experiments and their gate, as a user types them."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import time

import pytest

DAY = 86_400
NOW = int(time.time())


def corpus(project, *, good=True, count=40):
    pairs = [(0.8, not good), (0.85, False), (0.9, True), (0.95, good)]
    lines = [{"confidence": c, "correct": r, "task_ref": f"T-{n}-{c}"} for n in range(count // 4) for c, r in pairs]
    project.write("corpus.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return "corpus.jsonl"


def board(project, *, good=True):
    rows = [f"T-{n},2024-01-{n + 1:02},{'2024-01-30' if good and n % 2 else ''}" for n in range(20)]
    project.write("board.csv", "id,closed_at,reopened_at\n" + "\n".join(rows) + "\nT-99,2024-09-01,\n")
    return "board.csv"


def commit(project, message, files, day):
    for name, text in files.items():
        project.write(name, text)
    project.git("add", *files)
    moment = f"{NOW - 300 * DAY + int(day * DAY)} +0000"
    project.environment |= {"GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment}
    project.git("commit", "-q", "-m", message)
    return project.git("rev-parse", "HEAD").strip()


def story(project, *, hidden=True):
    for number in range(12):
        # Far from each other: a fix that had come at another moment would mend nothing recent.
        commit(project, f"feat: {number}", {f"f{number}.py": "1\n"}, 20 * number)
        title = "fix: it under load, a race" if hidden and number % 2 else "fix: it"
        commit(project, title, {f"f{number}.py": "2\n"}, 20 * number + 0.5)


def test_the_gate_is_closed_until_all_three_are_recorded_and_pass(project):
    story(project)
    assert project.run("init").exit_code == 0
    closed = project.run("analyze", "gate")
    assert closed.exit_code == 1
    assert "GATE_CLOSED" in closed.stderr
    assert closed.stdout.count("no result is recorded") == 3
    assert "loopwright analyze git-history" in closed.stdout

    assert project.run("analyze", "git-history").exit_code == 0
    assert project.run("analyze", "calibration", corpus(project, good=False)).exit_code == 0
    assert project.run("analyze", "board-history", board(project)).exit_code == 0
    refused = project.run("analyze", "gate", "--json")
    assert refused.exit_code == 1
    assert json.loads(refused.stderr)["error"] == "GATE_CLOSED"
    (reason,) = refused.json()["reasons"]
    assert reason["question"] == "P1"
    assert reason["why"].startswith("killed: ")

    assert project.run("analyze", "calibration", corpus(project)).exit_code == 0
    opened = project.run("analyze", "gate")
    assert opened.exit_code == 0
    assert "The gate is open" in opened.stdout
    assert "from corpus corpus.jsonl sha256 " in opened.stdout
    assert "1 earlier result of P1, 1 of them not passed" in opened.stdout
    assert "revision HEAD; 0 earlier results of P2)" in opened.stdout
    assert project.run("analyze", "gate", "--json").json()["open"] is True
    # A later result that does not pass closes it again.
    assert project.run("analyze", "board-history", board(project, good=False)).exit_code == 0
    assert project.run("analyze", "gate").exit_code == 1


def test_all_runs_the_three_analyses_and_reports_the_gates_verdict(project):
    story(project)
    project.run("init")
    options = ("--corpus", corpus(project), "--board", board(project))
    done = project.run("analyze", "all", *options, "--plot", "results.svg")
    assert done.exit_code == 0, done.stderr
    order = [done.stdout.index(text) for text in ("P1 is killed", "P1:", "P2 is killed", "P2:", "P3 is killed", "P3:")]
    assert order == sorted(order)
    assert "The gate is open" in done.stdout
    assert all((project.root / f"results-P{number}.svg").is_file() for number in (1, 2, 3))
    record = project.run("analyze", "all", *options, "--json").json()
    assert [(one["question"], one["verdict"]["is"]) for one in record["results"]] == [
        ("P1", "passed"),
        ("P2", "passed"),
        ("P3", "passed"),
    ]
    assert record["gate"]["open"] is True


def test_a_fresh_workspace_has_not_enough_data_and_fails_nowhere(project):
    project.run("init")
    done = project.run("analyze", "all")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("**No verdict**: not enough data") == 3
    assert "The gate is closed" in done.stdout


@pytest.mark.parametrize("arguments", [("git-history",), ("board-history",), ("calibration",)])
def test_the_kill_condition_is_printed_first_in_both_formats(project, arguments):
    assert project.run("analyze", *arguments).stdout.startswith("Kill condition, fixed before any data was seen: P")
    for form in (("--format", "json"), ("--json",), ("--format=json",)):
        done = project.run("analyze", *arguments, *form)
        assert next(iter(done.json())) == "kill"


def test_results_are_recorded_with_the_digests_of_their_inputs(project):
    project.run("init")
    name = corpus(project)
    shown = project.run("analyze", "calibration", name, "--json").json()
    recorded = json.loads((project.root / shown["recorded"]).read_bytes())
    assert recorded == {key: value for key, value in shown.items() if key != "recorded"}
    digest = subprocess.run(["sha256sum", name], cwd=project.root, capture_output=True, text=True, check=True).stdout
    assert recorded["inputs"] == [{"kind": "corpus", "name": name, "sha256": digest.split()[0]}]
    assert project.git("status", "--porcelain", ".loopwright").strip() in ("", "?? .loopwright/")
    assert "results recorded: 1" in project.run("doctor").stdout


def test_no_result_is_stored_without_a_workspace_or_if_disabled(project):
    done = project.run("analyze", "git-history")
    assert "not recorded: this folder is not a workspace; run `loopwright init`" in done.stdout
    assert not project.own.exists()
    project.run("init")
    project.run("analyze", "git-history", "--no-record")
    assert not (project.own / "analysis").exists()


def test_the_interop_layout_records_too(make_project):
    project = make_project({".claude/state/thinking/plan.latest.yaml": "x\n", "a": "1\n"})
    assert project.run("analyze", "git-history", "--json").json()["recorded"]
    assert 'layout = "interop"' in (project.own / "config.toml").read_text()


def test_malformed_lines_are_counted_and_named(project):
    project.write("c.jsonl", '{"confidence": 2, "correct": true}\nx\n{"confidence": 0.5, "correct": true}\n')
    done = project.run("analyze", "calibration", "c.jsonl")
    assert done.exit_code == 0
    assert "Malformed and left out: 2 (lines 1-2)." in done.stdout
    assert project.run("analyze", "calibration", "c.jsonl", "--json").json()["findings"]["malformed"]["count"] == 2


def test_the_workspaces_own_reflections_are_judged_by_git(project):
    project.run("init")
    folder = project.own / "reflections"
    folder.mkdir()
    for number in range(24):
        commit(project, f"feat: {number}", {f"f{number}.py": "1\n"}, number)
        wrong = number % 2
        if wrong:
            commit(project, f"fix: {number}", {f"f{number}.py": "2\n"}, number + 0.5)
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW - 300 * DAY + number * DAY))
        for point, confidence in (("hook", 0.9), ("after", 0.8 if wrong else 0.95), ("before", 0.85)):
            reflection = {
                "schema": "reflection.v1", "task_ref": f"T-{number}", "agent": "a", "session_id": "s",
                "timestamp": moment, "repo": "project", "confidence": confidence, "most_likely_wrong": None,
                "known_not_in_diff": None, "files_changed": [f"f{number}.py"] if point != "before" else [],
                "risk": {"needs_review": False, "score": 0.0, "surface": "none", "reason": "r"},
                "provenance": {"source": "stop-hook", "reflection_attempt": 1, "degraded": False,
                               "reflection_mode": "solo"},
            }  # fmt: skip
            if point == "hook":
                (folder / f"s-{number}.reflection.json").write_text(json.dumps(reflection))
            else:
                document = json.dumps({"point": point, "reflection": reflection})
                (folder / f"s-{number}.{point}.capture.json").write_text(document)
    (folder / "s-99.reflection.json").write_text("{}")
    project.environment["REFLECTION_DIR"] = "elsewhere"
    assert project.run("analyze", "calibration", "--json").json()["findings"]["series"] == []
    del project.environment["REFLECTION_DIR"]
    found = project.run("analyze", "calibration", "--json").json()
    series = {one["series"]: one for one in found["findings"]["series"]}
    assert found["findings"]["decides"] == "after"
    assert found["verdict"]["is"] == "passed"
    assert {name: (one["right"], one["wrong"]) for name, one in series.items()} == dict.fromkeys(
        ("after", "hook", "before"), (12, 12)
    )
    assert series["hook"]["high"]["confidence"]["auc"] == 0.5
    assert series["hook"]["high"]["churn"]["records"] == 24
    assert found["findings"]["malformed"]["count"] == 1


WITHOUT_EXTRA = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("scipy", "numpy", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
"""


@pytest.fixture
def plain(project, tmp_path):
    """A project whose loopwright was installed without the extra."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT_EXTRA)
    project.environment["PYTHONPATH"] = str(tmp_path / "site")
    return project


@pytest.mark.parametrize("arguments", [("calibration",), ("all",), ("git-history", "--plot", "x.svg")])
def test_without_the_extra_an_analysis_names_the_command_that_installs_it(plain, arguments):
    done = plain.run("analyze", *arguments)
    assert done.exit_code == 1
    assert "TOOL_MISSING" in done.stderr
    assert "pip install 'loopwright[analysis]'" in done.stderr
    # Nothing was half done.
    assert done.stdout == ""


def test_without_the_extra_the_rest_works(plain):
    plain.run("init")
    for arguments in (("--help",), ("calibration", "--help"), ("git-history",), ("board-history", board(plain))):
        done = plain.run("analyze", *arguments)
        assert done.exit_code == 0, done.stderr
    assert "GATE_CLOSED" in plain.run("analyze", "gate").stderr
    words = {"COMP_WORDS": "loopwright analyze ca", "COMP_CWORD": "2", "_LOOPWRIGHT_COMPLETE": "bash_complete"}
    assert plain.run(env=words).stdout.strip() == "plain,calibration"


@pytest.mark.parametrize(
    "arguments",
    [
        ("git-history", "--since", "yesterday-ish"),
        ("git-history", "--range", "no..where"),
        ("git-history", "--range", "--all"),
        ("git-history", "--plot", "x.pdf"),
        ("git-history", "--format", "yaml"),
        ("board-history", "board.xlsx"),
        ("nonsense",),
    ],
)
def test_wrong_usage_is_2_with_a_hint(project, arguments):
    done = project.run("analyze", *arguments)
    assert done.exit_code == 2
    assert "→" in done.stderr
    assert json.loads(project.run("analyze", *arguments, "--json").stderr)["next"]


@pytest.mark.parametrize(
    "arguments", [("calibration", "nothing.jsonl"), ("board-history", "nothing.csv"), ("calibration", ".")]
)
def test_a_file_that_can_not_be_read_is_a_typed_error(project, arguments):
    done = project.run("analyze", *arguments)
    assert done.exit_code == 1
    assert "INPUT_INVALID" in done.stderr


def test_a_folder_without_git_is_a_typed_error(make_project):
    project = make_project(commit=False)
    done = project.run("analyze", "git-history")
    assert done.exit_code == 1
    assert "GIT_FAILED" in done.stderr


def test_every_subcommand_has_help_with_examples(project):
    for name in ("git-history", "board-history", "calibration", "all", "gate"):
        done = project.run("analyze", name, "--help")
        assert done.exit_code == 0
        assert f"loopwright analyze {name}" in done.stdout


def test_windows_and_ranges(project):
    story(project)
    project.git("tag", "half", "HEAD~12")
    assert project.run("analyze", "git-history", "--json").json()["findings"]["failures"] == 12
    ranged = project.run("analyze", "git-history", "--range", "half..HEAD", "--json").json()
    assert ranged["findings"]["commits"] == 12
    assert ranged["parameters"]["revision"] == "half..HEAD"
    nothing = project.run("analyze", "git-history", "--since", "1 week", "--json").json()
    assert nothing["findings"]["commits"] <= 1
    assert nothing["verdict"]["is"] == "not_enough_data"


def test_a_title_can_not_steer_the_terminal(project):
    commit(project, "feat: x", {"a.py": "1"}, 1)
    commit(project, "fix: \x1b]0;owned\x07\x1b[31mred", {"a.py": "2"}, 2)
    done = project.run("analyze", "git-history")
    assert "\x1b" not in done.stdout
    assert "fix: " in done.stdout


def test_a_terminal_sees_progress_and_a_pipe_does_not(project):
    project.run("init")
    head = "commit refs/heads/main\ncommitter t <t@localhost>"
    data = [f"{head} {1_700_000_000 + number} +0000\ndata 1\nx\n" for number in range(9000)]
    subprocess.run(
        ["git", "fast-import", "--quiet", "--force"], cwd=project.root, input="".join(data), text=True, check=True
    )
    assert project.run("analyze", "git-history").stderr == ""
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        project.command("analyze", "git-history"),
        cwd=project.root, env=project.environment, stdout=subprocess.DEVNULL, stderr=follower,
    )  # fmt: skip
    os.close(follower)
    said = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(leader)
    assert child.wait() == 0
    assert b"commits read" in said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_an_analysis_cleanly(project, tmp_path, number, code):
    """A git that never ends stands for a history that takes hours."""
    shim, reached, scratch = tmp_path / "bin" / "git", tmp_path / "reached", tmp_path / "scratch"
    shim.parent.mkdir()
    scratch.mkdir()
    hang = f"touch {reached}; exec sleep 1000"
    shim.write_text(
        f'#!/bin/sh\nfor word do [ "$word" = log ] && {{ {hang}; }}; done\nexec {shutil.which("git")} "$@"\n'
    )
    shim.chmod(0o755)
    env = {**project.environment, "TMPDIR": str(scratch), "PATH": f"{shim.parent}:{project.environment['PATH']}"}
    child = subprocess.Popen(
        project.command("analyze", "git-history"), cwd=project.root, env=env, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while child.poll() is None and not reached.exists():
        time.sleep(0.005)
    child.send_signal(number)
    assert child.wait() == code
    assert list(scratch.iterdir()) == []


def test_a_damaged_chain_of_results_is_named_and_fixed(project):
    project.run("init")
    project.run("analyze", "git-history")
    journal = project.own / "analysis" / "journal.ndjson"
    journal.write_text(journal.read_text().replace("P2", "P1"))
    assert "DAMAGED_FILE" in project.run("analyze", "gate").stderr
    assert project.run("doctor", "--fix").exit_code == 0
    assert "GATE_CLOSED" in project.run("analyze", "gate").stderr


def test_git_history_loads_no_statistics(project):
    script = (
        "import sys; sys.argv=['loopwright','analyze','git-history']\n"
        "import os; os._exit = lambda code: None\n"
        "from loopwright.cli.main import main\n"
        "main()\n"
        "heavy={'scipy','numpy','matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([project.command()[0], "-c", script], cwd=project.root, check=True, capture_output=True)

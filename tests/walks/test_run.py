"""`loopwright run` as a user drives it: the real command line, real repositories, real processes."""

from __future__ import annotations

import hashlib
import shutil

import pytest

from loopwright.sandbox import place

pytestmark = pytest.mark.usefixtures("cold_starts")
WRITE = {"id": "P-1", "action": "write", "commands": ["echo made > made.txt", "cat made.txt"]}


def test_a_green_run_leaves_result_patch_summary_and_evidence_and_not_a_byte_in_the_checkout(project):
    project.plan(WRITE, run_id="demo-001")
    before = project.git("status", "--porcelain")

    done = project.run("run")

    assert done.exit_code == 0, done.stderr
    latest = project.latest()
    assert next(iter(latest)) == "envelope"
    assert latest["envelope"]["status"] == "OK"
    assert latest["envelope"]["command"] == "reflectloop"
    assert latest["envelope"]["error_code"] is None
    assert latest["run_id"] == "demo-001"
    folder = project.own / "runs" / "demo-001"
    assert {path.name for path in folder.iterdir()} == {
        "evidence.json", "changes.patch", "summary.md", "plan.yaml", "logs",
    }  # fmt: skip
    assert (folder / "logs" / "P-1-2.log").read_text() == "made\n"
    assert not (project.root / "made.txt").exists()
    assert project.git("status", "--porcelain") == before
    assert list(project.sandboxes.iterdir()) == []


def test_the_patch_applies_to_the_base_and_gives_the_recorded_tree(make_project):
    project = make_project({"old.txt": "1\n2\n3\n", "gone.txt": "x\n", "tool.sh": "#!/bin/sh\n", "b.bin": "\x00\x01"})
    project.plan(
        {"id": "S", "commands": [
            "mv old.txt 'new name.txt'", "rm gone.txt", "chmod +x tool.sh", "head -c 3000 /dev/urandom > b.bin",
            "ln -s tool.sh link", "printf 'no newline' > end.txt",
            "python3 -c \"open(b'caf\\xe9.txt','w').write('x')\"", "printf x > \"$(printf 'line\\nbreak')\"",
        ]},
        run_id="p",
    )  # fmt: skip
    assert project.run("run").exit_code == 0
    patch = project.own / "runs" / "p" / "changes.patch"
    project.git("apply", "--index", str(patch))
    assert project.git("write-tree").strip() == project.evidence("p")["result_tree"]


@pytest.mark.parametrize("mode", ["worktree", "copy"])
def test_both_modes_give_the_same_change(make_project, mode):
    project = make_project({"a": "1\n", "src/b": "2\n"})
    project.plan({"id": "S", "commands": ["echo 3 >> src/b", "mkdir new", "echo n > new/n"]}, run_id="m")
    assert project.run("run", "--mode", mode).exit_code == 0
    evidence = project.evidence("m")
    assert evidence["sandbox"]["mode"] == mode
    assert sorted(evidence["changed_files"]) == ["new/n", "src/b"]


def test_the_first_failure_stops_everything_writes_the_blocker_and_latches(project):
    project.plan(
        {"id": "A", "commands": ["true"]},
        {"id": "B", "commands": ["echo 'AssertionError: expected 2' >&2; exit 3"], "depends_on": ["A"]},
        {"id": "C", "commands": ["touch never"], "depends_on": ["B"]},
        run_id="f",
    )
    done = project.run("run")

    assert done.exit_code == 1
    assert "STEP_FAILED" in done.stderr
    evidence = project.evidence("f")
    assert [(step["id"], step["outcome"]) for step in evidence["steps"]] == [
        ("A", "passed"), ("B", "failed"), ("C", "skipped"),
    ]  # fmt: skip
    blocker = project.latest("blocker")
    assert blocker["envelope"]["status"] == "ERROR"
    assert blocker["failed_step"] == "B"
    assert blocker["exit_code"] == 3
    assert "expected 2" in blocker["log_tail"]
    assert blocker["needs"] == "REPLAN"
    assert blocker["envelope"]["next"] == "loopwright unlatch"
    assert blocker["plan_source_hash"] == evidence["plan_source_hash"]
    assert (project.own / "latch.lock").exists()
    assert not (project.own / "runs" / "f" / "changes.patch").exists()


def test_latched_runs_nothing_and_leaves_the_blocker_alone_until_a_person_unlatches(project):
    project.plan({"id": "A", "commands": ["exit 9"]}, run_id="first")
    assert project.run("run").exit_code == 1
    card = (project.own / "blocker.latest.yaml").read_bytes()
    project.plan({"id": "A", "commands": ["touch ran"]}, run_id="second")

    latched = project.run("run", "--json")
    assert latched.exit_code == 1
    assert '"error": "LATCHED"' in latched.stderr
    assert project.latest()["envelope"]["error_code"] == "LATCHED"
    assert (project.own / "blocker.latest.yaml").read_bytes() == card

    shown = project.run("unlatch")
    assert shown.exit_code == 0
    assert "exited with 9" in shown.stdout
    assert project.run("run").exit_code == 0
    assert project.run("unlatch").stdout.strip() == "the workspace was not latched"


def test_a_run_id_again_gets_a_suffix_and_nothing_is_overwritten(project):
    project.plan(WRITE, run_id="same")
    for _ in range(3):
        assert project.run("run").exit_code == 0
    assert {path.name for path in (project.own / "runs").iterdir()} == {"same", "same-2", "same-3"}
    assert project.run("verify").exit_code == 0


def test_a_run_id_is_made_safe_before_it_becomes_a_path(project):
    project.plan(WRITE, run_id="../../../etc/x y")
    assert project.run("run").exit_code == 0
    assert [path.name for path in (project.own / "runs").iterdir()] == ["etc-x-y"]


def test_the_plan_hash_is_that_of_the_files_bytes(project):
    path = project.plan(WRITE, run_id="h")
    assert project.run("run").exit_code == 0
    assert project.evidence("h")["plan_source_hash"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_json_prints_one_event_per_line_in_order(project):
    project.plan(WRITE)
    events = project.run("run", "--json").events()
    names = [event["type"] for event in events]
    assert names[0] == "run.started"
    assert names[-1] == "run.ended"
    assert names.index("sandbox.opened") < names.index("step.started") < names.index("step.ended")
    assert events[-1]["status"] == "OK"


def test_checks_are_verified_and_sentences_only_declared(project):
    project.plan(
        {
            "id": "V",
            "commands": ["echo hello; echo x > f", "exit 4"],
            "verification": [
                "the file is good", {"file_exists": "f"}, {"file_contains": {"path": "f", "text": "x"}},
                {"stdout_contains": "hello"}, {"command": "test -s f"}, {"exit_code": 4},
            ],
        },
        run_id="v",
    )  # fmt: skip
    assert project.run("run").exit_code == 0
    checks = project.evidence("v")["steps"][0]["checks"]
    assert [check["outcome"] for check in checks] == ["declared", *["passed"] * 5]
    assert project.latest()["steps"][0]["declared"] == ["the file is good"]


@pytest.mark.parametrize(
    "check",
    [
        {"command": "false"},
        {"file_exists": "nope"},
        {"file_contains": {"path": "README", "text": "nope"}},
        {"file_contains": {"path": ".", "text": "nope"}},
        {"stdout_contains": "nope"},
        {"exit_code": 3},
        {"file_exists": "../../../../../../../../etc/passwd"},
        {"file_contains": {"path": "/etc/passwd", "text": "root"}},
    ],
)
def test_a_failed_check_fails_the_step(project, check):
    project.plan({"id": "V", "commands": ["true"], "verification": [check]}, run_id="v")
    assert project.run("run").exit_code == 1
    assert project.latest()["envelope"]["error_code"] == "STEP_FAILED"
    assert project.evidence("v")["steps"][0]["outcome"] == "failed"


def test_steps_run_in_the_order_of_their_dependencies_and_not_of_the_plan(project):
    project.plan(
        {"id": "last", "commands": ["cat one two"], "depends_on": ["one", "two"]},
        {"id": "two", "commands": ["cat one > two"], "depends_on": ["one"]},
        {"id": "one", "commands": ["echo 1 > one"]},
    )
    for jobs in ("1", "4"):
        assert project.run("run", "--jobs", jobs).exit_code == 0


def test_independent_steps_really_run_at_once(project):
    # Each waits for the other's file: only together can they end.
    wait = "for i in $(seq 600); do [ -e {0} ] && exit 0; sleep 0.05; done; exit 1"
    project.plan(
        {"id": "A", "commands": ["touch a; " + wait.format("b")]},
        {"id": "B", "commands": ["touch b; " + wait.format("a")]},
    )
    assert project.run("run", "--jobs", "2").exit_code == 0


def test_a_failure_ends_the_steps_that_run_at_the_same_time(project):
    project.plan(
        {"id": "slow", "commands": ["touch begun; sleep 300"]},
        {"id": "bad", "commands": ["until [ -e begun ]; do sleep 0.02; done; exit 1"]},
        run_id="j",
    )
    assert project.run("run", "--jobs", "2").exit_code == 1
    outcomes = {step["id"]: step["outcome"] for step in project.evidence("j")["steps"]}
    assert outcomes == {"slow": "cancelled", "bad": "failed"}


def test_a_timeout_ends_the_step_and_says_so(project):
    project.plan({"id": "T", "commands": ["sleep 300"], "timeout_s": 1}, run_id="t")
    assert project.run("run").exit_code == 1
    step = project.evidence("t")["steps"][0]
    assert step["commands"][0]["ending"] == "timed_out"
    assert "did not end within 1 s" in step["reason"]


def test_a_kept_sandbox_stays_until_newer_sandboxes_replace_it_or_gc_removes_all(project):
    for name in ("k", "l"):
        project.plan(WRITE, run_id=name)
        assert project.run("run", "--keep").exit_code == 0
        assert (project.sandboxes / name / "repo" / "made.txt").read_text() == "made\n"
    assert project.run("doctor").exit_code == 0
    assert project.run("gc", "--json").json()["sandboxes"] == []
    assert project.run("gc", "--keep", "1", "--json").json()["sandboxes"] == ["k"]
    assert [folder.name for folder in project.sandboxes.iterdir()] == ["l"]
    assert project.run("gc", "--keep", "0", "--json").json()["sandboxes"] == ["l"]
    assert list(project.sandboxes.iterdir()) == []


def test_projects_that_share_a_sandbox_root_leave_each_others_sandboxes_alone(make_project):
    mine, other = make_project(), make_project()
    mine.environment["LOOPWRIGHT_SANDBOX_ROOT"] = str(other.sandboxes)
    other.plan(WRITE, run_id="k")
    assert other.run("run", "--keep").exit_code == 0
    place.claim(other.sandboxes, other.root, "left-over").lock.release()
    before = {path: path.lstat().st_ino for path in other.sandboxes.rglob("*") if ".locks" not in path.parts}
    mine.plan(WRITE, run_id="k")
    for typed in (("run",), ("gc", "--keep", "0"), ("doctor", "--fix")):
        done = mine.run(*typed)
        assert done.exit_code == 0, done.stderr
        assert "left-over" not in done.stdout
    found = {path: path.lstat().st_ino for path in other.sandboxes.rglob("*") if ".locks" not in path.parts}
    assert found == before
    assert other.run("gc", "--json").json()["sandboxes"] == ["left-over"]
    assert [folder.name for folder in other.sandboxes.iterdir()] == ["k"]
    # A deleted project runs no clean-up, so doctor names its leftovers.
    shutil.rmtree(other.root)
    checks = {check["what"]: check for check in mine.run("doctor", "--json").json()["checks"]}
    assert checks["sandboxes without a project"]["said"] == f"1 in {other.sandboxes}: k"


def test_the_result_says_set_or_unset_and_never_a_value(project):
    project.plan({"id": "E", "commands": ["true"], "env": ["NODE_ENV", "CI"]}, run_id="e")
    done = project.run("run", env={"NODE_ENV": "a-value-to-look-for", "MY_API_KEY": "another-value-entirely"})
    assert done.exit_code == 0
    status = project.latest()["env_status"]
    assert status["NODE_ENV"] == "<SET>"
    assert status["CI"] == "<UNSET>"
    assert status["MY_API_KEY"] == "<SET>"
    assert set(status.values()) <= {"<SET>", "<UNSET>"}
    assert b"a-value-to-look-for" not in project.everything_kept()


def test_steps_see_only_allowed_variables_and_the_variables_that_they_name(project):
    project.plan({"id": "E", "commands": ["env | cut -d= -f1 | sort | tr '\\n' ' '"], "env": ["WANTED"]}, run_id="e")
    assert project.run("run", env={"WANTED": "1", "UNWANTED": "1"}).exit_code == 0
    names = set((project.own / "runs" / "e" / "logs" / "E-1.log").read_text().split())
    assert {"PATH", "HOME", "WANTED"} <= names
    assert "UNWANTED" not in names
    assert not any(name.startswith("LOOPWRIGHT_SANDBOX") for name in names)


def test_watch_runs_each_new_plan_and_respects_the_latch(project):
    import signal
    import subprocess

    project.plan({"id": "A", "commands": ["true"]}, run_id="w1")
    runs = project.own / "runs"
    child = subprocess.Popen(
        project.command("run", "--watch", "--json"), cwd=project.root, env=project.environment,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        ended = (line for line in child.stdout if '"run.ended"' in line)
        assert '"OK"' in next(ended)
        project.plan({"id": "A", "commands": ["false"]}, run_id="w2")
        assert "STEP_FAILED" in next(ended)
        project.plan({"id": "A", "commands": ["touch x"]}, run_id="w3")
        assert "LATCHED" in next(ended)
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait()
        child.stdout.close()
    assert (runs / "w1").exists()
    assert not (runs / "w3").exists()

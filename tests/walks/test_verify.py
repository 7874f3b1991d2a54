"""`loopwright verify` and `rerun`: evidence that anyone can check and repeat."""

from __future__ import annotations

import json

import pytest

STEP = {"id": "P-1", "action": "write", "commands": ["echo made > made.txt", "cat made.txt"]}


@pytest.fixture
def recorded(project):
    project.plan(STEP, run_id="one")
    assert project.run("run").exit_code == 0
    project.plan({**STEP, "commands": ["echo other > other.txt"]}, run_id="two")
    assert project.run("run").exit_code == 0
    return project


def test_untouched_evidence_verifies(recorded):
    done = recorded.run("verify", "--json")
    assert done.exit_code == 0
    assert [run["run_id"] for run in done.json()["runs"]] == ["one", "two"]
    assert all(run["checked"] > 8 and not run["mismatches"] for run in done.json()["runs"])


def tamper_log(project):
    (project.own / "runs/one/logs/P-1-2.log").write_text("forged\n")
    return "logs/P-1-2.log"


def tamper_patch(project):
    path = project.own / "runs/one/changes.patch"
    path.write_text(path.read_text().replace("made", "fake"))
    return "changes.patch"


def tamper_plan(project):
    (project.own / "runs/one/plan.yaml").write_text("new_plan: {}\n")
    return "plan.yaml"


def tamper_exit_code(project):
    path = project.own / "runs/one/evidence.json"
    path.write_text(path.read_text().replace('"exit_code": 0', '"exit_code": 1'))
    return "evidence.json's digest"


def forge_consistently(project):
    """Change a log and its digest in the evidence too: the journal still knows better."""
    path = project.own / "runs/one/evidence.json"
    record = json.loads(path.read_bytes())
    record["status"] = "ERROR"
    path.write_text(json.dumps(record))
    return "evidence.json's digest"


def remove_log(project):
    (project.own / "runs/one/logs/P-1-1.log").unlink()
    return "recorded, but missing"


def add_log(project):
    (project.own / "runs/one/logs/extra.log").write_text("x")
    return "not listed in the evidence"


def remove_evidence(project):
    (project.own / "runs/one/evidence.json").unlink()
    return "evidence.json"


def unknown_version(project):
    path = project.own / "runs/one/evidence.json"
    path.write_text(path.read_text().replace("evidence.v1", "evidence.v9"))
    return "not evidence that this version can read"


def number_for_text(project):
    path = project.own / "runs/one/evidence.json"
    path.write_text(path.read_text().replace('"goal": "a goal"', '"goal": 7'))
    return "not evidence that this version can read"


@pytest.mark.parametrize(
    "tamper",
    [tamper_log, tamper_patch, tamper_plan, tamper_exit_code, forge_consistently, remove_log, add_log,
     remove_evidence, unknown_version, number_for_text],
)  # fmt: skip
def test_every_change_to_the_evidence_is_named(recorded, tamper):
    what = tamper(recorded)
    done = recorded.run("verify")
    assert done.exit_code == 13
    assert what in done.stdout
    assert "EVIDENCE_MISMATCH" in done.stderr
    assert recorded.run("verify", "two").exit_code == 0


@pytest.mark.parametrize("edit", [lambda t: t.replace('"one"', '"own"'), lambda t: t.split("\n", 1)[1]])
def test_a_changed_journal_is_damage_that_is_named_with_its_line(recorded, edit):
    path = recorded.own / "runs.journal.ndjson"
    path.write_text(edit(path.read_text()))
    done = recorded.run("verify")
    assert done.exit_code == 1
    assert "DAMAGED_FILE" in done.stderr
    assert "line 1" in done.stderr
    assert recorded.run("doctor").exit_code == 1
    assert recorded.run("doctor", "--fix").exit_code == 0
    assert list(recorded.own.glob("runs.journal.ndjson.damaged-*"))
    assert_whole(recorded, ["one", "two"])


def assert_whole(project, runs):
    done = project.run("verify", "--json")
    assert done.exit_code == 0, done.stdout
    assert [run["run_id"] for run in done.json()["runs"]] == runs


@pytest.mark.parametrize("damaged", range(1, 9))
def test_after_damage_in_any_line_of_the_journal_doctor_makes_the_chain_whole_again(recorded, damaged):
    """Names that sort against their order, a run that gc removed, and damage before, in and after it."""
    recorded.plan({**STEP, "commands": ["true"]}, run_id="a-third")
    assert recorded.run("run").exit_code == 0
    assert recorded.run("gc", "--keep", "2").exit_code == 0
    recorded.plan({**STEP, "commands": ["true"]}, run_id="a-fourth")
    assert recorded.run("run").exit_code == 0
    path = recorded.own / "runs.journal.ndjson"
    lines = path.read_text().splitlines(keepends=True)
    lines[damaged - 1] = lines[damaged - 1].replace("run_id", "run-id")
    path.write_text("".join(lines))
    assert f"line {damaged}" in recorded.run("verify").stderr
    fixed = recorded.run("doctor", "--fix")
    assert fixed.exit_code == 0
    assert f"intact entries: {damaged - 1}" in fixed.stdout
    assert_whole(recorded, ["two", "a-third", "a-fourth"])
    recorded.plan({**STEP, "commands": ["true"]}, run_id="fifth")
    assert recorded.run("run").exit_code == 0
    assert_whole(recorded, ["two", "a-third", "a-fourth", "fifth"])


def test_a_folder_in_place_of_the_journal_is_damage_that_doctor_mends(recorded):
    path = recorded.own / "runs.journal.ndjson"
    path.unlink()
    path.mkdir()
    (path / "kept").write_text("a person's")
    done = recorded.run("verify")
    assert done.exit_code == 1
    assert "DAMAGED_FILE" in done.stderr
    assert recorded.run("doctor", "--fix").exit_code == 0
    assert (recorded.own / "runs.journal.ndjson.damaged-1" / "kept").read_text() == "a person's"
    assert_whole(recorded, ["one", "two"])


def test_a_torn_last_line_is_set_aside_and_nothing_is_lost(recorded):
    path = recorded.own / "runs.journal.ndjson"
    path.write_bytes(path.read_bytes() + b'{"seq": 3, "at"')
    assert recorded.run("verify").exit_code == 0
    assert recorded.run("run").exit_code == 0
    assert len(recorded.run("verify", "--json").json()["runs"]) == 3
    assert list(recorded.own.glob("runs.journal.ndjson.torn-*"))


def test_gc_keeps_the_chain_whole(recorded):
    assert recorded.run("gc", "--keep", "1").exit_code == 0
    done = recorded.run("verify", "--json")
    assert done.exit_code == 0
    assert [run["run_id"] for run in done.json()["runs"]] == ["two"]
    assert recorded.run("verify", "one").exit_code == 1
    assert recorded.run("run").exit_code == 0
    assert recorded.run("verify").exit_code == 0


def test_verify_accepts_the_start_of_a_name_and_refuses_an_unknown_name(recorded):
    assert recorded.run("verify", "tw").exit_code == 0
    unknown = recorded.run("verify", "nope")
    assert unknown.exit_code == 1
    assert "UNKNOWN_RUN" in unknown.stderr
    assert "two" in unknown.stderr


def test_a_rerun_reproduces_on_the_recorded_base_after_the_project_moved_on(recorded):
    recorded.write("made.txt", "in the way\n")
    recorded.commit("moved on")
    latest = (recorded.own / "run.latest.yaml").read_bytes()
    done = recorded.run("rerun", "one")
    assert done.exit_code == 0, done.stderr
    assert "reproduced" in done.stdout
    assert (recorded.own / "run.latest.yaml").read_bytes() == latest
    evidence = recorded.evidence("one-rerun")
    assert evidence["kind"] == "rerun"
    assert evidence["result_tree"] == recorded.evidence("one")["result_tree"]
    assert recorded.run("verify").exit_code == 0


def test_a_rerun_that_differs_names_the_difference(project):
    project.plan({"id": "R", "commands": ["date +%N > now.txt"]}, run_id="r")
    assert project.run("run").exit_code == 0
    done = project.run("rerun", "r")
    assert done.exit_code == 1
    assert "NOT_REPRODUCED" in done.stderr
    assert "the change" in done.stderr


def test_a_failing_run_is_reproduced_as_failing_and_the_rerun_latches_nothing(project):
    project.plan({"id": "R", "commands": ["exit 5"]}, run_id="r")
    assert project.run("run").exit_code == 1
    assert project.run("unlatch").exit_code == 0
    assert project.run("rerun", "r").exit_code == 0
    assert not (project.own / "latch.lock").exists()


def test_a_rerun_of_dirty_work_uses_the_recorded_changes(project):
    project.write("README", "changed, not committed\n")
    project.write("new.txt", "not tracked\n")
    project.plan({"id": "R", "commands": ["cat README new.txt > both.txt"]}, run_id="r")
    assert project.run("run").exit_code == 0
    assert project.evidence("r")["sandbox"]["mode"] == "copy"
    project.git("checkout", "-q", ".")
    (project.root / "new.txt").unlink()
    done = project.run("rerun", "r")
    assert done.exit_code == 0, done.stderr
    assert project.run("verify").exit_code == 0


@pytest.mark.parametrize(("kept", "lost"), [(0, ["one", "two"]), (2, ["two"]), (3, ["two"])])
def test_a_journal_that_was_removed_or_lost_its_end_is_noticed_and_repaired(recorded, kept, lost):
    path = recorded.own / "runs.journal.ndjson"
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    if kept:
        path.write_bytes(b"".join(lines[:kept]))
    done = recorded.run("verify", "--json")
    assert done.exit_code == 13
    assert [run["run_id"] for run in done.json()["runs"] if run["mismatches"]] == lost
    assert recorded.run("verify", "two").exit_code == 13
    assert recorded.run("doctor", "--fix").exit_code == 0
    assert_whole(recorded, ["one", "two"])

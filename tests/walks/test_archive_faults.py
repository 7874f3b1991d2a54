"""kill -9 of `archive` at every write, several people at once, and specs that a person edits in between."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess

import pytest
import yaml
from tests.walks.workflow_kit import DELTA, SLICE, build_it, built, bytes_of, finish, ok, planner, refusal, state

pytestmark = pytest.mark.faults

CALLS = ("write", "fsync", "rename,renameat", "mkdir,mkdirat")
SHARED = ("specs", "changes", "decisions")
# FAULTS_EVERY=1 kills at each of these calls.
STEP = 1 if os.environ.get("FAULTS_EVERY") else 5


@pytest.fixture
def done(project):
    """A change that only waits to be archived."""
    project.environment["PYTHONDONTWRITEBYTECODE"] = "1"
    built(project)
    finish(project)
    return project


def kept(project):
    """The files that others read: all old, or all new."""
    return bytes_of(*(project.own / name for name in SHARED))


def archive_killed_at(project, call, number):
    """Whether the command made so many of these calls and died at the last."""
    inject = f"inject={call}:signal=SIGKILL:when={number}"
    argv = [
        "strace",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        f"trace={call}",
        "-e",
        inject,
        *project.command("archive", "greet"),
    ]
    ended = subprocess.run(argv, cwd=project.root, env=project.environment, capture_output=True, check=False)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode != 0


@pytest.mark.needs("strace")
@pytest.mark.parametrize("call", CALLS)
def test_after_a_kill_at_any_write_a_change_is_unchanged_or_archived(done, record_property, call):
    spare = done.root.parent / "spare"
    shutil.copytree(done.own, spare)
    before = kept(done)
    ok(done, "archive", "greet")
    after = kept(done)
    seen = {"old": 0, "new": 0}
    # strace counts the calls of each name by themselves, so there are few renames of each kind. Few folders are made
    # after the decision, and many before it, for the verification of the evidence.
    step = 2 if "rename" in call else 1 if "mkdir" in call else STEP
    for number in itertools.count(1, step):
        shutil.rmtree(done.own)
        shutil.copytree(spare, done.own)
        if not archive_killed_at(done, call, number):
            break
        is_archived = done.ask("status", "greet")["recommended_next_action"].endswith("specs verify")
        assert kept(done) == (after if is_archived else before)
        seen["new" if is_archived else "old"] += 1
        ok(done, "archive", "greet")
        assert kept(done) == after
        assert state(done)["spec_sync_status"] == "synced"
    assert min(seen.values()) >= 1, seen
    ok(done, "doctor", "--fix")
    assert list(done.own.rglob(".*.tmp")) == []
    kills = {f"`archive` at {call}, found {which}": number for which, number in seen.items()}
    record_property("faults", json.dumps({"kills": sum(seen.values()), **kills}))


def cut_short(project):
    """The state after a crash right behind the decision: in the journal, but not in the files."""
    assert not (project.own / "specs").exists()
    ok(project, "archive", "greet")
    restart(project)


def restart(project):
    """Take back all that stands behind the decision."""
    journal = project.own / "workflows" / "greet" / "journal.ndjson"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert b"archive.settled" in lines[-1]
    journal.write_bytes(b"".join(lines[:-1]))
    archive = project.own / "changes" / "archive" / "chg-greet"
    archive.rename(project.own / "changes" / "active" / "chg-greet")
    for name in ("specs", "decisions"):
        shutil.rmtree(project.own / name, ignore_errors=True)
    (project.own / "workflows" / "greet" / "state.json").unlink()


def test_the_next_command_that_reads_specs_finds_them_complete(done):
    cut_short(done)
    assert ok(done, "specs", "list", "--json").json()["domains"][0]["requirements"] == 1
    assert not (done.own / "changes" / "active" / "chg-greet").exists()
    ok(done, "specs", "verify")


BY_HAND = """# greeting Specification

## Purpose
A text that people added here by hand, in more than fifty characters.

## Requirements

### Requirement: {0}
The system SHALL do this.

#### Scenario: It does
- **WHEN** asked
- **THEN** done
"""


def test_an_edit_of_a_spec_after_the_crash_stays(done):
    cut_short(done)
    done.write(".loopwright/specs/greeting/spec.md", BY_HAND.format("By hand"))
    proof = {"change_id": "chg-hand", "workflow": "hand", "tree": "", "checks": [], "signed": []}
    theirs = {"schema_version": 1, "domain": "greeting", "requirements": {"By hand": proof}}
    path = done.write(".loopwright/specs/greeting/checks.json", json.dumps(theirs))
    names = [one["name"] for one in ok(done, "specs", "show", "greeting", "--json").json()["requirements"]]
    assert names == ["By hand", "Greeting by name"]
    assert list(json.loads(path.read_text())["requirements"]) == names


def test_a_decision_that_came_by_git_is_carried_out_without_the_bytes_of_the_other_machine(done):
    ok(done, "archive", "greet")
    after = bytes_of(done.own / "specs")
    restart(done)
    shutil.rmtree(done.own / "workflows" / "greet" / "objects")
    ok(done, "specs", "list")
    assert bytes_of(done.own / "specs") == after


def test_a_conflicting_edit_is_reported_and_nothing_is_written(done):
    cut_short(done)
    path = done.write(".loopwright/specs/greeting/spec.md", BY_HAND.format("Greeting by name"))
    assert done.ask("status", "greet")["recommended_next_action"] == "loopwright archive greet"
    assert "loopwright archive greet" in ok(done, "next").stdout
    refused = refusal(done, "archive", "greet")
    assert (refused["error"], refused["blockers"][0]["code"]) == ("archive_blocked", "spec_conflict_greeting")
    assert path.read_text() == BY_HAND.format("Greeting by name")
    assert not (done.own / "decisions").exists()
    path.unlink()
    ok(done, "archive", "greet")
    assert "chg-greet | ADDED" in path.read_text()


def test_two_people_archive_into_one_spec_at_once(done):
    other = DELTA.replace("Greeting by name", "Parting")
    check = {"id": "C", "command": "test -e other"}
    slices = [{**SLICE, "requirements": ["greeting: Parting"], "checks": [check]}]
    turns = [planner(deltas={"greeting": other}, slices=slices), {"role": "builder", "run": "touch other"}]
    done.commit("the first is in")
    done.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    build_it(done, "other")
    finish(done, "other", work="touch other")
    people = [
        subprocess.Popen(
            done.command("archive", slug), cwd=done.root, env=done.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for slug in ("greet", "greet", "other", "other")
    ]  # fmt: skip
    said = [one.communicate() for one in people]
    assert [one.returncode for one in people] == [0, 0, 0, 0], said
    names = [one["name"] for one in ok(done, "specs", "show", "greeting", "--json").json()["requirements"]]
    assert sorted(names) == ["Greeting by name", "Parting"]
    ok(done, "specs", "verify")

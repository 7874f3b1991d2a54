"""kill -9 in the middle of a plan, of a consent, and of what a build writes at its end: as before, or as wanted."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess

import pytest
from tests.walks.workflow_kit import BUILT, blockers, bytes_of, ok, plan, planner, prepare, state, status

pytestmark = pytest.mark.faults

CALLS = ("write", "fsync", "rename")
# The last calls of a build are those of its settling; FAULTS_EVERY=1 takes more of them.
LAST = (1, 4) if not os.environ.get("FAULTS_EVERY") else range(1, 16)
STEP = 1 if os.environ.get("FAULTS_EVERY") else 6


@pytest.fixture
def planned(project):
    """A plan that only waits for a consent."""
    project.environment["PYTHONDONTWRITEBYTECODE"] = "1"
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    plan(project)
    return project


def traced(project, call, *arguments, when=None):
    """The exit code under strace, and how many of these calls were made."""
    log = project.root.parent / "trace"
    inject = ("-e", f"inject={call}:signal=SIGKILL:when={when}") if when is not None else ()
    argv = ("strace", "-qq", "-o", str(log), "-e", f"trace={call}", *inject, *project.command(*arguments))
    done = subprocess.run(argv, cwd=project.root, env=project.environment, capture_output=True, check=False)
    return done.returncode, sum(line.startswith(f"{call}(") for line in log.read_text(errors="replace").splitlines())


@pytest.mark.needs("strace")
def test_after_a_kill_an_approval_exists_completely_or_not_at_all(planned, record_property):
    approve = ("approve", "greet", "--from", "plan", "--to", "build")
    spare = planned.root.parent / "spare"
    shutil.copytree(planned.own, spare)
    seen = {"given": 0, "not-given": 0}
    for call in CALLS:
        for number in itertools.count(1):
            shutil.rmtree(planned.own)
            shutil.copytree(spare, planned.own)
            code, _ = traced(planned, call, *approve, when=number)
            if code == 0:
                break  # it makes no more of these calls
            found = status(planned)["authorization"]["build"]["approval_status"]
            assert found in {"requested", "approved"}
            assert state(planned)["approval"]["build"]["status"] == found, "what others read is what is true"
            seen["given" if found == "approved" else "not-given"] += 1
            ok(planned, *approve)
            assert status(planned)["recommended_next_action"] == "loopwright build greet"
    assert min(seen.values()) >= 1, seen
    record_property("faults", json.dumps({f"`approve`, {which}": count for which, count in seen.items()}))


@pytest.mark.needs("strace")
@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_a_build_that_was_killed_at_its_end_continues_without_another_turn(planned, record_property, call):
    ok(planned, "approve", "greet", "--from", "plan", "--to", "build")
    spare = planned.root.parent / "spare"
    shutil.copytree(planned.own, spare)
    build = ("build", "greet", "--agent", "scripted")
    code, calls = traced(planned, call, *build)
    assert code == 0
    support = planned.own / "workflows" / "greet" / "build-support"
    names = {name.rpartition("/")[2] for name in bytes_of(support)}
    killed = 0
    for back in LAST:
        shutil.rmtree(planned.own)
        shutil.copytree(spare, planned.own)
        code, _ = traced(planned, call, *build, when=calls + 1 - back)
        killed += code in (-signal.SIGKILL, 128 + signal.SIGKILL)
        status(planned)
        # The script has one turn for a builder: a second turn would be refused.
        ok(planned, *build)
        assert blockers(planned, "review") == {}
        assert {name.rpartition("/")[2] for name in bytes_of(support)} == names
        assert json.loads((support / "completion-audit.json").read_text())["status"] == "passed"
        assert state(planned)["requested_transition"] == "build->review"
    assert killed >= 1
    record_property("faults", json.dumps({f"`build` settling, at {call}": killed}))


def documents(project):
    """What people read of a plan, by path."""
    found = bytes_of(*(project.own / name for name in ("workflows/greet", "changes/active", "plans")))
    return {
        name: data for name, data in found.items() if "/objects/" not in name and not name.endswith(("son", ".tmp"))
    }


@pytest.mark.needs("strace")
@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_after_a_kill_during_planning_the_next_command_ends_in_the_same_plan(project, record_property, call):
    project.environment["PYTHONDONTWRITEBYTECODE"] = "1"
    prepare(project, [planner()] * 3)
    spare = project.root.parent / "spare"
    shutil.copytree(project.own, spare)
    again = ("plan", "greet", "--agent", "scripted")
    direct = (*again, "--direct", str(project.root.parent / "SPEC.md"))
    code, calls = traced(project, call, *direct)
    assert code == 0
    whole = documents(project)
    assert len(whole) >= 10
    killed = 0
    for number in range(1, calls + 1, STEP):
        shutil.rmtree(project.own)
        shutil.copytree(spare, project.own)
        code, _ = traced(project, call, *direct, when=number)
        killed += code in (-signal.SIGKILL, 128 + signal.SIGKILL)
        is_begun = (project.own / "workflows" / "greet" / "journal.ndjson").exists()
        if not is_begun or project.run(*again).exit_code != 0:
            ok(project, *direct)  # it was not approved yet
        assert blockers(project, "build") == {}
        assert documents(project) == whole, number
        journal = (project.own / "workflows" / "greet" / "journal.ndjson").read_text()
        assert journal.count('"kind":"turn.begun"') == journal.count('"kind":"cost"') >= 1, "each is paid once"
        assert '"actor":"outside"' not in journal or call == "rename", (
            "only a rename is between a document and its line"
        )
    assert killed >= 5
    record_property("faults", json.dumps({f"`plan`, at {call}": killed}))

"""kill -9 of a loop's worker, of what it started, of both: resume finishes, nothing is lost, done twice or left."""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from loopwright.kernel import cgroup

pytestmark = pytest.mark.faults

VICTIMS = ("driver", "agent", "both")
ROLES = {"planner": "init", "builder": "develop", "debugger": "debug", "probe": "debug", "tests": "validate"}
# A sample of all writes; `FAULTS_EVERY=1 make faults` makes each of them a kill of its own.
EVERY = int(os.environ.get("FAULTS_EVERY", "0"))
WRITES = {
    "write": 61,
    "fsync": 13,
    "rename": 19,
    "ftruncate": 13,
    "mkdir": 97,
    "unlink": 11,
    "unlinkat": 97,
    "rmdir": 13,
}


def kill(scene, worker, victim):
    """Kill the victims with SIGKILL; wait for the end of a dead driver."""
    at_work = scene.at_work()
    if victim != "agent":
        worker.kill()
        worker.communicate()
    if victim != "driver":
        scene.kill(at_work)
    return at_work


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("role", ROLES)
def test_a_loop_that_was_killed_during_an_action_is_resumed(scene, count, role, victim):
    scene.meet(role)
    worker = scene.start()
    scene.wait_to_meet(role, worker)
    assert scene.moment() == ROLES[role]
    assert kill(scene, worker, victim) != []
    if victim == "agent":
        worker.communicate(timeout=500)
    else:
        assert "no process drives it" in scene.run("doctor").stdout
        assert scene.run("loop", "list", "--json").json()["loops"][0]["has_worker"] is False
    scene.finish()
    scene.check_the_end({ROLES[role]: 1})
    count(kills=1, resumed=1, **{f"{victim} at {ROLES[role]}": 1})


def test_proposals_from_before_the_kill_are_not_requested_again(scene):
    scene.meet("probe")
    worker = scene.start()
    scene.wait_to_meet("probe", worker)
    kill(scene, worker, "both")
    scene.finish()
    assert scene.trace.read_text().count("begin debugger") == 1
    fix = scene.replayed().task("F-1")
    assert fix.description.endswith("make it good"), "and what it said of the cause is not lost"
    scene.check_the_end({"debug": 1})


def test_after_a_kill_during_a_pause_no_frozen_process_is_left(scene, count):
    scene.meet("builder")
    worker = scene.start()
    scene.wait_to_meet("builder", worker)
    assert scene.run("loop", "pause", scene.loop_id).exit_code == 0
    while not (is_frozen(worker.pid) or all(is_stopped(pid) for pid in scene.at_work())):
        time.sleep(0.01)
    assert scene.at_work() != []
    kill(scene, worker, "driver")
    scene.finish()
    scene.check_the_end({"develop": 1})
    count(kills=1, resumed=1, **{"driver at a frozen agent": 1})


def is_frozen(worker):
    """Whether the processes of a worker are in a frozen control group; not every machine has control groups."""
    home = cgroup.own_folder()
    groups = home.glob(f"loopwright-{worker}-*/cgroup.events") if home is not None else ()
    return any("frozen 1" in group.read_text() for group in groups)


def is_stopped(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except OSError:
        return True


@pytest.mark.needs("strace")
@pytest.mark.parametrize("call", WRITES)
def test_a_loop_that_was_killed_at_any_writing_system_call_is_resumed(scene, count, call):
    """Kill -9 of the driver at its n-th such call, with growing n, until it ends without a kill."""
    moments = Counter()
    for number in itertools.count(1, EVERY or WRITES[call]):
        if not killed_at(scene, call, number):
            break
        moment = scene.moment()
        moments[moment] += 1
        scene.finish()
        scene.check_the_loop({moment: 1})
        scene.new_loop()
    assert moments.total() >= 2
    scene.check_the_loop({})
    scene.check_the_project()
    count(
        kills=moments.total(),
        resumed=moments.total(),
        **{f"driver at {call} in {one}": moments[one] for one in moments},
    )


@pytest.mark.needs("strace")
def test_a_loop_that_was_killed_at_its_completion_completes(scene, count):
    scene.finish()  # later loops know the results of the base, and write less
    scene.new_loop()
    traced = scene.folder / "calls"
    scene.start("strace", "-qq", "-o", traced, "-e", "trace=rename").communicate()
    # Only the first run of a project makes the journal of runs.
    in_all = len(re.findall(r"^rename\((?!.*runs\.journal)", traced.read_text(), re.MULTILINE))
    moments = Counter()
    for number in range(in_all - 5, in_all + 1):
        scene.new_loop()
        assert killed_at(scene, "rename", number)
        moments[scene.moment()] += 1
        scene.finish()
        scene.check_the_loop({})
    assert moments["complete"] >= 3
    scene.check_the_project()
    count(
        kills=moments.total(),
        resumed=moments.total(),
        **{f"driver at rename in {one}": moments[one] for one in moments},
    )


@pytest.mark.needs("strace")
@pytest.mark.parametrize("call", ["write", "fsync", "rename", "ftruncate"])
def test_a_kill_during_creation_or_new_tasks_leaves_the_old_or_the_new_loop(scene, count, call):
    (scene.project.root / "more.jsonl").write_text(
        "".join(f'{{"id": "I-{n}", "description": "d"}}\n' for n in range(5))
    )
    kills = Counter()
    for command in (("new", "x", "--task", "t"), ("task", "import", scene.loop_id, "more.jsonl")):
        for number in itertools.count(1):
            argv = [*killing(call, number), *scene.project.command("loop", *command)]
            done = subprocess.run(
                argv, cwd=scene.project.root, env=scene.project.environment, capture_output=True, check=False
            )
            if done.returncode != -signal.SIGKILL:
                break
            kills[f"`loop {command[0]}` at {call}"] += 1
            assert scene.run("loop", "check").exit_code == 0
            if len(scene.replayed().tasks) == 5:
                break  # it had been recorded
            assert scene.replayed().tasks == ()
    assert scene.run("doctor", "--fix").exit_code == 0
    assert list(scene.project.own.rglob(".*.tmp")) == []
    count(kills=kills.total(), **kills)


def killing(call, number):
    inject = f"inject={call}:signal=SIGKILL:when={number}"
    return ("strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject)


def killed_at(scene, call, number):
    """Whether the driver made so many of these calls, and died of the last."""
    worker = scene.start(*killing(call, number))
    worker.communicate(timeout=500)
    assert worker.returncode in (0, -signal.SIGKILL)
    return worker.returncode != 0


@pytest.mark.parametrize("seed", range(10 if EVERY else 2))
def test_a_loop_that_is_killed_at_random_moments_is_finished(scene, count, seed):
    """Twenty kills for each seed: of the driver, of its processes, or of both."""
    dice = random.Random(seed)
    wanted, kills, here, resumed, loops = 20, Counter(), 0, 0, 1
    while kills.total() < wanted:
        worker = scene.start()
        while kills.total() < wanted:
            try:
                worker.wait(timeout=dice.uniform(0.02, 0.4))
                break
            except subprocess.TimeoutExpired:
                victim = dice.choice(VICTIMS)
            if victim == "agent" and not meets_an_agent(scene, worker):
                break
            kill(scene, worker, victim)
            kills[victim] += 1
            here += 1
            if victim != "agent":
                break
        worker.communicate(timeout=500)
        resumed += 1
        if worker.returncode == 0 and kills.total() < wanted:
            scene.check_the_loop({"at random": here})
            scene.new_loop()
            here, loops = 0, loops + 1
    scene.finish()
    scene.check_the_loop({"at random": here})
    scene.check_the_project()
    count(
        kills=kills.total(), resumed=resumed, loops=loops, **{f"{victim} at random": kills[victim] for victim in kills}
    )


def meets_an_agent(scene, worker):
    """Wait until something runs in a sandbox, or the worker is done."""
    while worker.poll() is None:
        if scene.at_work():
            return True
    return False

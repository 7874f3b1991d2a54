"""Clocks that jump, by libfaketime: times stay valid and never decrease, budgets count working time."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

import pytest

from loopwright.loop import log
from loopwright.loop.model import Spent

pytestmark = [pytest.mark.faults, pytest.mark.needs("libfaketime")]
# More than a busy machine needs, and less than any jump of the clock.
AN_HOUR_S = 3600
STAMP = re.compile(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture
def clock(scene, faketime_library):
    """A file that says how wrong the clock is; the clock that measures how long things take is right."""
    path = scene.folder / "clock"
    path.write_text("+0\n")
    # The library takes `clock_nanosleep` for a sleep until a moment of the clock that it fakes (EINVAL): not a sleep of
    # ours is wrong, but its own.
    (scene.folder / "sitecustomize.py").write_text(
        "import select, time\ntime.sleep = lambda s: select.select([], [], [], s) and None\n"
    )
    scene.project.environment |= {
        "PYTHONPATH": str(scene.folder),
        "LD_PRELOAD": faketime_library,
        "FAKETIME_TIMESTAMP_FILE": str(path),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    return path


def check_the_times(scene):
    loop = scene.replayed()
    moments = [line.at for _, line in log.lines(scene.files["events"])]
    assert moments == sorted(moments), "a log is in the order of its times"
    assert loop.updated_at == moments[-1]
    assert loop.created_at == moments[0]
    document = scene.document()
    for name in ("created_at", "updated_at", "completed_at"):
        assert STAMP.fullmatch(document[name])
        datetime.fromisoformat(document[name])
    assert 0 <= loop.spent.wall_s < AN_HOUR_S, "what was worked is counted, not what the clock says"
    for path in (scene.project.own / "runs").iterdir():
        assert 0 <= scene.project.evidence(path.name)["duration_s"] < AN_HOUR_S


@pytest.mark.parametrize("jumps", [("+10y", "-1d", "+3y", "-2d"), ("-1d", "-20y", "+5y", "+0")])
def test_a_clock_that_jumps_during_every_action_changes_nothing(scene, clock, count, jumps):
    for role, jump in zip(("planner", "builder", "tests", "debugger"), jumps, strict=True):
        scene.let(role, f"echo '{jump}' > {clock}")
    made = scene.run("loop", "resume", scene.loop_id, "--wall", "50")
    assert made.exit_code == 1, "it was never started"
    done = scene.run("loop", "start", scene.loop_id)
    assert done.exit_code == 0, done.stdout + done.stderr
    check_the_times(scene)
    assert int(scene.replayed().updated_at[:4]) > datetime.now(UTC).year + 1, "the clock did jump"
    scene.check_the_end({})
    count(**{"clock jumps during actions": len(jumps)})


def test_a_clock_that_jumps_between_commands_makes_no_id_twice_and_no_loop_younger(scene, clock, count):
    ids = {scene.loop_id}
    for jump in ("-1d", "+10y", "+0", "-30y", "-1d", "+10y"):
        clock.write_text(f"{jump}\n")
        before = scene.replayed().updated_at
        assert scene.run("loop", "task", "add", scene.loop_id, f"at {jump}").exit_code == 0
        assert scene.replayed().updated_at >= before
        made = scene.run("loop", "new", "another", "--task", "t", "--json").json()
        assert made["loop_id"] not in ids
        ids.add(made["loop_id"])
    assert len(scene.run("loop", "list", "--json").json()["loops"]) == len(ids) == 7
    clock.write_text("-1d\n")
    scene.finish()
    check_the_times(scene)
    assert scene.run("loop", "check").exit_code == 0
    count(**{"clock jumps between commands": 7})


def test_a_clock_that_jumps_after_a_worker_died_does_not_prevent_a_resume(scene, clock, count):
    scene.meet("builder")
    worker = scene.start()
    scene.wait_to_meet("builder", worker)
    worker.kill()
    worker.communicate()
    clock.write_text("-400d\n")
    scene.finish()
    check_the_times(scene)
    scene.check_the_end({"develop": 1})
    count(**{"clock jumps between commands": 1})


def test_years_that_only_the_clock_saw_do_not_end_a_short_pause_and_cost_nothing(scene, clock, count):
    """The pause may last a minute, the budget a few seconds: a clock jump ends neither."""
    go = scene.folder / "go"
    scene.let("builder", f"touch {go}.at; until [ -e {go} ]; do sleep 0.02; done")
    worker = scene.start()
    while not (scene.folder / "go.at").exists():
        assert worker.poll() is None, worker.communicate()
        time.sleep(0.01)
    assert scene.run("loop", "pause", scene.loop_id).exit_code == 0
    clock.write_text("+10y\n")
    assert scene.run("loop", "show", scene.loop_id, "--json").json()["status"] == "paused"
    go.touch()
    assert scene.run("loop", "resume", scene.loop_id).exit_code == 0
    worker.communicate(timeout=500)
    assert worker.returncode == 0, scene.run("loop", "show", scene.loop_id).stdout
    check_the_times(scene)
    assert scene.replayed().spent == Spent(usd=1.0, tokens=40, turns=4, wall_s=scene.replayed().spent.wall_s), (
        "the turn that was frozen is the one that ended"
    )
    scene.check_the_end({})
    count(**{"clock jumps during a pause": 1})

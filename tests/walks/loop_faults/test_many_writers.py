"""Many writers of one loop, by the command line and by the library, in processes and in threads: no update is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

from loopwright.loop import events as e
from loopwright.loop import log
from loopwright.loop.model import Held, Spent
from loopwright.loop.store import LoopStore
from loopwright.wiring.build import build_context

pytestmark = pytest.mark.faults
COMMANDS, THREADS, PROCESSES = 30, 40, 30

WRITER = """\
import sys
from pathlib import Path
from loopwright.verbs.loop.tasks import TaskRequest, add_task
from loopwright.wiring.build import build_context
add_task(build_context(Path(sys.argv[1]), {}), sys.argv[2], TaskRequest(description=f"by process {sys.argv[3]}"))
"""

# Prints each acknowledged command, with its revision.
CLIENT = """\
import json, sys
from pathlib import Path
from loopwright.errors import LoopRefused
from loopwright.verbs.loop.control import pause, resume
from loopwright.wiring.build import build_context
context = build_context(Path(sys.argv[1]), {})
for number in range(500):
    for name, move in (("pause", pause), ("resume", resume)):
        try:
            loop = move(context, sys.argv[2])
        except LoopRefused:
            continue
        print(json.dumps([loop.revision, name]))
"""


def python(scene, code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, str(scene.project.root), scene.loop_id, *arguments], cwd=scene.project.root,
        env=scene.project.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_of_a_hundred_writers_no_update_is_lost(scene, count):
    context = build_context(scene.project.root, {})

    def count_a_token(number):
        with LoopStore(context.layout, context.clock).changing(scene.loop_id) as opened:
            opened.apply(e.CostCounted(spent=Spent(tokens=1)), f"thread {number}")

    add = ("loop", "task", "add", scene.loop_id)
    threads = [threading.Thread(target=count_a_token, args=(number,)) for number in range(THREADS)]
    children = [
        subprocess.Popen(scene.project.command(*add, f"by command {number}"), cwd=scene.project.root,
                         env=scene.project.environment, stdout=subprocess.PIPE, text=True)
        for number in range(COMMANDS)
    ] + [python(scene, WRITER, str(number)) for number in range(PROCESSES)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for child in children:
        child.communicate()
    assert [child.returncode for child in children] == [0] * (COMMANDS + PROCESSES)
    loop = scene.replayed()
    assert loop.spent.tokens == THREADS
    assert {task.description for task in loop.tasks} == {
        *(f"by command {number}" for number in range(COMMANDS)),
        *(f"by process {number}" for number in range(PROCESSES)),
    }
    assert len({task.id for task in loop.tasks}) == len(loop.tasks)
    assert loop.revision == 1 + COMMANDS + THREADS + PROCESSES
    assert json.loads(scene.files["state"].read_bytes()) == scene.document()
    assert scene.run("loop", "check", scene.loop_id).exit_code == 0
    count(**{"writers at once": COMMANDS + THREADS + PROCESSES})


def test_after_a_thousand_pauses_and_resumes_by_two_clients_the_last_acknowledged_one_counts(scene, count):
    context = build_context(scene.project.root, {})
    with LoopStore(context.layout, context.clock).changing(scene.loop_id) as opened:
        opened.apply(e.LoopStarted(), "ann")
    clients = [python(scene, CLIENT) for _ in range(2)]
    said = [json.loads(line) for client in clients for line in client.communicate()[0].splitlines()]
    assert [client.returncode for client in clients] == [0, 0]
    moves = {"hold.placed": "pause", "hold.lifted": "resume", "loop.started": "resume"}
    led_to = {
        line.revision: moves.get(line.events[0].__struct_config__.tag) for _, line in log.lines(scene.files["events"])
    }
    assert all(led_to[revision] == move for revision, move in said), "what was acknowledged is what happened"
    pauses = [revision for revision, move in said if move == "pause"]
    assert sorted(pauses) == [revision for revision, move in led_to.items() if move == "pause"], "one line for each"
    # A resume of a running loop changes nothing, so the revision stays.
    assert {revision for revision, move in led_to.items() if move == "resume"} - {2} <= {one for one, _ in said}
    last = dict(said)[max(led_to)]
    assert isinstance(scene.replayed().phase, Held) is (last == "pause")
    shown = scene.run("loop", "show", scene.loop_id, "--json").json()
    assert shown["status"] == ("paused" if last == "pause" else "running")
    assert len(said) >= 1000
    count(**{"pauses and resumes tried": 2000, "pauses and resumes acknowledged": len(said)})

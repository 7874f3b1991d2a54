"""A loop of version 1 (driven to its end, retried, steered, paused) must always load."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopwright.kernel import codec
from loopwright.loop import log
from loopwright.loop.log import decode_head, encode_head
from loopwright.loop.model import Holder
from loopwright.loop.outside import tasks_of
from loopwright.loop.projection import document_of, task_line
from loopwright.loop.store import LoopStore
from loopwright.workspace.layout import Flavour, Layout

GOLDENS = Path(__file__).resolve().parent.parent / "goldens" / "v1" / "loops"
LOOP = "loop-v2-20261115-r25tv7"
HEAD = f".{LOOP}.head.json"
FILES = (f"{LOOP}.json", f"{LOOP}.events.ndjson", f"{LOOP}.tasks.jsonl")


@pytest.fixture
def layout(tmp_path):
    made = Layout(tmp_path, Flavour.UNIFIED, tmp_path)
    shutil.copytree(GOLDENS, made.loops)
    return made


def golden(name):
    return (GOLDENS / name).read_bytes()


def test_the_log_alone_gives_the_state_of_the_head():
    head = decode_head(golden(HEAD))
    replayed = log.replay(GOLDENS / f"{LOOP}.events.ndjson")
    assert head is not None
    assert (replayed.damage, replayed.sound_bytes, replayed.last_line) == (None, head.log_bytes, head.last_line)
    assert replayed.state == head.loop


def says_at_least(now, then):
    """Whether the new document contains every field of the old one, with equal values."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(name in now and says_at_least(now[name], then[name]) for name in then)
    if isinstance(then, list):
        return len(now) == len(then) and all(map(says_at_least, now, then))
    return now == then


def projected(loop):
    """The files as this version writes them."""
    tasks = b"".join(codec.to_json_line(task_line(loop, task)) for task in loop.tasks)
    return {f"{LOOP}.json": codec.to_json(document_of(loop)), f"{LOOP}.tasks.jsonl": tasks}


def head_of(data):
    return json.loads(data.partition(b"\n")[2])


def test_new_files_keep_every_old_field_and_the_projections_are_equal():
    head = decode_head(golden(HEAD))
    assert says_at_least(head_of(encode_head(head)), head_of(golden(HEAD)))
    now, then = json.loads(codec.to_json(document_of(head.loop))), json.loads(golden(f"{LOOP}.json"))
    # Version 1 took an agent's word for it that a task is done; no test ran after these tasks.
    for document in (now, then):
        develop = document["skill_state"]["develop"]
        assert develop.pop("completed") == sum(task["status"] == "completed" for task in develop["tasks"])
        for task in develop["tasks"]:
            task |= {"status": "", "completed_at": ""}
            task.pop("loopwright", None)
    assert now == then
    lines = golden(f"{LOOP}.tasks.jsonl").splitlines()
    assert tasks_of([json.loads(line) for line in lines]) == head.loop.tasks
    assert tasks_of([json.loads(line) for line in projected(head.loop)[f"{LOOP}.tasks.jsonl"].splitlines()]) == (
        head.loop.tasks
    )
    lines = golden(f"{LOOP}.events.ndjson").splitlines(keepends=True)
    for line in lines:
        assert says_at_least(json.loads(codec.to_json_line(codec.from_json(line, log.Line))), json.loads(line))


@pytest.mark.parametrize("lost", [None, HEAD, f"{LOOP}.json"])
def test_the_loop_loads_unchanged_even_if_a_file_is_lost(layout, lost):
    if lost is not None:
        (layout.loops / lost).unlink()
    loop = LoopStore(layout, lambda: datetime.now(UTC)).load(LOOP)
    assert [task.id for task in loop.tasks] == ["T-2", "T-1", "F-1"]
    assert {hold.holder for hold in loop.phase.holds} == {Holder.OPERATOR}
    assert (loop.attempt, loop.budget.usd) == (2, 20)
    # No file counts as an external edit, and the lost files exist again.
    then = {name: golden(name) for name in FILES}
    if lost is not None:
        then |= projected(loop)
    assert {name: (layout.loops / name).read_bytes() for name in FILES} == then
    head = decode_head((layout.loops / HEAD).read_bytes())
    assert head.loop == decode_head(golden(HEAD)).loop

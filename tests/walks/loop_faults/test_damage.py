"""Damaged files of a loop are kept, and restored or refused as the contract says, never with a traceback."""

from __future__ import annotations

import json
import random

import pytest

from loopwright.errors import LoopwrightError
from loopwright.loop import log
from loopwright.loop.projection import document_of
from loopwright.loop.store import LoopStore
from loopwright.wiring.build import build_context

pytestmark = pytest.mark.faults

LOOKS = (
    ("loop", "show"),
    ("loop", "list"),
    ("loop", "check"),
    ("loop", "check", "--fix"),
    ("loop", "resume", "--no-start"),
)


@pytest.fixture
def damaged(scene):
    """A paused loop with a history, and the original contents of its files."""
    scene.meet("tests")
    worker = scene.start()
    scene.wait_to_meet("tests", worker)
    assert scene.run("loop", "pause", scene.loop_id).exit_code == 0
    scene.kill([worker.pid])
    worker.communicate()
    assert scene.run("doctor", "--fix").exit_code == 0
    before = {name: path.read_bytes() for name, path in scene.files.items()}
    document = scene.document()

    class Damaged:
        loop_id, files, good = scene.loop_id, scene.files, before

        def damage(self, name, data):
            for other, path in scene.files.items():
                path.write_bytes(before[other])
            for aside in scene.files["state"].parent.glob("*.damaged-*"):
                aside.unlink()
            if data is None:
                scene.files[name].unlink()
            else:
                scene.files[name].write_bytes(data)

        def kept(self, name):
            path = scene.files[name]
            return [aside.read_bytes() for aside in path.parent.glob(f"{path.name}.*-*")]

        def look(self, *arguments):
            names = [] if arguments[1] == "list" else [scene.loop_id]
            done = scene.run(*arguments[:2], *names, *arguments[2:])
            assert done.exit_code in (0, 1, 11), done.stderr
            assert done.exit_code != 1 or done.stdout or "→" in done.stderr, "an error says what to do"
            return done

        def is_whole(self):
            """By the log's word nothing is lost; the last look may have lifted the pause."""
            found = log.replay(scene.files["events"])
            assert found.damage is None
            now = json.loads(json.dumps(document_of(found.state)))
            assert json.loads(scene.files["state"].read_bytes()) == now
            same = ("loop_id", "title", "description", "max_iterations", "current_iteration", "created_at")
            assert {name: now[name] for name in same} == {name: document[name] for name in same}
            assert now["skill_state"]["develop"] == document["skill_state"]["develop"]
            assert now["skill_state"]["validate"] == document["skill_state"]["validate"]
            return now

        def finish(self):
            scene.finish()
            scene.check_the_project()

        def store(self):
            context = build_context(scene.project.root, {})
            return LoopStore(context.layout, context.clock)

    return Damaged()


def test_a_state_file_cut_at_any_length_is_kept_and_restored(damaged, count):
    good = damaged.good["state"]
    store = damaged.store()
    lengths = range(0, len(good) - 1, 9)
    for length in lengths:
        damaged.damage("state", good[:length])
        store.load(damaged.loop_id)
        assert damaged.files["state"].read_bytes() == good
        assert damaged.kept("state") == [good[:length]]
    for length in (0, 1, len(good) // 2):
        damaged.damage("state", good[:length])
        for look in LOOKS:
            damaged.look(*look)
        assert damaged.kept("state") == [good[:length]]
    damaged.is_whole()
    damaged.finish()
    count(**{"state files cut short": len(lengths) + 3})


def json_of(data):
    try:
        return json.loads(data)
    except ValueError:
        return {}


def test_any_flipped_bit_of_the_state_file_is_taken_as_an_edit_or_kept_aside(damaged, count):
    """Most flips break the JSON or change a protected field; a changed text or number may count as an edit."""
    good, store, dice = damaged.good["state"], damaged.store(), random.Random(1)
    before = store.load(damaged.loop_id)
    restored = refused = taken = 0
    places = range(0, len(good), 5)
    for place in places:
        bad = bytearray(good)
        bad[place] ^= 1 << dice.randrange(8)
        damaged.damage("state", bytes(bad))
        if json_of(bad).get("loopwright", {}).get("schema", 1) != 1:
            continue  # of all fields the version can't be taken for anything else
        after = store.load(damaged.loop_id)
        replayed = log.replay(damaged.files["events"])
        assert (replayed.damage, replayed.state) == (None, after)
        assert damaged.files["events"].read_bytes().startswith(damaged.good["events"]), "the history stays"
        if after == before:
            restored += 1
        elif "was refused" in (after.errors[-1].message if after.errors else ""):
            refused += 1
        else:
            taken += 1
            continue
        assert damaged.kept("state") in ([bytes(bad)], []) if after == before else damaged.kept("state") == [bytes(bad)]
        assert (after.tasks, after.phase, after.validation) == (before.tasks, before.phase, before.validation)
    assert restored > 30
    assert refused > 30
    for place in range(0, len(good), len(good) // 6):
        bad = bytearray(good)
        bad[place] ^= 4
        damaged.damage("state", bytes(bad))
        for look in LOOKS[:4]:
            damaged.look(*look)
    count(
        **{
            "flipped bits of state files": len(places),
            "flipped bits of state files: restored": restored,
            "flipped bits of state files: kept aside": refused,
            "flipped bits of state files: taken as an edit": taken,
        }
    )


def test_an_invalid_state_file_is_restored(damaged, count):
    bad = (b"", b"\0" * 1000, b"[]", b"null", b'"x"', b"{}", b"[" * 100_000, b"\xff\xfe{}", None)
    for data in bad:
        damaged.damage("state", data)
        assert damaged.look("loop", "show", "--json").json()["status"] == "paused"
        assert damaged.kept("state") == ([] if data is None else [data])
        for look in LOOKS[1:4]:
            damaged.look(*look)
        damaged.is_whole()
    damaged.finish()
    count(**{"invalid state files": len(bad)})


@pytest.mark.parametrize(("schema", "with_log"), [(2, True), (10**30, False)])
def test_files_of_a_newer_version_are_refused_and_left_alone(damaged, schema, with_log):
    document = json.loads(damaged.good["state"])
    document["loopwright"]["schema"] = schema
    damaged.damage("state", json.dumps(document).encode())
    if with_log:
        damaged.files["events"].write_bytes(damaged.good["events"] + b'{"revision": 99, "kind": "of tomorrow"}\n')
    before = {name: path.read_bytes() for name, path in damaged.files.items()}
    for look in (
        ("loop", "show"),
        ("loop", "resume"),
        ("loop", "check"),
        ("loop", "check", "--fix"),
        ("loop", "pause"),
    ):
        done = damaged.look(*look)
        assert done.exit_code == 1
        assert "newer loopwright" in done.stdout + done.stderr or look == ("loop", "check")
    assert {name: path.read_bytes() for name, path in damaged.files.items()} == before


BAD_LINES = {
    "no JSON": b"not json\n", "a number": b"5\n", "a list": b"[]\n", "no task": b'{"id": 7}\n', "twice": None,
    "deep": b"[" * 100_000 + b"\n", "no UTF-8": b"\xff\xfe\n", "zeroed": b"\0\0\0\n",
}  # fmt: skip


def test_a_bad_line_in_the_task_list_is_named_and_the_list_is_restored(damaged, count):
    good = damaged.good["tasks"]
    for bad in BAD_LINES.values():
        damaged.damage("tasks", good + (good if bad is None else bad))
        found = damaged.look("loop", "check")
        assert found.exit_code == 1
        assert "tasks.jsonl" in found.stdout
        assert damaged.look("loop", "show").exit_code == 0
        assert damaged.look("loop", "check", "--fix").exit_code == 0
        assert damaged.files["tasks"].read_bytes() == good
        assert damaged.kept("tasks") == [good + (good if bad is None else bad)]
    damaged.finish()
    count(**{"task lists with a bad line": len(BAD_LINES)})


@pytest.mark.parametrize("bad", [b"not json\n", b"5\n", b'{"id": [1], "description": "x"}\n', b"{" * 50_000 + b"\n"])
def test_a_bad_line_in_a_file_to_import_is_named(scene, bad):
    (scene.project.root / "more.jsonl").write_bytes(
        b'{"id": "A", "description": "fine"}\n' + b"{" * (bad[:1] != b"{") + bad
    )
    done = scene.run("loop", "task", "import", scene.loop_id, "more.jsonl")
    assert done.exit_code == 2
    assert "more.jsonl" in done.stderr
    assert scene.replayed().tasks == ()


def test_unusual_line_separators_do_not_end_a_line_of_the_task_list(scene):
    for text in ("a\u2028b", "c\x85d", "e\x0bf"):
        assert scene.run("loop", "task", "add", scene.loop_id, text).exit_code == 0
    assert scene.run("loop", "check", scene.loop_id).exit_code == 0
    for name in ("events", "head", "state"):
        scene.files[name].unlink()
    scene.files["state"].write_text("{")
    assert scene.run("loop", "check", scene.loop_id, "--fix").exit_code == 0
    assert [task.description for task in scene.replayed().tasks] == ["a\u2028b", "c\x85d", "e\x0bf"]


HEADS = {
    "missing": lambda _: None, "empty": lambda _: b"", "zeroed": lambda data: b"\0" * len(data),
    "cut": lambda data: data[: len(data) // 2], "longer": lambda data: data + b"x", "none of ours": lambda _: b"{}",
    "flipped": lambda data: data.replace(b'"log_bytes":', b'"log_bytes": 1'),
}  # fmt: skip


def test_a_damaged_head_says_nothing_and_is_restored(damaged, count):
    before = damaged.look("loop", "show", "--json").stdout
    for how in HEADS.values():
        damaged.damage("head", how(damaged.good["head"]))
        assert damaged.look("loop", "show", "--json").stdout == before
        assert damaged.files["head"].read_bytes() == damaged.good["head"]
        assert damaged.files["state"].read_bytes() == damaged.good["state"]
    damaged.finish()
    count(**{"damaged heads": len(HEADS)})


def test_heads_and_state_files_of_any_earlier_moment_are_brought_up_to_date(scene, count):
    """After a power cut the log is durable, but every other file may have any earlier version."""
    versions = []
    for number in range(6):
        versions.append({name: path.read_bytes() for name, path in scene.files.items() if name != "events"})
        assert scene.run("loop", "task", "add", scene.loop_id, f"t{number}").exit_code == 0
    last = {name: path.read_bytes() for name, path in scene.files.items()}
    store = LoopStore(build_context(scene.project.root, {}).layout, build_context(scene.project.root, {}).clock)
    tried = 0
    for state in versions:
        for head in [*(version["head"] for version in versions), b"", last["head"][:100]]:
            for tasks in (versions[0]["tasks"], b""):
                for name, data in {"state": state["state"], "head": head, "tasks": tasks}.items():
                    scene.files[name].write_bytes(data)
                store.load(scene.loop_id)
                assert {name: path.read_bytes() for name, path in scene.files.items()} == last
                tried += 1
    assert not list(scene.files["state"].parent.glob("*.damaged-*")), "our own writes don't count as edits"
    count(**{"old projections brought up to date": tried})


def test_a_log_that_is_cut_anywhere_is_refused_and_the_loop_continues_from_the_last_known_state(damaged, count):
    """Lines are durable before they are reported: a missing end was lost, and is never skipped."""
    good, store = damaged.good["events"], damaged.store()
    for length in range(0, len(good), 23):
        damaged.damage("events", good[:length])
        with pytest.raises(LoopwrightError) as problem:
            store.load(damaged.loop_id)
        assert "--fix" in problem.value.hint
        assert damaged.files["events"].read_bytes() == good[:length]
    for length in (None, 0, len(good) // 2, good.rindex(b"\n", 0, -1) + 1, len(good) - 1):
        damaged.damage("events", None if length is None else good[:length])
        assert damaged.look("loop", "show").stderr.startswith("DAMAGED_FILE: ")
        assert damaged.look("loop", "resume").exit_code == 1
        assert damaged.look("loop", "check").exit_code == 1
        damaged.look("loop", "list")
        assert "rebuilt from its last known state" in damaged.look("loop", "check", "--fix").stdout
        assert damaged.kept("events") == ([] if length is None else [good[:length]])
        damaged.is_whole()
    damaged.finish()
    count(**{"logs cut short": len(range(0, len(good), 23)) + 5})


def test_without_a_head_the_complete_lines_of_a_log_are_kept(damaged, count):
    good = damaged.good["events"]
    lines = good.splitlines(keepends=True)
    for whole in range(1, len(lines), 3):
        damaged.damage("events", b"".join(lines[:whole]) + lines[whole][: len(lines[whole]) // 2])
        damaged.files["head"].unlink()
        damaged.files["state"].unlink()
        damaged.look("loop", "show")
        assert damaged.files["events"].read_bytes() == b"".join(lines[:whole])
        assert lines[whole][: len(lines[whole]) // 2] in damaged.kept("events")
    count(**{"torn ends cut": len(range(1, len(lines), 3))})


def test_any_flipped_bit_of_the_log_is_detected_and_later_lines_are_not_trusted(damaged, count):
    good, dice = damaged.good["events"], random.Random(2)
    path = damaged.files["events"]
    places = range(0, len(good), 7)
    for place in places:
        for bit in {dice.randrange(8), 5}:
            bad = bytearray(good)
            bad[place] ^= 1 << bit
            path.write_bytes(bytes(bad))
            found = log.replay(path)
            last_line = place > good.rindex(b"\n", 0, -1)
            assert last_line or (found.damage is not None and not found.is_torn), bytes(bad)[place - 20 : place + 20]
            assert found.sound_bytes <= place or last_line
    for place in (10, len(good) // 2, good.index(b"-", len(good) // 3), len(good) - 20):
        bad = bytearray(good)
        bad[place] ^= 0x20
        damaged.damage("events", bytes(bad))
        assert damaged.look("loop", "check").exit_code == 1
        assert "rebuilt from its last known state" in damaged.look("loop", "check", "--fix").stdout
        assert damaged.kept("events") == [bytes(bad)]
        damaged.is_whole()
        if place == len(good) - 20:
            break  # only the head knows the last line
        damaged.damage("events", bytes(bad))
        damaged.files["head"].unlink()
        assert damaged.look("loop", "show").stderr.startswith("DAMAGED_FILE: ")
        damaged.look("loop", "check", "--fix")
        assert damaged.look("loop", "show").exit_code == 0
    count(**{"flipped bits of logs": len(places) * 2 + 7})


def test_a_loop_without_any_files_does_not_prevent_the_repair_of_others(scene):
    lost = scene.files["events"].with_name("loop-v2-20260101-aaaaaa.events.ndjson")
    lost.write_bytes(b"")
    scene.files["head"].unlink()
    scene.files["tasks"].write_text("no list\n")
    done = scene.run("loop", "check", "--fix", "--json").json()
    found = {one["loop_id"]: one for one in done["loops"]}
    assert found[scene.loop_id]["problems"] == []
    assert "no file is left" in found["loop-v2-20260101-aaaaaa"]["problems"][-1]
    assert lost.exists()

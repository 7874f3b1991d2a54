"""`loopwright loop`: made, steered and looked at from the command line, by several at once, on damaged files."""

from __future__ import annotations

import json

import pytest

from loopwright.loop import events as e
from loopwright.loop.store import LoopStore
from loopwright.wiring.build import build_context


@pytest.fixture
def loop_id(project):
    return project.run("loop", "new", "a goal", "--task", "one", "--task", "two", "--json").json()["loop_id"]


def run(project, *arguments, code=0):
    done = project.run("loop", *arguments)
    assert done.exit_code == code, done.stdout + done.stderr
    return done


def shown(project, loop_id):
    return run(project, "show", loop_id, "--json").json()


def files(project, loop_id):
    folder = project.own / "loops"
    return folder / f"{loop_id}.json", folder / f"{loop_id}.events.ndjson", folder / f".{loop_id}.head.json"


def store(project):
    context = build_context(project.root, {})
    return LoopStore(context.layout, context.clock)


def start(project, loop_id):
    with store(project).changing(loop_id) as opened:
        opened.apply(e.LoopStarted(), "test")


def test_a_new_loop_has_the_contracts_shape_and_a_telling_id(project, loop_id):
    document = json.loads(files(project, loop_id)[0].read_text())
    assert loop_id.startswith("loop-v2-2")
    assert len(loop_id) == len("loop-v2-20260101-abcdef")
    wanted = {"loop_id", "title", "description", "max_iterations", "status", "current_iteration", "created_at",
              "updated_at", "loopwright"}  # fmt: skip
    assert set(document) == wanted
    assert document["status"] == "created"
    start(project, loop_id)
    skill = json.loads(files(project, loop_id)[0].read_text())["skill_state"]
    assert set(skill) == {
        "current_action",
        "last_action",
        "completed_actions",
        "mode",
        "develop",
        "debug",
        "validate",
        "errors",
    }
    assert set(skill["develop"]["tasks"][0]) == {"id", "description", "tool", "mode", "status", "files_changed",
                                                 "created_at", "completed_at"}  # fmt: skip
    lines = (project.own / "loops" / f"{loop_id}.tasks.jsonl").read_text().splitlines()
    assert [json.loads(line)["description"] for line in lines] == ["one", "two"]


def test_a_persons_commands_are_accepted_or_refused_by_status(project, loop_id):
    refused = run(project, "pause", loop_id, code=1)
    assert refused.stderr.startswith("LOOP_REFUSED: ")
    assert "is created" in refused.stderr
    assert f"`loopwright loop start {loop_id}` or `loopwright loop stop {loop_id}`" in refused.stderr
    start(project, loop_id)
    assert shown(project, loop_id)["status"] == "running"
    run(project, "pause", loop_id)
    assert "held by operator" in run(project, "show", loop_id).stdout
    assert run(project, "pause", loop_id, code=1).stderr.startswith("LOOP_REFUSED: ")
    run(project, "resume", loop_id, "--no-start")
    run(project, "stop", loop_id)
    assert shown(project, loop_id)["failure_reason"].startswith("stopped by ")
    run(project, "retry", loop_id, "--max-iterations", "3")
    assert shown(project, loop_id)["loopwright"]["attempt"] == 2
    run(project, "complete", loop_id, "--reason", "done by hand")
    assert shown(project, loop_id)["loopwright"]["forced"] == "done by hand"
    assert [loop["status"] for loop in run(project, "list", "--json").json()["loops"]] == ["completed"]
    kinds = [
        event["kind"]
        for line in run(project, "logs", loop_id, "--json").stdout.splitlines()
        for event in json.loads(line)["events"]
    ]
    assert kinds[-2:] == ["loop.retried", "loop.completed"]


def test_tasks_are_added_edited_ordered_and_imported(project, loop_id):
    run(project, "task", "add", loop_id, "three", "--tool", "qwen", "--before", "T-2")
    run(project, "task", "edit", loop_id, "T-1", "--description", "first", "--mode", "analysis")
    run(project, "task", "order", loop_id, "T-2", "T-1")
    run(project, "task", "done", loop_id, "T-2")
    run(project, "task", "remove", loop_id, "T-3")
    project.write(
        "more.jsonl",
        '{"id": "M-1", "description": "from a file", "tool": "claude", "mine": [1]}\n- [ ] a line of text\n',
    )
    run(project, "task", "import", loop_id, "more.jsonl")
    start(project, loop_id)
    tasks = shown(project, loop_id)["skill_state"]["develop"]["tasks"]
    assert [(task["id"], task["description"], task["status"]) for task in tasks] == [
        ("T-2", "two", "completed"), ("T-1", "first", "pending"), ("M-1", "from a file", "pending"),
        ("T-3", "a line of text", "pending"),
    ]  # fmt: skip
    assert tasks[2]["mine"] == [1], "what we do not know is kept"


def test_a_line_of_text_is_a_task_for_the_loops_agent_and_no_command(project):
    loop_id = run(project, "new", "a goal", "--agent", "mine", "--json").json()["loop_id"]
    project.write("more.txt", "tidy up\n")
    run(project, "task", "import", loop_id, "more.txt")
    listed = (project.own / "loops" / f"{loop_id}.tasks.jsonl").read_text()
    assert json.loads(listed)["tool"] == "mine"


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "x"\n',
        '{"id": "A", "description": 7}\n',
        '{"id": "T-1", "description": "x"}\n',
        '{"id":"A"}\n{"id":"A"}\n',
    ],
)
def test_an_import_is_whole_or_not_at_all(project, loop_id, text):
    project.write("bad.jsonl", '{"id": "fine", "description": "fine"}\n' + text)
    before = files(project, loop_id)[1].read_bytes()
    assert project.run("loop", "task", "import", loop_id, "bad.jsonl").exit_code in (1, 2)
    assert files(project, loop_id)[1].read_bytes() == before


def test_a_secret_that_a_person_types_is_refused_and_reaches_no_file(project, loop_id):
    from loopwright.redaction.examples import expand

    token = expand("ghp_<alnum:36>", 8)
    start(project, loop_id)
    project.write("secret.jsonl", f'{{"description": "x", "their_key": "use {token}"}}\n')
    for command in (
        ("new", f"with {token}"), ("new", "x", "--description", token), ("new", "x", "--task", token),
        ("new", "x", "--tag", token), ("task", "add", loop_id, f"use {token}"),
        ("task", "edit", loop_id, "T-1", "--description", f"use {token}"), ("task", "import", loop_id, "secret.jsonl"),
        ("complete", loop_id, "--reason", f"{token} works"),
    ):  # fmt: skip
        refused = run(project, *command, code=99)
        assert refused.stderr.startswith("SECRET_LEAK: ")
        assert token not in refused.stderr
    assert len(run(project, "list", "--json").json()["loops"]) == 1
    kept = b"".join(path.read_bytes() for path in project.own.rglob("*") if path.is_file())
    assert token.encode() not in kept


@pytest.mark.parametrize(
    "command",
    [
        ("new", " "), ("new", "x", "--task", ""), ("new", "x", "--usd", "nan"), ("new", "x", "--wall", "inf"),
        ("new", "not utf-8: \udcff"), ("task", "add", "LOOP", ""), ("task", "add", "LOOP", "not utf-8: \udcff"),
        ("task", "edit", "LOOP", "T-1", "--description", " "),
    ],
)  # fmt: skip
def test_empty_or_unwritable_values_are_wrong_usage(project, loop_id, command):
    refused = run(project, *(loop_id if word == "LOOP" else word for word in command), code=2)
    assert refused.stderr.startswith("WRONG_USAGE: ")
    assert len(run(project, "list", "--json").json()["loops"]) == 1


def test_a_title_with_line_breaks_is_one_line_of_the_list(project):
    run(project, "new", "one\ntwo")
    assert len(run(project, "list").stdout.splitlines()) == 1


def test_an_old_revision_is_a_conflict(project, loop_id):
    start(project, loop_id)
    revision = shown(project, loop_id)["loopwright"]["revision"]
    run(project, "pause", loop_id, "--revision", str(revision))
    late = run(project, "stop", loop_id, "--revision", str(revision), code=1)
    assert late.stderr.startswith("LOOP_CONFLICT: ")
    assert shown(project, loop_id)["status"] == "paused"


def test_more_budget_for_a_loop_that_can_not_be_resumed_changes_nothing(project, loop_id):
    before = files(project, loop_id)[1].read_bytes()
    assert run(project, "resume", loop_id, "--usd", "20", code=1).stderr.startswith("LOOP_REFUSED: ")
    assert files(project, loop_id)[1].read_bytes() == before


def test_an_unknown_loop_is_named_and_the_end_of_an_id_is_enough(project, loop_id):
    assert run(project, "show", "unknown", code=1).stderr.startswith("UNKNOWN_LOOP: ")
    assert run(project, "show", "../../x", code=1).stderr.startswith("UNKNOWN_LOOP: ")
    assert shown(project, loop_id[-6:])["loop_id"] == loop_id


def test_an_edit_of_which_a_part_is_refused_is_not_taken_in_part(project, loop_id):
    start(project, loop_id)
    before = shown(project, loop_id)["skill_state"]["develop"]

    def change(document):
        document["skill_state"]["develop"]["tasks"][0]["status"] = "completed"
        document["status"] = "completed"

    edit(project, loop_id, change)
    after = shown(project, loop_id)
    assert after["status"] == "running"
    assert after["skill_state"]["develop"] == before
    assert "validation" in after["skill_state"]["errors"][0]["message"]


DAMAGE = {
    "truncated": lambda data: data[: len(data) // 2],
    "zeroed": lambda data: b"\0" * len(data),
    "empty": lambda data: b"",
    "flipped": lambda data: data.replace(b'"status"', b'"st\xff\xfetus"'),
    "a list": lambda data: b"[]",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_state_file_is_set_aside_and_restored(project, loop_id, damage):
    path = files(project, loop_id)[0]
    good = path.read_bytes()
    path.write_bytes(damage(good))
    bad = path.read_bytes()
    assert shown(project, loop_id)["status"] == "created"
    assert json.loads(path.read_bytes()) == json.loads(good)
    assert [aside.read_bytes() for aside in path.parent.glob(f"{path.name}.damaged-*")] == [bad]


@pytest.mark.parametrize("which", [0, 2], ids=["state", "head"])
def test_a_missing_projection_is_restored(project, loop_id, which):
    before = shown(project, loop_id)
    files(project, loop_id)[which].unlink()
    assert shown(project, loop_id) == before
    assert files(project, loop_id)[which].exists()


def test_a_file_from_the_future_is_refused_and_left_alone(project, loop_id):
    path = files(project, loop_id)[0]
    document = json.loads(path.read_text())
    document["loopwright"]["schema"] = 99
    path.write_text(json.dumps(document))
    before = path.read_bytes()
    done = run(project, "show", loop_id, code=1)
    assert done.stderr.startswith("DAMAGED_FILE: ")
    assert "newer loopwright" in done.stderr
    assert path.read_bytes() == before


def test_damage_inside_the_log_is_named_and_a_torn_end_is_cut(project, loop_id):
    state, events, head = files(project, loop_id)
    whole = events.read_bytes()
    events.write_bytes(whole + b'{"revision": 9')
    assert shown(project, loop_id)["loopwright"]["revision"] == 3
    assert events.read_bytes() == whole
    assert list(events.parent.glob(f"{events.name}.torn-*"))
    events.write_bytes(whole.replace(b'"one"', b'"0ne"') + b"\n")
    head.unlink()
    done = run(project, "show", loop_id, code=1)
    assert done.stderr.startswith("DAMAGED_FILE: ")
    assert "Traceback" not in done.stderr
    assert state.exists()


def edit(project, loop_id, change):
    path = files(project, loop_id)[0]
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, indent=2))


def test_another_tools_legal_edit_is_taken_in_and_its_keys_are_kept(project, loop_id):
    start(project, loop_id)

    def change(document):
        document["status"] = "paused"
        document["current_iteration"] += 1
        document["their_key"] = {"deep": [1, 2]}
        document["skill_state"]["develop"]["tasks"][0]["status"] = "completed"
        document["skill_state"]["their_skill_key"] = "x"
        for section in ("develop", "debug", "validate"):
            document["skill_state"][section]["theirs"] = section
        document["skill_state"]["validate"]["coverage"] = 55

    edit(project, loop_id, change)
    after = shown(project, loop_id)
    assert (after["status"], after["current_iteration"]) == ("paused", 1)
    assert after["their_key"] == {"deep": [1, 2]}
    assert after["skill_state"]["their_skill_key"] == "x"
    task = after["skill_state"]["develop"]["tasks"][0]
    assert (task["status"], bool(task["loopwright"]["worked_on_at"])) == ("in_progress", True), "nothing proves it"
    assert [after["skill_state"][one]["theirs"] for one in ("develop", "debug", "validate")] == [
        "develop", "debug", "validate"
    ]  # fmt: skip
    assert after["skill_state"]["validate"]["coverage"] == 55
    actors = {json.loads(line)["actor"] for line in run(project, "logs", loop_id, "--json").stdout.splitlines()}
    assert "outside" in actors


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("title", lambda document: document.update(title="another")),
        ("max_iterations", lambda document: document.update(max_iterations=99)),
        ("current_iteration", lambda document: document.update(current_iteration=7)),
        ("status", lambda document: document.update(status="created")),
        ("status: ", lambda document: document.update(status="completed")),
        ("completed_at", lambda document: document.update(completed_at="2026-01-01T00:00:00Z")),
        ("failure_reason", lambda document: document.update(failure_reason="none of ours")),
        ("updated_at", lambda document: document.update(updated_at=5)),
        ("loopwright.attempt", lambda document: document["loopwright"].update(attempt=5)),
        ("skill_state", lambda document: document["skill_state"]["develop"]["tasks"][0].update(status="odd")),
        ("skill_state.develop.tasks", lambda document: document["skill_state"]["develop"]["tasks"][0].update(id="")),
        ("skill_state.validate.coverage", lambda document: document["skill_state"]["validate"].update(coverage=900)),
    ],
)
def test_any_other_edit_is_kept_aside_with_an_error_that_names_the_field(project, loop_id, field, change):
    start(project, loop_id)
    before = shown(project, loop_id)
    edit(project, loop_id, change)
    after = shown(project, loop_id)
    assert {**after, "skill_state": None, "loopwright": None, "updated_at": None} == {
        **before, "skill_state": None, "loopwright": None, "updated_at": None
    }  # fmt: skip
    (error,) = after["skill_state"]["errors"]
    assert field in error["message"]
    assert list((project.own / "loops").glob(f"{loop_id}.json.damaged-*"))


def test_check_names_wrong_files_and_fix_restores_them(project, loop_id):
    assert run(project, "check").stdout.startswith(f"{loop_id}: no problems")
    events = files(project, loop_id)[1]
    whole = events.read_bytes()
    events.write_bytes(whole.replace(b'"one"', b'"0ne"'))
    found = run(project, "check", loop_id, code=1)
    assert "is damaged: its last line was changed" in found.stdout
    assert project.run("doctor").exit_code == 1
    assert "rebuilt from its last known state" in run(project, "check", loop_id, "--fix").stdout
    assert [task["description"] for task in _tasks_of(project, loop_id)] == ["one", "two"]
    assert list(events.parent.glob(f"{events.name}.damaged-*"))
    run(project, "check", loop_id)


def _tasks_of(project, loop_id):
    lines = (project.own / "loops" / f"{loop_id}.tasks.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("left", ["state", "tasks"])
def test_without_a_log_the_loop_is_rebuilt_from_its_projections_and_waits_for_a_person(project, loop_id, left):
    start(project, loop_id)
    state, events, head = files(project, loop_id)
    events.unlink()
    head.unlink()
    if left == "tasks":
        state.unlink()
        state.write_text("{")
    assert run(project, "show", loop_id, code=1).stderr.startswith("DAMAGED_FILE: ")
    run(project, "check", loop_id, "--fix")
    document = shown(project, loop_id)
    assert document["status"] == "paused"
    assert [hold["code"] for hold in document["loopwright"]["holds"]] == ["restored"]
    assert [task["description"] for task in document["skill_state"]["develop"]["tasks"]] == ["one", "two"]
    assert (document["title"] == "a goal") is (left == "state")


def test_a_bad_line_in_the_task_list_is_named_and_restored(project, loop_id):
    path = project.own / "loops" / f"{loop_id}.tasks.jsonl"
    path.write_text(path.read_text() + "not json\n")
    assert "tasks.jsonl is unreadable" in run(project, "check", loop_id, code=1).stdout
    run(project, "check", loop_id, "--fix")

"""The sandbox of a loop's tasks: which files stay for the next task, and which never do."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def loop_of(project):
    """A loop of these shell commands, driven to its end."""
    project.write(".gitignore", ".loopwright/\ncache/\n")
    project.commit("ignore")
    project.write(
        ".loopwright/config.toml",
        '[project]\nsource = ["**"]\n'
        """test_command = "test ! -e cache && test ! -e half && test -n \\"$(ls | grep -xE 'one|head')\\""\n"""
        '[run]\nmax_retries = 1\n[sandbox]\nisolation = "none"\n',
    )

    def made(*commands, code=0):
        lines = [json.dumps({"id": f"T-{n}", "description": text}) for n, text in enumerate(commands, start=1)]
        listed = project.write("../tasks.jsonl", "\n".join(lines))
        loop_id = project.run("loop", "new", "tasks", "--json").json()["loop_id"]
        assert project.run("loop", "task", "import", loop_id, str(listed)).exit_code == 0
        done = project.run("loop", "start", loop_id)
        assert done.exit_code == code, done.stdout + done.stderr
        return project.ask("loop", "show", loop_id)

    return made


def changed(document):
    return [(task["status"], task["files_changed"]) for task in document["skill_state"]["develop"]["tasks"]]


def test_ignored_files_stay_for_the_next_task_and_never_reach_the_tests(loop_of, project):
    document = loop_of("mkdir cache && echo built > cache/it && echo 1 > one", "cp cache/it two", code=14)
    assert changed(document) == [("completed", ["one"]), ("in_progress", ["two"])], "nothing proves the second task"
    assert document["skill_state"]["validate"]["passed"]
    assert list(project.sandboxes.iterdir()) == []


def test_a_failed_try_leaves_nothing_to_the_next(loop_of, project):
    counter = project.root.parent / "tries"
    flaky = f"test ! -e half || exit 9; echo x >> {counter}; echo 1 > half; test $(wc -l < {counter}) -ge 2 && rm half"
    document = loop_of("echo 1 > one", flaky, "test -e one && test ! -e half && echo 3 > three", code=14)
    assert counter.read_text() == "x\nx\n"
    assert changed(document) == [("completed", ["one"]), ("in_progress", []), ("in_progress", ["three"])]


def test_every_task_finds_a_repository_at_the_base_with_the_work_uncommitted(loop_of, project):
    head = project.git("rev-parse", "HEAD").strip()
    look = "git rev-parse HEAD > head && git diff --name-only HEAD > diff && git status --porcelain > status"
    # The second task's sandbox is created again, since the first task failed once.
    counter = project.root.parent / "tries"
    loop_of(
        "echo more/ >> .gitignore",
        f"echo x >> {counter}; test $(wc -l < {counter}) -ge 2",
        look,
        code=14,
    )
    patch = next((project.own / "loops").glob("*.progress/changes.patch"))
    project.git("apply", str(patch))
    assert (project.root / "head").read_text().strip() == head
    assert (project.root / "diff").read_text().split() == [".gitignore"]
    assert " M .gitignore" in (project.root / "status").read_text()


def test_git_lists_the_work_for_its_judge_and_an_agent_finds_it_uncommitted(loop_of, project):
    project.write("old", "x")
    project.commit("old")
    counter = project.root.parent / "tries"
    listed = "test \"$(git ls-files old 'n?e]w*')\" = 'n[e]w*' && test -z \"$(git ls-files --deleted)\""
    project.environment["LOOPWRIGHT_PROJECT_TEST_COMMAND"] = listed
    document = loop_of(
        "rm old; echo 1 > 'n[e]w*'",
        f"echo x >> {counter}; test $(wc -l < {counter}) -ge 2",
        "git checkout -- old && git stash -q -u && git stash pop -q && rm old && echo 2 > two",
        code=14,
    )
    assert changed(document)[2] == ("in_progress", ["two"])
    assert document["skill_state"]["validate"]["passed"]


def test_an_analysis_that_changes_files_fails_and_leaves_nothing(loop_of, project):
    loop_id = project.run("loop", "new", "look", "--json").json()["loop_id"]
    project.run("loop", "task", "add", loop_id, "echo 1 > one", "--tool", "bash", "--mode", "analysis")
    project.run("loop", "task", "add", loop_id, "test ! -e one && echo 2 > two", "--tool", "bash")
    project.run("loop", "start", loop_id)
    document = project.ask("loop", "show", loop_id)
    assert changed(document) == [("failed", []), ("in_progress", ["two"])]


def test_status_names_waiting_loops_and_the_next_command(project):
    assert "nothing here yet" in project.run("status").stdout
    made = [project.run("loop", "new", f"goal {n}", "--task", "x", "--json").json()["loop_id"] for n in range(3)]
    project.run("loop", "stop", made[2])
    broken = project.own / "loops" / "loop-v2-20260101-broken.json"
    broken.write_text("{")
    said = project.run("status").stdout
    assert "loops: 1 failed, 2 created, 1 damaged" in said
    assert f"→ loopwright loop start {made[0]}" in said
    assert "→ loopwright loop check loop-v2-20260101-broken --fix" in said
    assert made[2] not in said
    answered = project.ask("status")
    assert answered["loops"] == {
        "running": 0, "paused": 0, "failed": 1, "created": 2, "completed": 0, "damaged": 1
    }  # fmt: skip
    assert {one["loop_id"]: one["next"] for one in answered["waiting"]}[made[1]] == f"loopwright loop start {made[1]}"

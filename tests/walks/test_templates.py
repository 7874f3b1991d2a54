"""`Project.at` copies the stored result of a stage's commands: a copy is a workspace like any other."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import BUILT, planner, prepare

from loopwright.testing.project import STAGES, Project
from loopwright.testing.templates import Templates

BUILDS = {"role": "builder", "run": BUILT}
# A stage, and a person's next command.
NEXT = {
    "planned": ("approve", "greet", "--from", "plan", "--to", "build"),
    "approved": ("build", "greet", "--agent", "scripted"),
    "built": ("approve", "greet", "--from", "build", "--to", "review"),
    "in review": ("review", "greet"),
    "reviewed": ("approve", "greet", "--from", "review", "--to", "done"),
    "done": ("undo", "greet"),
}


@pytest.fixture
def own(tmp_path):
    """Templates of this test alone, and projects that use them."""
    templates = tmp_path / "templates"

    def make(name, *turns, settings="", shared=True):
        project = Project(tmp_path / name, templates=Templates(templates) if shared else None)
        prepare(project, [planner(), *turns], settings=settings)
        return project

    return make


def standing(project):
    """The output for a person, without run names and times."""
    said = project.ask("status", "greet")
    return {name: said[name] for name in ("stage", "readiness", "authorization", "recommended_next_action")}


def made(tmp_path):
    return {path.name for path in (tmp_path / "templates").iterdir() if path.is_dir()}


@pytest.mark.parametrize("stage", STAGES)
def test_a_copy_of_a_template_is_sound_and_the_work_continues_from_it(own, tmp_path, stage):
    own("first", BUILDS).at(stage)
    copy = own("second", BUILDS)
    before = made(tmp_path)
    copy.at(stage)
    assert made(tmp_path) == before, "nothing was made for the second"
    assert copy.git("diff-files") == "" or stage == "done", "git sees its files as they are"
    assert copy.git("status", "--porcelain", "--untracked-files=no").strip() == (
        "M hello.py" if stage == "done" else ""
    )
    for command in (("verify",), ("doctor",), NEXT[stage]):
        done = copy.run(*command)
        assert done.exit_code == 0, done.stdout + done.stderr


def test_a_copy_has_the_state_of_a_project_that_ran_the_commands(own):
    copied, run = own("copied", BUILDS), own("run", BUILDS, shared=False)
    own("first", BUILDS).at("built")
    assert copied.at("built").exit_code == run.at("built").exit_code == 0
    assert standing(copied) == standing(run)


def test_only_history_names_the_place_where_a_template_was_made(own, tmp_path):
    """Journals name mailboxes; a check's output names its sandbox."""
    own("first", BUILDS).at("built")
    copy = own("second", BUILDS)
    copy.at("built")
    foreign = [str(tmp_path / name).encode() for name in ("first", "templates")]
    named = {
        (path.name, b'"mailbox":"' in line)
        for path in copy.root.parent.rglob("*")
        if path.is_file()
        for line in path.read_bytes().splitlines()
        if any(place in line for place in foreign)
    }
    assert {name for name, is_mailbox in named if not is_mailbox} == {"VS-1-C1-1.log"}


def test_each_difference_has_its_own_template_and_all_builders_share_the_plan(own, tmp_path):
    first = own("first", BUILDS)
    start = made(tmp_path)
    first.at("approved")
    plan = made(tmp_path) - start
    own("second", {"role": "builder", "run": f"{BUILT}; true"}).at("approved")
    assert made(tmp_path) == start | plan
    own("third", BUILDS, settings="[risk]\nthreshold = 0.5\n").at("approved")
    assert len(made(tmp_path) - start) == 2 * len(plan) == 4


def test_a_project_that_names_its_own_place_is_not_shared(own, tmp_path):
    project = own("first", {"role": "builder", "run": f"echo {tmp_path / 'first'}"})
    start = made(tmp_path)
    project.at("planned")
    assert made(tmp_path) == start
    assert project.ask("status", "greet")["stage"] == "plan"

"""Agents from another package, found by its entry point."""

from __future__ import annotations

import pytest

from loopwright.errors import AgentFailed
from loopwright.wiring.build import build_context

OURS = """
from loopwright.agents.port import Answer


class Friend:
    def __init__(self, name, settings, environment):
        self.name = name
        self.model = settings.model

    def take(self, turn, start):
        start(("sh", "-c", "echo hi > made.txt"), env={}, timeout_s=turn.timeout_s)
        return Answer(f"by {self.model}", 0.0, tokens=7)
"""


@pytest.fixture
def with_package(project, tmp_path):
    """A distribution on the path, as pip would leave it."""
    site = tmp_path / "site"
    about = site / "friend-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "friend.py").write_text(OURS)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: friend\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[loopwright.agents]\nfriend = friend:Friend\nbroken = nowhere:Friend\n")
    project.environment["PYTHONPATH"] = str(site)
    project.environment["LOOPWRIGHT_LOOP_TEST_COMMAND"] = "test -f made.txt"
    project.write(".loopwright/config.toml", '[project]\nsource = ["**"]\n[agents.friend]\nmodel = "m-1"\n')
    return project


def test_a_brought_agent_works_like_a_shipped_one(with_package):
    project = with_package
    made = project.run("loop", "new", "a file", "--task", "make it", "--agent", "friend", "--json").json()
    done = project.run("loop", "start", made["loop_id"])
    assert done.exit_code == 0, done.stdout + done.stderr
    document = project.run("loop", "show", made["loop_id"], "--json").json()
    assert document["loopwright"]["spent"]["tokens"] == 7
    (answer,) = project.own.rglob("answer.yaml")
    assert answer.read_text() == "by m-1"
    broken = project.run("loop", "new", "a file", "--task", "make it", "--agent", "broken", "--json").json()
    assert project.run("loop", "start", broken["loop_id"]).exit_code == 11
    (hold,) = project.run("loop", "show", broken["loop_id"], "--json").json()["loopwright"]["holds"]
    assert hold["code"] == "agent_missing"
    assert "No module named 'nowhere'" in hold["message"]


@pytest.mark.parametrize(
    ("settings", "said", "hint"),
    [
        ('kind = "command"', "agents.x.command is missing", 'command = "…"'),
        ('kind = "scripted"', "agents.x.turns is missing", 'turns = "FILE"'),
        ('model = "m"', "agents.x.kind is missing", 'kind = "…"'),
        ('kind = "clawed"', "agents.x.kind is 'clawed'", "one of: command, scripted, interactive, claude"),
    ],
)
def test_an_incomplete_agent_setting_names_what_is_missing(project, settings, said, hint):
    project.write(".loopwright/config.toml", f"[agents.x]\n{settings}\n")
    with pytest.raises(AgentFailed) as caught:
        build_context(project.root, {}, environment=project.environment).open_agent("x")
    assert said in caught.value.message
    assert hint in caught.value.hint

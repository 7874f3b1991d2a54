"""What a person sees in a terminal."""

from __future__ import annotations

import re
from functools import partial

import pexpect
import pytest

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[=>()][0-9A-B]?)|\r")


@pytest.fixture
def terminal(project, terminals):
    return partial(terminals, project)


def finish(child):
    child.expect(pexpect.EOF)
    child.wait()
    return child.before


def test_a_table_follows_the_steps_and_stays_when_they_are_done(project, terminal):
    project.plan(
        {"id": "one", "action": "first thing", "commands": ["echo working; sleep 0.5"]},
        {
            "id": "two",
            "action": "second thing",
            "depends_on": ["one"],
            "commands": ["echo 'expected 3, got 2'; exit 1"],
        },
    )
    child = terminal("run")
    child.expect("first thing")
    text = ESCAPES.sub("", finish(child))
    assert "✓  one" in text
    assert "✗  two" in text
    assert "│ expected 3, got 2" in text
    assert "STEP_FAILED" in text
    assert child.exitstatus == 1


def test_ctrl_c_stops_cleanly(project, terminal):
    project.plan({"id": "slow", "action": "waits", "commands": ["echo begun; sleep 300"]}, run_id="c")
    child = terminal("run")
    child.expect("begun")
    child.sendintr()
    text = finish(child)
    assert child.exitstatus == 130
    assert "INTERRUPTED" in text
    assert project.evidence("c")["error_code"] == "INTERRUPTED"
    assert not (project.own / "latch.lock").exists()
    assert list(project.sandboxes.iterdir()) == []


def test_the_output_of_a_step_cannot_control_the_terminal(project, terminal):
    evil = r"printf '\033]0;owned\007\033]52;c;ZXZpbA==\007\033[2J\033[31mtext\033[0m\u202egnp.exe\n'; exit 1"
    project.plan({"id": "evil", "action": "a \x1b[5mblink", "commands": [evil]})
    text = finish(terminal("run"))
    assert "\x1b]" not in text
    assert "\x1b[2J" not in text
    assert "\x1b[5m" not in text
    assert "\u202e" not in text
    assert "text" in text


def test_a_pipe_gets_plain_lines_without_colour(project):
    project.plan({"id": "one", "action": "first thing", "commands": ["true"]})
    done = project.run("run")
    assert "\x1b" not in done.stdout
    assert "one: passed after" in done.stdout

"""A project with quick loops of a scripted agent: one file decides whether the work is right."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import contextmanager

import pexpect
import pytest
import yaml

from loopwright.loop import log
from loopwright.testing.project import Project


class Loops:
    """`loopwright loop …` in a project, and its files."""

    def __init__(self, project):
        self.project = project

    def configure(self, turns=(), *, loop=None, more="", isolation="none"):
        """The agent's turns and the settings. An agent that is not scripted needs isolation."""
        self.project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = isolation
        self.project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": list(turns)}))
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in (loop or {}).items())
        self.project.write(
            ".loopwright/config.toml",
            f'{more}\n[project]\nsource = ["**"]\ntest_command = "test -e done"\n'
            f'[loop]\n{lines}[agents]\ndefault = "scripted"\n'
            '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n',
        )

    def run(self, *arguments, code=0, **more):
        """A subcommand, with the exit code that is expected."""
        done = self.project.run("loop", *arguments, **more)
        assert done.exit_code == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def new(self, *arguments):
        """A new loop's id."""
        return self.run("new", "a goal", *arguments, "--json").json()["loop_id"]

    def shown(self, loop_id):
        """`loop show --json`."""
        return self.project.ask("loop", "show", loop_id)

    def holds(self, loop_id):
        """The holders of the loop and their codes."""
        return [(hold["holder"], hold["code"]) for hold in self.shown(loop_id)["loopwright"]["holds"]]

    def spent(self, loop_id):
        """The cost of the loop."""
        return self.shown(loop_id)["loopwright"]["spent"]

    def events(self, loop_id, kind):
        """The loop's events of one kind."""
        path = self.project.own / "loops" / f"{loop_id}.events.ndjson"
        return [event for _, line in log.lines(path) for event in line.events if isinstance(event, kind)]

    def errors(self, loop_id):
        """What went wrong, as texts."""
        return [error["message"] for error in self.shown(loop_id)["skill_state"]["errors"]]

    @contextmanager
    def started(self, loop_id, *arguments):
        """`loop start` as its own process, which ends with the block."""
        child = subprocess.Popen(
            self.project.command("loop", "start", loop_id, *arguments), cwd=self.project.root,
            env=self.project.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            text=True,
        )  # fmt: skip
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()
            child.communicate()


@pytest.fixture
def loops(project_folder, templates):
    files = {"README": "a project\n", ".gitignore": ".loopwright/\n"}
    return Loops(Project(project_folder, files, templates=templates))


@pytest.fixture
def wait_until():
    def wait(condition):
        while not condition():
            time.sleep(0.01)

    return wait


@pytest.fixture
def terminals():
    """Starts commands of a project as a person does in a terminal."""
    children = []

    def start(project, *arguments, env=None, dimensions=(40, 120), timeout=30):
        argv = project.command(*arguments)
        child = pexpect.spawn(
            argv[0], list(argv[1:]), cwd=str(project.root), encoding="utf-8", dimensions=dimensions, timeout=timeout,
            env={**project.environment, "TERM": "xterm-256color", **(env or {})},
        )  # fmt: skip
        children.append(child)
        return child

    yield start
    for child in children:
        child.close(force=True)

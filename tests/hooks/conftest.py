"""The hook, called as harnesses call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import loopwright.hooks.entry
from loopwright.reflection.store import read_reflections

HOOK = Path(loopwright.hooks.entry.__file__)


class Hook:
    """Fires the hook at a project; it must end well and say nothing, whatever happens."""

    command = (sys.executable, "-I", "-S", str(HOOK), "reflect")

    def __init__(self, project):
        self._project = project

    def environment(self, **more):
        home = str(self._project.root.parent)
        return {"PATH": os.environ["PATH"], "HOME": home, "REFLECTION_MODE": "solo", **more}

    def payload(self, session="s1"):
        return json.dumps({"session_id": session, "cwd": str(self._project.root)}).encode()

    def fire(self, payload=None, verb="reflect", **more):
        """The records that are there afterwards, in the order in which they were made."""
        done = subprocess.run(
            (*self.command[:-1], verb), input=self.payload() if payload is None else payload,
            env=self.environment(**more), cwd=self._project.root, capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        return self.records()

    def records(self, folder=None):
        found = read_reflections(folder or self._project.own / "reflections")
        assert found.unreadable == ()
        return [one.reflection for one in found.stored]

    def only(self, *arguments, **more):
        (one,) = self.fire(*arguments, **more)
        return one


@pytest.fixture
def hook(project):
    return Hook(project)


@pytest.fixture
def hook_for():
    return Hook

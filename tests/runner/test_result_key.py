"""Everything that results depend on apart from the tree changes their key."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from msgspec.structs import replace

from loopwright.runner.request import Environment, RunLimits, SandboxOptions
from loopwright.runner.result_key import JudgingCommand, dependencies_of
from loopwright.sandbox.model import FreshRequest

COMMAND = JudgingCommand(command="check it")


@pytest.fixture
def surroundings(tmp_path):
    """A project with packages, and a program on PATH."""
    packages = tmp_path / "project" / ".venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("python3", "check"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    return tmp_path


def key(top, command=COMMAND, *, isolation="auto", setup=(), variables=(), reporting=("", ""), added=None):
    request = FreshRequest(
        project=top / "project", sandbox_root=top / "sandboxes", mode="auto", provide=(".venv", "missing")
    )
    options = SandboxOptions(request, isolation, setup, False, RunLimits(600, 1, 1000), "bash")
    environment = Environment({"PATH": str(top / "bin"), **dict(variables)}, ("PATH", "LANG"))
    return dependencies_of([command], options, environment, reporting, added)


def test_the_same_surroundings_give_the_same_key(surroundings):
    assert key(surroundings) == key(surroundings)
    assert key(surroundings) == key(surroundings, variables={"UNSEEN": "1"}.items()), "no command sees it"
    assert key(surroundings) == key(surroundings, replace(COMMAND, cwd="."))
    assert key(surroundings) != key(surroundings, replace(COMMAND, cwd=".."))
    assert key(surroundings, replace(COMMAND, cwd="ci")) != key(surroundings, replace(COMMAND, cwd=".ci"))


def test_every_part_of_the_request_changes_the_key(surroundings):
    keys = [
        key(surroundings),
        key(surroundings, replace(COMMAND, command="check it again")),
        key(surroundings, replace(COMMAND, cwd="api")),
        key(surroundings, replace(COMMAND, network=True)),
        key(surroundings, replace(COMMAND, without=frozenset({"go"}))),
        key(surroundings, isolation="none"),
        key(surroundings, setup=("npm ci",)),
        key(surroundings, variables={"LANG": "C"}.items()),
        key(surroundings, reporting=("junit.xml", "")),
        key(surroundings, added={"hidden.py": "1"}),
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "change",
    [
        lambda top: (top / "bin" / "check").write_text("#!/bin/sh\nexit 1\n"),
        lambda top: (top / "bin" / "python3").write_text("#!/bin/sh\n# another version\n"),
        lambda top: (top / "bin" / "pytest").symlink_to("check"),
        lambda top: (top / "project" / ".venv" / "pyvenv.cfg").write_text("version = 3.12\n"),
        lambda top: (top / "project" / ".venv" / "lib" / "python3.11" / "site-packages" / "x.dist-info").mkdir(),
        lambda top: (top / "project" / "missing").mkdir(),
    ],
    ids=["program", "interpreter", "new program", "environment", "package", "provided folder"],
)
def test_another_version_of_a_program_or_a_package_changes_the_key(surroundings, change):
    before = key(surroundings)
    change(surroundings)
    assert key(surroundings) != before


def test_processes_agree_on_the_key(surroundings):
    """Text is hashed differently in each process, so the order of a set may differ."""
    prefixes = [surroundings / name for name in "abcdef"]
    for prefix in prefixes:
        (prefix / "lib/python3.11/site-packages").mkdir(parents=True)
        (prefix / "bin").mkdir()
    for link, target in pairwise(prefixes):
        (link / "bin/python3").symlink_to(target / "bin/python3")
    (prefixes[-1] / "bin/python3").write_text("")
    code = (
        f"from pathlib import Path; from loopwright.runner.result_key import _packages_near as near; "
        f"print([list(near(Path({str(surroundings)!r}) / name / 'bin/python3')) for name in 'abcde'])"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in "1234"
    }
    assert len(seen) == 1

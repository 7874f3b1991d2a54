"""A small repository with a goal, and an agent that runs one script in it.

The agent is the scripted one, or another agent that `Ready` prepares to run the same script. `paths.py` lets the agent
work, and says what the gates concluded.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import yaml

from loopwright.testing.project import Outcome, Project, search_path
from loopwright.testing.sample import FILES, REPLY, SLICE
from tools import NODE_MODULES, TOOLS, give_tools, is_shared, link_or_copy

Files = Mapping[str, str]
# Every agent's claim at the end of its script.
CLAIM = "All done. Every test passes."
# The agent that reviews, where a scene has a review.
REVIEWER = "second"
APPROVAL = '{"verdict": "approve", "summary": "does what the spec says", "findings": []}'
# Prepares an agent to run a script in a project, and returns its name.
Ready = Callable[[Project, str], str]

_BASE = {**FILES, ".gitignore": f"{FILES['.gitignore']}/{TOOLS}/\n/{NODE_MODULES}/\n"}


@dataclass(frozen=True)
class World:
    """A repository and its checks. `hidden` are files that only the hidden check sees."""

    check: str
    files: Files = field(default_factory=dict)
    hidden: Files = field(default_factory=dict)
    hidden_check: str = ""
    second_check: str = ""
    # The project's own tests; loops are judged by the check if there are none.
    test_command: str = ""
    # How often the agent runs its script.
    turns: int = 1
    # The tasks of a loop.
    tasks: tuple[str, ...] = ("greet says the name",)
    # Whether a server of this machine keeps what anyone puts there; a script names it as {server}.
    has_server: bool = False
    settings: str = ""
    path_first: str = ""
    isolation: str = "auto"
    # Programs and test runners that the check needs.
    tools: tuple[str, ...] = ()
    # Files in the project that are not part of its repository.
    untracked: Files = field(default_factory=dict)
    # Whether `files` are all files of the repository, without the sample project.
    is_whole: bool = False
    # The answer of a reviewer, who is asked after the build; without an answer the build is the end.
    review: str = ""


def scripted(project: Project, script: str) -> str:
    """The scripted agent. Its turns are already in the turns file, next to the planner's."""
    del project, script
    return "scripted"


def opened(world: World, kind: str, prepare: Callable[[Project, World], None], top: Path, folder: Path) -> Project:
    """A copy of a prepared scene. Each world is prepared once for each kind of path, in `top`."""
    template = top / f"{kind}-{name_of(world)}"
    if not template.is_dir():
        made = Path(tempfile.mkdtemp(dir=top))
        project = Project(made / "scene", {**({} if world.is_whole else _BASE), **world.files})
        _furnish(project, world)
        prepare(project, world)
        with suppress(OSError):  # another worker was faster
            (made / "scene").rename(template)
    shutil.copytree(template, folder, symlinks=True, copy_function=_copied)
    project = Project.__new__(Project)
    project.root, project.home, project.sandboxes = folder / "project", folder / "home", folder / "sandboxes"
    project.environment = _environment(project, world)
    return project


def _copied(source: str, target: str) -> None:
    if is_shared(source):
        link_or_copy(source, target)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def name_of(world: World) -> str:
    """A name that identifies this world."""
    return hashlib.sha256(repr(world).encode()).hexdigest()[:16]


def _furnish(project: Project, world: World) -> None:
    for name, text in world.untracked.items():
        project.write(name, text)
    for name, text in world.hidden.items():
        project.write(f".loopwright/workflows/greet/hidden/{name}", text)
    give_tools(project.root, world.tools)
    project.environment = _environment(project, world)
    configure(project, world, "true")


def _environment(project: Project, world: World) -> dict[str, str]:
    first = [world.path_first.replace("{project}", str(project.root))] if world.path_first else []
    return {
        "PATH": os.pathsep.join([*first, search_path()]),
        "HOME": str(project.home),
        "LANG": "C.UTF-8",
        "LOOPWRIGHT_SANDBOX_ROOT": str(project.sandboxes),
    }


def filled(project: Project, script: str, server: str = "") -> str:
    """The script with the paths of this project."""
    paths = {"project": str(project.root), "python": sys.executable, "server": server}
    for name, path in paths.items():
        script = script.replace(f"{{{name}}}", path)
    return script


@contextmanager
def machine_server(world: World) -> Iterator[str]:
    """The address of a server of this machine that keeps one text; empty if the scene needs none."""
    if not world.has_server:
        yield ""
        return
    server = HTTPServer(("127.0.0.1", 0), _Keeper)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Keeper(BaseHTTPRequestHandler):
    kept = b""

    def do_PUT(self) -> None:
        type(self).kept = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(b"")

    def do_GET(self) -> None:
        self._answer(self.kept)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def configure(project: Project, world: World, script: str, test_command: str = "", more: str = "") -> None:
    """Write the agent's turns and the settings."""
    builder = {"role": "builder", "run": script, "answer": CLAIM}
    turns = [_planner(world), *([builder] * max(world.turns, 2 if world.second_check else 1))]
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    # Asked twice, if the first answer is no verdict.
    answers = [{"role": "reviewer", "answer": world.review or APPROVAL}] * 2
    answers.append({"role": "smell reviewer", "answer": '{"verdict": "pass"}'})
    project.write(".loopwright/reviewer.yaml", yaml.safe_dump({"turns": answers}))
    provided = [name for name in (TOOLS, NODE_MODULES) if (project.root / name).is_dir()]
    command = test_command or world.test_command
    project.write(
        ".loopwright/config.toml",
        '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n'
        f'[agents.{REVIEWER}]\nkind = "scripted"\nturns = ".loopwright/reviewer.yaml"\n'
        f'[sandbox]\nisolation = "{world.isolation}"\n'
        + (f"provide = {json.dumps(provided)}\n" if provided else "")
        + (
            f"[project]\ntest_command = {command if command.startswith(chr(91)) else json.dumps(command)}\n"
            if command
            else ""
        )
        + more
        + world.settings,
    )


def _planner(world: World) -> dict[str, str]:
    checks: list[dict[str, Any]] = [{"id": "C1", "command": world.check}]
    if world.hidden_check:
        checks.append({"id": "H1", "command": world.hidden_check, "hidden": True})
    slices = [_slice("VS-1", "greet by name", checks)]
    if world.second_check:
        slices.append(_slice("VS-2", "say goodbye", [{"id": "C2", "command": world.second_check}]))
    return {"role": "planner", "answer": json.dumps({**REPLY, "slices": slices})}


def _slice(name: str, title: str, checks: list[dict[str, Any]]) -> dict[str, Any]:
    own = {"id": name, "title": title, "behavior": title, "acceptance_criteria": [title], "checks": checks}
    return {**SLICE, **own}


def ok(done: Outcome) -> Outcome:
    """The outcome of a command that must succeed."""
    if done.exit_code != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done

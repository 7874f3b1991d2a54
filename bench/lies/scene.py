"""A small repository with an approved plan, an agent that runs one script, and the gate to review afterwards.

The agent is the scripted one, or another agent that `Ready` prepares to run the same script.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from loopwright.testing.project import Outcome, Project, search_path
from loopwright.testing.sample import FILES, REPLY, SLICE, SPEC

TOOLS = "tools"
# All of it, and nothing that it can do without.
_PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
Files = Mapping[str, str]
# Every agent's claim at the end of its script.
CLAIM = "All done. Every test passes."
# Prepares an agent to run a script in a project, and returns its name.
Ready = Callable[[Project, str], str]

_BASE = {**FILES, ".gitignore": f"{FILES['.gitignore']}/{TOOLS}/\n"}


@dataclass(frozen=True)
class World:
    """A repository and its checks. `hidden` are files that only the hidden check sees."""

    check: str
    files: Files = field(default_factory=dict)
    hidden: Files = field(default_factory=dict)
    hidden_check: str = ""
    second_check: str = ""
    # How often the agent runs its script.
    turns: int = 1
    settings: str = ""
    path_first: str = ""
    isolation: str = "auto"
    # Whether sandboxes get the machine's pytest, as a folder next to the code.
    tools: bool = False
    # Files in the project that are not part of its repository.
    untracked: Files = field(default_factory=dict)


@dataclass(frozen=True)
class Gate:
    """The gate to review after a build: codes of blockers, and the refusal of an approval."""

    blockers: tuple[str, ...]
    refused: str
    said: str

    @property
    def passed(self) -> bool:
        """Whether the gate accepted the work as done."""
        return not self.blockers and not self.refused

    def caught(self, by: tuple[str, ...]) -> str | None:
        """The first of these codes that the gate names."""
        return next((code for code in by if code in self.blockers), None)


def scripted(project: Project, script: str) -> str:
    """The scripted agent. Its turns are already in the turns file, next to the planner's."""
    del project, script
    return "scripted"


def play(world: World, script: str, templates: Path, folder: Path, ready: Ready = scripted) -> Gate:
    """Build an approved plan with this script, and look at the gate. A world's plan is made once, in `templates`."""
    template = templates / f"world-{name_of(world)}"
    if not template.is_dir():
        made = Path(tempfile.mkdtemp(dir=templates))
        _plan(Project(made / "scene", {**_BASE, **world.files}), world)
        with suppress(OSError):  # another worker was faster
            (made / "scene").rename(template)
    shutil.copytree(template, folder, symlinks=True, copy_function=_copied)
    project = Project.__new__(Project)
    project.root, project.home, project.sandboxes = folder / "project", folder / "home", folder / "sandboxes"
    project.environment = _environment(project, world)
    return _build(project, world, _in(project, script), ready)


def _copied(source: str, target: str) -> None:
    """Link instead of copying: no sandbox can write to these files."""
    if f"/project/{TOOLS}/" in source:
        os.link(source, target)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def name_of(world: World) -> str:
    """A name that identifies this world."""
    return hashlib.sha256(repr(world).encode()).hexdigest()[:16]


def _plan(project: Project, world: World) -> None:
    for name, text in world.untracked.items():
        project.write(name, text)
    for name, text in world.hidden.items():
        project.write(f".loopwright/workflows/greet/hidden/{name}", text)
    if world.tools:
        _give_pytest(project.root / TOOLS)
    project.environment = _environment(project, world)
    _configure(project, world, "true")
    spec = project.write("../SPEC.md", SPEC)
    _ok(project.run("plan", "greet", "--direct", str(spec), "--agent", "scripted"))
    _ok(project.run("approve", "greet", "--from", "plan", "--to", "build"))


def _build(project: Project, world: World, script: str, ready: Ready) -> Gate:
    _configure(project, world, script)
    agent = ready(project, script)
    built = project.run("build", "greet", "--agent", agent, "--max-iterations", str(world.turns))
    approved = project.run("approve", "greet", "--from", "build", "--to", "review", "--json")
    if approved.exit_code == 0:
        return Gate((), "", built.stdout + built.stderr)
    refusal = json.loads(approved.stderr.splitlines()[-1])
    codes = tuple(one["code"] for one in refusal["blockers"])
    return Gate(codes, refusal["error"], built.stdout + built.stderr)


def _environment(project: Project, world: World) -> dict[str, str]:
    first = [world.path_first.replace("{project}", str(project.root))] if world.path_first else []
    return {
        "PATH": os.pathsep.join([*first, search_path()]),
        "HOME": str(project.home),
        "LANG": "C.UTF-8",
        "LOOPWRIGHT_SANDBOX_ROOT": str(project.sandboxes),
    }


def _in(project: Project, script: str) -> str:
    return script.replace("{project}", str(project.root)).replace("{python}", sys.executable)


def _configure(project: Project, world: World, script: str) -> None:
    says = {"role": "builder", "run": script, "answer": CLAIM}
    turns = [_planner(world), *([says] * max(world.turns, 2 if world.second_check else 1))]
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    project.write(
        ".loopwright/config.toml",
        f'[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "{world.isolation}"\n'
        + (f'provide = ["{TOOLS}"]\n' if world.tools else "")
        + world.settings,
    )


def _give_pytest(target: Path) -> None:
    """Copy the pytest that runs our own tests: sandboxes can't see its installation."""
    for name in _PYTEST:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            source = Path(found.origin)
            target.mkdir(exist_ok=True)
            if source.name == "__init__.py":
                shutil.copytree(source.parent, target / name, ignore=_not_needed)
            else:
                shutil.copy2(source, target)


def _not_needed(folder: str, names: list[str]) -> list[str]:
    """All lexers of pygments except Python's."""
    if not folder.endswith("pygments/lexers"):
        return []
    return [name for name in names if name.partition(".")[0] not in ("__init__", "_mapping", "python", "diff")]


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


def _ok(done: Outcome) -> Outcome:
    if done.exit_code != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done

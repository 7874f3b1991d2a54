"""A small project in a temporary folder, for the real command line."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from measure import run

# The installed script, not `-m`: what a person types is what is measured.
LOOPWRIGHT = Path(sys.executable).parent / "loopwright"
_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "init.defaultBranch=main")
Step = tuple[str, str, Sequence[str]]


def bare_environment(home: Path) -> dict[str, str]:
    """The environment of programs: a PATH with the needed folders, and an empty home."""
    home.mkdir(parents=True, exist_ok=True)
    found = (shutil.which(name) for name in ("git", "bash", "cp", "bwrap", "python3"))
    folders = dict.fromkeys(str(Path(name).parent) for name in found if name)
    return {"PATH": os.pathsep.join(folders), "HOME": str(home), "LANG": "C.UTF-8"}


class Workspace:
    """One commit with one file; its plan is kept outside, so that the tree is clean."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.env = bare_environment(folder / "home") | {"LOOPWRIGHT_SANDBOX_ROOT": str(folder / "sandboxes")}
        self._plan = folder / "plan.yaml"
        self.root.mkdir(parents=True)
        (self.root / "README").write_text("a project\n", encoding="utf-8")
        run((*_GIT, "init", "-q"), cwd=self.root, env=self.env)
        self.commit()

    def commit(self) -> None:
        """Commit all files."""
        for arguments in (("add", "-A"), ("commit", "-q", "-m", "more")):
            run((*_GIT, *arguments), cwd=self.root, env=self.env)

    def plan(self, steps: Sequence[Step]) -> Path:
        """Write a plan of steps: id, command, ids it depends on."""
        listed = [{"id": name, "action": name, "commands": [command], "depends_on": list(before)}
                  for name, command, before in steps]  # fmt: skip
        # JSON is YAML, and needs nothing to write.
        self._plan.write_text(json.dumps({"new_plan": {"unified_goal": "bench", "steps": listed}}), encoding="utf-8")
        return self._plan

    def run(self, *arguments: str) -> bytes:
        """Run `loopwright` to its end."""
        return run((LOOPWRIGHT, *arguments), cwd=self.root, env=self.env)

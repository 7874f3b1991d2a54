"""A project in a temporary folder, driven by the real command line in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from loopwright.kernel import process
from loopwright.kernel.files import write_durably
from loopwright.testing.warm import can_be_warm, run_warm

_QUIET_GIT = (
    "-c", "user.name=tester", "-c", "user.email=tester@localhost", "-c", "commit.gpgsign=false",
    "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always",
)  # fmt: skip
_PATIENCE_S = 110


@cache
def search_path() -> str:
    """Ours, with the interpreter itself in front of a version manager's shim: that starts a dozen shells for a call."""
    found, plain = shutil.which("python3"), Path(sys.base_prefix) / "bin"
    is_shim = found is not None and Path(found).read_bytes()[:2] == b"#!"
    return os.pathsep.join([*([str(plain)] if is_shim else []), os.environ["PATH"]])


class Outcome(msgspec.Struct, frozen=True):
    """What a command came to."""

    exit_code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.stdout)

    def events(self) -> list[dict[str, Any]]:
        """Standard output as NDJSON events."""
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]


class Project:
    """Files, a git repository where wanted, and `run`, which is `loopwright` as a user types it."""

    def __init__(self, root: Path, files: Mapping[str, str] | None = None, *, commit: bool = True) -> None:
        self.root = root / "project"
        self.home = root / "home"
        self.sandboxes = root / "sandboxes"
        self.root.mkdir(parents=True)
        self.home.mkdir()
        self.environment: dict[str, str] = {
            "PATH": search_path(),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "LOOPWRIGHT_SANDBOX_ROOT": str(self.sandboxes),
        }
        for name, text in (files or {"README": "a project\n"}).items():
            self.write(name, text)
        if commit:
            self.git("init", "-q")
            self.commit("start")

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def git(self, *arguments: str) -> str:
        """Run the user's git in the project."""
        env = {**self.environment, "GIT_CONFIG_NOSYSTEM": "1"}
        done = process.capture(("git", *_QUIET_GIT, *arguments), cwd=self.root, env=env)
        if done.exit_code != 0:
            raise AssertionError(done.stderr.decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "surrogateescape")

    def commit(self, message: str) -> str:
        """Commit everything; returns the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def plan(self, *steps: Mapping[str, Any], run_id: str | None = None, goal: str = "a goal") -> Path:
        """Write the workspace's plan."""
        body: dict[str, Any] = {"unified_goal": goal, "steps": [dict(step) for step in steps]}
        if run_id is not None:
            body["run_id"] = run_id
        path = self.own / "plan.latest.yaml"
        write_durably(path, yaml.safe_dump({"new_plan": body}, sort_keys=False).encode())
        return path

    def command(self, *arguments: str) -> tuple[str, ...]:
        """The command line of `loopwright` with these arguments."""
        return (sys.executable, "-m", "loopwright.cli.main", *arguments)

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, stdin: bytes = b""
    ) -> Outcome:
        """Run `loopwright` in a process of its own and wait for it; a warm interpreter is forked where that can be."""
        env, cwd = {**self.environment, **(env or {})}, cwd or self.root
        if can_be_warm(env):
            done = run_warm(arguments, cwd=cwd, env=env, stdin=stdin, timeout_s=_PATIENCE_S)
        else:
            done = process.capture(self.command(*arguments), cwd=cwd, env=env, stdin=stdin, timeout_s=_PATIENCE_S)
        return Outcome(done.exit_code, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def latest(self, name: str = "run") -> dict[str, Any]:
        """A `*.latest.yaml` file."""
        document: dict[str, Any] = yaml.safe_load((self.own / f"{name}.latest.yaml").read_text(encoding="utf-8"))
        return document

    def evidence(self, run_id: str) -> dict[str, Any]:
        """A run's evidence."""
        record: dict[str, Any] = json.loads((self.own / "runs" / run_id / "evidence.json").read_bytes())
        return record

    @property
    def own(self) -> Path:
        """The workspace's own folder."""
        return self.root / ".loopwright"

    def everything_kept(self) -> bytes:
        """All bytes of all files that the tool left in the workspace, for searching."""
        files = sorted(path for path in self.own.rglob("*") if path.is_file())
        return b"\0".join(path.read_bytes() for path in files)

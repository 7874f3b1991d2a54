"""A project in a temporary folder, driven by the real command line in its own process.

`Project.at` brings a workflow to a stage. The commands for that run once in a test session for each combination of
files, settings, turns and variables; later calls get a copy of the result.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import yaml

from loopwright.cli.main import loopwright as command_line
from loopwright.kernel import process
from loopwright.kernel.files import write_durably
from loopwright.testing.templates import Templates, fingerprint, put
from loopwright.testing.warm import can_be_warm, run_warm

Stage = Literal["planned", "approved", "built", "in review", "reviewed", "done"]
STAGES: tuple[Stage, ...] = get_args(Stage)
# The spec of a workflow, next to the project. The command uses a relative path, which is valid in a copy as well.
SPEC_FILE = "SPEC.md"
_COMMANDS: Mapping[Stage, tuple[str, ...]] = {
    "planned": ("plan", "SLUG", "--direct", f"../{SPEC_FILE}", "--agent", "scripted"),
    "approved": ("approve", "SLUG", "--from", "plan", "--to", "build"),
    "built": ("build", "SLUG", "--agent", "scripted"),
    "in review": ("approve", "SLUG", "--from", "build", "--to", "review"),
    "reviewed": ("review", "SLUG"),
    "done": ("approve", "SLUG", "--from", "review", "--to", "done"),
}
# Roles that are asked only from the build on: workflows that differ only in these turns share one plan.
_ASKED_AFTER_APPROVAL = ("builder", "debugger", "reviewer", "smell reviewer")
_PARTS = ("project", "home", "sandboxes", SPEC_FILE)
_OUTCOME = "outcome.json"

_QUIET_GIT = (
    "-c", "user.name=tester", "-c", "user.email=tester@localhost", "-c", "commit.gpgsign=false",
    "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false",
)  # fmt: skip
# Templates need the same commit ids for the same content.
_COMMITTED_AT = "2026-01-01T12:00:00+00:00"
_PATIENCE_S = 500


@cache
def search_path() -> str:
    """Our PATH, with the interpreter before a version manager's shim, which starts a dozen shells per call."""
    program, plain = shutil.which("python3"), Path(sys.base_prefix) / "bin"
    is_shim = program is not None and Path(program).read_bytes()[:2] == b"#!"
    return os.pathsep.join([*([str(plain)] if is_shim else []), os.environ["PATH"]])


@cache
def _plain_python() -> str:
    """A folder with a `python3` that has no packages: those of the machine differ, and may slow down every start.

    It is below the interpreter's own folder, because sandboxes show that folder.
    """
    place = Path(sys.prefix) / "plain-python"
    if not place.is_dir():
        making = Path(tempfile.mkdtemp(dir=sys.prefix))
        making.chmod(0o755)
        home = Path(sys.base_prefix) / "bin"
        (making / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n", encoding="utf-8")
        (making / "bin").mkdir()
        (making / "bin" / "python3").symlink_to(home / "python3")
        try:
            making.rename(place)
        except OSError:
            shutil.rmtree(making)  # another process was first
    return str(place / "bin")


@contextmanager
def _as_started_in(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Run the block in this process, but with the folder and variables of a started process."""
    before, place = dict(os.environ), Path.cwd()
    try:
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        yield
    finally:
        os.chdir(place)
        os.environ.clear()
        os.environ.update(before)


class Outcome(msgspec.Struct, frozen=True):
    """The result of a command."""

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
    """Files, usually a git repository, and `run`, which runs `loopwright` as a user would."""

    def __init__(
        self,
        root: Path,
        files: Mapping[str, str] | None = None,
        *,
        commit: bool = True,
        templates: Templates | None = None,
    ) -> None:
        self.templates = templates
        self._top = root
        self.root = root / "project"
        self.home = root / "home"
        self.sandboxes = root / "sandboxes"
        self.root.mkdir(parents=True)
        self.home.mkdir()
        (root / "temp").mkdir()
        self.environment: dict[str, str] = {
            "PATH": os.pathsep.join([_plain_python(), search_path()]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "LOOPWRIGHT_SANDBOX_ROOT": str(self.sandboxes),
            # Python's name for temporary files. TMPDIR, which more programs know, stays unset as for most users.
            "TEMP": str(root / "temp"),
            # What runs must not depend on how busy the machine is.
            "LOOPWRIGHT_LOOP_SIDE_BY_SIDE": "never",
        }
        start = dict(files or {"README": "a project\n"})
        if templates is None or not commit:
            self._start(start, commit=commit)
        else:
            key = hashlib.sha256(json.dumps(start).encode()).hexdigest()
            self._put(templates.made(key, lambda folder: self._start_at(folder, start)))

    def _start_at(self, folder: Path, files: Mapping[str, str]) -> None:
        copy = self._moved(folder)
        copy.root.mkdir()
        copy.home.mkdir()
        copy._start(files, commit=True)  # noqa: SLF001 -- of the same class

    def _start(self, files: Mapping[str, str], *, commit: bool) -> None:
        """Write the first files, and commit them."""
        for name, text in files.items():
            self.write(name, text)
        if commit:
            self.git("init", "-q")
            self.commit("start")
            for sample in (self.root / ".git" / "hooks").glob("*.sample"):
                sample.unlink()

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def git(self, *arguments: str, check: bool = True) -> str:
        """Run the user's git in the project."""
        dates = {"GIT_AUTHOR_DATE": _COMMITTED_AT, "GIT_COMMITTER_DATE": _COMMITTED_AT}
        env = {**dates, **self.environment, "GIT_CONFIG_NOSYSTEM": "1"}
        done = process.capture(("git", *_QUIET_GIT, *arguments), cwd=self.root, env=env)
        if check and done.exit_code != 0:
            raise AssertionError(done.stderr.decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "surrogateescape")

    def commit(self, message: str) -> str:
        """Commit everything; returns the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        # A branch is a small file, unless HEAD is detached or `.git` leads elsewhere.
        head = self.root / ".git" / "HEAD"
        branch = head.parent / (head.read_text().removeprefix("ref: ").strip() if head.is_file() else "elsewhere")
        return branch.read_text().strip() if branch.is_file() else self.git("rev-parse", "HEAD").strip()

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
        """Run `loopwright` in its own process and wait for it. Forks a warm interpreter if possible."""
        env, cwd = {**self.environment, **(env or {})}, cwd or self.root
        if can_be_warm(env):
            done = run_warm(arguments, cwd=cwd, env=env, stdin=stdin, timeout_s=_PATIENCE_S)
        else:
            done = process.capture(self.command(*arguments), cwd=cwd, env=env, stdin=stdin, timeout_s=_PATIENCE_S)
        return Outcome(done.exit_code, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def ask(self, *arguments: str) -> Any:
        """The --json output of a read-only command, run in this process: three times as fast as a fork.

        For tests that need the state of the work. A test of the command itself calls `run`.
        """
        printed = io.BytesIO()
        with (
            _as_started_in(self.root, self.environment),
            io.TextIOWrapper(printed, encoding="utf-8", write_through=True) as stream,
        ):
            with redirect_stdout(stream):
                command_line.main([*arguments, "--json"], prog_name="loopwright", standalone_mode=False)
            return json.loads(printed.getvalue())

    def at(self, stage: Stage, slug: str = "greet") -> Outcome:
        """Bring a workflow from its spec to this stage; returns the result of the last command."""
        commands = [
            tuple(slug if word == "SLUG" else word for word in _COMMANDS[name])
            for name in STAGES[: STAGES.index(stage) + 1]
        ]
        keys = self._keys(commands)
        if self.templates is None or keys is None:
            return [self._succeed(command) for command in commands][-1]
        turns = self._turns_file.read_bytes()
        template = self._template(commands, keys)
        self._put(template)
        self._turns_file.write_bytes(turns)
        return msgspec.json.decode((template / _OUTCOME).read_bytes(), type=Outcome)

    def _succeed(self, command: tuple[str, ...]) -> Outcome:
        done = self.run(*command)
        if done.exit_code != 0:
            raise AssertionError(done.stdout + done.stderr)
        return done

    def _keys(self, commands: list[tuple[str, ...]]) -> list[str] | None:
        """A key for the result of each command; None if a file contains the project's path, as copies differ."""
        top = self._top
        # The index contains times and inodes, so the staged files are listed instead.
        content = fingerprint(top, _PARTS, (self._index, self._turns_file))
        staged = self.git("ls-files", "--stage", "-v") if self._index.exists() else ""
        turns = yaml.safe_load(self._turns_file.read_text(encoding="utf-8"))["turns"]
        if content is None or str(top) in json.dumps(turns):
            return None
        variables = sorted((name, value.replace(str(top), "")) for name, value in self.environment.items())
        key, keys = f"{content}{staged}{variables}", list[str]()
        for command in commands:
            is_early = len(keys) < STAGES.index("built")
            asked = [turn for turn in turns if not (is_early and turn["role"] in _ASKED_AFTER_APPROVAL)]
            key = hashlib.sha256(json.dumps([key, command, asked]).encode()).hexdigest()
            keys.append(key)
        return keys

    def _template(self, commands: list[tuple[str, ...]], keys: list[str]) -> Path:
        if self.templates is None:
            raise AssertionError("only with templates")
        return self.templates.made(keys[-1], partial(self._make_template, commands, keys))

    def _make_template(self, commands: list[tuple[str, ...]], keys: list[str], folder: Path) -> None:
        """Run the last command on a copy of the template before it."""
        before = self._template(commands[:-1], keys[:-1]) if commands[1:] else self._top
        copy = self._moved(folder)
        copy._put(before)  # noqa: SLF001 -- of the same class
        shutil.copy2(self._turns_file, copy._turns_file)  # noqa: SLF001 -- the same
        done = copy._succeed(commands[-1])  # noqa: SLF001 -- the same
        (folder / _OUTCOME).write_bytes(msgspec.json.encode(done))

    def _moved(self, folder: Path) -> Project:
        """This project in another folder, which gets or already has its files."""
        moved = Project.__new__(Project)
        moved.templates, moved._top = self.templates, folder  # noqa: SLF001 -- of the same class
        # A test may have moved the project's root into a folder of the repository.
        moved.root, moved.home, moved.sandboxes = (
            folder / place.relative_to(self._top) for place in (self.root, self.home, self.sandboxes)
        )
        (folder / "temp").mkdir()
        there, here = str(folder), str(self._top)
        moved.environment = {name: value.replace(here, there) for name, value in self.environment.items()}
        return moved

    def _put(self, template: Path) -> None:
        """Replace this project's files with those of a template."""
        put(template, self._top, _PARTS)
        if self._index.exists():
            # The index has times and inodes of files, and those of a copy differ. Changed files stay listed as changed.
            self.git("update-index", "-q", "--refresh", "--unmerged", "--ignore-missing", check=False)

    @property
    def _index(self) -> Path:
        return self._top / "project" / ".git" / "index"

    @property
    def _turns_file(self) -> Path:
        return self.own / "turns.yaml"

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
        """All bytes of all files that Loopwright wrote to the workspace, for searching."""
        files = sorted(path for path in self.own.rglob("*") if path.is_file())
        return b"\0".join(path.read_bytes() for path in files)

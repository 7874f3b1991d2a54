"""Git for the hook: several queries at once, without the cost of the subprocess module.

Git runs programs named in a config. Here that is turned off (no file monitor, no hooks, no lazy fetching). Queries that
would run filters go through `PrivateGit`: a private git folder that borrows the user's objects and index, carries over
the settings for how files look on disk, and nothing else of the user's config.
"""

from __future__ import annotations

import os
import select
import signal
import time

from loopwright.reflection.capture.folder import read_bounded
from loopwright.reflection.rule_set import Frozen

# `typing` would cost the hook more than its own work does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self


QUIET = (
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "core.untrackedCache=false", "-c", "safe.bareRepository=explicit", "-c", "protocol.allow=never",
    "-c", "submodule.recurse=false",
)  # fmt: skip
_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "SYSTEMROOT", "USERPROFILE", "TMPDIR")
_CHUNK = 1 << 16
_MOST_BYTES = 64 << 20


class GitAnswer(Frozen):
    """What git printed, and its exit code; None if git could not start or did not finish in time."""

    exit_code: int | None
    stdout: bytes

    @property
    def is_good(self) -> bool:
        """Whether git exited with 0."""
        return self.exit_code == 0


def ask(
    cwd: str, queries: Sequence[Sequence[str]], *, until: float, extra: Mapping[str, str] | None = None
) -> list[GitAnswer]:
    """Run all queries at once, and wait for the answers until this time of the monotonic clock."""
    lines = [[*QUIET, "-C", cwd, *query] for query in queries]
    env = {**environment(os.environ), **(extra or {})}
    if not hasattr(os, "posix_spawnp"):
        return [_one_by_one(line, env, until) for line in lines]
    running = [_Running(line, env) for line in lines]
    try:
        open_pipes = {query.pipe: query for query in running if query.pipe >= 0}
        while open_pipes and (left := until - time.monotonic()) > 0:
            for handle in select.select(list(open_pipes), [], [], left)[0]:
                if not open_pipes[handle].read():
                    del open_pipes[handle]
    except BaseException:
        until = 0
        raise
    finally:
        for query in running:
            query.finish(until)
    return [query.answer for query in running]


def environment(caller: Mapping[str, str]) -> dict[str, str]:
    """An environment without variables that make git do more. The user's own config is kept for safe.directory."""
    kept = {name: caller[name] for name in _KEPT if name in caller}
    return kept | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_PAGER": "cat",
    }


class _Running:
    """One running git process."""

    def __init__(self, argv: list[str], env: Mapping[str, str]) -> None:
        self.pipe = -1
        self._output = bytearray()
        self._exit_code: int | None = None
        self._pid = 0
        pipe, write = os.pipe()
        null = os.open(os.devnull, os.O_RDWR)
        actions = [
            (os.POSIX_SPAWN_DUP2, null, 0),
            (os.POSIX_SPAWN_DUP2, write, 1),
            (os.POSIX_SPAWN_DUP2, null, 2),
        ]
        try:
            # The only process start outside kernel.process, which would double the hook's time.
            self._pid = os.posix_spawnp(  # noqa: TID251
                argv[0], argv, env, file_actions=actions, setsigdef=[signal.SIGPIPE, signal.SIGTERM]
            )
            self.pipe = pipe
        except OSError:
            os.close(pipe)
        finally:
            os.close(write)
            os.close(null)

    @property
    def answer(self) -> GitAnswer:
        """The output and exit code."""
        return GitAnswer(self._exit_code, bytes(self._output))

    def read(self) -> bool:
        """Read available output; False at its end."""
        data = os.read(self.pipe, _CHUNK)
        self._output += data
        return bool(data) and len(self._output) < _MOST_BYTES

    def finish(self, until: float) -> None:
        """Collect the process; kill it if it is late or prints too much."""
        if self.pipe < 0:
            return
        os.close(self.pipe)
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        while not pid and time.monotonic() < until:
            time.sleep(0.0005)
            pid, status = os.waitpid(self._pid, os.WNOHANG)
        if not pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        elif (code := os.waitstatus_to_exitcode(status)) >= 0:
            self._exit_code = code


def _one_by_one(argv: list[str], env: Mapping[str, str], until: float) -> GitAnswer:
    """For systems without posix_spawn."""
    subprocess = __import__("subprocess")
    try:
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=max(0.1, until - time.monotonic()), check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return GitAnswer(None, b"")
    return GitAnswer(done.returncode, done.stdout)


# The same list as in kernel.git, which is too slow to import here. A test compares the two lists.
CARRIED = (
    "core.filemode",
    "core.ignorecase",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.precomposeunicode",
    "core.excludesfile",
)
_MOST_RULES_BYTES = 1 << 20


class Repository:
    """The paths of a user's repository, as git printed them."""

    __slots__ = ("commit", "exclude", "git_dir", "index", "object_format", "objects", "settings", "top")

    def __init__(self, answers: list[str], settings: Mapping[str, str]) -> None:
        self.top, self.git_dir, self.objects, self.exclude, self.index, self.object_format = answers[:6]
        self.commit = answers[6] if len(answers) > 6 else ""
        self.settings = settings


class PrivateGit:
    """The folder, for the block; `arguments` make git use it."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        base = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 -- the folder is private
        self._folder = os.path.join(base, f"loopwright-hook-{os.getpid()}-{os.urandom(6).hex()}")

    def __enter__(self) -> Self:
        os.mkdir(self._folder, 0o700)
        for part in ("objects", "objects/info", "objects/pack", "refs", "refs/heads", "info"):
            os.mkdir(self._inside(part))
        repository = self._repository
        self._write("HEAD", repository.commit or "ref: refs/heads/none")
        self._write("config", self._config())
        self._write("objects/info/alternates", repository.objects)
        # No filter program runs, and no attribute in the change decides whether its lines are counted.
        self._write("info/attributes", "* -filter !diff")
        rules = read_bounded(repository.exclude, _MOST_RULES_BYTES, follow=True) or b""
        self._write("info/exclude", os.fsdecode(rules))
        for name in os.listdir(repository.git_dir):
            if name.startswith("sharedindex."):
                os.symlink(os.path.join(repository.git_dir, name), self._inside(name))
        return self

    def __exit__(self, *problem: object) -> None:
        for folder, folders, files in os.walk(self._folder, topdown=False):
            for name in (*files, *folders):
                path = os.path.join(folder, name)
                try:
                    os.rmdir(path) if name in folders and not os.path.islink(path) else os.unlink(path)
                except OSError:
                    pass
        try:
            os.rmdir(self._folder)
        except OSError:
            pass

    @property
    def arguments(self) -> tuple[str, ...]:
        """Git arguments before the subcommand."""
        return (f"--git-dir={self._folder}", f"--work-tree={self._repository.top}")

    def environment(self) -> dict[str, str]:
        """Only this folder's config; the index is the user's, or a copy."""
        own = self._inside("index")
        return {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_INDEX_FILE": own if os.path.exists(own) else self._repository.index,
        }

    def copy_index(self) -> None:
        """Use a copy of the index with the original's time, which git compares with the times of files."""
        with open(self._repository.index, "rb") as source, open(self._inside("index"), "wb") as target:
            while data := source.read(1 << 20):
                target.write(data)
        status = os.stat(self._repository.index)
        os.utime(self._inside("index"), ns=(status.st_atime_ns, status.st_mtime_ns))

    def _config(self) -> str:
        is_sha1 = self._repository.object_format == "sha1"
        lines = ["[core]", f"\trepositoryformatversion = {0 if is_sha1 else 1}", "\tbare = false"]
        for name, value in self._repository.settings.items():
            quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            lines.append(f'\t{name.removeprefix("core.")} = "{quoted}"')
        if not is_sha1:
            lines += ["[extensions]", f"\tobjectformat = {self._repository.object_format}"]
        return "\n".join(lines)

    def _inside(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _write(self, name: str, text: str) -> None:
        with open(self._inside(name), "wb") as stream:
            stream.write(os.fsencode(text) + b"\n")


def carried_settings(listed: bytes, home: str) -> dict[str, str]:
    """The settings in `git config --list -z` that decide how files look on disk."""
    settings: dict[str, str] = {}
    for entry in os.fsdecode(listed).split("\0"):
        name, _, value = entry.partition("\n")
        if name in CARRIED:
            settings[name] = value
    excludes = settings.get("core.excludesfile")
    if excludes is None:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        settings["core.excludesfile"] = os.path.join(base, "git", "ignore")
    elif excludes.startswith("~/"):
        settings["core.excludesfile"] = os.path.join(home, excludes[2:])
    return settings

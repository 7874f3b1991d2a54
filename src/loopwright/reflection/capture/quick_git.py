"""Git for the hook: several queries at once, without the cost of the subprocess module.

Git runs programs named in a config. Here that is turned off (no file monitor, no hooks, no lazy fetching), and queries
that would run filters go through `private_git`.
"""

from __future__ import annotations

import os
import select
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

QUIET = (
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "core.untrackedCache=false", "-c", "safe.bareRepository=explicit", "-c", "protocol.allow=never",
    "-c", "submodule.recurse=false",
)  # fmt: skip
_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "SYSTEMROOT", "USERPROFILE", "TMPDIR")
_CHUNK = 1 << 16
_MOST_BYTES = 64 << 20


class GitAnswer:
    """What git printed, and its exit code; None if git could not start or did not finish in time."""

    __slots__ = ("exit_code", "stdout")

    def __init__(self, exit_code: int | None, stdout: bytes) -> None:
        self.exit_code = exit_code
        self.stdout = stdout

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

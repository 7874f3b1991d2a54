"""Git for the hook: several questions at once, without the cost of the subprocess module.

Git runs what a config says; here it is told not to (no file monitor, no hooks, no fetching of what a partial clone
lacks), and what would run filters is asked through `private_git` only.
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
    """What git printed, and how it ended; None when it never could, or not in time."""

    __slots__ = ("exit_code", "stdout")

    def __init__(self, exit_code: int | None, stdout: bytes) -> None:
        self.exit_code = exit_code
        self.stdout = stdout

    @property
    def is_good(self) -> bool:
        """Whether git said yes."""
        return self.exit_code == 0


def ask(
    cwd: str, questions: Sequence[Sequence[str]], *, until: float, extra: Mapping[str, str] | None = None
) -> list[GitAnswer]:
    """Ask git all of this at once, and wait for the answers until that moment of the monotonic clock."""
    lines = [[*QUIET, "-C", cwd, *question] for question in questions]
    env = {**environment(os.environ), **(extra or {})}
    if not hasattr(os, "posix_spawnp"):
        return [_one_by_one(line, env, until) for line in lines]
    running = [_Running(line, env) for line in lines]
    try:
        open_pipes = {one.pipe: one for one in running if one.pipe >= 0}
        while open_pipes and (left := until - time.monotonic()) > 0:
            for handle in select.select(list(open_pipes), [], [], left)[0]:
                if not open_pipes[handle].read():
                    del open_pipes[handle]
    except BaseException:
        until = 0
        raise
    finally:
        for one in running:
            one.finish(until)
    return [one.answer for one in running]


def environment(caller: Mapping[str, str]) -> dict[str, str]:
    """Nothing that tells git to do more than it is asked; the user's own config stays (safe.directory is there)."""
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
    """One git that is at work."""

    def __init__(self, argv: list[str], env: Mapping[str, str]) -> None:
        self.pipe = -1
        self._said = bytearray()
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
            # The one start of a process outside kernel.process, which would cost the hook twice its time.
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
        """What came of it."""
        return GitAnswer(self._exit_code, bytes(self._said))

    def read(self) -> bool:
        """Take what is there; False at the end."""
        data = os.read(self.pipe, _CHUNK)
        self._said += data
        return bool(data) and len(self._said) < _MOST_BYTES

    def finish(self, until: float) -> None:
        """Collect it; a git that is late, or that talks without end, is ended."""
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
    """For a system that can't spawn as POSIX does; there the time is spent anyhow."""
    subprocess = __import__("subprocess")
    try:
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=max(0.1, until - time.monotonic()), check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return GitAnswer(None, b"")
    return GitAnswer(done.returncode, done.stdout)

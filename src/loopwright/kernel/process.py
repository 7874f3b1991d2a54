"""The one place that starts processes. Nobody it started survives the call that started it.

A command's failure is a value (`Ended`, `Captured`); that it could not be started is an exception.
Linux: this process is a subreaper, so daemons come back to it and are ended. Elsewhere: process groups.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import msgspec

from loopwright.errors import ToolMissing
from loopwright.kernel import cgroup, process_tree
from loopwright.kernel import family as families
from loopwright.kernel.cancellation import Cancellation, Stopped, go_on, heeded, heeding, wait_for_request
from loopwright.kernel.family import MARK_VARIABLE, ProcessFamily, mark_of
from loopwright.kernel.files import shown
from loopwright.kernel.freezing import Freezer
from loopwright.kernel.watched import Ending, PausableCommand, Sink, Watched

__all__ = [
    "MARK_VARIABLE",
    "Cancellation",
    "Captured",
    "Command",
    "Ended",
    "Ending",
    "Freezer",
    "Sink",
    "Stopped",
    "capture",
    "end_family",
    "go_on",
    "heeding",
    "mark_of",
    "stream",
    "wait_for_request",
]


class Command(msgspec.Struct, frozen=True):
    """What to start.

    `family` names the work that it belongs to, for whoever cleans up after a crash. A `wrapped` command
    is started by a wrapper (bwrap) that must outlive the others' TERM: it takes them along when it goes.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    family: str
    wrapped: bool = False


class Ended(msgspec.Struct, frozen=True):
    """How a streamed command ended; a signal is 128 + its number, as shells say it.

    The duration is that of its work: the time that it stood still for a `Freezer` is told apart.
    """

    ending: Ending
    exit_code: int
    duration_s: float
    frozen_s: float = 0.0


class Captured(msgspec.Struct, frozen=True):
    """A short command's whole result."""

    exit_code: int
    stdout: bytes
    stderr: bytes


def stream(
    command: Command,
    *,
    on_stdout: Sink,
    on_stderr: Sink,
    timeout_s: float | None,
    cancellation: Cancellation | None = None,
    freezer: Freezer | None = None,
) -> Ended:
    """Run a command to its end, handing over its output as it comes, and leave no process behind.

    Without a cancellation of its own it ends with the block that it is in. With a freezer it can be held still: it does
    not begin before the thaw, `timeout_s` counts the time that it works, and a stop wins over the hold.
    """
    process_tree.adopt_orphans()
    request = cancellation or heeded()
    with freezer.followed() if freezer is not None else nullcontext() as follower:
        held_s = follower.wait_for_thaw(request) if follower is not None else 0.0
        if follower is not None and follower.is_wished() and request is not None and request.reason is not None:
            return Ended(Ending.CANCELLED, _shell_code(-signal.SIGTERM), 0.0, held_s)
        began = time.monotonic()
        mark = mark_of(command.family)
        env = {**command.env, MARK_VARIABLE: mark}
        child = families.note_start(partial(_popen, command.argv, command.cwd, env, subprocess.DEVNULL), mark)
        family = ProcessFamily(child.pid, mark, wrapped=command.wrapped)
        hold = PausableCommand(family, follower, began)
        watched = Watched(child, family, hold, (on_stdout, on_stderr))
        try:
            ending = watched.follow(timeout_s, request, follower)
        finally:
            watched.finish()
        return Ended(ending, _shell_code(child.returncode), hold.worked_s, held_s + hold.frozen_s)


def capture(
    argv: tuple[str, ...],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout_s: float = 600,
) -> Captured:
    """Run a short helper command and return all that it printed."""
    child = families.note_start(partial(_popen, argv, cwd, env, subprocess.PIPE), "")
    request = heeded()
    try:
        with request.ending(child) if request is not None else nullcontext():
            stdout, stderr = child.communicate(stdin, timeout=timeout_s)
    except BaseException as problem:
        process_tree.kill_all([child.pid, *process_tree.descendants(child.pid)], signal.SIGKILL)
        child.communicate()
        if isinstance(problem, subprocess.TimeoutExpired):
            raise TimeoutError(f"{argv[0]} did not end within {timeout_s:g} s") from problem
        raise
    finally:
        families.note_end(child.pid)
    return Captured(_shell_code(child.returncode), stdout, stderr)


def detach(argv: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], log: Path) -> int:
    """Start a process that outlives us and our terminal; what it says goes to a file. The one that we never end."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    families.note_start(lambda: child, "")
    return child.pid


def end_family(family: str, *, by_place: bool = True) -> int:
    """End every process that an earlier, dead instance of us started for this family.

    A process that wiped its mark is known by where it works: a family is named after its folder. Where a person may
    work as well, `by_place` is off: their editor is not ours to end.
    """
    wanted = f"{MARK_VARIABLE}={family}:".encode()
    ended = 0
    for _ in range(20):
        found = [
            pid
            for pid in process_tree.all_processes()
            if process_tree.environment_has(pid, wanted) or (by_place and process_tree.works_in(pid, family))
        ]
        if not found:
            break
        ended += process_tree.kill_all(found, signal.SIGKILL)
        time.sleep(0.01)
    cgroup.remove_leftovers()
    return ended


def _popen(argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], stdin: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError) as problem:
        if not cwd.is_dir():
            raise ToolMissing(
                f"can't start {argv[0]}: the folder {shown(cwd)} is not there",
                hint="check that folder, then try again",
            ) from problem
        raise ToolMissing(
            f"the program '{argv[0]}' is not installed, or not on PATH",
            hint=f"install {argv[0]}, then run `loopwright doctor`",
        ) from problem
    except OSError as problem:
        raise ToolMissing(f"can't start '{argv[0]}': {problem.strerror}", hint="run `loopwright doctor`") from problem


def _shell_code(returncode: int) -> int:
    return 128 - returncode if returncode < 0 else returncode

"""The only module that starts processes. No process survives the call that started it.

A command that fails is a value (`Ended`, `Captured`); a command that can't be started is an exception.
Linux: this process is a subreaper, so daemons become its children and are ended. Elsewhere: process groups.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path

import msgspec

from loopwright.errors import ToolMissing
from loopwright.kernel import cgroup, process_tree
from loopwright.kernel import family as families
from loopwright.kernel.cancellation import (
    Cancellation,
    Stopped,
    check_for_stop,
    current_cancellation,
    stopping_on,
    wait_for_request,
)
from loopwright.kernel.family import MARK_VARIABLE, ProcessFamily, mark_of
from loopwright.kernel.files import shown
from loopwright.kernel.freezing import Freezer
from loopwright.kernel.lockdown import Lockdown, start_locked_down
from loopwright.kernel.start_report import StartReport
from loopwright.kernel.watched import Ending, PausableCommand, Sink, Watched

__all__ = [
    "MARK_VARIABLE",
    "Cancellation",
    "Captured",
    "Command",
    "Ended",
    "Ending",
    "Freezer",
    "Lockdown",
    "Sink",
    "Stopped",
    "capture",
    "check_for_stop",
    "end_family",
    "mark_of",
    "stopping_on",
    "stream",
    "wait_for_request",
]


class Command(msgspec.Struct, frozen=True):
    """A command to start.

    `family` names the work the command belongs to, for the cleanup after a crash. A `wrapped` command is started by a
    wrapper (bwrap). The wrapper ignores the TERM for the others, and ends them all when it ends. `lockdown` is what the
    command gives up; None for our own helpers. `report` is the wrapper's option for a report on a descriptor, and the
    word in the report which says that the command began.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    family: str
    wrapped: bool = False
    lockdown: Lockdown | None = None
    report: tuple[str, bytes] | None = None


class Ended(msgspec.Struct, frozen=True):
    """How a streamed command ended. A signal is reported as 128 + its number, as in shells.

    `duration_s` does not include `frozen_s`, the time the command was frozen. If the command never `began`, the exit
    code is the wrapper's own.
    """

    ending: Ending
    exit_code: int
    duration_s: float
    frozen_s: float = 0.0
    began: bool = True


class Captured(msgspec.Struct, frozen=True):
    """The complete result of a short command."""

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
    """Run a command to its end, pass on its output as it comes, and leave no process behind.

    Without a `cancellation` the command stops with the current block. With a `freezer` the command can be frozen: the
    command starts after the thaw, `timeout_s` excludes frozen time, and a stop also ends a frozen command.
    """
    process_tree.adopt_orphans()
    request = cancellation or current_cancellation()
    with ExitStack() as opened:
        listener = opened.enter_context(freezer.listen()) if freezer is not None else None
        held_s = listener.wait_for_thaw(request) if listener is not None else 0.0
        if listener is not None and listener.should_freeze() and request is not None and request.reason is not None:
            return Ended(Ending.CANCELLED, _shell_code(-signal.SIGTERM), 0.0, held_s)
        started_at = time.monotonic()
        mark = mark_of(command.family)
        env = {**command.env, MARK_VARIABLE: mark}
        report = opened.enter_context(StartReport(*command.report)) if command.report is not None else None
        argv, inherited = (report.argv(command.argv), report.descriptors) if report is not None else (command.argv, ())
        start = partial(_popen, argv, command.cwd, env, subprocess.DEVNULL, command.lockdown, inherited)
        child = families.note_start(start, mark)
        if report is not None:
            report.close_writer()
        family = ProcessFamily(child.pid, mark, wrapped=command.wrapped)
        pausable = PausableCommand(family, listener, started_at)
        watched = Watched(child, family, pausable, (on_stdout, on_stderr))
        try:
            ending = watched.follow(timeout_s, request, listener)
        finally:
            watched.finish()
        # A wrapper that was ended reports nothing.
        began = report is None or ending is not Ending.EXITED or child.returncode < 0 or report.began()
        exit_code = _shell_code(child.returncode)
        return Ended(ending, exit_code, pausable.worked_s, held_s + pausable.frozen_s, began)


def capture(
    argv: tuple[str, ...],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout_s: float = 600,
    lockdown: Lockdown | None = None,
) -> Captured:
    """Run a short helper command and return all its output."""
    child = families.note_start(partial(_popen, argv, cwd, env, subprocess.PIPE, lockdown), "")
    request = current_cancellation()
    try:
        with request.killing_on_request(child) if request is not None else nullcontext():
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
    """Start a process that outlives this process and its terminal. Its output goes to `log`. It is never ended."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    families.note_start(lambda: child, "")
    return child.pid


def end_family(family: str, *, by_place: bool = True) -> int:
    """End every process that an earlier, dead Loopwright process started for this family.

    A process that removed its mark is recognized by its working folder: a family is named after its folder. In folders
    where a person may work, pass `by_place=False`, so that their editor is not ended.
    """
    mark = f"{MARK_VARIABLE}={family}:".encode()
    ended = 0
    for _ in range(20):
        pids = [
            pid
            for pid in process_tree.all_processes()
            if process_tree.environment_has(pid, mark) or (by_place and process_tree.works_in(pid, family))
        ]
        if not pids:
            break
        ended += process_tree.kill_all(pids, signal.SIGKILL)
        time.sleep(0.01)
    cgroup.remove_leftovers()
    return ended


def _popen(
    argv: tuple[str, ...],
    cwd: Path,
    env: Mapping[str, str],
    stdin: int,
    lockdown: Lockdown | None,
    inherited: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=inherited,
        )

    try:
        return start() if lockdown is None else start_locked_down(start, lockdown)
    except (FileNotFoundError, NotADirectoryError) as problem:
        if not cwd.is_dir():
            raise ToolMissing(
                f"can't start {argv[0]}: the folder {shown(cwd)} is missing",
                hint="check that folder, then try again",
            ) from problem
        raise ToolMissing(
            f"the program '{argv[0]}' is not installed or not on PATH",
            hint=f"install {argv[0]}, then run `loopwright doctor`",
        ) from problem
    except OSError as problem:
        raise ToolMissing(f"can't start '{argv[0]}': {problem.strerror}", hint="run `loopwright doctor`") from problem


def _shell_code(returncode: int) -> int:
    return 128 - returncode if returncode < 0 else returncode

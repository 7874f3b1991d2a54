"""The one place that starts processes. Nobody it started survives the call that started it.

A command's failure is a value (`Ended`, `Captured`); that it could not be started is an exception.
Linux: this process is a subreaper, so daemons come back to it and are ended. Elsewhere: process groups.
"""

from __future__ import annotations

import itertools
import os
import select
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path

import msgspec

from loopwright.errors import ToolMissing
from loopwright.kernel import process_tree
from loopwright.kernel.files import shown

MARK_VARIABLE = "LOOPWRIGHT_PROCESS_MARK"
_CHUNK = 1 << 18
_GRACE_S = 2.0
_DRAIN_S = 2.0
Sink = Callable[[bytes], None]


class Ending(StrEnum):
    """Why a command is over."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


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
    """How a streamed command ended; a signal is 128 + its number, as shells say it."""

    ending: Ending
    exit_code: int
    duration_s: float


class Captured(msgspec.Struct, frozen=True):
    """A short command's whole result."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class Stopped(Exception):
    """A stop was requested while a helper command was at work, or before it could start."""


class Cancellation:
    """A request to stop that selectors can wait for. The first reason stays."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._reason: str | None = None
        self._inner: list[Cancellation] = []
        self._helpers: list[subprocess.Popen[bytes]] = []

    @contextmanager
    def nested(self) -> Iterator[Cancellation]:
        """A request of its own for a part of the work; what stops the whole stops the part, not the reverse."""
        inner = Cancellation()
        self._inner.append(inner)
        if self._reason is not None:
            inner.request(self._reason)
        try:
            yield inner
        finally:
            self._inner.remove(inner)
            inner.close()

    @property
    def reason(self) -> str | None:
        """Why to stop, or None to go on."""
        return self._reason

    def request(self, reason: str) -> None:
        """Ask; safe in a signal handler and from any thread."""
        if self._reason is None:
            self._reason = reason
            with suppress(OSError):
                os.write(self._write, b"!")
        for inner in tuple(self._inner):
            inner.request(reason)
        for helper in tuple(self._helpers):
            helper.kill()

    @contextmanager
    def ending(self, helper: subprocess.Popen[bytes]) -> Iterator[None]:
        """End this helper command the moment a stop is requested; `Stopped` when one was."""
        self._helpers.append(helper)
        try:
            if self._reason is not None:
                helper.kill()
            yield
        finally:
            self._helpers.remove(helper)
        self.raise_if_requested()

    def raise_if_requested(self) -> None:
        """For long work between commands."""
        if self._reason is not None:
            raise Stopped(self._reason)

    def fileno(self) -> int:
        """Readable once a stop was requested."""
        return self._read

    def close(self) -> None:
        """Give the descriptors back."""
        for handle in (self._read, self._write):
            with suppress(OSError):
                os.close(handle)


def wait_for_request(cancellation: Cancellation, timeout_s: float) -> bool:
    """Wait until a stop is requested, at most this long."""
    return bool(select.select([cancellation], [], [], timeout_s)[0])


_heeded: ContextVar[Cancellation | None] = ContextVar("heeded", default=None)


@contextmanager
def heeding(cancellation: Cancellation) -> Iterator[None]:
    """Let every helper command in this block, however deep, end when a stop is requested, as `Stopped`."""
    before = _heeded.set(cancellation)
    try:
        cancellation.raise_if_requested()
        yield
    finally:
        _heeded.reset(before)


def go_on() -> None:
    """Between two pieces of long work: `Stopped` if the block that we are in was asked to stop."""
    if (heeded := _heeded.get()) is not None:
        heeded.raise_if_requested()


_family_numbers = itertools.count(1)
_start_lock = threading.Lock()
_ours: dict[int, str] = {}
# First processes of namespaces that are empty and killed: nothing of them can run, they only have to be collected.
_dying: set[int] = set()


def mark_of(family: str) -> str:
    """A mark for a new process of this family; no two are the same."""
    return f"{family}:{os.getpid()}:{next(_family_numbers)}"


def stream(
    command: Command,
    *,
    on_stdout: Sink,
    on_stderr: Sink,
    timeout_s: float | None,
    cancellation: Cancellation | None = None,
) -> Ended:
    """Run a command to its end, handing over its output as it comes, and leave no process behind.

    Without a cancellation of its own it ends with the block that it is in.
    """
    process_tree.adopt_orphans()
    mark = mark_of(command.family)
    began = time.monotonic()
    child = _start(command, mark)
    watched = _Watched(child, mark, command.wrapped, (on_stdout, on_stderr))
    try:
        ending = watched.follow(began + timeout_s if timeout_s is not None else None, cancellation or _heeded.get())
    finally:
        watched.finish()
    return Ended(ending, _shell_code(child.returncode), time.monotonic() - began)


def capture(
    argv: tuple[str, ...],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout_s: float = 600,
) -> Captured:
    """Run a short helper command and return all that it printed."""
    with _start_lock:
        child = _popen(argv, cwd, env, subprocess.PIPE)
        _ours[child.pid] = ""
    heeded = _heeded.get()
    try:
        with heeded.ending(child) if heeded is not None else nullcontext():
            stdout, stderr = child.communicate(stdin, timeout=timeout_s)
    except BaseException as problem:
        process_tree.kill_all([child.pid, *process_tree.descendants(child.pid)], signal.SIGKILL)
        child.communicate()
        if isinstance(problem, subprocess.TimeoutExpired):
            raise TimeoutError(f"{argv[0]} did not end within {timeout_s:g} s") from problem
        raise
    finally:
        with _start_lock:
            _ours.pop(child.pid, None)
    return Captured(_shell_code(child.returncode), stdout, stderr)


def end_family(family: str) -> int:
    """End every process that an earlier, dead instance of us started for this family.

    A process that wiped its mark is known by where it works: a family is named after its folder.
    """
    wanted = f"{MARK_VARIABLE}={family}:".encode()
    ended = 0
    for _ in range(20):
        found = [
            pid
            for pid in process_tree.all_processes()
            if process_tree.environment_has(pid, wanted) or process_tree.works_in(pid, family)
        ]
        if not found:
            break
        ended += process_tree.kill_all(found, signal.SIGKILL)
        time.sleep(0.01)
    return ended


def _start(command: Command, mark: str) -> subprocess.Popen[bytes]:
    # Start and note it as one step: a sweep in another thread must not take it for an orphan.
    with _start_lock:
        child = _popen(command.argv, command.cwd, {**command.env, MARK_VARIABLE: mark}, subprocess.DEVNULL)
        _ours[child.pid] = mark
    return child


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


class _Watched:
    """One streamed child: its pipes, its exit, and the end of all that it started."""

    def __init__(self, child: subprocess.Popen[bytes], mark: str, wrapped: bool, sinks: tuple[Sink, Sink]) -> None:
        self._child = child
        self._mark = mark
        self._wrapped = wrapped
        self._selector = selectors.DefaultSelector()
        for pipe, sink in zip((child.stdout, child.stderr), sinks, strict=True):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, sink)
        self._exit_handle = process_tree.exit_handle(child.pid)

    def follow(self, deadline: float | None, cancellation: Cancellation | None) -> Ending:
        """Read until the child exits; past the deadline or on request, end it: TERM, then KILL."""
        if self._exit_handle is not None:
            self._selector.register(self._exit_handle, selectors.EVENT_READ, None)
        if cancellation is not None:
            self._selector.register(cancellation, selectors.EVENT_READ, None)
        ending = Ending.EXITED
        kill_at: float | None = None
        while self._child.poll() is None:
            now = time.monotonic()
            requested = cancellation is not None and cancellation.reason is not None
            if kill_at is None and (requested or (deadline and now >= deadline)):
                ending = Ending.CANCELLED if requested else Ending.TIMED_OUT
                kill_at = now + _GRACE_S
                if cancellation is not None:
                    self._selector.unregister(cancellation)
                self._signal_family(signal.SIGTERM)
            if kill_at is not None and now >= kill_at:
                self._signal_family(signal.SIGKILL)
                kill_at = now + _GRACE_S
            self._read_once(self._pause(now, kill_at if kill_at is not None else deadline))
        return ending

    def finish(self) -> None:
        """End what is left of the family, then take what the pipes still hold."""
        if self._child.poll() is None:
            process_tree.kill_all([*process_tree.descendants(self._child.pid), self._child.pid], signal.SIGKILL)
            self._child.wait()
        with _start_lock:
            _ours.pop(self._child.pid, None)
        self._sweep()
        try:
            self._drain()
        finally:
            self._selector.close()
            for pipe in (self._child.stdout, self._child.stderr):
                if pipe is not None:
                    pipe.close()
            if self._exit_handle is not None:
                os.close(self._exit_handle)

    def _pause(self, now: float, until: float | None) -> float | None:
        # Without an exit handle (no pidfd on this system) the child has to be looked at now and then.
        longest = None if self._exit_handle is not None else 0.02
        left = None if until is None else max(0.0, until - now)
        if longest is None or left is None:
            return longest if left is None else left
        return min(longest, left)

    def _read_once(self, timeout: float | None) -> bool:
        got = False
        for key, _ in self._selector.select(timeout):
            sink: Sink | None = key.data
            if sink is None:
                continue
            try:
                data = os.read(key.fd, _CHUNK)
            except BlockingIOError:
                continue
            if data:
                got = True
                sink(data)
            else:
                self._selector.unregister(key.fileobj)
        return got

    def _drain(self) -> None:
        """What is in the pipes now; nobody is left to write more, and a pipe that stays open is not waited for."""
        until = time.monotonic() + _DRAIN_S
        pipes = [key for key in self._selector.get_map().values() if key.data is not None]
        while pipes and time.monotonic() < until:
            if not self._read_once(0):
                break
            pipes = [key for key in self._selector.get_map().values() if key.data is not None]

    def _family(self) -> list[int]:
        members = process_tree.descendants(self._child.pid)
        for orphan in self._orphans():
            members += [orphan, *process_tree.descendants(orphan)]
        return members

    def _signal_family(self, number: signal.Signals) -> None:
        if not process_tree.KNOWS_DESCENDANTS:
            process_tree.kill_group(self._child.pid, number)
            return
        members = self._family()
        spare_leader = self._wrapped and members and number is not signal.SIGKILL
        process_tree.kill_all(members if spare_leader else [self._child.pid, *members], number)

    def _orphans(self) -> list[int]:
        with _start_lock:
            _dying.difference_update(process_tree.collect(_dying))
            strays = [pid for pid in process_tree.own_children() if pid not in _ours and pid not in _dying]
            others = {mark for mark in _ours.values() if mark and mark != self._mark}
        return [pid for pid in strays if self._is_mine(pid, others)]

    def _is_mine(self, pid: int, other_marks: set[str]) -> bool:
        # One that wiped its mark can't be told apart while others run; the last of them ends it.
        own = f"{MARK_VARIABLE}={self._mark}".encode() + b"\0"
        return not other_marks or process_tree.environment_has(pid, own)

    def _sweep(self) -> None:
        until = time.monotonic() + _GRACE_S
        while orphans := self._orphans():
            for orphan in orphans:
                below = process_tree.descendants(orphan)
                process_tree.kill_all([*below, orphan], signal.SIGKILL)
                if self._wrapped and not below:
                    # A wrapper's namespace with nobody left in it: taking its mounts down is not worth waiting for.
                    _dying.add(orphan)
            waited_for = set(orphans) - _dying
            if not waited_for:
                return
            process_tree.reap(waited_for, until)
            if time.monotonic() > until:
                return

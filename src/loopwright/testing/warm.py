"""Runs our programs in processes forked from an interpreter that has imported everything.

A walk starts dozens of processes, and imports took half of their time. A forked process has its own arguments, folder,
variables, session and pipes, like a started one. Variables that the interpreter or the loader reads at its start can't
be changed by a fork: then a process is started.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Never

import loopwright
from loopwright.kernel import family, process, process_tree

# The interpreter or the loader reads these before our code runs.
_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "MALLOC", "FAKETIME", "GCONV", "GLIBC")
# Languages for which a warm interpreter exists.
_LANGUAGES = ("C.UTF-8", "zh_CN.UTF-8")
_ALWAYS_COLD = "COLD_STARTS"
COMMAND_LINE = "loopwright.cli.main"
HOOK = "loopwright.hooks.entry"
# numpy, scipy and matplotlib triple the memory that a fork copies, and only one group of commands uses them.
_NEEDS_STATISTICS = ("analyze",)
_STATISTICS = ("loopwright.analysis", "loopwright.cli.analyze", "loopwright.verbs.calibration")
_WITH_STATISTICS = "with-statistics"
# The hook imports little, so its interpreter does as well: a fork copies the tables of all its memory.
_HOOK_ALONE = "hook-alone"
_CHUNK = 1 << 16
_ENDS = 5
# The number of bytes with the process id, before the bytes with the exit status.
_PID_LENGTH = 20


def can_be_warm(env: Mapping[str, str]) -> bool:
    """Whether a fork behaves like a start with these variables; `COLD_STARTS=1` turns forking off."""
    at_start = {name for name in env if name.startswith(_AT_START)}
    return (
        at_start == {"LANG"}
        and env["LANG"] in _LANGUAGES
        and not os.environ.get(_ALWAYS_COLD)
        and hasattr(os, "pidfd_open")
    )


def run_warm(
    arguments: tuple[str, ...],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes,
    timeout_s: float,
    program: str = COMMAND_LINE,
) -> process.Captured:
    """Run one of our programs with these arguments to its end, and return its output."""
    child_ends: list[int] = []
    our_ends: list[int] = []
    for is_read_by_us in (False, True, True, True):
        reads, writes = os.pipe()
        our_ends.append(reads if is_read_by_us else writes)
        child_ends.append(writes if is_read_by_us else reads)
    request = os.memfd_create("call")
    child_ends.insert(0, request)
    try:
        # Escaped to ASCII: a path may contain bytes that are not text.
        os.write(request, json.dumps([program, list(arguments), str(cwd), dict(env)]).encode())
        interpreter = _warm_interpreter(env["LANG"], _options(program, arguments))
        interpreter.ask(child_ends)
    finally:
        for end in child_ends:
            os.close(end)
    pid = os.read(our_ends[-1], _PID_LENGTH)
    if not pid:
        raise AssertionError(interpreter.failure())
    return _communicate(int(pid), our_ends, stdin, time.monotonic() + timeout_s)


def _options(program: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """What the warm interpreter for this call imports, as options of its command line."""
    if program == HOOK:
        return (_HOOK_ALONE,)
    return (_WITH_STATISTICS,) if arguments[:1] == _NEEDS_STATISTICS else ()


def _communicate(pid: int, our_ends: list[int], stdin: bytes, deadline: float) -> process.Captured:
    """Write and read until all pipes are closed. The last pipe delivers the exit status."""
    to_feed, *to_read = our_ends
    got = {end: bytearray() for end in to_read}
    open_ends = set(our_ends)
    rest = memoryview(stdin)
    with selectors.DefaultSelector() as waiting:
        for end in our_ends:
            os.set_blocking(end, False)
            waiting.register(end, selectors.EVENT_WRITE if end == to_feed else selectors.EVENT_READ)
        try:
            while open_ends:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError("loopwright did not end in time")
                for key, _ in waiting.select(left):
                    end = key.fd
                    if end == to_feed:
                        rest = _fed(end, rest)
                        is_over = not rest
                    else:
                        data = os.read(end, _CHUNK)
                        got[end] += data
                        is_over = not data
                    if is_over:
                        waiting.unregister(end)
                        os.close(end)
                        open_ends.discard(end)
        except BaseException:
            process_tree.kill_all([pid, *process_tree.descendants(pid)], signal.SIGKILL)
            os.set_blocking(to_read[-1], True)
            os.read(to_read[-1], _CHUNK)  # the process has ended when this arrives
            raise
        finally:
            for end in open_ends:
                os.close(end)
    stdout, stderr, status = (bytes(got[end]) for end in to_read)
    code = os.waitstatus_to_exitcode(int(status))
    return process.Captured(128 - code if code < 0 else code, stdout, stderr)


def _fed(end: int, rest: memoryview) -> memoryview:
    try:
        return rest[os.write(end, rest[:_CHUNK]) :] if rest else rest
    except BrokenPipeError:
        return rest[:0]


class _Warm:
    """A warm interpreter, which is forked for each call."""

    def __init__(self, language: str, options: tuple[str, ...]) -> None:
        self.owner = os.getpid()
        self._language = language
        self._socket, child_ends = socket.socketpair()
        with child_ends:
            # Marked as ours, so that no search for leftover processes ends it. It ends with us, when its socket closes.
            self._process = family.note_start(lambda: self._start(child_ends.fileno(), options), "")

    def _start(self, end: int, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            (sys.executable, "-P", "-m", __name__, str(end), *options),
            env={"PATH": os.environ["PATH"], "LANG": self._language},
            # Pipes, as the calls will have: Python checks the abilities of its standard files once.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(end,),
            start_new_session=True,
        )

    def ask(self, ends: list[int]) -> None:
        """Request a call. One message is one call, so that threads need no lock."""
        socket.send_fds(self._socket, [b"."], ends)

    def end(self) -> None:
        """End the interpreter. A process forked from this one has nothing to end."""
        if self.owner == os.getpid():
            self._socket.close()
            self._process.communicate()

    def failure(self) -> str:
        """Why the interpreter does not answer."""
        _, stderr = self._process.communicate()
        return f"the warm interpreter ended with {self._process.returncode}: {stderr.decode('utf-8', 'replace')}"


_interpreters: dict[tuple[str, tuple[str, ...]], _Warm] = {}
_starting = threading.Lock()


def _warm_interpreter(language: str, options: tuple[str, ...]) -> _Warm:
    """One interpreter of each kind per process, started on first use."""
    with _starting:
        kind = (language, options)
        interpreter = _interpreters.get(kind)
        if interpreter is None or interpreter.owner != os.getpid():
            interpreter = _Warm(language, options)
            _interpreters[kind] = interpreter
            atexit.register(interpreter.end)
        return interpreter


def _serve(asked: socket.socket) -> None:
    """Fork for each call and report its exit status, until the socket closes."""
    running: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as waiting:
        waiting.register(asked, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is asked:
                    data, ends, _, _ = socket.recv_fds(asked, 1, _ENDS)
                    if not data:
                        return
                    pid = os.fork()  # noqa: TID251 -- the whole point: no imports
                    if pid == 0:
                        _become(ends)
                    handle = os.pidfd_open(pid)
                    running[handle] = (pid, ends[-1])
                    waiting.register(handle, selectors.EVENT_READ)
                    os.write(ends[-1], str(pid).ljust(_PID_LENGTH).encode())
                    for end in ends[:-1]:
                        os.close(end)
                else:
                    pid, report = running.pop(key.fd)
                    _, status = os.waitpid(pid, 0)
                    waiting.unregister(key.fd)
                    os.close(key.fd)
                    with suppress(BrokenPipeError):  # the caller is gone
                        os.write(report, b"%d\n" % status)
                    os.close(report)


def _become(ends: list[int]) -> Never:
    """Turn this fork into the process of one call: only the imports of the warm interpreter stay."""
    request, *standard, _ = ends
    program, arguments, cwd, env = json.loads(os.pread(request, os.fstat(request).st_size, 0))
    os.setsid()
    for number, end in enumerate(standard):
        os.dup2(end, number)
    os.closerange(3, 1 << 16)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["loopwright", *arguments]
    # By name: every test loads this module, but only this function loads the programs.
    code = importlib.import_module(program).main()
    sys.stdout.flush()
    os._exit(code)  # the command line ends the process itself; the hook returns its exit code


def _import_hook() -> None:
    """Import everything that the hook could load."""
    for name in ("entry", "gate", "reflect"):
        importlib.import_module(f"loopwright.hooks.{name}")


def _import_all(skipped: tuple[str, ...]) -> None:
    """Import everything that a command could load."""
    for module in pkgutil.walk_packages(loopwright.__path__, "loopwright."):
        if not module.name.startswith(("loopwright.testing", "loopwright.__main__", *skipped)):
            importlib.import_module(module.name)


if __name__ == "__main__":
    if _HOOK_ALONE in sys.argv:
        _import_hook()
    else:
        _import_all(() if _WITH_STATISTICS in sys.argv else _STATISTICS)
        # By name, for the reason given in `_become`.
        importlib.import_module("loopwright.testing.first_use").build_shared_values()
    # Exclude these objects from garbage collection: a collection in a fork would copy their pages.
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))

"""What a command gives up before it starts."""

from __future__ import annotations

import ctypes
import errno
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from loopwright.kernel.lockdown import Lockdown, _join_new_keyring, filter_program, start_locked_down

KEYRING = r"""
import ctypes, os
libc = ctypes.CDLL(None)
libc.syscall.restype = ctypes.c_long
print(libc.syscall(250 if os.uname().machine == "x86_64" else 219, 0, -3, 0))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_every_command_has_a_session_keyring_of_its_own():
    start = partial(subprocess.Popen, [sys.executable, "-c", KEYRING], stdout=subprocess.PIPE)
    rings = {
        int(start_locked_down(start, Lockdown.KEYS).communicate()[0]),
        int(start_locked_down(start, Lockdown.KEYS).communicate()[0]),
        int(start().communicate()[0]),
    }
    assert len(rings) == 3 or rings == {-1}, "a kernel without keys has none to share"


class _Calls:
    """A kernel whose calls about keys fail with these errors: join, name the keyring, request a key."""

    def __init__(self, join, name=0, request=0):
        self._join, self._name, self._request = join, name, request

    def syscall(self, number, *arguments):
        is_request = arguments[0] == b"user"
        problem = self._request if is_request else self._join if arguments[0] == 1 else self._name
        ctypes.set_errno(problem)
        return -1 if problem else 7


@pytest.mark.parametrize(
    "calls",
    [
        _Calls(0),
        _Calls(errno.ENOSYS),
        # As in Docker: a filter refuses every call about keys.
        _Calls(errno.EPERM, errno.EPERM, errno.EPERM),
    ],
)
def test_a_command_starts_if_it_can_not_reach_the_shared_keyring(calls):
    _join_new_keyring(calls)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.parametrize(
    ("calls", "why"),
    [
        (_Calls(errno.EDQUOT), "Disk quota exceeded"),
        (_Calls(errno.ENOMEM), "Cannot allocate memory"),
        (_Calls(errno.EPERM), "Operation not permitted"),
        (_Calls(errno.EPERM, errno.EACCES, errno.EPERM), "Operation not permitted"),
        (_Calls(errno.EPERM, errno.EPERM, errno.ENOKEY), "Operation not permitted"),
    ],
)
def test_a_command_never_starts_with_the_shared_keyring(calls, why):
    with pytest.raises(OSError, match=f"session keyring of its own: {why}"):
        _join_new_keyring(calls)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_a_command_starts_inside_a_filter_that_refuses_keys():
    inner = (
        "import subprocess; from functools import partial; "
        "from loopwright.kernel.lockdown import Lockdown, start_locked_down; "
        "print(start_locked_down(partial(subprocess.Popen, ['true']), Lockdown.KEYS).wait())"
    )
    start = partial(subprocess.Popen, [sys.executable, "-c", inner], stdout=subprocess.PIPE)
    assert start_locked_down(start, Lockdown.MACHINE).communicate()[0] == b"0\n"


def test_a_program_that_can_not_start_is_the_callers_error():
    with pytest.raises(FileNotFoundError):
        start_locked_down(partial(subprocess.Popen, ["/missing"]), Lockdown.KEYS)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_this_process_gives_nothing_up():
    status = start_locked_down(partial(subprocess.Popen, ["true"]), Lockdown.NETWORK).wait()
    assert "Seccomp:\t0\n" in Path("/proc/self/status").read_text()
    assert status == 0


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "riscv64", "loongarch64"])
def test_each_level_refuses_more_than_the_one_before(machine):
    sizes = [len(filter_program(level, machine)) for level in (Lockdown.MACHINE, Lockdown.LOCAL)]
    assert sizes == sorted(set(sizes))
    assert len(filter_program(Lockdown.NETWORK, machine)) > sizes[0]


def test_a_machine_without_known_numbers_of_calls_is_an_error_and_not_an_empty_filter():
    with pytest.raises(OSError, match="m68k"):
        filter_program(Lockdown.MACHINE, "m68k")


ATTEMPTS = r"""
import os, resource, socket, sys
decoy = int(sys.argv[1])
for name, act in {
    "family": lambda: socket.socket(40, socket.SOCK_STREAM),
    "messages": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2),
    "limits": lambda: resource.prlimit(decoy, resource.RLIMIT_CORE, (0, 0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, decoy, os.getpriority(os.PRIO_PROCESS, decoy)),
    "group": lambda: os.setpriority(os.PRIO_PGRP, 0, os.getpriority(os.PRIO_PGRP, 0)),
    "processors": lambda: os.sched_setaffinity(decoy, os.sched_getaffinity(decoy)),
    "scheduler": lambda: os.sched_setscheduler(decoy, os.SCHED_OTHER, os.sched_param(0)),
    "own limits": lambda: resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE)),
    "own priority": lambda: os.nice(0),
    "own processors": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    "routes": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
    "internet": lambda: socket.socket(socket.AF_INET),
    "local": lambda: socket.socket(socket.AF_UNIX),
    "pair": lambda: socket.socketpair(),
}.items():
    try:
        act()
    except PermissionError:
        continue
    except OSError:
        pass
    print(name)
"""
OWN = ["own limits", "own priority", "own processors"]
OTHERS = ["limits", "priority", "group", "processors", "scheduler"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.parametrize(
    ("level", "allowed"),
    [
        (Lockdown.MACHINE, [*OTHERS, *OWN, "routes", "internet", "local", "pair"]),
        (Lockdown.LOCAL, [*OWN, "routes", "internet", "pair"]),
        (Lockdown.NETWORK, [*OWN, "pair"]),
    ],
)
def test_sockets_and_settings_of_processes_are_allowed_by_a_list(level, allowed):
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as decoy:
        command = [sys.executable, "-c", ATTEMPTS, str(decoy.pid)]
        start = partial(subprocess.Popen, command, stdout=subprocess.PIPE, text=True)
        assert start_locked_down(start, level).communicate()[0].splitlines() == allowed

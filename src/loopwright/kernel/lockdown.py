"""What a command gives up before it starts, for itself and every process that it starts: keys, system calls, scope.

Credentials, filters and Landlock domains belong to a thread, and a new process inherits those of the thread that starts
it. So a command starts in a thread of its own, which gives them up first. This needs no program in between.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import cache
from typing import Protocol, TypeVar

_ON_LINUX = sys.platform.startswith("linux")
_KEYCTL_GET_KEYRING_ID, _KEYCTL_JOIN_SESSION_KEYRING = 0, 1
_SESSION_KEYRING = -3
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _RESTRICT_SELF, _VERSION_FLAG = 444, 446, 1
# The first Landlock version with scopes; the scopes are abstract sockets and signals.
_SCOPED, _SCOPES = 6, 0b11
# Kinds of sockets, as an allow-list: others (vsock, and whatever a kernel module adds) ignore network namespaces.
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_NETLINK_ROUTE = 0  # asks about the network; other protocols carry messages between processes
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX: they type into a terminal

# Numbers of system calls: on x86_64, and on every machine with the kernel's generic table.
_KEYCTL = (250, 219)
_REQUEST_KEY = (249, 218)
_IOCTL = (16, 29)
_SOCKET = (41, 198)
# State of the machine that no namespace separates, and that no build, test or agent needs.
_MACHINE_CALLS = (
    (248, 217), _REQUEST_KEY, _KEYCTL,  # add_key, request_key, keyctl
    (425, 425), (426, 426), (427, 427),  # io_uring: its requests pass no filter
    (321, 280), (323, 282), (298, 241),  # bpf, userfaultfd, perf_event_open
    (246, 104), (320, 294), (175, 105), (313, 273), (176, 106),  # kexec and kernel modules
    (304, 265), (163, 89), (179, 60), (167, 224), (168, 225),  # open_by_handle_at, acct, quotactl, swapon, swapoff
    (169, 142), (103, 116),  # reboot, syslog
    (164, 170), (227, 112), (159, 171), (305, 266),  # settimeofday, clock_settime, adjtimex, clock_adjtime
)  # fmt: skip
# System V shared memory, semaphores and message queues, and POSIX message queues: they outlive their processes.
_MEMORY_CALLS = (
    (29, 194), (30, 196), (31, 195), (64, 190), (65, 193), (66, 191), (220, 192),
    (68, 186), (69, 189), (70, 188), (71, 187), (240, 180), (241, 181),
)  # fmt: skip
# These change a process: its priority, scheduling, processors or limits, which its children inherit. So a message to
# Loopwright's process would arrive at the next command. The places of the arguments that must be 0: this process.
_PROCESS_CALLS = (
    ((302, 261), 0),  # prlimit64
    ((203, 122), 0), ((144, 119), 0), ((142, 118), 0), ((314, 274), 0),  # sched_set{affinity,scheduler,param,attr}
    ((141, 140), 0), ((141, 140), 1),  # setpriority: which kind, and of whom
    ((251, 30), 1),  # ioprio_set
)  # fmt: skip
_IOPRIO_SET, _ONE_PROCESS = (251, 30), 1
# Per machine: seccomp's id of the architecture, and the column above.
_ARCHITECTURES = {
    "x86_64": (0xC000003E, 0),
    "aarch64": (0xC00000B7, 1),
    "riscv64": (0xC00000F3, 1),
    "loongarch64": (0xC0000102, 1),
}
_X32 = 0x40000000


class Lockdown(Enum):
    """How much a command gives up. Each level includes the levels before it."""

    KEYS = 1  # the keys of the person's session
    MACHINE = 2  # calls about the machine, and abstract sockets and processes outside
    LOCAL = 3  # named local sockets, memory that outlives its processes, and settings of other processes
    NETWORK = 4  # every socket


class _Started(Protocol):
    @property
    def pid(self) -> int: ...


_S = TypeVar("_S", bound=_Started)


def start_locked_down(start: Callable[[], _S], lockdown: Lockdown) -> _S:
    """Call `start` in a thread that gave everything up. An `OSError` says that the machine can't do it."""
    if not _ON_LINUX:
        return start()
    outcome: list[_S | BaseException] = []
    ready = threading.Event()

    def run() -> None:
        try:
            _give_up(lockdown)
            child = start()
        except BaseException as problem:  # noqa: BLE001 -- raised again by the caller's thread
            outcome.append(problem)
            ready.set()
            return
        outcome.append(child)
        ready.set()
        # bwrap dies with the thread that started it, so the thread waits for the end. It collects no child.
        with suppress(OSError):
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    threading.Thread(target=run, name="loopwright-start", daemon=True).start()
    ready.wait()
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result


def _give_up(lockdown: Lockdown) -> None:
    libc = _libc()
    _join_new_keyring(libc)
    if lockdown is Lockdown.KEYS:
        return
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _scope(libc)
    code = filter_program(lockdown, os.uname().machine)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    _checked(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0))


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _join_new_keyring(libc: ctypes.CDLL) -> None:
    """Take a new session keyring, or raise: a command never shares the person's keyring unnoticed.

    A kernel without keyrings has none to protect. A filter around Loopwright, such as Docker's, may refuse all calls
    about keys: then the command can't reach the shared keyring either.
    """
    architecture = _ARCHITECTURES.get(os.uname().machine)
    if architecture is None:
        return  # unknown numbers of calls; every level above KEYS is refused on such a machine
    keyctl, request_key = _KEYCTL[architecture[1]], _REQUEST_KEY[architecture[1]]
    problem = _error_of(libc, keyctl, _KEYCTL_JOIN_SESSION_KEYRING, None)
    if problem in (0, errno.ENOSYS):
        return
    if problem == errno.EPERM:
        reads = _error_of(libc, keyctl, _KEYCTL_GET_KEYRING_ID, _SESSION_KEYRING, 0)
        requests = _error_of(libc, request_key, b"user", b"loopwright-probe", None, 0)
        if (reads, requests) == (errno.EPERM, errno.EPERM):
            return
    raise OSError(problem, f"it can't get a session keyring of its own: {os.strerror(problem)}")


def _error_of(libc: ctypes.CDLL, *call: int | bytes | None) -> int:
    """The error of a system call; 0 if it succeeded."""
    return 0 if libc.syscall(*call) >= 0 else ctypes.get_errno()


def _scope(libc: ctypes.CDLL) -> None:
    """Landlock without file rules: no abstract socket of a process outside, no signal to it. Mounts stay possible."""
    if libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG) < _SCOPED:
        return  # an older kernel: the attempts to escape find out
    attributes = struct.pack("<3Q", 0, 0, _SCOPES)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_REFUSE = 0x00050000 | errno.EPERM
# Offsets in seccomp's data: the call's number, the architecture, and the low halves of the arguments.
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, (16, 24, 32)

_Code = list[tuple[int, int, int, int]]


@cache
def filter_program(lockdown: Lockdown, machine: str) -> bytes:
    """The filter as BPF code. Calls of another architecture would have other numbers, so they end the process."""
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no filter of system calls for {machine}")
    audit, column = _ARCHITECTURES[machine]
    is_local = lockdown.value >= Lockdown.LOCAL.value
    numbers = sorted(call[column] for call in (*_MACHINE_CALLS, *(_MEMORY_CALLS if is_local else ())))
    program: _Code = [
        (_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, audit), (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL),
    ]  # fmt: skip
    for number in numbers:
        program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    program += _refuse_values(_IOCTL[column], 1, _TERMINAL_INPUT)
    program += _sockets(lockdown, _SOCKET[column])
    if is_local:
        for call, place in _PROCESS_CALLS:
            program += _allow_values(call[column], place, (0,))
        program += _allow_values(_IOPRIO_SET[column], 0, (_ONE_PROCESS,))
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _sockets(lockdown: Lockdown, number: int) -> _Code:
    """Refuse every socket, or sockets of all kinds but the usual ones."""
    if lockdown is Lockdown.NETWORK:
        return _allow_values(number, 0, ())
    usual = (_AF_INET, _AF_INET6, _AF_NETLINK)
    allowed = usual if lockdown is Lockdown.LOCAL else (_AF_UNIX, *usual)
    # The protocol of a netlink socket is its third argument.
    other_netlink = [
        (_LOAD, 0, 0, _ARGUMENTS[0]), (_EQUAL, 0, 3, _AF_NETLINK),
        (_LOAD, 0, 0, _ARGUMENTS[2]), (_EQUAL, 1, 0, _NETLINK_ROUTE), (_RETURN, 0, 0, _REFUSE),
    ]  # fmt: skip
    return [*_allow_values(number, 0, allowed), *_of_call(number, other_netlink)]


def _refuse_values(number: int, place: int, values: tuple[int, ...]) -> _Code:
    """Refuse one call with one of these values as an argument."""
    tests = [step for value in values for step in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, _REFUSE))]
    return _of_call(number, [(_LOAD, 0, 0, _ARGUMENTS[place]), *tests])


def _allow_values(number: int, place: int, values: tuple[int, ...]) -> _Code:
    """Refuse one call unless an argument is one of these values."""
    tests = [(_EQUAL, len(values) - position, 0, value) for position, value in enumerate(values)]
    return _of_call(number, [(_LOAD, 0, 0, _ARGUMENTS[place]), *tests, (_RETURN, 0, 0, _REFUSE)])


def _of_call(number: int, body: _Code) -> _Code:
    """Code that runs for one call only. Its number is loaded before and after."""
    again = [*body, (_LOAD, 0, 0, _NUMBER)]
    return [(_EQUAL, 0, len(again), number), *again]


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result

"""Tries to reach the person's session from inside a sandbox, and prints a word for each attempt that succeeded.

Runs as a program: session_attempts.py PID BEGAN IPC ABSTRACT CANARY SOCKET…, with the standard library only. PID and
BEGAN are Loopwright's process and its start time; IPC is its IPC namespace. ABSTRACT and CANARY are sockets on which
Loopwright listens. Each SOCKET is a socket of the person: it is looked at and not disturbed.
"""

import ctypes
import os
import socket
import stat
import sys
from contextlib import suppress

DONE = "attempted"
CHANGED_TIMES = "times"
# The words, each with what a person reads.
REACHED = {
    "sockets": "local sockets",
    "abstract": "abstract sockets",
    "keys": "the keyring",
    "memory": "shared memory",
    "signals": "processes",
}
_KEYCTL = {"x86_64": 250}
_GENERIC_KEYCTL = 219
_GET_KEYRING_ID, _USER_KEYRING = 0, -4
_IPC_PRIVATE, _REMOVE = 0, 0


def connects(address: str) -> bool:
    """Whether a connection to a local socket succeeds."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attempt:
        attempt.connect(address)
        return True
    return False


def finds_socket(paths: "list[str]") -> bool:
    """Whether one of the paths is a socket here, and a program can have a local socket at all."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM):
        for path in paths:
            with suppress(OSError):
                if stat.S_ISSOCK(os.stat(path).st_mode):  # noqa: PTH116 -- pathlib would double the start-up time
                    return True
    return False


def changes_times(path: str) -> bool:
    """Whether the times of a file outside can be changed."""
    with suppress(OSError):
        os.utime(path)
        return True
    return False


def finds_keys(libc: "ctypes.CDLL") -> bool:
    """Whether the user's keyring can be named, and so be read."""
    number = _KEYCTL.get(os.uname().machine, _GENERIC_KEYCTL)
    return int(libc.syscall(number, _GET_KEYRING_ID, _USER_KEYRING, 0)) >= 0


def shares_memory(libc: "ctypes.CDLL", outside: str) -> bool:
    """Whether System V shared memory can be created in the namespace of Loopwright."""
    if os.readlink("/proc/self/ns/ipc") != outside:  # noqa: PTH115 -- see above
        return False
    segment = libc.shmget(_IPC_PRIVATE, 1, 0o600)
    if segment < 0:
        return False
    libc.shmctl(segment, _REMOVE, None)
    return True


def signals(pid: int, began: str) -> bool:
    """Whether Loopwright's process accepts a signal. Another process may have its number in a namespace."""
    with suppress(OSError):
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as status:  # noqa: PTH123 -- see above
            return status.read().rpartition(")")[2].split()[19] == began
    return False


def main() -> None:
    """Make every attempt."""
    pid, began, ipc, abstract, canary, *paths = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    reached = {
        "sockets": connects(canary) or finds_socket(paths),
        "abstract": connects("\0" + abstract),
        "keys": finds_keys(libc),
        "memory": shares_memory(libc, ipc),
        "signals": signals(int(pid), began),
        CHANGED_TIMES: changes_times(canary),
    }
    for word in (word for word, is_reached in reached.items() if is_reached):
        sys.stdout.write(f"{word}\n")
    sys.stdout.write(f"{DONE}\n")


if __name__ == "__main__":
    main()

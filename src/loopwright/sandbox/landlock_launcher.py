"""Confines itself with Landlock (and with seccomp for the network), then becomes the command.

Runs as a program: launcher.py POLICY COMMAND ARGUMENT…, with the standard library only.
POLICY is JSON: {"read": [...], "write": [...], "network": bool}. Exits with 125 if it can't confine itself.
"""

import ctypes
import errno
import json
import os
import signal
import struct
import sys

CANT_CONFINE = 125
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_VERSION_FLAG = 1
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22
_SECCOMP_MODE_FILTER = 2
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION_3 = 0x20080522

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | (1 << 14) | (1 << 15)
_ALL_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP = 0b11
_SCOPES = 0b11

# Per machine type: seccomp's id of the architecture, and the number of the `socket` system call.
_ARCHITECTURES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
_IO_URING_SETUP = 425


def version(libc: ctypes.CDLL) -> int:
    """The kernel's Landlock version; 0 if it has none."""
    return max(0, int(libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)))


def restrict_files(libc: ctypes.CDLL, abi: int, policy: "dict[str, list[str]]", network: bool) -> None:
    """Allow only what the policy names."""
    handled = _ALL_BY_VERSION[min(abi, 5)]
    fields = [handled, 0 if network or abi < 4 else _TCP, _SCOPES if abi >= 6 else 0]
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    attributes = struct.pack("<3Q", *fields)[:size]
    ruleset = checked(libc.syscall(_CREATE_RULESET, attributes, size, 0))
    for access, paths in ((_READING, policy["read"]), (handled, policy["write"])):
        for path in paths:
            allow(libc, ruleset, path, access & handled)
    checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def allow(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    """Add one rule. A missing path needs no rule, and a pipe (/dev/stdin may lead to one) can have none."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 -- pathlib would double the start-up time
            access &= _ON_FILES
        checked(libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("<Qi", access, handle), 0))
    except OSError as error:
        if error.errno != errno.EBADFD:  # the path is on no file system, so it needs no rule
            raise
    finally:
        os.close(handle)


def drop_capabilities(libc: ctypes.CDLL) -> None:
    """Drop root's capabilities: with them a step could read Loopwright's environment through /proc."""
    if os.geteuid() != 0:
        return
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break
    header, nothing = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), struct.pack("<6I", 0, 0, 0, 0, 0, 0)
    checked(libc.capset(header, nothing))


def close_network(libc: ctypes.CDLL) -> None:
    """Refuse every new socket, also local ones (a container engine may listen on one), and io_uring.

    Pairs of connected sockets are allowed: they reach no other process.
    """
    if os.uname().machine not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no seccomp filter for {os.uname().machine}")
    audit, socket_call = _ARCHITECTURES[os.uname().machine]
    load, equal, give = 0x20, 0x15, 0x06
    refuse, accept, kill = 0x00050000 | errno.EACCES, 0x7FFF0000, 0x80000000
    program = [
        (load, 0, 0, 4), (equal, 1, 0, audit), (give, 0, 0, kill),
        (load, 0, 0, 0), (equal, 2, 0, socket_call), (equal, 1, 0, _IO_URING_SETUP),
        (give, 0, 0, accept), (give, 0, 0, refuse),
    ]  # fmt: skip
    code = b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    checked(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0))


def checked(result: int) -> int:
    """The result of a system call; raises the error that it set."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main() -> int:
    """Confine this process, then become the command."""
    policy = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    try:
        checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        abi = version(libc)
        if abi < 1:
            raise OSError(errno.ENOSYS, "this kernel has no Landlock")
        restrict_files(libc, abi, policy, policy["network"])
        if not policy["network"]:
            close_network(libc)
        drop_capabilities(libc)
    except OSError as problem:
        sys.stderr.write(f"loopwright: can't confine: {problem.strerror}\n")
        return CANT_CONFINE
    # Python ignores these two signals. The command gets the defaults, as from a shell.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(sys.argv[2], sys.argv[2:], os.environ)  # noqa: TID251, S606 -- becomes the confined command
    except OSError as problem:
        sys.stderr.write(f"{sys.argv[2]}: {problem.strerror}\n")
        return 127


if __name__ == "__main__":
    sys.exit(main())

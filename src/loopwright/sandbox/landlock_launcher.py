"""Confines itself with Landlock, then becomes the command.

Runs as a program: launcher.py POLICY COMMAND ARGUMENT…, with the standard library only.
POLICY is JSON: {"read": [...], "own": [...], "write": [...], "empty": [...], "network": "open", "own" or "none"}.
Exits with 125 if it can't confine itself.
The process that starts it has given up system calls and sockets already: see kernel/lockdown.py.
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
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION_3 = 0x20080522

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | (1 << 14) | (1 << 15)
_ALL_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP = 0b11

_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_AF_INET, _SOCK_DGRAM, _SIOCSIFFLAGS, _IFF_UP = 2, 2, 0x8914, 1
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_READ_ONLY = 1


def version(libc: ctypes.CDLL) -> int:
    """The kernel's Landlock version; 0 if it has none."""
    return max(0, int(libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)))


def restrict(libc: ctypes.CDLL, abi: int, policy: "dict[str, list[str]]", network: str) -> None:
    """Allow only what the policy names."""
    handled = _ALL_BY_VERSION[min(abi, 5)]
    size = 8 if abi < 4 else 16
    attributes = struct.pack("<2Q", handled, 0 if network != "none" or abi < 4 else _TCP)[:size]
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


def enter_namespaces(libc: ctypes.CDLL, own_network: bool) -> None:
    """Enter a mount namespace, and perhaps a network in which only the loopback exists."""
    uid, gid = os.geteuid(), os.getegid()
    namespaces = _CLONE_NEWNS | (_CLONE_NEWNET if own_network else 0)
    # Root needs no user namespace, and would lose its files' owners in it.
    checked(libc.unshare(namespaces if uid == 0 else namespaces | _CLONE_NEWUSER))
    if uid != 0:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 -- see above
                file.write(text)
    if own_network:
        handle = checked(libc.socket(_AF_INET, _SOCK_DGRAM, 0))
        checked(libc.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP)))
        os.close(handle)


def freeze_files(libc: ctypes.CDLL, writable: "list[str]", empty: "list[str]") -> None:
    """Make every mount of this namespace read-only except the writable paths, and some files empty.

    Landlock controls neither modes, times nor attributes of files; a read-only mount does.
    """
    checked(libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))
    kept = [os.fsencode(path) for path in writable if os.path.exists(path)]  # noqa: PTH110 -- see above
    for path in kept:
        checked(libc.mount(path, path, None, _MS_BIND | _MS_REC, None))
    for path in map(os.fsencode, empty):
        checked(libc.mount(b"/dev/null", path, None, _MS_BIND, None))
    set_attribute(libc, b"/", _AT_RECURSIVE, _READ_ONLY, 0)
    for path in kept:
        set_attribute(libc, path, 0, 0, _READ_ONLY)


def set_attribute(libc: ctypes.CDLL, path: bytes, flags: int, to_set: int, to_clear: int) -> None:
    """Change attributes of a mount."""
    attributes = struct.pack("<4Q", to_set, to_clear, 0, 0)
    checked(libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, flags, attributes, len(attributes)))


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
        try:
            enter_namespaces(libc, policy["network"] == "own")
            freeze_files(libc, policy["own"], policy["empty"])
        except OSError:
            # Not every machine allows mounts; the attempts to escape find out.
            if policy["network"] == "own":
                raise
        os.chdir(os.getcwd())  # noqa: PTH109 -- the folder as the new mounts show it
        restrict(libc, abi, policy, policy["network"])
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

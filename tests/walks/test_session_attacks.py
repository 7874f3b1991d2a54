"""Attacks on the person's session, and messages from one sandbox to a later one. All must fail, in each isolation."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import stat
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

PYTHON = "/usr/bin/python3"
pytestmark = pytest.mark.skipif(not Path(PYTHON).exists(), reason="needs a Python outside the home folder")
LEVELS = [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock"]
KEYS = {"x86_64": (248, 250)}.get(os.uname().machine, (217, 219))

# Every attempt that succeeds prints a line with LEAK. `leave` leaves messages, `look` looks for them.
ATTACK = r"""
import ctypes, fcntl, os, resource, signal, socket, struct, sys
act, pid, outside, named, abstract, decoy = sys.argv[1:]
decoy = int(decoy)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
add_key, keyctl = (248, 250) if os.uname().machine == "x86_64" else (217, 219)
KEY, NAME = 0x4C570001, b"loopwright-attack"

def attempt(name, act):
    try:
        result = act()
    except OSError:
        return
    if result is not None and result is not False and result != -1:
        print("LEAK", name, result)

def connect(address, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.connect(address)
        return True

def opens(*kind):
    with socket.socket(*kind):
        return True

def is_decoy():
    with open(f"/proc/{decoy}/cmdline") as file:
        return "loopwright-decoy" in file.read()

def key(ring):
    return libc.syscall(add_key, b"user", NAME, b"v", 1, ring)

def find(ring):
    return libc.syscall(keyctl, 10, ring, b"user", NAME, 0)

attempt("keyring of the user", lambda: libc.syscall(keyctl, 0, -4, 0))
attempt("key of the person", lambda: libc.syscall(keyctl, 10, -3, b"user", b"loopwright-person", 0))
attempt("names of keys", lambda: "loopwright-person" in open("/proc/keys").read() or None)
attempt("named socket", lambda: connect(named))
attempt("socket for datagrams", lambda: connect(named + ".datagrams", socket.SOCK_DGRAM))
attempt("socket with a relative name", lambda: connect(named + ".relative"))
attempt("socket of a virtual machine", lambda: opens(40, socket.SOCK_STREAM))
attempt("messages of netlink", lambda: opens(socket.AF_NETLINK, socket.SOCK_RAW, 2))
attempt("abstract socket", lambda: connect("\0" + abstract))
attempt("terminal input", lambda: fcntl.ioctl(0, 0x5412, b"x") and True)
libc.syscall.restype = ctypes.c_long
attempt("io_uring", lambda: libc.syscall(425, 1, ctypes.create_string_buffer(120)))
if act == "leave":
    # The numbers of processes in a namespace are small, so a signal that arrives shows in the person's process.
    attempt("environment", lambda: open(f"/proc/{pid}/environ").read() if int(pid) > 50 else None)
    attempt("mode", lambda: os.chmod(outside, 0o600) is None and os.stat(outside).st_size == 7)
    attempt("time", lambda: os.utime(outside, (5, 5)) is None and os.stat(outside).st_size == 7)
    attempt("attribute", lambda: os.setxattr(outside, "user.note", b"x") is None)
    # Its children inherit these settings, so the decoy stands for Loopwright.
    attempt("limits", lambda: is_decoy() and resource.prlimit(decoy, resource.RLIMIT_CORE, (0, 0)) is not None)
    attempt("priority", lambda: is_decoy() and os.setpriority(os.PRIO_PROCESS, decoy, 3) is None)
    attempt("processors", lambda: is_decoy() and os.sched_setaffinity(decoy, {0}) is None)
    for ring in (-3, -4):
        key(ring)
    libc.shmget(KEY, 4096, 0o1666)
    libc.msgget(KEY, 0o1666)
    libc.semget(KEY, 1, 0o1666)
    libc.mq_open(b"/loopwright-attack", os.O_CREAT | os.O_RDWR, 0o600, None)
    for place in ("/tmp", "/var/tmp", "/dev/shm", os.environ["HOME"]):
        try:
            open(f"{place}/loopwright-attack", "w").close()
        except OSError:
            pass
else:
    attempt("key left behind", lambda: find(-3))
    attempt("key left behind in the user's keyring", lambda: find(-4))
    attempt("shared memory", lambda: libc.shmget(KEY, 4096, 0))
    attempt("message queue", lambda: libc.msgget(KEY, 0))
    attempt("semaphore", lambda: libc.semget(KEY, 1, 0))
    attempt("POSIX message queue", lambda: libc.mq_open(b"/loopwright-attack", os.O_RDONLY))
    for place in ("/tmp", "/var/tmp", "/dev/shm", os.environ["HOME"]):
        attempt("file in " + place, lambda: os.stat(f"{place}/loopwright-attack").st_size + 1)
print("DONE")
"""


def add_key(ring: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc.syscall(KEYS[0], b"user", b"loopwright-person", b"secret", 6, ring)


def revoke(serial: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.syscall(KEYS[1], 3, serial)


@contextmanager
def decoy(place):
    """A process of the person that anyone may change, with a socket under a relative name."""
    program = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind('default.relative'); s.listen(); print(); "
        "sys.stdout.flush(); sys.stdin.read()"
    )
    command = [PYTHON, "-c", program, "loopwright-decoy"]
    with subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline()
        yield process
        process.stdin.close()


@pytest.fixture
def person(tmp_path):
    """The person's session: two keys, a named and an abstract socket, and a file that only the person may change."""
    outside = tmp_path / "private"
    outside.write_text("private")
    outside.chmod(0o644)
    keys = [serial for ring in (-3, -4) if (serial := add_key(ring)) > 0]
    # The folder of a terminal multiplexer can be anywhere, also outside the temporary folders.
    place = tempfile.mkdtemp(dir=next((top for top in ("/srv", "/opt", "/var/lib") if os.access(top, os.W_OK)), None))
    with (
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        decoy(place) as process,
    ):
        datagrams.bind(f"{place}/default.datagrams")
        named.bind(f"{place}/default")
        named.listen()
        abstract.bind(f"\0loopwright-person-{os.getpid()}")
        abstract.listen()
        try:
            name = f"loopwright-person-{os.getpid()}"
            yield [str(os.getpid()), str(outside), f"{place}/default", name, str(process.pid)]
        finally:
            shutil.rmtree(place)
            for serial in keys:
                revoke(serial)


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize("isolation", LEVELS)
def test_nothing_passes_from_a_sandbox_to_a_later_one_nor_to_or_from_the_persons_session(
    project, person, isolation, network, tmp_path
):
    if isolation == "landlock":
        tools = tmp_path / "bin"
        tools.mkdir()
        for tool in ("bash", "sh", "git"):
            (tools / tool).symlink_to(shutil.which(tool))
        project.environment["PATH"] = str(tools)
    project.write("attack.py", ATTACK)
    project.commit("an attack")
    outside = Path(person[1])
    before = outside.stat()
    for act in ("leave", "look"):
        project.plan({"id": "X", "commands": [" ".join([PYTHON, "attack.py", act, *person])]}, run_id=act)
        done = project.run("run", "--isolation", "auto" if network else "strict")
        assert done.exit_code == 0, done.stderr
        record = project.evidence(act)["isolation"]
        if record["used"] != isolation:
            pytest.skip(f"needs {isolation} ({record['why']})")
        assert "weak" not in record["why"]
        log = (project.own / "runs" / act / "logs" / "X-1.log").read_text()
        assert "DONE" in log
        assert "LEAK" not in log, act
    after = outside.stat()
    assert (after.st_mode, after.st_mtime_ns, stat.S_IMODE(after.st_mode)) == (
        before.st_mode,
        before.st_mtime_ns,
        0o644,
    )
    with suppress(OSError):
        assert os.listxattr(outside) == []

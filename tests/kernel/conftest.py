"""Commands that run in a thread and can be frozen, with every isolation and method that this machine supports."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from loopwright.kernel import cgroup, process
from loopwright.kernel.process import Cancellation, Command, Freezer
from loopwright.sandbox.bubblewrap import Bubblewrap
from loopwright.sandbox.landlock import Landlock
from loopwright.sandbox.model import SandboxFolders, SandboxView
from loopwright.sandbox.unconfined import Unconfined

ISOLATIONS = {"none": Unconfined, "landlock": Landlock, "bwrap": Bubblewrap}
# A version manager's shims on the caller's path are out of reach for a confined command.
PATH = f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"
# Counts up in a file, a line each, until it is ended: COUNTER FILE TOKEN
COUNTER = """
import sys, time
with open(sys.argv[1], "ab", buffering=0) as file:
    for number in range(10**9):
        file.write(b"%d\\n" % number)
        time.sleep(0.001)
"""


def _groups():
    """A machine that lets us make no control group has nothing to test there, so nothing to skip either."""
    group = cgroup.new_group()
    if group is None:
        return ["signals"]
    group.remove(0.0)
    return ["signals", "group"]


GROUPS = _groups()


def wait_until(condition, what):
    until = time.monotonic() + 300  # long enough for a busy machine
    while not (found := condition()):
        assert time.monotonic() < until, f"did not happen: {what}"
        time.sleep(0.005)
    return found


def alive(token):
    """Processes, not yet dead, whose command line holds this text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if token.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def states(pid):
    """What its threads do, in the kernel's letters."""
    with suppress(OSError):
        stats = [(thread / "stat").read_text() for thread in Path(f"/proc/{pid}/task").iterdir()]
        return {stat.rpartition(")")[2].split()[0] for stat in stats}
    return set()


def is_still(pid):
    """Whether none of its threads can run: stopped, dead, or in a control group that the kernel calls frozen."""
    with suppress(OSError):
        awake = states(pid) - set("TtZX")
        return not awake or (awake == {"D"} and has_to_stop(pid)) or in_frozen_group(pid)
    return True


def has_to_stop(pid):
    """Whether it stops as soon as the kernel has done what it waits for; a parent between vfork and exec does."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    pending = [int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(signals >> (signal.SIGSTOP - 1) & 1 for signals in pending)


def in_frozen_group(pid):
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    group = next(line.removeprefix("0::") for line in lines if line.startswith("0::"))
    if "/loopwright-" not in group:
        return False
    folder = cgroup.own_folder() / group[group.index("loopwright-") :]
    return "frozen 1" in (folder / "cgroup.events").read_text()


class Begun:
    """A command that runs in a thread of ours, with its freezer and its cancellation."""

    def __init__(self, command, *, timeout_s=None, freezer=None):
        self.freezer = freezer or Freezer()
        self.cancellation = Cancellation()
        self.out = b""
        self.err = b""
        self._results = []
        self._thread = threading.Thread(target=self._run, args=(command, timeout_s))
        self._thread.start()

    def _run(self, command, timeout_s):
        def take_out(data):
            self.out += data

        def take_err(data):
            self.err += data

        self._results.append(
            process.stream(
                command, on_stdout=take_out, on_stderr=take_err, timeout_s=timeout_s,
                cancellation=self.cancellation, freezer=self.freezer,
            )
        )  # fmt: skip

    def wait_for(self, text):
        wait_until(lambda: text in self.out or self.is_over, f"{text} in {self.out[-500:]} {self.err[-2000:]}")
        assert text in self.out, self.err

    def freeze(self):
        self.freezer.freeze()
        assert self.freezer.settled(500)

    def thaw(self):
        self.freezer.thaw()
        assert self.freezer.settled(500)

    @property
    def is_over(self):
        return not self._thread.is_alive()

    def ended(self):
        self._thread.join()
        assert not self._thread.is_alive(), "the command does not end"
        return self._results[0]

    def stop(self):
        self.cancellation.request("the test is over")
        return self.ended()


class Room:
    """Where the commands of a test begin: a folder, an isolation, and a word that is in all their command lines."""

    def __init__(self, folder, isolation, means):
        self.means = means
        self.token = f"987.{secrets.randbelow(10**12):012d}"
        self.place = SandboxFolders(folder / "sandboxes" / "one")
        self.folder = self.place.repo
        self.home = folder / "home"
        for each in (self.place.repo, self.place.tmp, self.place.home, folder / "project", self.home):
            each.mkdir(parents=True)
        self._view = SandboxView(self.place, folder / "project", folder / "sandboxes")
        self._isolation = ISOLATIONS[isolation]()
        self._begun = []
        (self.folder / "counter.py").write_text(COUNTER)

    def command(self, script):
        argv = ("bash", "-c", f"{script}\n: {self.token}")
        launch = self._isolation.launch(
            self._view, argv, cwd=self.folder, env={"PATH": PATH, "HOME": str(self.home)}, network=True
        )
        return Command(launch.argv, launch.cwd, launch.env, str(self.place.folder), launch.wrapped)

    def begin(self, script, **options):
        self._begun.append(Begun(self.command(script), **options))
        return self._begun[-1]

    def counter(self, name):
        return f"python3 counter.py {name} {self.token}"

    def count(self, name):
        """How far a counter is; whatever it wrote has to be there, in order."""
        with suppress(FileNotFoundError):
            lines = (self.folder / name).read_text().splitlines()
            assert lines == [str(number) for number in range(len(lines))]
            return len(lines)
        return 0

    def size(self, name):
        return (self.folder / name).stat().st_size

    @staticmethod
    def time_passes():
        """This process, which is not frozen, does in this time what the counters would have done."""
        with Path("/dev/null").open("wb", buffering=0) as file:
            for _ in range(60):
                file.write(b"x")
                time.sleep(0.001)

    def alive(self):
        return alive(self.token)

    def running(self):
        return self.running_with(self.token)

    @staticmethod
    def alive_with(token):
        return alive(token)

    @staticmethod
    def running_with(token):
        return [pid for pid in alive(token) if not is_still(pid)]

    def wait_for_counts(self, *names, beyond=None):
        wait_until(lambda: all(self.count(name) > (beyond or {}).get(name, 0) for name in names), f"{names} count on")

    def wait_until_gone(self):
        """No leftover processes. A killed wrapper's empty namespace may take a moment to go; that is not waited for."""
        wait_until(lambda: self.alive() == [], "no process is left")

    states = staticmethod(states)
    wait_until = staticmethod(wait_until)

    def close(self):
        for begun in self._begun:
            begun.cancellation.request("the test is over")
            begun.freezer.thaw()
        for begun in self._begun:
            begun.ended()
            begun.cancellation.close()


@contextmanager
def _room(folder, isolation, means, monkeypatch):
    if isolation == "landlock" and (reason := Landlock().missing()):
        pytest.skip(f"needs Landlock ({reason})")
    if means == "signals":
        monkeypatch.setattr(cgroup, "new_group", lambda: None)
    made = Room(folder, isolation, means)
    try:
        yield made
        made.close()
        made.wait_until_gone()
    finally:
        for pid in made.alive():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def room(tmp_path, monkeypatch):
    """No isolation, no control groups: what every machine has."""
    with _room(tmp_path, "none", "signals", monkeypatch) as made:
        yield made


@pytest.fixture(params=GROUPS)
def room_by_any_means(request, tmp_path, monkeypatch):
    """No isolation; by signals, and by control groups where they can be had."""
    with _room(tmp_path, "none", request.param, monkeypatch) as made:
        yield made


# Each isolation once, each method at least once: the method does not depend on whether Landlock confines the command,
# and `room_by_any_means` compares the methods. A namespace needs no control group.
WAYS = [
    pytest.param(("none", "signals"), id="none-signals"),
    pytest.param(("landlock", GROUPS[-1]), id=f"landlock-{GROUPS[-1]}"),
    pytest.param(("bwrap", "signals"), id="bwrap-signals", marks=pytest.mark.needs("bwrap")),
]


@pytest.fixture(params=WAYS)
def any_room(request, tmp_path, monkeypatch):
    """Every isolation, and every method."""
    with _room(tmp_path, *request.param, monkeypatch) as made:
        yield made

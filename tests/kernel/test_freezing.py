"""A frozen command: none of its processes runs, nothing is lost, its clock is stopped, and it can be ended."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import threading

import pytest

from loopwright.kernel import process
from loopwright.kernel.process import Ending, Freezer

FORK_TWICE = (
    "import os; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.execvp('python3', '{0}'.split())"
)
# How processes escape from their parent; {0} is a counter.
ESCAPES = {
    "child": "{0} &",
    "grandchild": "bash -c '{0}; :' &",
    "setsid": "setsid {0} &",
    "nohup": "(nohup {0} > /dev/null 2>&1 < /dev/null &)",
    "double-fork": f'python3 -c "{FORK_TWICE}"',
    "no-environment": '(env -i PATH="$PATH" setsid {0} &)',
    "respawns": "(setsid bash -c 'trap : HUP; while :; do {0}; done' &)",
}


def tree(room):
    lines = [escape.format(room.counter(name)) for name, escape in ESCAPES.items()]
    return "\n".join([*lines, "echo begun; wait; sleep 1000"])


def test_a_whole_tree_is_frozen_and_continues_without_loss(any_room):
    room = any_room
    begun = room.begin(tree(room))
    begun.wait_for(b"begun")
    room.wait_for_counts(*ESCAPES)
    begun.freeze()
    assert len(room.alive()) > len(ESCAPES)
    assert room.running() == []
    before = {name: room.size(name) for name in ESCAPES}
    room.time_passes()
    assert {name: room.size(name) for name in ESCAPES} == before
    assert room.running() == []
    counts = {name: room.count(name) for name in ESCAPES}
    begun.thaw()
    room.wait_for_counts(*ESCAPES, beyond=counts)
    ended = begun.stop()
    assert ended.ending is Ending.CANCELLED
    assert ended.frozen_s > 0.06


def test_many_pauses_in_a_row_lose_nothing(any_room):
    room = any_room
    script = "import time\nfor n in range(10**9): print(n, flush=True); time.sleep(0.001)"
    begun = room.begin(f"setsid {room.counter('file')} & exec python3 -c '{script}'")
    room.wait_for_counts("file")
    begun.wait_for(b"0\n")
    for _ in range(100):
        begun.freeze()
        assert room.running() == []
        begun.thaw()
    count, printed = room.count("file"), len(begun.out)
    room.wait_for_counts("file", beyond={"file": count})
    room.wait_until(lambda: len(begun.out) > printed, "it prints on")
    assert begun.stop().ending is Ending.CANCELLED
    lines = begun.out.decode().split("\n")[:-1]
    assert lines == [str(number) for number in range(len(lines))]


SPAWNERS = {
    # A child every 5 ms, each with a child of its own that leaves.
    "spawns": "while :; do (setsid sleep 0.1{0} &) ; sleep 0.{0} & sleep 0.005; done",
    # Never the same process twice: each starts its successor and is gone.
    "moves on": """python3 -c "
import os
while True:
    if os.fork(): os._exit(0)
    os.setsid()
    os.write(1, b'.')
# {0}" """,
    # Between vfork and exec a parent sleeps so deeply that it can't be stopped; its child can.
    "vforks": """python3 -c "
import subprocess
while True: subprocess.run(['sh', '-c', ': {0}'])" """,
}


@pytest.mark.parametrize("spawner", SPAWNERS.values(), ids=SPAWNERS)
def test_a_process_that_is_just_starting_is_frozen_too(any_room, spawner):
    room = any_room
    begun = room.begin(
        f"echo begun; {room.counter('file')} & {spawner.format(room.token.replace('.', ''))}; sleep 1000"
    )
    begun.wait_for(b"begun")
    room.wait_for_counts("file")
    token = room.token.replace(".", "")
    for _ in range(5):
        begun.freeze()
        before, size = sorted(room.alive_with(token)), room.size("file")
        room.time_passes()
        printed = len(begun.out)  # by now, all that was printed before
        room.time_passes()
        assert sorted(room.alive_with(token)) == before
        assert room.running_with(token) == []
        assert (room.size("file"), len(begun.out)) == (size, printed)
        count = room.count("file")
        begun.thaw()
        room.wait_for_counts("file", beyond={"file": count})
    begun.stop()
    room.wait_until(lambda: room.alive_with(token) == [], "no process is left")


def test_a_process_in_uninterruptible_sleep_is_not_waited_for(any_room):
    """A parent between vfork and exec receives no signal until its child's first file exists."""
    room = any_room
    os.mkfifo(room.folder / "fifo")
    (room.folder / "spawn.py").write_text(
        "import os\n"
        "first = [(os.POSIX_SPAWN_OPEN, 0, 'fifo', os.O_RDONLY, 0)]\n"
        "print('begun', flush=True)\n"
        "os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', 'echo spawned'], os.environ, file_actions=first), 0)\n"
        "print('over', flush=True)\n"
    )
    begun = room.begin(f"python3 spawn.py {room.token}; sleep 1000")
    begun.wait_for(b"begun")
    room.wait_until(
        lambda: "D" in {state for pid in room.alive() for state in room.states(pid)},
        "it sleeps deeply",
    )
    begun.freeze()
    assert room.running() == []
    writer = os.open(room.folder / "fifo", os.O_RDWR)  # from now on its child could go on
    room.time_passes()
    assert room.running() == []
    assert begun.out == b"begun\n"
    begun.thaw()
    begun.wait_for(b"begun\nspawned\nover\n")
    os.close(writer)


def test_an_unreachable_process_does_not_prevent_freezing_the_others(room, monkeypatch):
    """As a process that became another user's is."""
    begun = room.begin(f"{room.counter('a')} & echo $!; {room.counter('b')}")
    room.wait_for_counts("a", "b")
    free = int(begun.out)

    def kill(pid, number, real=os.kill):
        if pid == free and number == signal.SIGSTOP:
            raise PermissionError
        real(pid, number)

    monkeypatch.setattr(os, "kill", kill)
    begun.freeze()
    assert room.running() == [free]
    size = room.size("b")
    room.wait_for_counts("a", beyond={"a": room.count("a") + 50})
    assert room.size("b") == size


def test_a_process_whose_first_thread_ended_is_frozen_too(room_by_any_means):
    room = room_by_any_means
    number = {"x86_64": 60, "aarch64": 93}[platform.machine()]  # the system call that ends one thread
    (room.folder / "threads.py").write_text(
        "import ctypes, sys, threading, runpy\n"
        "threading.Thread(target=runpy.run_path, args=('counter.py',)).start()\n"
        f"ctypes.CDLL(None).syscall({number}, 0)\n"
    )
    begun = room.begin(f"python3 threads.py file {room.token}; sleep 1000")
    room.wait_for_counts("file")
    begun.freeze()
    assert room.running() == []
    size = room.size("file")
    room.time_passes()
    assert room.size("file") == size
    begun.thaw()
    room.wait_for_counts("file", beyond={"file": room.count("file")})


@pytest.mark.needs("strace")
def test_a_traced_process_is_frozen_and_continues(room_by_any_means):
    room = room_by_any_means
    begun = room.begin(f"strace -f -o trace {room.counter('file')}")
    room.wait_for_counts("file")
    for _ in range(5):
        begun.freeze()
        assert room.running() == []
        size = room.size("file")
        room.time_passes()
        assert room.size("file") == size
        count = room.count("file")
        begun.thaw()
        room.wait_for_counts("file", beyond={"file": count})


def test_a_process_that_stopped_itself_is_not_woken(any_room):
    room = any_room
    begun = room.begin(f"(echo stopping; kill -STOP $BASHPID; echo woken; : {room.token}) & {room.counter('file')}")
    begun.wait_for(b"stopping")
    room.wait_until(lambda: len(room.running()) < len(room.alive()), "it stopped itself")
    room.wait_for_counts("file")
    begun.freeze()
    assert room.running() == []
    count = room.count("file")
    begun.thaw()
    room.wait_for_counts("file", beyond={"file": count})
    assert len(room.running()) < len(room.alive())
    begun.stop()
    assert b"woken" not in begun.out


def test_no_parent_ever_sees_a_child_that_is_stopped(any_room):
    """As shells with job control look: who is told of a stopped child takes it for the user's wish."""
    room = any_room
    (room.folder / "parent.py").write_text(
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, 'counter.py', 'file', sys.argv[1]])\n"
        "print('begun', flush=True)\n"
        "print('status', os.waitpid(child.pid, os.WUNTRACED)[1], flush=True)\n"
    )
    begun = room.begin(f"python3 parent.py {room.token}")
    room.wait_for_counts("file")
    for _ in range(20):
        begun.freeze()
        begun.thaw()
        room.wait_for_counts("file", beyond={"file": room.count("file")})
    assert b"status" not in begun.out
    begun.stop()


def test_earlier_output_is_passed_on_while_the_command_is_frozen(any_room):
    room = any_room
    begun = room.begin("head -c 60000 /dev/zero; touch done; sleep 1000")
    room.wait_until((room.folder / "done").exists, "it printed")
    begun.freeze()
    room.wait_until(lambda: len(begun.out) == 60000, "all of it is here")
    assert begun.freezer.is_frozen
    assert room.running() == []


def test_a_command_does_not_begin_before_the_thaw(any_room):
    room = any_room
    freezer = Freezer()
    freezer.freeze()
    begun = room.begin("touch begun; exit 7", freezer=freezer, timeout_s=300)
    assert freezer.settled(500)
    room.time_passes()
    assert not (room.folder / "begun").exists()
    assert room.alive() == []
    freezer.thaw()
    ended = begun.ended()
    assert (ended.ending, ended.exit_code) == (Ending.EXITED, 7)
    assert ended.frozen_s > 0.06


def test_a_command_that_is_stopped_before_the_thaw_never_begins(room):
    freezer = Freezer()
    freezer.freeze()
    begun = room.begin("touch begun", freezer=freezer)
    assert freezer.settled(500)
    begun.cancellation.request("enough")
    ended = begun.ended()
    assert (ended.ending, ended.exit_code, ended.duration_s) == (Ending.CANCELLED, 143, 0.0)
    assert ended.frozen_s > 0
    assert not (room.folder / "begun").exists()


def test_requests_may_be_repeated_and_withdrawn(room):
    begun = room.begin(room.counter("file"))
    room.wait_for_counts("file")
    begun.thaw()
    begun.freezer.freeze()
    begun.freeze()
    assert begun.freezer.is_frozen
    assert room.running() == []
    begun.thaw()
    begun.thaw()
    assert not begun.freezer.is_frozen
    room.wait_for_counts("file", beyond={"file": room.count("file")})
    for _ in range(500):
        begun.freezer.freeze()
        begun.freezer.thaw()
    assert begun.freezer.settled(500)
    room.wait_for_counts("file", beyond={"file": room.count("file")})


def test_no_command_is_waited_for_when_nothing_runs():
    freezer = Freezer()
    freezer.freeze()
    assert freezer.settled(0)


def test_a_command_that_ends_by_itself_meanwhile_has_ended(room_by_any_means):
    room = room_by_any_means
    for number in range(40):
        begun = room.begin(f"(setsid sleep {room.token} &); read -t 0.0{number:02d} <> <(:); exit 7")
        begun.freeze()
        begun.thaw()
        ended = begun.ended()
        assert (ended.ending, ended.exit_code) == (Ending.EXITED, 7), begun.err


def test_a_frozen_leader_that_is_killed_from_outside(any_room):
    room = any_room
    begun = room.begin(f"{room.counter('a')} & setsid {room.counter('b')} & echo $$; wait")
    room.wait_for_counts("a", "b")
    begun.freeze()
    leader = min(room.alive())
    os.kill(leader, signal.SIGKILL)
    assert begun.ended().exit_code == 137
    room.wait_until_gone()


def test_a_stop_reaches_a_frozen_tree_and_lets_it_clean_up(any_room):
    room = any_room
    worker = "trap 'echo tidy; exit 5' TERM; while :; do echo working; read -t 0.01 <> <(:); done"
    begun = room.begin(f'setsid bash -c "{worker}; : {room.token}" & {worker}')
    begun.wait_for(b"working")
    room.wait_until(lambda: begun.out.count(b"working") > 5, "both work")
    begun.freeze()
    room.wait_until(lambda: room.running() == [], "all stand still")
    printed = begun.out
    ended = begun.stop()
    assert ended.ending is Ending.CANCELLED
    room.wait_until_gone()
    # It met the signal before anything else: no round of work in between.
    assert begun.out[len(printed) :].replace(b"tidy\n", b"") == b""
    assert b"tidy" in begun.out


def test_a_stop_ends_a_frozen_tree_that_ignores_signals(any_room):
    room = any_room
    begun = room.begin(f"trap '' TERM; (setsid {room.counter('a')} &); {room.counter('b')}; {room.counter('c')}")
    room.wait_for_counts("a", "b")
    begun.freeze()
    assert begun.stop().ending is Ending.CANCELLED
    room.wait_until_gone()


def test_a_freeze_request_does_not_prevent_a_stop(room):
    begun = room.begin(f"trap 'touch asked' TERM; while :; do {room.counter('file')}; done")
    room.wait_for_counts("file")
    begun.cancellation.request("enough")
    room.wait_until((room.folder / "asked").exists, "the TERM came")
    begun.freezer.freeze()
    assert begun.ended().ending is Ending.CANCELLED


def test_the_clock_is_stopped_while_the_command_is_frozen(room_by_any_means):
    room = room_by_any_means
    begun = room.begin(room.counter("file"), timeout_s=2.5)
    room.wait_for_counts("file")
    begun.freeze()
    process.capture(("sleep", "3"), cwd=room.folder, env={"PATH": os.environ["PATH"]})
    assert not begun.is_over
    count = room.count("file")
    begun.thaw()
    room.wait_for_counts("file", beyond={"file": count})
    ended = begun.ended()
    assert ended.ending is Ending.TIMED_OUT
    assert ended.duration_s >= 2.5
    assert ended.frozen_s >= 3


def test_a_command_that_was_never_held_says_so(room):
    assert room.begin("exit 0").ended().frozen_s == 0.0


def test_commands_with_one_freezer_are_frozen_together(room_by_any_means):
    """Also a daemon without a mark: its family is unknown by then, but it belongs to one of the two."""
    room = room_by_any_means
    freezer = Freezer()
    wiped = f'(env -i PATH="$PATH" setsid {room.counter("c")} &)'
    one = room.begin(f"{wiped}; {room.counter('a')}", freezer=freezer)
    two = room.begin(f"{room.counter('b')}", freezer=freezer)
    room.wait_for_counts("a", "b", "c")
    one.freeze()
    room.wait_until(lambda: room.running() == [], "all stand still")
    before = {name: room.size(name) for name in "abc"}
    room.time_passes()
    assert {name: room.size(name) for name in "abc"} == before
    counts = {name: room.count(name) for name in "abc"}
    two.thaw()
    room.wait_for_counts("a", "b", "c", beyond=counts)


def test_a_command_with_another_freezer_goes_on(room_by_any_means):
    room = room_by_any_means
    held = room.begin(f"(setsid {room.counter('a')} &); {room.counter('b')}")
    other = room.begin(
        f'(setsid {room.counter("c")} &); (env -i PATH="$PATH" setsid {room.counter("d")} &); sleep 1000'
    )
    room.wait_for_counts("a", "b", "c", "d")
    held.freeze()
    sizes = room.size("a"), room.size("b")
    room.wait_for_counts("c", "d", beyond={name: room.count(name) + 50 for name in "cd"})
    assert (room.size("a"), room.size("b")) == sizes
    other.freeze()
    assert room.running() == []


def test_a_freezer_may_be_used_in_a_signal_handler(room):
    begun = room.begin(room.counter("file"))
    room.wait_for_counts("file")
    before = signal.signal(signal.SIGUSR1, lambda *_: begun.freezer.freeze())
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        room.wait_until(lambda: begun.freezer.is_frozen and begun.freezer.settled(500), "the signal froze it")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert room.running() == []


HOLDER = """
import os, sys, threading
from pathlib import Path
from loopwright.kernel import process, cgroup
freezer = process.Freezer()
means, family, kind, *argv = sys.argv[1:]
command = process.Command(tuple(argv), Path(family), dict(os.environ), family, kind == "wrapped")
if means == "signals":
    cgroup.new_group = lambda: None
options = dict(on_stdout=lambda data: started.set(), on_stderr=lambda data: None, timeout_s=None)
started = threading.Event()
threading.Thread(target=process.stream, args=(command,), kwargs={**options, "freezer": freezer}, daemon=True).start()
started.wait()
sys.stdin.readline()
freezer.freeze()
print("held" if freezer.settled(500) else "not held", flush=True)
sys.stdin.readline()
"""


def test_a_tree_whose_holder_was_killed_is_ended_by_the_next(any_room):
    room = any_room
    command = room.command(f'(env -i PATH="$PATH" setsid {room.counter("a")} &); echo begun; {room.counter("b")}')
    kind = "wrapped" if command.wrapped else "plain"
    argv = [sys.executable, "-c", HOLDER, room.means, str(command.cwd), kind, *command.argv]
    with subprocess.Popen(
        argv, env=dict(command.env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        room.wait_for_counts("a", "b")
        holder.stdin.write("\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == "held\n"
        tree = [pid for pid in room.alive() if pid != holder.pid]
        assert len(tree) >= 2
        assert [pid for pid in room.running() if pid != holder.pid] == []
        holder.kill()
        holder.wait()
    if not command.wrapped:
        assert set(room.alive()) == set(tree), "stopped processes stay until they are ended"
    process.end_family(str(command.cwd))
    room.wait_until_gone()

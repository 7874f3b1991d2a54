"""Measures the isolation on this machine by trying to escape from it."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.errors import LoopwrightError
from loopwright.kernel import process_tree
from loopwright.sandbox import machine_view, session_attempts
from loopwright.sandbox.model import SandboxView
from loopwright.sandbox.port import Isolation

_LONGEST_S = 20.0
# Only shell builtins, so that the result does not depend on PATH.
# A plain sh can't open a connection; an attempt that was not made counts as a success.
_ATTEMPTS = r"""
echo started
outside=$1 port=$2 pid=$3 began=$4 python=$5 program=$6
shift 6
( : < "/proc/$pid/environ" ) 2>/dev/null && read -r line < "/proc/$pid/stat" &&
case "$line" in *" $began "*) echo environment;; esac
( : > "$outside/escaped" ) 2>/dev/null && echo write
while [ "$1" != -- ]; do ( : < "$1" ) 2>/dev/null && echo home; shift; done
shift
if [ -z "$BASH_VERSION" ]; then echo network; else
( exec 3<>"/dev/tcp/127.0.0.1/$port" ) 2>/dev/null && echo network; fi
( : >> /proc/sys/kernel/hostname ) 2>/dev/null && echo machine
( : > ./inside ) 2>/dev/null || echo stuck
exec "$python" -I -S -c "$program" "$pid" "$began" "$@" 2>/dev/null
"""


# Serves a connection of its own, then tries to reach Loopwright's server at the port in its argument.
_ATTEMPT_ALONE = """
import socket, sys
own = socket.create_server(("127.0.0.1", 0))
socket.create_connection(own.getsockname())
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
except OSError:
    print("own network")
"""
# Isolations that are known to give a command its own network on this machine.
_OWN_NETWORK: set[str] = set()

# The path of a socket must be short.
_SHORT = "/tmp"  # noqa: S108 -- the folder below has a random name and is private


class Escapes(msgspec.Struct, frozen=True):
    """Which escape attempts succeeded."""

    started: bool
    wrote_outside: bool
    saw_home: bool
    reached_network: bool
    read_environment: bool
    stuck: bool
    # What of the person's session was reached, in words for a person.
    session: tuple[str, ...]
    changed_times: bool = False
    error_output: str = ""


def attempt(isolation: Isolation, view: SandboxView, shell: str, env: Mapping[str, str], *, network: bool) -> Escapes:
    """Run the attempts once, isolated like a step."""
    outside = view.place.folder
    marks = [str(path) for path in _private_files(Path(env.get("HOME", "/root")), view)]
    with _canaries() as canaries, closing(socket.create_server(("127.0.0.1", 0))) as listener:
        argv = (
            shell, "-c", _ATTEMPTS, "probe", str(outside), str(listener.getsockname()[1]), str(os.getpid()),
            process_tree.began(os.getpid()), own_interpreter(), _session_attempts(),
            *marks, "--", *canaries, *map(str, machine_view.local_sockets()),
        )  # fmt: skip
        shown = replace(view, programs=(Path(sys.base_prefix),))
        launch = isolation.launch(shown, argv, cwd=view.place.repo, env=env, network=network)
        try:
            done = launch.capture(_LONGEST_S)
        except (LoopwrightError, OSError, TimeoutError) as problem:
            return Escapes(False, False, False, False, False, True, (), error_output=str(problem))
    (view.place.repo / "inside").unlink(missing_ok=True)
    words = done.stdout.decode("utf-8", "replace").split()
    # An isolated write may go to a private layer and report success. Only a file that exists here counts.
    wrote = (outside / "escaped").exists() or "machine" in words
    (outside / "escaped").unlink(missing_ok=True)
    return Escapes(
        started="started" in words,
        wrote_outside=wrote,
        saw_home="home" in words,
        reached_network="network" in words,
        read_environment="environment" in words,
        stuck="stuck" in words,
        session=_reached(words),
        changed_times=session_attempts.CHANGED_TIMES in words,
        error_output=done.stderr.decode("utf-8", "replace").strip()[-300:],
    )


def can_have_own_network(isolation: Isolation, view: SandboxView, env: Mapping[str, str]) -> bool:
    """Whether a command can serve and connect alone. What succeeded once for an isolation is not tried again."""
    if isolation.name in _OWN_NETWORK:
        return True
    # The plain sandbox: problems with an agent's own folders must not open the network.
    plain = replace(view, agent_home=None, programs=(Path(sys.base_prefix),))
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        argv = (own_interpreter(), "-I", "-S", "-c", _ATTEMPT_ALONE, str(listener.getsockname()[1]))
        launch = isolation.launch(plain, argv, cwd=view.place.repo, env=env, network=False)
        try:
            done = launch.capture(_LONGEST_S)
        except (LoopwrightError, OSError, TimeoutError):
            return False
    if done.stdout.decode("utf-8", "replace").strip() != "own network":
        return False
    _OWN_NETWORK.add(isolation.name)
    return True


def own_interpreter() -> str:
    """The interpreter outside a virtual environment: its folder can be shown in a sandbox."""
    return getattr(sys, "_base_executable", None) or sys.executable


def _reached(words: list[str]) -> tuple[str, ...]:
    """What was reached. An attempt that was not made counts as a success."""
    made = session_attempts.DONE in words
    return tuple(name for word, name in session_attempts.REACHED.items() if word in words or not made)


@cache
def _session_attempts() -> str:
    return Path(session_attempts.__file__).read_text(encoding="utf-8")


@contextmanager
def _canaries() -> Iterator[tuple[str, str, str]]:
    """Our IPC namespace, and two sockets of ours that no sandbox may reach: an abstract one and a named one."""
    name = f"loopwright-{secrets.token_hex(8)}"
    with (
        closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as abstract,
        closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as named,
        tempfile.TemporaryDirectory(prefix=f"{name}-", dir=_SHORT if os.access(_SHORT, os.W_OK) else None) as place,
    ):
        path = f"{place}/s"
        named.bind(path)
        named.listen()
        if sys.platform.startswith("linux"):
            abstract.bind(f"\0{name}")
            abstract.listen()
        ipc = Path("/proc/self/ns/ipc")
        yield str(ipc.readlink()) if ipc.is_symlink() else "", name, path


def _private_files(home: Path, view: SandboxView) -> list[Path]:
    """A few existing files in the home that no step needs."""
    if not home.is_dir():
        return []
    try:
        names = sorted(os.listdir(home))
    except OSError:
        return []
    private = (".ssh", ".aws", ".netrc", ".gnupg", ".docker", ".kube", ".bash_history", ".bashrc", ".profile")
    places = [home / name for name in names if name in private and home / name not in view.project.parents]
    # A folder may be visible as the path to a visible tool, so only files inside it count.
    return [file for place in places for file in ([place] if place.is_file() else _first_inside(place))][:20]


def _first_inside(folder: Path) -> list[Path]:
    try:
        return [path for path in sorted(folder.iterdir()) if path.is_file()][:2]
    except OSError:
        return []

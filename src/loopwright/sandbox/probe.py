"""Measures the isolation on this machine by trying to escape from it."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from loopwright.errors import LoopwrightError
from loopwright.kernel import process, process_tree
from loopwright.sandbox.model import SandboxView
from loopwright.sandbox.port import Isolation

# Only shell builtins, so that the result does not depend on PATH.
# A plain sh can't open a connection; an attempt that was not made counts as a success.
_ATTEMPTS = r"""
echo started
outside=$1 port=$2 pid=$3 began=$4
shift 4
( : < "/proc/$pid/environ" ) 2>/dev/null && read -r line < "/proc/$pid/stat" &&
case "$line" in *" $began "*) echo environment;; esac
( : > "$outside/escaped" ) 2>/dev/null && echo write
for name in "$@"; do ( : < "$name" ) 2>/dev/null && echo home && break; done
if [ -z "$BASH_VERSION" ]; then echo network; else
( exec 3<>"/dev/tcp/127.0.0.1/$port" ) 2>/dev/null && echo network; fi
( : >> /proc/sys/kernel/hostname ) 2>/dev/null && echo machine
( : > ./inside ) 2>/dev/null || echo stuck
"""


class Escapes(msgspec.Struct, frozen=True):
    """Which escape attempts succeeded."""

    started: bool
    wrote_outside: bool
    saw_home: bool
    reached_network: bool
    read_environment: bool
    stuck: bool
    error_output: str = ""


def attempt(isolation: Isolation, view: SandboxView, shell: str, env: Mapping[str, str], *, network: bool) -> Escapes:
    """Run the attempts once, isolated like a step."""
    outside = view.place.folder
    marks = [str(path) for path in _private_files(Path(env.get("HOME", "/root")), view)]
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = str(listener.getsockname()[1])
        argv = (
            shell,
            "-c",
            _ATTEMPTS,
            "probe",
            str(outside),
            port,
            str(os.getpid()),
            process_tree.began(os.getpid()),
            *marks,
        )
        launch = isolation.launch(view, argv, cwd=view.place.repo, env=env, network=network)
        try:
            done = process.capture(launch.argv, cwd=launch.cwd, env=launch.env, timeout_s=20)
        except (LoopwrightError, OSError, TimeoutError) as problem:
            return Escapes(False, False, False, False, False, True, str(problem))
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
        error_output=done.stderr.decode("utf-8", "replace").strip()[-300:],
    )


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

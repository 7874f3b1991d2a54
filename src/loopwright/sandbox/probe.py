"""Finds out what confinement is worth on this machine by trying to get out of it."""

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

# Shell builtins only, so that the answer says something about the confinement and not about PATH.
# A plain sh has no way to open a connection: what was not tried counts as reached.
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
    """What an attempt to get out achieved."""

    started: bool
    wrote_outside: bool
    saw_home: bool
    reached_network: bool
    read_environment: bool
    stuck: bool
    said: str = ""


def attempt(isolation: Isolation, view: SandboxView, shell: str, env: Mapping[str, str], *, network: bool) -> Escapes:
    """Run the attempts once, confined as a step would be."""
    outside = view.place.folder
    marks = [str(path) for path in _private_things(Path(env.get("HOME", "/root")), view)]
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
    said = done.stdout.decode("utf-8", "replace").split()
    # A confined write may land in a private layer and claim success: what counts is what is here now.
    wrote = (outside / "escaped").exists() or "machine" in said
    (outside / "escaped").unlink(missing_ok=True)
    return Escapes(
        started="started" in said,
        wrote_outside=wrote,
        saw_home="home" in said,
        reached_network="network" in said,
        read_environment="environment" in said,
        stuck="stuck" in said,
        said=done.stderr.decode("utf-8", "replace").strip()[-300:],
    )


def _private_things(home: Path, view: SandboxView) -> list[Path]:
    """A few files of the home that exist and that no step needs."""
    if not home.is_dir():
        return []
    try:
        names = sorted(os.listdir(home))
    except OSError:
        return []
    private = (".ssh", ".aws", ".netrc", ".gnupg", ".docker", ".kube", ".bash_history", ".bashrc", ".profile")
    places = [home / name for name in names if name in private and home / name not in view.project.parents]
    # A folder may be there as the way to a tool that is shown: only what is in it tells.
    return [found for place in places for found in ([place] if place.is_file() else _first_inside(place))][:20]


def _first_inside(folder: Path) -> list[Path]:
    try:
        return [path for path in sorted(folder.iterdir()) if path.is_file()][:2]
    except OSError:
        return []

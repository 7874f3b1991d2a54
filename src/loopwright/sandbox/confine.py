"""Chooses the strongest isolation that an escape attempt did not defeat."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from loopwright.errors import IsolationUnavailable, LoopwrightError
from loopwright.kernel import process, process_tree
from loopwright.sandbox.model import Confinement, SandboxView
from loopwright.sandbox.port import Isolation


def choose(
    requested: str, adapters: Sequence[Isolation], view: SandboxView, shell: str, env: Mapping[str, str]
) -> tuple[Isolation, Confinement]:
    """Try each adapter in order; the last adapter provides no isolation."""
    unconfined = adapters[-1]
    if requested == "none":
        return unconfined, _nothing(requested, "not isolated: not requested")
    reasons: list[str] = []
    for adapter in adapters[:-1]:
        reason = adapter.missing()
        if reason is None:
            escapes = attempt(adapter, view, shell, env, network=requested == "auto")
            reason = _shortfall(requested, escapes)
            if reason is None:
                return adapter, _confinement(requested, adapter, escapes)
        reasons.append(f"{adapter.name}: {reason}")
    why = "; ".join(reasons)
    if requested == "strict":
        raise IsolationUnavailable(
            f"strict isolation is required, but this machine does not provide it ({why})",
            hint="install bubblewrap, or choose --isolation auto; then `loopwright unlatch` and `loopwright run`",
        )
    return unconfined, _nothing(requested, f"not isolated: {why}")


def _shortfall(requested: str, escapes: Escapes) -> str | None:
    if not escapes.started:
        return f"does not start on this machine ({escapes.error_output or 'no reason given'})"
    if escapes.stuck:
        return "writing inside the sandbox failed"
    if escapes.wrote_outside:
        return "a write outside the sandbox succeeded"
    if escapes.saw_home:
        return "the home folder was readable"
    if escapes.read_environment:
        return "Loopwright's own environment was readable"
    if requested == "strict" and escapes.reached_network:
        return "the network was reachable"
    return None


def _confinement(requested: str, adapter: Isolation, escapes: Escapes) -> Confinement:
    closed = requested == "strict"
    return Confinement(
        requested=requested,
        used=adapter.name,
        writes_confined=not escapes.wrote_outside,
        home_hidden=not escapes.saw_home,
        network="closed unless a step says so" if closed else "open",
        processes="pid namespace" if adapter.mounts else "subreaper",
        why=""
        if adapter.mounts
        else "modes and times of files outside the sandbox are not protected; local sockets only with strict",
    )


def _nothing(requested: str, why: str) -> Confinement:
    return Confinement(
        requested=requested,
        used="none",
        writes_confined=False,
        home_hidden=False,
        network="open",
        processes="subreaper",
        why=why,
    )


# Only shell builtins, so that the result does not depend on PATH.
# A plain sh can't open a connection; an attempt that was not made counts as a success.
ESCAPE_ATTEMPTS = r"""
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
            ESCAPE_ATTEMPTS,
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

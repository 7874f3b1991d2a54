"""Isolation with Landlock, for machines without bubblewrap: an allow-list of paths, without mounts."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from loopwright.kernel import process
from loopwright.kernel.process import Lockdown
from loopwright.sandbox import landlock_launcher, machine_view
from loopwright.sandbox.model import SandboxView
from loopwright.sandbox.port import CEILING, Launch

_DEVICES = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/fd",
)
_DEEPEST = 6
_LONGEST_S = 30.0
# Older versions do not protect files from being truncated.
_OLDEST = 3


class Landlock:
    """Isolation with the kernel's Landlock, and seccomp for the network."""

    name = "landlock"
    mounts = False

    def missing(self) -> str | None:
        """Why Landlock can't be used, or None."""
        if not sys.platform.startswith("linux"):
            return "Landlock is a feature of Linux"
        libc = ctypes.CDLL(None, use_errno=True)
        version = landlock_launcher.version(libc)
        if version < _OLDEST:
            return (
                f"this kernel has Landlock version {version}; version {_OLDEST} is required"
                if version
                else "this kernel has no Landlock"
            )
        return None

    def launch(
        self, view: SandboxView, argv: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], network: bool
    ) -> Launch:
        """The command, started by the launcher with its policy."""
        home = Path(env.get("HOME", "/root"))
        access = "open" if network else "own" if _can_have_own_network() else "none"
        policy = _policy(view, home, env.get("PATH", ""), access)
        inner = {**env, "HOME": str(view.place.home), "TMPDIR": str(view.place.tmp)}
        inner[CEILING] = str(view.place.folder)
        lockdown = Lockdown.NETWORK if access == "none" else Lockdown.LOCAL
        return Launch((*_launcher(policy), *argv), cwd, inner, wrapped=False, lockdown=lockdown)


def _launcher(policy: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", landlock_launcher.__file__, policy)


@cache
def _can_have_own_network() -> bool:
    """Whether this machine lets a command enter a network namespace."""
    policy = json.dumps({"read": ["/"], "own": [], "write": ["/"], "network": "own", "empty": []})
    argv = (*_launcher(policy), "true")
    return process.capture(argv, cwd=Path("/"), env={}, timeout_s=_LONGEST_S, lockdown=Lockdown.LOCAL).exit_code == 0


@cache
def _policy(view: SandboxView, home: Path, path: str, network: str) -> str:
    hidden = {
        *machine_view.hidden_homes(home),
        *machine_view.credential_files(),
        *machine_view.credential_folders(),
        *machine_view.secrets_in_tools(home),
        # /dev has the terminals of the person; their input could be read.
        *(Path(place) for place in ("/run", "/tmp", "/var/tmp", "/dev")),  # noqa: S108 -- hidden, not used
        *machine_view.session_folders(os.environ),
        view.sandbox_root,
        view.project,
    }
    provided = [view.project / folder for folder in view.provided]
    tools = (*machine_view.tool_folders(home, {"PATH": path}), *machine_view.interpreter_folders(home, provided))
    interpreter = Path(sys.base_prefix)
    shown = {
        *machine_view.visible_in_run(),
        *(part for tool in (*tools, interpreter) for part in readable(tool, set(machine_view.secrets_in_tools(home)))),
        *provided,
        *view.programs,
        *view.object_stores,
        Path(landlock_launcher.__file__).parent,
    }
    read = {*readable(Path("/"), hidden), *shown}
    places = (view.place.repo, view.place.tmp, view.place.home, view.mailbox, view.agent_home)
    own = [str(place) for place in places if place is not None]
    return json.dumps(
        {
            "read": sorted(map(str, read)),
            "own": own,
            "write": [*own, *_DEVICES],
            "network": network,
            "empty": [str(path) for path in machine_view.lists_of_keys()],
        }
    )


def readable(top: Path, hidden: set[Path], depth: int = 0) -> list[Path]:
    """The fewest paths that cover everything below `top` except hidden paths."""
    if top in hidden:
        return []
    if depth >= _DEEPEST or not any(top in path.parents for path in hidden):
        return [top]
    try:
        names = sorted(os.listdir(top))
    except OSError:
        return []
    return [path for name in names for path in readable(top / name, hidden, depth + 1)]

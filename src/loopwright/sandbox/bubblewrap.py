"""Isolation with bubblewrap: private mounts and process ids, and a private network if the network is closed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from loopwright.kernel.process import Lockdown
from loopwright.sandbox import machine_view
from loopwright.sandbox.model import SandboxView
from loopwright.sandbox.port import CEILING, Launch

# bwrap reports the command's exit only if its own set-up ended well.
_REPORT = ("--json-status-fd", b'"exit-code"')
_PRIVATE_TMP = ("/tmp", "/var/tmp")  # noqa: S108 -- replaced by the sandbox's own folder


class Bubblewrap:
    """Isolation with the `bwrap` program."""

    name = "bubblewrap"
    mounts = True

    def missing(self) -> str | None:
        """Why bubblewrap can't be used, or None."""
        return None if shutil.which("bwrap") else "bwrap is not installed"

    def launch(
        self, view: SandboxView, argv: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], network: bool
    ) -> Launch:
        """`bwrap … -- argv`. bwrap also gets only the reduced environment, because /proc shows it."""
        home = Path(env.get("HOME", "/root"))
        options = _options(view, home, env.get("PATH", ""), network, machine_view.local_sockets())
        inner = {**env, "TMPDIR": _PRIVATE_TMP[0], CEILING: str(view.project.parent)}
        inside = view.project / cwd.relative_to(view.place.repo)
        start = (*options, "--chdir", str(inside), "--", *argv)
        return Launch(start, view.place.folder, inner, wrapped=True, lockdown=Lockdown.MACHINE, report=_REPORT)


@cache
def _options(view: SandboxView, home: Path, path: str, network: bool, sockets: tuple[Path, ...]) -> tuple[str, ...]:
    covers: list[tuple[str, ...]] = [
        ("--bind", str(view.place.tmp), folder) for folder in _PRIVATE_TMP if Path(folder).is_dir()
    ]
    has_home = home.is_dir() and str(home) != "/"
    if has_home:
        covers.append(("--bind", str(view.place.home), str(home)))
    # Every mount costs each command 0.1 ms, so nothing is hidden twice and empty folders are not hidden.
    hidden = (
        Path("/run"), *machine_view.hidden_homes(home), *machine_view.credential_folders(), view.sandbox_root,
        *machine_view.session_folders(os.environ),
    )  # fmt: skip
    for folder in hidden:
        inside = any(Path(cover[-1]) in (folder, *folder.parents) for cover in covers)
        if not inside and _shows_something(folder):
            covers.append(("--tmpfs", str(folder)))
    unseen = (*(Path(cover[-1]) for cover in covers), view.project, Path("/dev"))
    # A read-only mount does not close a socket.
    exposed = [path for path in sockets if not any(top in path.parents for top in unseen)]
    covers += [("--ro-bind", "/dev/null", str(file)) for file in (*machine_view.credential_files(), *exposed)]
    covers += [("--ro-bind", "/dev/null", str(file)) for file in machine_view.lists_of_keys()]
    shows: list[tuple[str, ...]] = [("--ro-bind", str(p), str(p)) for p in machine_view.visible_in_run()]
    provided = [view.project / name for name in view.provided]
    tools = (*machine_view.tool_folders(home, {"PATH": path}), *machine_view.interpreter_folders(home, provided))
    shows += [("--ro-bind", str(p), str(p)) for p in dict.fromkeys(tools)]
    shows += [
        ("--ro-bind", str(p), str(p)) for p in view.programs if p.exists() and any(top in p.parents for top in unseen)
    ]
    shows += [("--ro-bind", "/dev/null", str(file)) for file in machine_view.secrets_in_tools(home)]
    # The sandbox is visible at the project's path only. So absolute paths in a project (editable installs, caches) mean
    # the copy and never the user's files, and every sandbox of a project looks the same from inside.
    shows.append(("--bind", str(view.place.repo), str(view.project)))
    shows += [("--bind", str(own), str(own)) for own in (view.mailbox, view.agent_home) if own is not None]
    shows += [("--ro-bind", str(folder), str(folder)) for folder in provided]
    shows += [
        ("--ro-bind", str(store), str(view.place.objects / str(number)))
        for number, store in enumerate(view.object_stores)
    ]
    head = (
        "bwrap", "--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try",
        "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    )  # fmt: skip
    # Root, even without capabilities, may write the machine's switches there (/proc/sys, sysrq-trigger, irq).
    frozen = ("--remount-ro", "/proc") if os.geteuid() == 0 else ()
    closed = () if network else ("--unshare-net",)
    return (*head, *frozen, *closed, *(part for mount in [*_in_order(covers), *_in_order(shows)] for part in mount))


def _shows_something(folder: Path) -> bool:
    """Whether the folder has content to hide. A folder that Loopwright can't read is unreadable for a step, too."""
    try:
        return any(folder.iterdir())
    except OSError:
        return False


def _in_order(mounts: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Outer folders before folders mounted inside them; the sort is stable."""
    return sorted(mounts, key=lambda mount: len(Path(mount[-1]).parts))

"""No isolation: runs the command directly. Processes are still ended, and the environment is still reduced."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loopwright.kernel.process import Lockdown
from loopwright.sandbox.model import SandboxView
from loopwright.sandbox.port import CEILING, Launch


class Unconfined:
    """Isolation `none`."""

    name = "none"
    mounts = False

    def missing(self) -> str | None:
        """Never missing."""
        return None

    def launch(
        self, view: SandboxView, argv: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], network: bool
    ) -> Launch:
        """The same command, with the sandbox's temporary folder."""
        del network
        inner = {**env, "TMPDIR": str(view.place.tmp), CEILING: str(view.place.folder)}
        return Launch(argv, cwd, inner, wrapped=False, lockdown=Lockdown.KEYS)

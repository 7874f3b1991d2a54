"""Finds an agent's program, and asks it for its version: once for each binary that it is."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from loopwright.agents.needs import Needs
from loopwright.agents.port import NoAnswer, Reason
from loopwright.errors import ToolMissing
from loopwright.kernel import process
from loopwright.kernel.files import shown

_VERSION = re.compile(rb"(\d+)\.(\d+)(?:\.(\d+))?")
_LONGEST_S = 30.0


class Program(msgspec.Struct, frozen=True):
    """A program that was found; no version is one that it did not tell."""

    path: Path
    version: tuple[int, ...] = ()

    @property
    def shown_version(self) -> str:
        """Its version as people write it."""
        return ".".join(map(str, self.version))

    @property
    def parts(self) -> tuple[Path, ...]:
        """What has to be seen for it to run: the folder of its name, and where it really is, with its package."""
        real = self.path.resolve()
        package = next((parent for parent in reversed(real.parents) if parent.name == "node_modules"), None)
        return tuple(dict.fromkeys((self.path.parent, package or real)))


class Unusable(msgspec.Struct, frozen=True):
    """Why a program can't be used, and how to fix that."""

    reason: Reason
    why: str
    mend: str


def find_program(needs: Needs, environment: Mapping[str, str]) -> Program | NoAnswer:
    """The program, new enough; or why it can't be used, in one sentence with its fix."""
    found = look_for_program(needs, environment)
    return NoAnswer(found.reason, f"{found.why}; {found.mend}") if isinstance(found, Unusable) else found


def look_for_program(needs: Needs, environment: Mapping[str, str]) -> Program | Unusable:
    """The same, with the fix apart."""
    search = environment.get("PATH")
    has_npm = not needs.install.startswith("npm ") or shutil.which("npm", path=search) is not None
    mend = needs.install if has_npm else f"install Node.js, which brings npm, then: {needs.install}"
    found = shutil.which(needs.program, path=search)
    if found is None:
        return Unusable(Reason.AGENT_MISSING, f"its program {needs.program} is not on PATH", mend)
    path = Path(found)
    try:
        at = path.stat()
        version = _version(path, at.st_mtime_ns, at.st_size, search or "")
    except (OSError, ToolMissing, TimeoutError) as problem:
        return Unusable(Reason.AGENT_MISSING, f"{shown(path)} can't be started: {problem}", mend)
    if version and version < needs.oldest:
        wanted, got = (".".join(map(str, one)) for one in (needs.oldest, version))
        return Unusable(Reason.AGENT_TOO_OLD, f"{shown(path)} is version {got}, {wanted} is needed", mend)
    return Program(path, version)


@lru_cache(maxsize=32)
def _version(path: Path, changed_ns: int, size: int, search: str) -> tuple[int, ...]:
    """What it says of itself, in a home of its own: asking must leave nothing in the user's."""
    del changed_ns, size
    with tempfile.TemporaryDirectory(prefix="loopwright-") as home:
        env = {"PATH": search, "HOME": home}
        said = process.capture((str(path), "--version"), cwd=Path(home), env=env, timeout_s=_LONGEST_S)
    if said.exit_code != 0:
        raise ToolMissing(said.stderr.decode("utf-8", "replace").strip()[:200] or "it fails", hint="install it again")
    found = _VERSION.search(said.stdout)
    return tuple(int(part) for part in found.groups() if part is not None) if found else ()

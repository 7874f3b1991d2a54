"""Finds an agent's program and its version. The version of a binary is asked once."""

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
    """A program that was found; an empty version means that the program did not report it."""

    path: Path
    version: tuple[int, ...] = ()

    @property
    def shown_version(self) -> str:
        """The version as people write it."""
        return ".".join(map(str, self.version))

    @property
    def parts(self) -> tuple[Path, ...]:
        """The paths that the sandbox must show: the folder of the program, and its real location with its package."""
        real = self.path.resolve()
        package = next((parent for parent in reversed(real.parents) if parent.name == "node_modules"), None)
        return tuple(dict.fromkeys((self.path.parent, package or real)))


class Unusable(msgspec.Struct, frozen=True):
    """Why a program can't be used, and how to fix that."""

    reason: Reason
    why: str
    fix: str


def find_program(needs: Needs, environment: Mapping[str, str]) -> Program | NoAnswer:
    """The program, new enough; or why it can't be used, in one sentence with its fix."""
    result = look_for_program(needs, environment)
    return NoAnswer(result.reason, f"{result.why}; {result.fix}") if isinstance(result, Unusable) else result


def look_for_program(needs: Needs, environment: Mapping[str, str]) -> Program | Unusable:
    """The same, with the reason and the fix separately."""
    search = environment.get("PATH")
    has_npm = not needs.install.startswith("npm ") or shutil.which("npm", path=search) is not None
    fix = needs.install if has_npm else f"install Node.js, which includes npm, then run: {needs.install}"
    name = shutil.which(needs.program, path=search)
    if name is None:
        return Unusable(Reason.AGENT_MISSING, f"its program {needs.program} is not on PATH", fix)
    path = Path(name)
    try:
        at = path.stat()
        version = _version(path, at.st_mtime_ns, at.st_size, search or "")
    except (OSError, ToolMissing, TimeoutError) as problem:
        return Unusable(Reason.AGENT_MISSING, f"{shown(path)} can't be started: {problem}", fix)
    if version and version < needs.oldest:
        required, actual = (".".join(map(str, numbers)) for numbers in (needs.oldest, version))
        why = f"{shown(path)} is version {actual}; {required} or later is required"
        return Unusable(Reason.AGENT_TOO_OLD, why, fix)
    return Program(path, version)


@lru_cache(maxsize=32)
def _version(path: Path, changed_ns: int, size: int, search: str) -> tuple[int, ...]:
    """The version that the program reports. It runs in a temporary home, to leave nothing in the user's home."""
    del changed_ns, size
    with tempfile.TemporaryDirectory(prefix="loopwright-") as home:
        env = {"PATH": search, "HOME": home}
        answer = process.capture((str(path), "--version"), cwd=Path(home), env=env, timeout_s=_LONGEST_S)
    if answer.exit_code != 0:
        reason = answer.stderr.decode("utf-8", "replace").strip()[:200] or "it fails"
        raise ToolMissing(reason, hint="install the program again")
    match = _VERSION.search(answer.stdout)
    return tuple(int(part) for part in match.groups() if part is not None) if match else ()

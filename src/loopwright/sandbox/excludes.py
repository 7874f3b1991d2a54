"""What never enters a copy: a few patterns in the way of .gitignore, compiled to two expressions."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable

SECRET_FOLDERS = (".claude/private/secrets/",)
_NEVER_COPIED = (
    ".git", ".git/", ".claude/state/", ".claude/sandbox/", *SECRET_FOLDERS, "node_modules/", "venv/", ".venv/",
    "venvsfrida_env/", "__pycache__/", ".pytest_cache/", "analyzedata/outputs/", "analyzedata/scratch/",
    "*.i64", "*.idb", "*.dll", "*.exe", "*.pdb", ".env*",
)  # fmt: skip


class Excludes:
    """Answers whether a path stays outside. A pattern with an inner slash counts from the top."""

    def __init__(self, patterns: Iterable[str]) -> None:
        names: dict[bool, list[str]] = {True: [], False: []}
        paths: dict[bool, list[str]] = {True: [], False: []}
        for pattern in patterns:
            only_folders = pattern.endswith("/")
            body = pattern.strip("/")
            where = paths if "/" in pattern.rstrip("/") else names
            for is_folder in (True, False) if not only_folders else (True,):
                where[is_folder].append(fnmatch.translate(body))
        self._names = {kind: _any_of(found) for kind, found in names.items()}
        self._paths = {kind: _any_of(found) for kind, found in paths.items()}

    def keeps_out(self, relative: str, name: str, is_folder: bool) -> bool:
        """Whether this entry (and all below it) stays outside."""
        if self._names[is_folder].match(name) is not None:
            return True
        return self._paths[is_folder].match(relative) is not None


def copy_excludes(state_folders: Iterable[str], configured: Iterable[str]) -> Excludes:
    """The contract's list, the workspace's own state, and what config adds."""
    return Excludes([*_NEVER_COPIED, *(f"{folder}/" for folder in state_folders), *configured])


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) if patterns else r"(?!)")

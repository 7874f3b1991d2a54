"""What does not enter a copy: patterns in the way of .gitignore."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from loopwright.evidence.trees import SECRET_FOLDERS

# Made by tools, never by a change: not part of one in any mode.
CACHES = ("node_modules/", "venv/", ".venv/", "venvsfrida_env/", "__pycache__/", ".pytest_cache/")
_NOT_COPIED = (
    ".claude/sandbox/", *CACHES, "analyzedata/outputs/", "analyzedata/scratch/", "*.i64", "*.idb", "*.dll", "*.exe",
    "*.pdb", ".env*",
)  # fmt: skip
# No setting brings these in.
_NEVER_COPIED = (".git", ".git/", ".claude/state/", *SECRET_FOLDERS)
_TOKENS = re.compile(r"\\.|/\*\*/|\*\*/|/\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)


class Excludes:
    """Answers whether a path stays outside; the last pattern that fits decides, and `!` brings back in.

    A pattern with an inner slash counts from the top. What lies in a folder that stays outside stays outside too.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._groups = [_Group(brings_in, list(rules)) for brings_in, rules in groupby(patterns, _brings_in)]
        self._groups.reverse()

    def keeps_out(self, relative: str, is_folder: bool) -> bool:
        """Whether this entry (and all below it) stays outside."""
        for group in self._groups:
            if group.fits(relative, is_folder):
                return not group.brings_in
        return False


class _Group:
    """Patterns in a row that say the same, as two expressions: folders have their own."""

    def __init__(self, brings_in: bool, patterns: list[str]) -> None:
        self.brings_in = brings_in
        folders: list[str] = []
        files: list[str] = []
        for pattern in patterns:
            written = pattern.removeprefix("!")
            anchored = "/" in written.rstrip("/")
            expression = ("" if anchored else "(?:.*/)?") + _translated(written.strip("/"))
            folders.append(expression)
            if not written.endswith("/"):
                files.append(expression)
        self._folders = _any_of(folders)
        self._files = _any_of(files)

    def fits(self, relative: str, is_folder: bool) -> bool:
        return (self._folders if is_folder else self._files).fullmatch(relative) is not None


def _brings_in(pattern: str) -> bool:
    return pattern.startswith("!")


def never_copied(state_folders: Iterable[str], configured: Iterable[str]) -> list[str]:
    """The contract's list, what config adds or brings back, and last what nothing brings back."""
    return [*_NOT_COPIED, *configured, *_NEVER_COPIED, *(f"/{folder}/" for folder in state_folders)]


def _translated(pattern: str) -> str:
    special = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}
    parts = []
    for token in _TOKENS.findall(pattern):
        if token in special:
            parts.append(special[token])
        elif token.startswith("\\") and len(token) > 1:
            parts.append(re.escape(token[1:]))
        elif token.startswith("[") and len(token) > 1:
            parts.append("[" + token[1:-1].replace("\\", "\\\\").replace("!", "^", 1) + "]")
        else:
            parts.append(re.escape(token))
    return "".join(parts)


def _any_of(expressions: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in expressions) if expressions else r"(?!)", re.DOTALL)

"""What never enters a copy: patterns in the way of .gitignore, compiled to two expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopwright.evidence.trees import SECRET_FOLDERS

# Made by tools, never by a change: not part of one in any mode.
CACHES = ("node_modules/", "venv/", ".venv/", "venvsfrida_env/", "__pycache__/", ".pytest_cache/")
_NEVER_COPIED = (
    ".git", ".git/", ".claude/state/", ".claude/sandbox/", *SECRET_FOLDERS, *CACHES, "analyzedata/outputs/",
    "analyzedata/scratch/", "*.i64", "*.idb", "*.dll", "*.exe", "*.pdb", ".env*",
)  # fmt: skip
_TOKENS = re.compile(r"/\*\*/|\*\*/|/\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)


class Excludes:
    """Answers whether a path stays outside. A pattern with an inner slash counts from the top."""

    def __init__(self, patterns: Iterable[str]) -> None:
        folders: list[str] = []
        files: list[str] = []
        for pattern in patterns:
            body = pattern.strip("/")
            anchored = "/" in pattern.rstrip("/")
            expression = ("" if anchored else "(?:.*/)?") + _translated(body)
            folders.append(expression)
            if not pattern.endswith("/"):
                files.append(expression)
        self._folders = _any_of(folders)
        self._files = _any_of(files)

    def keeps_out(self, relative: str, is_folder: bool) -> bool:
        """Whether this entry (and all below it) stays outside."""
        return (self._folders if is_folder else self._files).fullmatch(relative) is not None


def never_copied(state_folders: Iterable[str], configured: Iterable[str]) -> list[str]:
    """The contract's list, the workspace's own state, and what config adds."""
    return [*_NEVER_COPIED, *(f"/{folder}/" for folder in state_folders), *configured]


def _translated(pattern: str) -> str:
    special = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}
    parts = []
    for token in _TOKENS.findall(pattern):
        if token in special:
            parts.append(special[token])
        elif token.startswith("[") and len(token) > 1:
            parts.append("[" + token[1:-1].replace("\\", "\\\\").replace("!", "^", 1) + "]")
        else:
            parts.append(re.escape(token))
    return "".join(parts)


def _any_of(expressions: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in expressions) if expressions else r"(?!)", re.DOTALL)

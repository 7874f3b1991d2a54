"""Path patterns: `*` and `?` stop at a slash, as in a shell; `**` does not. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)
_STARS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path fits one of the patterns."""
    names, paths = _compiled(patterns)
    return names.fullmatch(path.rpartition("/")[2]) is not None or paths.fullmatch(path) is not None


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """All patterns in two expressions, for speed: patterns for a name in any folder, and the others."""
    names = [pattern[3:] for pattern in patterns if _is_about_names(pattern)]
    paths = [pattern for pattern in patterns if not _is_about_names(pattern)]
    return _any_of(names), _any_of(paths)


def _is_about_names(pattern: str) -> bool:
    return pattern.startswith("**/") and "/" not in pattern[3:]


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(_expression, patterns)) or r"(?!)", re.DOTALL)


def _expression(pattern: str) -> str:
    parts = []
    for token in _TOKENS.findall(pattern):
        if token in _STARS:
            parts.append(_STARS[token])
        elif token.startswith("[") and len(token) > 1:
            parts.append("[" + token[1:-1].replace("\\", "\\\\").replace("!", "^", 1) + "]")
        else:
            parts.append(re.escape(token))
    return "".join(parts)

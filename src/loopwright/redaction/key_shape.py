"""Recognizes a key by its shape, for values whose variable names give no hint. Pure: never reads the disk."""

from __future__ import annotations

import re

_SHORTEST_KEY = 20
_KEY = re.compile(r"[A-Za-z0-9_.+/=~-]*[A-Za-z][A-Za-z0-9_.+/=~-]*")
# A base64 key may contain "/", and may even begin with it. It never begins with one of these.
_PATH_START = re.compile(r"(?:~|\.{1,2})/")
# The top folder of an absolute path, for example tmp, __w, Users, MyData or SCRATCH.
_TOP_FOLDER = re.compile(r"[A-Za-z0-9._@-][a-z0-9._@-]*|(?:[A-Z][a-z]+)+|[A-Z0-9_]+")
# A folder or file named with words, for example site-packages, python3.11 or MyProject.
_WORD = r"(?:[A-Z]?[a-z]{3,}|[A-Z][a-z]{2,}|(?:[A-Z][a-z]+){2,})"
_WORDS = re.compile(rf"[._@-]*{_WORD}(?:[._@-]*(?:{_WORD}|[a-z]?[0-9]+))*")


def looks_like_a_key(value: str) -> bool:
    """Whether a value is long and mixes letters and digits, and is not a path, an address or a name.

    Model names have separators and only small letters. Keys have both cases, or no separator.
    """
    return _is_dense(value) and not _looks_like_a_path(value)


def _looks_like_a_path(value: str) -> bool:
    """Whether the value is a path, even if some of its folders have random names.

    About 2 of 1,000 random base64 keys of 40 characters pass for a path.
    """
    if _PATH_START.match(value):
        return True
    top, *rest = value.removeprefix("/").split("/")
    if not rest:
        return False
    if value.startswith("/"):
        return _TOP_FOLDER.fullmatch(top) is not None
    # One word at the start can be chance, unless a second word follows or nothing else looks like a key.
    has_second_word = any(map(_WORDS.fullmatch, rest))
    return _WORDS.fullmatch(top) is not None and (has_second_word or not any(map(_is_mixed_and_dense, rest)))


def _is_dense(text: str) -> bool:
    if len(text) < _SHORTEST_KEY or not _KEY.fullmatch(text):
        return False
    return any(map(str.isdigit, text)) and (_has_both_cases(text) or text.isalnum())


def _is_mixed_and_dense(text: str) -> bool:
    return _is_dense(text) and _has_both_cases(text)


def _has_both_cases(text: str) -> bool:
    return any(map(str.islower, text)) and any(map(str.isupper, text))

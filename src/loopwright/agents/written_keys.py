"""Finds keys in a program's settings, where a variable's name should be. Their values are never shown. Pure.

A field's name decides. In headers and queries, whose names say little, the shape of the value counts as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

import msgspec

from loopwright.redaction.environment_values import looks_like_a_key
from loopwright.redaction.secret_names import looks_secret

_WORDS = re.compile(r"-|(?<=[a-z0-9])(?=[A-Z])")
_SAY_SO = frozenset({"authorization", "key", "bearer", "signature", "sig", "code"})
_HELD_ALIKE = frozenset({"headers", "http_headers", "query_params"})
# opencode's form of a variable or a file in place of a value.
_NAMED = re.compile(r"\{(?:env|file):[^}]+\}")
# Shorter values are words, for example "ollama" for a program that needs no key.
_SHORTEST = 8
_SHORTEST_OF_LETTERS = 16


class WrittenKey(msgspec.Struct, frozen=True):
    """A key in settings and its place; `is_let_in` if the sandbox lets that place in for the agent."""

    place: str
    value: str
    is_let_in: bool = False

    def __repr__(self) -> str:
        """Without the value, because this may end up in a message."""
        return f"WrittenKey({self.place!r})"


def written_keys(table: Mapping[str, Any], place: str, *, is_let_in: bool) -> Iterator[WrittenKey]:
    """Every key in a table of settings."""
    for field, value in table.items():
        yield from _keys_at(f"{place}.{field}", field, value, place.rpartition(".")[2] in _HELD_ALIKE, is_let_in)


def without_written_keys(table: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """The table without keys; names of variables stay."""
    return {field: kept for field, value in table.items() for kept in _kept_at(field, value, place in _HELD_ALIKE)}


def names_a_key(field: str) -> bool:
    """Whether the name of a field or header suggests a key."""
    plain = _WORDS.sub("_", field).lower()
    return plain in _SAY_SO or plain.endswith("_authorization") or looks_secret(plain)


def _keys_at(place: str, field: str, value: Any, held_alike: bool, is_let_in: bool) -> Iterator[WrittenKey]:
    if isinstance(value, Mapping):
        yield from written_keys(value, place, is_let_in=is_let_in)
    elif isinstance(value, list):
        for item in value:
            yield from _keys_at(place, field, item, held_alike, is_let_in)
    elif isinstance(value, str):
        candidates = value.split() if _is_key(field, value, held_alike) else _in_address(value)
        yield from (WrittenKey(place, text, is_let_in) for text in candidates if _is_unusual(text))


def _kept_at(field: str, value: Any, held_alike: bool) -> Iterator[Any]:
    """The same walk as `_keys_at`, for what remains: one value, or nothing."""
    if isinstance(value, Mapping):
        yield without_written_keys(value, field)
    elif isinstance(value, list):
        yield [kept for item in value for kept in _kept_at(field, item, held_alike)]
    elif not isinstance(value, str):
        yield value
    elif not _is_key(field, value, held_alike):
        yield _without_login(value)


def _is_key(field: str, value: str, held_alike: bool) -> bool:
    if _NAMED.search(value):
        return False
    return names_a_key(field) or (held_alike and any(map(looks_like_a_key, value.split())))


def _in_address(text: str) -> Iterator[str]:
    """The login in an address: its user part, and keys in its query."""
    parts = _address(text)
    if parts is None:
        return
    user, _, password = _user_info(parts).partition(":")
    # A token is often the name of the user.
    yield password or user
    yield from (value for name, value in parse_qsl(parts.query) if _asks_with_key(name, value))


def _without_login(text: str) -> str:
    """An address without its login; any other text unchanged."""
    parts = _address(text)
    if parts is None:
        return text
    host = parts.netloc.removeprefix(f"{info}@") if (info := _user_info(parts)) else parts.netloc
    fields = parts.query.split("&")
    kept = [field for field in fields if not any(_asks_with_key(*pair) for pair in parse_qsl(field))]
    is_same = host == parts.netloc and kept == fields
    return text if is_same else urlunsplit(parts._replace(netloc=host, query="&".join(kept)))


def _address(text: str) -> SplitResult | None:
    try:
        return urlsplit(text) if "://" in text else None
    except ValueError:
        return None


def _user_info(parts: SplitResult) -> str:
    """The user part of an address; empty if it names only variables."""
    info = parts.netloc.rpartition("@")[0]
    return info if _NAMED.sub("", info).strip(":") else ""


def _asks_with_key(name: str, value: str) -> bool:
    return names_a_key(name) and _NAMED.fullmatch(value) is None


def _is_unusual(text: str) -> bool:
    """Whether the text is not a common word. Masking common words would spoil every log."""
    return len(text) >= (_SHORTEST if any(map(str.isdigit, text)) else _SHORTEST_OF_LETTERS)

"""Shapes of values in a lock file: what is not described is not understood."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

Shape = Callable[[object], bool]

_ADDRESS = re.compile(r"https?://[\w.-]+(?::\d+)?(?:/[\w.~%@+!,=-]*)*")


class Unclear(ValueError):
    """A part of a lock file that the lists do not describe."""


def text(pattern: str = r"(?s:.*)") -> Shape:
    """A text that the pattern matches completely."""
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def anything(_value: object) -> bool:
    """A value that leads nowhere, whatever it is: a description, a condition."""
    return True


def exactly(*allowed: object) -> Shape:
    """One of some values."""
    return lambda value: any(type(value) is type(one) and value == one for one in allowed)


def is_flag(value: object) -> bool:
    """True or false."""
    return isinstance(value, bool)


def either(*shapes: Shape) -> Shape:
    """A value of one of some shapes."""
    return lambda value: any(shape(value) for shape in shapes)


def each(shape: Shape) -> Shape:
    """A list of values of one shape."""
    return lambda value: isinstance(value, list) and all(map(shape, value))


def table(key: Shape, shape: Shape) -> Shape:
    """A table with any number of keys."""
    return lambda value: (
        isinstance(value, Mapping) and all(key(name) and shape(inside) for name, inside in value.items())
    )


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """A table with known keys only."""
    known = {**required, **(optional or {})}

    def matches(value: object) -> bool:
        if not isinstance(value, Mapping) or not required.keys() <= value.keys():
            return False
        return all(name in known and known[name](inside) for name, inside in value.items())

    return matches


def understood(value: object, shape: Shape) -> Any:
    """The value, if it has the shape."""
    if not shape(value):
        raise Unclear(repr(value)[:200])
    return value


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of a JSON document; two programs may read duplicate keys differently."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unclear("duplicate keys")
    return found


def is_address(value: object) -> bool:
    """Whether a value is a web address that programs read alike: no user, no query, no way up."""
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        return False
    path = urlsplit(value).path.lower()
    return not any(part in {".", ".."} for part in path.replace("%2e", ".").split("/"))


def host_of(address: str) -> str:
    """The scheme and the host of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.lower()}"

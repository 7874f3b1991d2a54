"""A lock file as its parts, and a package as what it says about the origin of code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from loopwright.judging.lock_files.shapes import Shape


def entry_key(name: str, *rest: str) -> str:
    """The key of an entry: the name of its package, and what tells the entry from others of this name."""
    return "\0".join((name, *rest))


def name_of(key: str) -> str:
    """The name of the package in a key."""
    return key.partition("\0")[0]


def details_of(key: str) -> list[str]:
    """The rest of a key."""
    return key.split("\0")[1:]


class LockFile(msgspec.Struct, frozen=True):
    """A lock file in parts that are compared one by one."""

    # What is not about one package, by key.
    header: Mapping[str, object]
    entries: Mapping[str, Any]
    # Registries that the file names for all packages.
    registries: frozenset[str] = frozenset()


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """What an entry says about the origin of a package."""

    name: str
    version: str = ""
    # The name in the registry. Another one than `name` is an alias.
    origin: str = ""
    # Where the code comes from; empty if the installer's settings decide.
    registries: frozenset[str] = frozenset()
    hashes: frozenset[str] = frozenset()
    # The commands that the package installs, with their files.
    commands: Mapping[str, str] = {}
    # Whether the code is in the archive of another package.
    is_bundled: bool = False
    # For a package of the project itself: its folder.
    folder: str | None = None

    @property
    def registry_name(self) -> str:
        """The name under which a registry knows the package."""
        return self.origin or self.name


class LockFormat(msgspec.Struct, frozen=True):
    """How to read one kind of lock file."""

    read: Callable[[bytes], LockFile]
    # What the keys of the header may say if they changed.
    header: Mapping[str, Shape]
    # The packages of an entry; raises `Unclear`.
    packages: Callable[[str, Any], tuple[Package, ...]]
    # The registries that the installer uses without settings.
    defaults: frozenset[str] = frozenset()

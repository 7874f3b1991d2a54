"""Whether a changed lock file only takes packages by name and version from registries that the project uses. Pure.

Each part that differs from the base must be understood completely. What leads to another place (a folder, a repository,
another registry, another package under a known name) needs a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from loopwright.judging.lock_files import cargo, gems, go_sum, npm, pnpm, python, yarn
from loopwright.judging.lock_files.model import LockFile, LockFormat, Package, name_of
from loopwright.judging.lock_files.shapes import Unclear

Versions = Callable[[], tuple[bytes, bytes]]

_MOST_BYTES = 32 << 20
# Each lock file with its manifest and its format. Not composer.lock: its addresses name commits of a repository, and
# GitHub has the commits of every fork under these addresses, too.
_LOCKS: Mapping[str, tuple[str, LockFormat]] = {
    "poetry.lock": ("pyproject.toml", python.POETRY),
    "uv.lock": ("pyproject.toml", python.UV),
    "pdm.lock": ("pyproject.toml", python.PDM),
    "Pipfile.lock": ("Pipfile", python.PIPENV),
    "package-lock.json": ("package.json", npm.NPM),
    "npm-shrinkwrap.json": ("package.json", npm.NPM),
    "pnpm-lock.yaml": ("package.json", pnpm.PNPM),
    "yarn.lock": ("package.json", yarn.YARN),
    "Cargo.lock": ("Cargo.toml", cargo.CARGO),
    "go.sum": ("go.mod", go_sum.GO),
    "Gemfile.lock": ("Gemfile", gems.BUNDLER),
}


def is_free_lock_file(path: str, changed: frozenset[str], read: Versions) -> bool:
    """Whether the path is a lock file whose manifest changed, too, and each new part is known to be harmless."""
    folder, slash, name = path.rpartition("/")
    manifest, lock_format = _LOCKS.get(name, ("", None))
    if lock_format is None or f"{folder}{slash}{manifest}" not in changed:
        return False
    try:
        return _is_free(lock_format, *read())
    except (ValueError, RecursionError):
        return False


def _is_free(lock_format: LockFormat, before: bytes, after: bytes) -> bool:
    if max(len(before), len(after)) > _MOST_BYTES or not after.strip():
        return False
    work = lock_format.read(after)
    base = lock_format.read(before) if before.strip() else None
    old_header = base.header if base is not None else {}
    for key, value in work.header.items():
        if (key not in old_header or old_header[key] != value) and not lock_format.header.get(key, _nothing)(value):
            return False
    if base is not None and any(key not in work.header and key not in lock_format.header for key in old_header):
        return False
    known = _Known(lock_format, base)
    old = base.entries if base is not None else {}
    new = [(key, entry) for key, entry in work.entries.items() if key not in old or old[key] != entry]
    packages = [package for key, entry in new for package in lock_format.packages(key, entry)]
    return work.registries <= known.registries and all(map(known.allows, packages))


def _nothing(_value: object) -> bool:
    return False


class _Known:
    """What the base says about packages. Entries that are not understood say nothing."""

    def __init__(self, lock_format: LockFormat, base: LockFile | None) -> None:
        self._has_base = base is not None
        packages = list(_understood(lock_format, base)) if base is not None else []
        used = frozenset(base.registries if base is not None else ()).union(*(found.registries for found in packages))
        self.registries = lock_format.defaults | _or_encrypted(used)
        self._has_own = any(package.folder is not None for package in packages)
        self._by_name: dict[str, list[Package]] = {}
        self._commands: dict[str, set[str]] = {}
        for package in packages:
            self._by_name.setdefault(package.name, []).append(package)
            for command in package.commands:
                self._commands.setdefault(command, set()).add(package.registry_name)
        # A name that the lists do not understand is taken, too.
        self._taken = {name_of(key) for key in (base.entries if base is not None else ())}

    def allows(self, package: Package) -> bool:
        """Whether a new or changed package may come from where it comes, under its name."""
        same_name = self._by_name.get(package.name, [])
        if package.folder is not None:
            return self._is_own(package, same_name)
        if any(found.folder is not None for found in same_name) or not package.registries <= self.registries:
            return False
        return (
            self._keeps_name(package, same_name)
            and _keeps_registry(package, same_name)
            and _keeps_content(package, same_name)
            and self._keeps_commands(package)
        )

    def _keeps_commands(self, package: Package) -> bool:
        """Whether no command of another package is replaced, such as that of a test runner."""
        name = package.registry_name
        return all(name in self._commands.get(command, {name}) for command in package.commands)

    def _is_own(self, package: Package, same_name: list[Package]) -> bool:
        if not self._has_own:
            return package.folder == "."
        return any(found.folder == package.folder for found in same_name)

    def _keeps_name(self, package: Package, same_name: list[Package]) -> bool:
        """Whether the name means the package that it meant on the base. An alias may have a new name only."""
        if same_name:
            return any(found.registry_name == package.registry_name for found in same_name)
        if package.name == package.registry_name:
            return package.name not in self._taken or not self._has_base
        return self._has_base and package.name not in self._taken


def _understood(lock_format: LockFormat, base: LockFile) -> Iterable[Package]:
    for key, entry in base.entries.items():
        try:
            yield from lock_format.packages(key, entry)
        except Unclear:
            continue


def _keeps_registry(package: Package, same_name: list[Package]) -> bool:
    """Whether a known package stays in its registry: another registry may have other code under the name."""
    registries = frozenset[str]().union(*(found.registries for found in same_name))
    return not registries or package.registries <= _or_encrypted(registries)


def _or_encrypted(registries: frozenset[str]) -> frozenset[str]:
    """The registries, and each also by https."""
    return registries | {re.sub(r"^http://", "https://", registry) for registry in registries}


def _keeps_content(package: Package, same_name: list[Package]) -> bool:
    """Whether the same version has the same content and commands."""
    for found in same_name:
        if found.version == package.version and found.registry_name == package.registry_name:
            if found.hashes and not package.is_bundled and not found.hashes & package.hashes:
                return False
            if found.commands and package.commands and package.commands != found.commands:
                return False
    return True

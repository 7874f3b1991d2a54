"""Lock files of Bundler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from loopwright.judging.lock_files.model import LockFile, LockFormat, Package, details_of, entry_key, name_of
from loopwright.judging.lock_files.shapes import Unclear, each, is_address, text, understood

_NAME = r"[A-Za-z0-9][\w.-]*"
_REMOTE = re.compile(r" {2}remote: (\S+)")
_GEM = re.compile(rf" {{4}}({_NAME}) \(([^()\s]+)\)")
_DEPENDENCY = re.compile(rf" {{6}}{_NAME}(?: \([^()]*\))?")
_WANTED = re.compile(rf" {{2}}({_NAME})(?: \([^()]*\))?")
_CHECKSUM = re.compile(rf" {{2}}({_NAME}) \(([^()\s]+)\)(?: (sha256=[0-9a-f]{{64}}))?")
_REGISTRY = "https://rubygems.org"


def _read(data: bytes) -> LockFile:
    header: dict[str, object] = {}
    entries: dict[str, Any] = {}
    registries: set[str] = set()
    for title, lines in _sections(data.decode("utf-8")):
        if title in {"GEM", "PATH"}:
            remotes = [found[1] for line in lines if (found := _REMOTE.fullmatch(line)) is not None]
            for name, version, needs in _gems(lines):
                entries[entry_key(name, title, version, *remotes)] = needs
            if title == "GEM":
                registries.update(_registry(remote) for remote in remotes)
        elif title in {"DEPENDENCIES", "CHECKSUMS"}:
            for line in lines:
                name = line.split()[0].rstrip("!")
                entries[entry_key("" if title == "DEPENDENCIES" else name, title, line)] = line
        elif title in header or title in {"GIT", "PLUGIN SOURCE"}:
            # Each such section must be one of the base.
            header["\n".join([title, *lines])] = lines
        else:
            header[title] = lines
    return LockFile(header, entries, frozenset(registries))


def _sections(content: str) -> Iterator[tuple[str, list[str]]]:
    title, lines = "", list[str]()
    for line in [*content.splitlines(), "END"]:
        if not line.strip():
            continue
        if line.startswith(" "):
            lines.append(line.rstrip())
        else:
            if title:
                yield title, lines
            elif lines:
                raise Unclear(lines[0])
            title, lines = line, []


def _gems(lines: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    needs: list[str] = []
    for line in lines:
        gem = _GEM.fullmatch(line)
        if gem is not None:
            needs = []
            yield gem[1], gem[2], needs
        elif _DEPENDENCY.fullmatch(line):
            needs.append(line)
        elif line != "  specs:" and not _REMOTE.fullmatch(line):
            raise Unclear(line)


def _registry(remote: str) -> str:
    return remote.rstrip("/")


def _packages(key: str, entry: Any) -> tuple[Package, ...]:
    title, first, *remotes = details_of(key)
    match title:
        case "GEM":
            registries = frozenset(_registry(understood(remote, is_address)) for remote in remotes)
            return (Package(name=name_of(key), version=first, registries=registries),)
        case "PATH":
            return (Package(name=name_of(key), folder=" ".join(remotes)),)
        case "CHECKSUMS":
            found = _CHECKSUM.fullmatch(entry)
            if found is None:
                raise Unclear(entry)
            hashes = frozenset([found[3]] if found[3] else ())
            return (Package(name=f"checksum {found[1]}", version=found[2], hashes=hashes),)
        case _:
            if not _WANTED.fullmatch(entry):
                raise Unclear(entry)
            return ()


BUNDLER = LockFormat(
    _read,
    {
        "PLATFORMS": each(text(r" {2}[\w.-]+")),
        "RUBY VERSION": each(text(r" {3}ruby [\w.]+")),
        "BUNDLED WITH": each(text(r" {2,3}[\w.]+")),
    },
    _packages,
    frozenset({_REGISTRY}),
)

"""The settings of opencode's private home: quiet defaults, the permissions of a role, and the user's model."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from loopwright.agents.opencode.providers import PACKAGES, PROVIDERS, Provider
from loopwright.agents.written_keys import WrittenKey, without_written_keys, written_keys
from loopwright.kernel.address import parse_address
from loopwright.kernel.files import read_regular_file

_MOST_BYTES = 1 << 20
_FILES = ("config.json", "opencode.json", "opencode.jsonc")
# A string, a comment, or a trailing comma.
_JSONC = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_PROVIDER = "provider"
_OPENING = re.compile(rb"\A\s*\{")
_MARKED = b'{\n  "$schema": "https://opencode.ai/config.json",'
_FROM_VARIABLE = re.compile(r"\{env:(\w+)\}")
# The last one is the program's stand-in for an unknown tool, with which it tells its model so.
_READS = ("read", "glob", "grep", "list", "todowrite", "todoread", "skill", "invalid")
# Our own MCP server, if the project has it: none of its tools decides anything.
_OURS = "loopwright_*"
_WEB = ("webfetch", "websearch", "codesearch")


class OpencodeUserSettings(msgspec.Struct, frozen=True):
    """The settings from the user's files: a model, and the providers that they describe.

    `written` are the keys that those files contain: they are not lent, and are masked.
    """

    model: str = ""
    providers: Mapping[str, Mapping[str, Any]] = {}
    written: tuple[WrittenKey, ...] = ()

    def provider(self, name: str, environment: Mapping[str, str]) -> Provider | None:
        """The provider of this name; None where it is unknown."""
        described = self.providers.get(name)
        if described is None:
            return PROVIDERS.get(name)
        known = PROVIDERS.get(name) or PACKAGES.get(str(described.get("npm"))) or Provider()
        options = described.get("options")
        address = options.get("baseURL") if isinstance(options, dict) else None
        url = address if isinstance(address, str) else ""
        elsewhere = tuple(_FROM_VARIABLE.findall(url))
        keys = tuple(dict.fromkeys((*_listed(described.get("env")), *_FROM_VARIABLE.findall(json.dumps(described)))))
        found = parse_address(_FROM_VARIABLE.sub(lambda name: environment.get(name[1], ""), url)) if url else None
        hosts = (found,) if found is not None else () if url else known.hosts
        return Provider(tuple(key for key in keys if key not in elsewhere) or known.keys, hosts, elsewhere)

    def document(self, model: str, permission: Mapping[str, Any]) -> dict[str, Any]:
        """The settings for a private home; with a model they describe its provider only."""
        chosen = {"model": model, "small_model": model} if model else {}
        own = model.partition("/")[0]
        return {
            **chosen,
            _PROVIDER: {name: one for name, one in self.providers.items() if not model or name == own},
            "share": "disabled",
            "autoupdate": False,
            # We keep the work ourselves, and a copy for each step would take as long as the step.
            "snapshot": False,
            "permission": permission,
            # Without this it ends silently at the first denial.
            "experimental": {"continue_loop_on_deny": True},
        }


def permission(*, writes: bool, may_use_web: bool, is_confined: bool, mailbox: Path) -> dict[str, Any]:
    """The permissions of a role. Without our isolation they keep the program in its folders."""
    web = "allow" if may_use_web else "deny"
    base = {"*": "allow"} if writes else {"*": "deny", **dict.fromkeys((*_READS, _OURS), "allow")}
    outside = "allow" if is_confined and writes else "deny"
    folders = {"*": outside, f"{mailbox}/*": "allow", f"{mailbox}/**": "allow"}
    return {**base, **dict.fromkeys(_WEB, web), "question": "deny", "external_directory": folders}


def fetched_ripgrep(environment: Mapping[str, str]) -> Path | None:
    """The ripgrep that opencode fetched for the user, if the machine has none: a sandbox can't fetch it again."""
    caches = environment.get("XDG_CACHE_HOME") or f"{environment.get('HOME', '/')}/.cache"
    found = Path(caches) / "opencode" / "bin" / "rg"
    return found if shutil.which("rg", path=environment.get("PATH", "")) is None and found.is_file() else None


def read_user_settings(environment: Mapping[str, str]) -> OpencodeUserSettings:
    """From the user's own files, of which a later one wins; an unreadable file counts as missing."""
    home, chosen = environment.get("HOME"), environment.get("XDG_CONFIG_HOME")
    folder = Path(chosen) if chosen else Path(home) / ".config" if home else None
    paths = [folder / "opencode" / name for name in _FILES] if folder is not None else []
    if own := environment.get("OPENCODE_CONFIG"):
        paths.append(Path(own))
    model, providers, written = "", dict[str, Mapping[str, Any]](), list[WrittenKey]()
    for path in paths:
        document = _read(path)
        named, described = document.get("model"), document.get(_PROVIDER)
        model = named if isinstance(named, str) else model
        for name, one in described.items() if isinstance(described, dict) else ():
            if isinstance(one, dict):
                # Keys are let in through variables only.
                providers[name] = without_written_keys(one)
                written += written_keys(one, f"{path.name}: {_PROVIDER}.{name}", is_let_in=False)
    return OpencodeUserSettings(model, providers, tuple(written))


@contextmanager
def unmarked(folder: Path) -> Iterator[None]:
    """Undo what opencode writes into a project's own settings on its own; other changes stay.

    It adds the address of a schema to each settings file that it reads without one: not work, and nothing to review.
    In a file that the work changed as well, the addition is recognised by its layout: a line break after the opening
    brace, and none after the address itself.
    """
    found = {name: data for name in _FILES[1:] if (data := _bytes(folder / name)) is not None}
    try:
        yield
    finally:
        for name, before in found.items():
            after = _bytes(folder / name)
            meant = after if after is None else without_mark(before, after)
            if meant is not None and meant != after:
                with suppress(OSError):
                    handle = os.open(folder / name, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
                    with os.fdopen(handle, "wb") as stream:
                        stream.write(meant)


def without_mark(before: bytes, after: bytes) -> bytes:
    """The settings file without the schema's address, by its content before and after the turn."""
    if before.startswith(_MARKED):
        return after
    if after == _OPENING.sub(_MARKED, before, count=1):
        return before
    rest = after.removeprefix(_MARKED)
    return b"{" + rest if rest != after and not rest.startswith((b"\n", b"\r")) else after


def _bytes(path: Path) -> bytes | None:
    try:
        return read_regular_file(path, most=_MOST_BYTES)
    except OSError:
        return None


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = read_regular_file(path, most=_MOST_BYTES).decode()
        document = json.loads(_JSONC.sub(lambda found: found[1] or "", text))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _listed(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()

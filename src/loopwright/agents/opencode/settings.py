"""The settings of opencode's private home: what keeps it quiet, what a role may do, and the user's model. No more."""

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

from loopwright.agents.needs import address_in
from loopwright.agents.opencode.providers import PACKAGES, PROVIDERS, Provider
from loopwright.agents.written_keys import WrittenKey, without_written_keys, written_keys
from loopwright.kernel.files import read_plainly

_MOST_BYTES = 1 << 20
_FILES = ("config.json", "opencode.json", "opencode.jsonc")
# A string, a comment, or a comma that nothing follows.
_JSONC = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_PROVIDER = "provider"
_OPENING = re.compile(rb"\A\s*\{")
_MARKED = b'{\n  "$schema": "https://opencode.ai/config.json",'
_FROM_VARIABLE = re.compile(r"\{env:(\w+)\}")
# The last one is what it calls a tool that is not there, and how it tells its model so.
_READS = ("read", "glob", "grep", "list", "todowrite", "todoread", "skill", "invalid")
# Our own MCP server, where the project has it: none of its tools decides anything.
_OURS = "loopwright_*"
_WEB = ("webfetch", "websearch", "codesearch")


class OpencodeUserSettings(msgspec.Struct, frozen=True):
    """What was taken from the user's files: a model, and the providers that they describe themselves.

    `written` are keys that stand in those files: they stay there, and are masked.
    """

    model: str = ""
    providers: Mapping[str, Mapping[str, Any]] = {}
    written: tuple[WrittenKey, ...] = ()

    def provider(self, name: str, environment: Mapping[str, str]) -> Provider | None:
        """Who that is; None where nobody said."""
        described = self.providers.get(name)
        if described is None:
            return PROVIDERS.get(name)
        known = PROVIDERS.get(name) or PACKAGES.get(str(described.get("npm"))) or Provider()
        options = described.get("options")
        address = options.get("baseURL") if isinstance(options, dict) else None
        url = address if isinstance(address, str) else ""
        elsewhere = tuple(_FROM_VARIABLE.findall(url))
        keys = tuple(dict.fromkeys((*_listed(described.get("env")), *_FROM_VARIABLE.findall(json.dumps(described)))))
        found = address_in(_FROM_VARIABLE.sub(lambda name: environment.get(name[1], ""), url)) if url else None
        hosts = (found,) if found is not None else () if url else known.hosts
        return Provider(tuple(key for key in keys if key not in elsewhere) or known.keys, hosts, elsewhere)

    def document(self, model: str, permission: Mapping[str, Any]) -> dict[str, Any]:
        """The settings for a private home: of a model that is named, no other provider than its own is in them."""
        chosen = {"model": model, "small_model": model} if model else {}
        own = model.partition("/")[0]
        return {
            **chosen,
            _PROVIDER: {name: one for name, one in self.providers.items() if not model or name == own},
            "share": "disabled",
            "autoupdate": False,
            # The work is kept by us, and a copy of it for each step would take as long as the step.
            "snapshot": False,
            "permission": permission,
            # Else it ends at the first denial, without a word.
            "experimental": {"continue_loop_on_deny": True},
        }


def permission(*, writes: bool, may_use_web: bool, is_confined: bool, mailbox: Path) -> dict[str, Any]:
    """What a role may do. Without an isolation of ours, its own is what there is: it stays in its folders."""
    web = "allow" if may_use_web else "deny"
    base = {"*": "allow"} if writes else {"*": "deny", **dict.fromkeys((*_READS, _OURS), "allow")}
    outside = "allow" if is_confined and writes else "deny"
    folders = {"*": outside, f"{mailbox}/*": "allow", f"{mailbox}/**": "allow"}
    return {**base, **dict.fromkeys(_WEB, web), "question": "deny", "external_directory": folders}


def fetched_ripgrep(environment: Mapping[str, str]) -> Path | None:
    """The one that opencode fetched for the user, where the machine has none: it can't be fetched again in here."""
    caches = environment.get("XDG_CACHE_HOME") or f"{environment.get('HOME', '/')}/.cache"
    found = Path(caches) / "opencode" / "bin" / "rg"
    return found if shutil.which("rg", path=environment.get("PATH", "")) is None and found.is_file() else None


def read_user_settings(environment: Mapping[str, str]) -> OpencodeUserSettings:
    """From the user's own files, the last word last; a file that can't be read is one that is not there."""
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
                # Only what a variable holds is let in.
                providers[name] = without_written_keys(one)
                written += written_keys(one, f"{path.name}: {_PROVIDER}.{name}", is_let_in=False)
    return OpencodeUserSettings(model, providers, tuple(written))


@contextmanager
def unmarked(folder: Path) -> Iterator[None]:
    """Take back what opencode writes into a project's own settings, unasked; whatever else is in them stays.

    It puts the address of their schema into those that have none, whenever it reads them: nobody's work, and
    nothing to be reviewed. In a file that was worked on meanwhile its mark is known by where it stands: it breaks
    the line behind the opening brace, and never behind itself.
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
    """A settings file as it was meant, by what it was before and after."""
    if before.startswith(_MARKED):
        return after
    if after == _OPENING.sub(_MARKED, before, count=1):
        return before
    rest = after.removeprefix(_MARKED)
    return b"{" + rest if rest != after and not rest.startswith((b"\n", b"\r")) else after


def _bytes(path: Path) -> bytes | None:
    try:
        return read_plainly(path, most=_MOST_BYTES)
    except OSError:
        return None


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = read_plainly(path, most=_MOST_BYTES).decode()
        document = json.loads(_JSONC.sub(lambda found: found[1] or "", text))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _listed(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()

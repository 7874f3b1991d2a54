"""The settings of opencode's private home: quiet defaults, permissions of a role, the user's model and its provider."""

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

from loopwright.agents.written_keys import WrittenKey, without_written_keys, written_keys
from loopwright.kernel.address import Address, parse_address
from loopwright.kernel.codec import json_object
from loopwright.kernel.files import read_regular_file


class Provider(msgspec.Struct, frozen=True):
    """A model provider: variables of its keys, addresses, and other variables of its settings."""

    keys: tuple[str, ...] = ()
    hosts: tuple[Address, ...] = ()
    variables: tuple[str, ...] = ()


def _provider(key: str, *hosts: str) -> Provider:
    return Provider((key,), tuple(map(Address, hosts)))


# Common providers. The user's own settings describe other providers with their addresses.
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": _provider("ANTHROPIC_API_KEY", "api.anthropic.com", "console.anthropic.com"),
    "deepseek": _provider("DEEPSEEK_API_KEY", "api.deepseek.com"),
    "github-copilot": Provider((), (Address("api.githubcopilot.com"), Address("api.github.com"))),
    "google": Provider(
        ("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"), (Address("generativelanguage.googleapis.com"),)
    ),
    "groq": _provider("GROQ_API_KEY", "api.groq.com"),
    "mistral": _provider("MISTRAL_API_KEY", "api.mistral.ai"),
    "openai": _provider("OPENAI_API_KEY", "api.openai.com", "chatgpt.com", "auth.openai.com"),
    "opencode": _provider("OPENCODE_API_KEY", "opencode.ai"),
    "openrouter": _provider("OPENROUTER_API_KEY", "openrouter.ai"),
    "xai": _provider("XAI_API_KEY", "api.x.ai"),
}
# By the npm package of a described provider without an address: the default in each package's code (versions of October
# 2026). Packages that require an address, or derive it from a region, are left out.
PACKAGES: Mapping[str, Provider] = {
    "@ai-sdk/alibaba": _provider("ALIBABA_API_KEY", "dashscope-intl.aliyuncs.com"),
    "@ai-sdk/anthropic": _provider("ANTHROPIC_API_KEY", "api.anthropic.com"),
    "@ai-sdk/cerebras": _provider("CEREBRAS_API_KEY", "api.cerebras.ai"),
    "@ai-sdk/cohere": _provider("COHERE_API_KEY", "api.cohere.com"),
    "@ai-sdk/deepinfra": _provider("DEEPINFRA_API_KEY", "api.deepinfra.com"),
    "@ai-sdk/deepseek": _provider("DEEPSEEK_API_KEY", "api.deepseek.com"),
    "@ai-sdk/fireworks": _provider("FIREWORKS_API_KEY", "api.fireworks.ai"),
    "@ai-sdk/gateway": _provider("AI_GATEWAY_API_KEY", "ai-gateway.vercel.sh"),
    "@ai-sdk/google": _provider("GOOGLE_GENERATIVE_AI_API_KEY", "generativelanguage.googleapis.com"),
    "@ai-sdk/groq": _provider("GROQ_API_KEY", "api.groq.com"),
    "@ai-sdk/mistral": _provider("MISTRAL_API_KEY", "api.mistral.ai"),
    "@ai-sdk/openai": _provider("OPENAI_API_KEY", "api.openai.com"),
    "@ai-sdk/perplexity": _provider("PERPLEXITY_API_KEY", "api.perplexity.ai"),
    "@ai-sdk/togetherai": _provider("TOGETHER_API_KEY", "api.together.xyz"),
    "@ai-sdk/vercel": _provider("VERCEL_API_KEY", "api.v0.dev"),
    "@ai-sdk/xai": _provider("XAI_API_KEY", "api.x.ai"),
    "@openrouter/ai-sdk-provider": _provider("OPENROUTER_API_KEY", "openrouter.ai"),
}


_MOST_BYTES = 1 << 20
_FILES = ("config.json", "opencode.json", "opencode.jsonc")
# A string, a comment, or a trailing comma.
_JSONC = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_PROVIDER = "provider"
_OPENING = re.compile(rb"\A\s*\{")
_MARKED = b'{\n  "$schema": "https://opencode.ai/config.json",'
_FROM_VARIABLE = re.compile(r"\{env:(\w+)\}")
# The program calls "invalid" in place of an unknown tool, to report that to its model.
_READS = ("read", "glob", "grep", "list", "todowrite", "todoread", "skill", "invalid")
# Our own MCP server, if the project has it: none of its tools decides anything.
_OURS = "loopwright_*"
_WEB = ("webfetch", "websearch", "codesearch")


class OpencodeUserSettings(msgspec.Struct, frozen=True):
    """The settings from the user's files: a model, and described providers.

    `written` are the keys in those files: they are masked, and not let in.
    """

    model: str = ""
    providers: Mapping[str, Mapping[str, Any]] = {}
    written: tuple[WrittenKey, ...] = ()

    def provider(self, name: str, environment: Mapping[str, str]) -> Provider | None:
        """The provider of this name; None if it is unknown."""
        described = self.providers.get(name)
        if described is None:
            return PROVIDERS.get(name)
        known = PROVIDERS.get(name) or PACKAGES.get(str(described.get("npm"))) or Provider()
        options = described.get("options")
        address = options.get("baseURL") if isinstance(options, dict) else None
        url = address if isinstance(address, str) else ""
        elsewhere = tuple(_FROM_VARIABLE.findall(url))
        keys = tuple(dict.fromkeys((*_listed(described.get("env")), *_FROM_VARIABLE.findall(json.dumps(described)))))
        host = parse_address(_FROM_VARIABLE.sub(lambda name: environment.get(name[1], ""), url)) if url else None
        hosts = (host,) if host is not None else () if url else known.hosts
        return Provider(tuple(key for key in keys if key not in elsewhere) or known.keys, hosts, elsewhere)

    def document(self, model: str, permission: Mapping[str, Any]) -> dict[str, Any]:
        """The settings for a private home. With a model, they describe only its provider."""
        chosen = {"model": model, "small_model": model} if model else {}
        own = model.partition("/")[0]
        return {
            **chosen,
            _PROVIDER: {name: table for name, table in self.providers.items() if not model or name == own},
            "share": "disabled",
            "autoupdate": False,
            # Loopwright keeps the work itself, and a copy for each step would take as long as the step.
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
    fetched = Path(caches) / "opencode" / "bin" / "rg"
    return fetched if fetched.is_file() and shutil.which("rg", path=environment.get("PATH", "")) is None else None


def read_user_settings(environment: Mapping[str, str]) -> OpencodeUserSettings:
    """The settings in the user's own files. Later files win; an unreadable file counts as missing."""
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
        for name, table in described.items() if isinstance(described, dict) else ():
            if isinstance(table, dict):
                # Keys are let in through variables only.
                providers[name] = without_written_keys(table)
                written += written_keys(table, f"{path.name}: {_PROVIDER}.{name}", is_let_in=False)
    return OpencodeUserSettings(model, providers, tuple(written))


@contextmanager
def unmarked(folder: Path) -> Iterator[None]:
    """Undo what opencode itself writes into a project's settings files; other changes stay.

    opencode adds a `$schema` line to each settings file without one. That is not part of the work. In a file that the
    work changed as well, the line is recognized by its layout: a line break after the opening brace, and none after
    the line itself.
    """
    contents = {name: data for name in _FILES[1:] if (data := _bytes(folder / name)) is not None}
    try:
        yield
    finally:
        for name, before in contents.items():
            after = _bytes(folder / name)
            restored = after if after is None else without_mark(before, after)
            if restored is not None and restored != after:
                with suppress(OSError):
                    handle = os.open(folder / name, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
                    with os.fdopen(handle, "wb") as stream:
                        stream.write(restored)


def without_mark(before: bytes, after: bytes) -> bytes:
    """The settings file without the added `$schema` line, by its content before and after the turn."""
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
    except (OSError, UnicodeDecodeError):
        return {}
    return json_object(_JSONC.sub(lambda match: match[1] or "", text)) or {}


def _listed(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()

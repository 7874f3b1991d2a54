"""Our MCP server in an agent's settings: the entry in each agent's own form. Pure: documents in, documents out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from loopwright.agents.marks import State
from loopwright.agents.settings_text import Document, NotUnderstood

NAME = "loopwright"
SCHEMA = "$schema"
# Without the folder that it is started in on Python's path: that is a project that anybody may have written.
_OPTIONS = ["-P", "-m", "loopwright", "mcp"]
# What an agent that we gave a turn has to hand on to the server that it starts.
HANDED_ON = (
    "LOOPWRIGHT_MAILBOX", "LOOPWRIGHT_DECISIONS", "LOOPWRIGHT_AGENT_TURN", "REFLECTION_INPUT", "REFLECTION_DIR",
    "REFLECTION_MODE",
)  # fmt: skip


class Form(msgspec.Struct, frozen=True):
    """How an agent wants its servers: under which key, and what an entry looks like."""

    key: str
    make: Callable[[list[str]], Document]
    # The words of the command in an entry, as far as they are there.
    words: Callable[[Document], list[Any]]
    # What the agent writes into a file that does not name it: in one that we make it stands from the start.
    schema: str = ""


def _split(argv: list[str]) -> Document:
    return {"command": argv[0], "args": argv[1:]}


def _split_words(entry: Document) -> list[Any]:
    arguments = entry.get("args", [])
    return [entry.get("command"), *(arguments if isinstance(arguments, list) else [])]


def _joined(argv: list[str]) -> Document:
    return {"type": "local", "command": argv, "enabled": True}


def _joined_words(entry: Document) -> list[Any]:
    words = entry.get("command")
    return words if isinstance(words, list) else []


COMMAND_AND_ARGS = Form("mcpServers", _split, _split_words)
OPENCODE = Form("mcp", _joined, _joined_words, "https://opencode.ai/config.json")


def argv_of(interpreter: str) -> list[str]:
    """How an agent starts the server."""
    return [interpreter, *_OPTIONS]


def is_ours(words: list[Any]) -> bool:
    """Whether a command is of the form that we write, or document for hand and plugin."""
    if not words or not all(isinstance(word, str) for word in words):
        return False
    return words[1:] == _OPTIONS or (words[0].replace("\\", "/").split("/")[-1] == NAME and words[1:] == ["mcp"])


def entry_in(document: Document, form: Form) -> Any:
    """What stands under our name; None where nothing does."""
    servers = document.get(form.key)
    if servers is not None and not isinstance(servers, dict):
        raise NotUnderstood(f"{form.key} is not an object")
    return (servers or {}).get(NAME)


def state_of_entry(document: Document, form: Form, interpreter: str) -> State:
    """Our entry in a document."""
    entry = entry_in(document, form)
    if entry is None:
        return State.ABSENT
    if not isinstance(entry, dict) or not is_ours(form.words(entry)):
        return State.FOREIGN
    if entry == form.make(argv_of(interpreter)):
        return State.CURRENT
    # The same entry for another interpreter; with anything more in it somebody wrote that.
    return State.OUTDATED if entry == form.make(form.words(entry)) else State.CHANGED


def with_entry(document: Document, form: Form, interpreter: str) -> Document:
    """The document with our server in it."""
    servers = document.get(form.key) or {}
    start = document or ({SCHEMA: form.schema} if form.schema else {})
    return {**start, form.key: {**servers, NAME: form.make(argv_of(interpreter))}}


def without_entry(document: Document, form: Form) -> Document:
    """The document without it."""
    if entry_in(document, form) is None:
        return document
    rest = {name: value for name, value in document[form.key].items() if name != NAME}
    others = {name: value for name, value in document.items() if name != form.key}
    return {**document, form.key: rest} if rest else others


def only_entry(document: Document, form: Form) -> str:
    """Our part as text, for showing; nothing of what stands under our name and is not ours."""
    entry = entry_in(document, form)
    schema = {SCHEMA: form.schema} if form.schema and document.get(SCHEMA) == form.schema else {}
    # Of an entry that somebody changed only the command is ours to show: the rest may hold keys.
    is_shown = isinstance(entry, dict) and is_ours(form.words(entry))
    shown = {**schema, **({form.key: {NAME: form.make(form.words(entry))}} if is_shown else {})}
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n" if shown else ""


def toml_block(interpreter: str) -> str:
    """Our server as Codex wants it; it hands on only the variables that are named."""
    variables = f"env_vars = [{', '.join(map(_quoted, HANDED_ON))}]"
    return toml_lines(argv_of(interpreter)) + variables + "\n"


def toml_lines(argv: list[str]) -> str:
    """Its table up to its command."""
    lines = (
        f"[mcp_servers.{NAME}]",
        f"command = {_quoted(argv[0])}",
        f"args = [{', '.join(map(_quoted, argv[1:]))}]",
    )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # A JSON string without escapes beyond TOML's own: both know \\, \" and \uXXXX.
    return json.dumps(text, ensure_ascii=False)

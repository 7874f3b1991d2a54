"""Our MCP server in an agent's settings: its entry in each agent's own form. Pure: documents in, documents out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from loopwright.install.json_text import SCHEMA, Document, is_blank, parse, render
from loopwright.install.model import InstallState, NotEditable

NAME = "loopwright"
# -P keeps the working folder off Python's path: the project is not trusted.
_OPTIONS = ["-P", "-m", "loopwright", "mcp"]


class EntryForm(msgspec.Struct, frozen=True):
    """How an agent lists its servers: the key, and the form of an entry."""

    key: str
    make: Callable[[list[str]], Document]
    # Reads program and arguments of an entry; missing parts are left out.
    argv: Callable[[Document], list[Any]]
    # The `$schema` that the agent adds to a file without one. A file that we create has it from the start.
    schema: str = ""


def command_and_args(argv: list[str]) -> Document:
    """An entry with separate fields for the program and its arguments."""
    return {"command": argv[0], "args": argv[1:]}


def argv_of_command_and_args(entry: Document) -> list[Any]:
    """Program and arguments of such an entry."""
    arguments = entry.get("args", [])
    return [entry.get("command"), *(arguments if isinstance(arguments, list) else [])]


def _local_command(argv: list[str]) -> Document:
    return {"type": "local", "command": argv, "enabled": True}


def _argv_of_local_command(entry: Document) -> list[Any]:
    argv = entry.get("command")
    return argv if isinstance(argv, list) else []


COMMAND_AND_ARGS = EntryForm("mcpServers", command_and_args, argv_of_command_and_args)
OPENCODE = EntryForm("mcp", _local_command, _argv_of_local_command, "https://opencode.ai/config.json")
FORMS = {form.key: form for form in (COMMAND_AND_ARGS, OPENCODE)}


class JsonServerEditor:
    """Our server in the text of a JSON file."""

    owns_file = False

    def __init__(self, form: EntryForm, interpreter: str) -> None:
        self._form = form
        self._interpreter = interpreter

    def state(self, text: str | None) -> InstallState:
        """By the value of the entry."""
        return entry_state(parse(text), self._form, self._interpreter)

    def add(self, text: str | None) -> str | None:
        """The text with our entry."""
        return render(with_entry(parse(text), self._form, self._interpreter), text)

    def remove(self, text: str | None) -> str | None:
        """The text without our entry."""
        return render(without_entry(parse(text), self._form), text)

    def strip(self, text: str) -> str:
        """The text without our entry, unless the user changed it."""
        return text if self.state(text).is_the_users else self.remove(text) or ""

    def is_blank(self, text: str) -> bool:
        """Whether the document is empty."""
        return is_blank(text)

    def shown(self, text: str | None) -> str:
        """Our entry's command; other fields that a user added may contain keys."""
        document = parse(text)
        entry = entry_in(document, self._form)
        is_shown = isinstance(entry, dict) and is_our_command(self._form.argv(entry))
        content = {
            **({SCHEMA: self._form.schema} if self._form.schema and document.get(SCHEMA) == self._form.schema else {}),
            **({self._form.key: {NAME: self._form.make(self._form.argv(entry))}} if is_shown else {}),
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n" if content else ""


def argv_of(interpreter: str) -> list[str]:
    """The command with which an agent starts the server."""
    return [interpreter, *_OPTIONS]


def is_our_command(argv: list[Any]) -> bool:
    """Whether this is a command that we write, or that our docs tell users to write."""
    if not argv or not all(isinstance(argument, str) for argument in argv):
        return False
    return argv[1:] == _OPTIONS or (argv[0].replace("\\", "/").split("/")[-1] == NAME and argv[1:] == ["mcp"])


def entry_in(document: Document, form: EntryForm) -> Any:
    """The entry with our name; None if it is missing."""
    servers = document.get(form.key)
    if servers is not None and not isinstance(servers, dict):
        raise NotEditable(f"{form.key} is not an object")
    return (servers or {}).get(NAME)


def entry_state(document: Document, form: EntryForm, interpreter: str) -> InstallState:
    """The state of our entry in a document."""
    entry = entry_in(document, form)
    if entry is None:
        return InstallState.ABSENT
    if not isinstance(entry, dict) or not is_our_command(form.argv(entry)):
        return InstallState.FOREIGN
    if entry == form.make(argv_of(interpreter)):
        return InstallState.CURRENT
    # An entry that differs only in the interpreter is ours; any other difference is the user's change.
    return InstallState.OUTDATED if entry == form.make(form.argv(entry)) else InstallState.CHANGED


def with_entry(document: Document, form: EntryForm, interpreter: str) -> Document:
    """The document with our server in it."""
    servers = document.get(form.key) or {}
    start = document or ({SCHEMA: form.schema} if form.schema else {})
    return {**start, form.key: {**servers, NAME: form.make(argv_of(interpreter))}}


def without_entry(document: Document, form: EntryForm) -> Document:
    """The document without our server, and without a list that this leaves empty."""
    if entry_in(document, form) is None:
        return document
    rest = {name: value for name, value in document[form.key].items() if name != NAME}
    others = {name: value for name, value in document.items() if name != form.key}
    return {**document, form.key: rest} if rest else others

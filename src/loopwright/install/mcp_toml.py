"""Our MCP server in Codex's TOML, recognized by its value. Pure: texts in, texts out.

We write a marked block at the end, so that everything else keeps its bytes. Codex writes to the same file: it removes a
mark, or puts its own table between the marks. So the marks are only hints: our content is the table itself. Comments in
and after the table belong to the user and stay.
"""

from __future__ import annotations

import tomllib

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Comment, Table

from loopwright.install.json_text import Document
from loopwright.install.marks import TOML, Block, find_block, with_block, without_block
from loopwright.install.mcp_json import (
    NAME,
    EntryForm,
    argv_of,
    argv_of_command_and_args,
    command_and_args,
    entry_in,
    entry_state,
    is_our_command,
)
from loopwright.install.model import InstallState, NotEditable

_AGENT = "codex"
_OUR_VARIABLES = ("LOOPWRIGHT_", "REFLECTION_")
# Codex passes only these variables on to the server that it starts.
HANDED_ON = (
    "LOOPWRIGHT_MAILBOX", "LOOPWRIGHT_DECISIONS", "LOOPWRIGHT_AGENT_TURN", "REFLECTION_INPUT", "REFLECTION_DIR",
    "REFLECTION_MODE",
)  # fmt: skip


def _make(argv: list[str]) -> Document:
    return {**command_and_args(argv), "env_vars": list(HANDED_ON)}


CODEX = EntryForm("mcp_servers", _make, argv_of_command_and_args)


class TomlServerEditor:
    """Our server in the text of Codex's `config.toml`."""

    owns_file = False

    def __init__(self, interpreter: str) -> None:
        self._interpreter = interpreter
        self._table = table_text(_make(argv_of(interpreter)))

    def state(self, text: str | None) -> InstallState:
        """The state by the block's digest if the block is intact, else by the table's value."""
        document = _parse(text)
        block = _untouched_block(text)
        if block is not None:
            is_current = block.text.replace("\r\n", "\n") == self._table
            return InstallState.CURRENT if is_current else InstallState.OUTDATED
        state = entry_state(document, CODEX, self._interpreter)
        if state is InstallState.CHANGED and not _has_digest(text) and _is_of_another_version(document):
            state = InstallState.OUTDATED
        if state in (InstallState.CURRENT, InstallState.OUTDATED) and _without_table(text or "") is None:
            return InstallState.CHANGED  # our value in a form that we never write
        return state

    def add(self, text: str | None) -> str | None:
        """The text with our table, in its block or at the end."""
        if self.state(text) is InstallState.CURRENT:
            return text
        if _untouched_block(text) is None:
            text = self.remove(text)
        added = with_block(text, TOML, _AGENT, self._table)
        _parse(added)  # fails before anything is written if an inline table has our name
        return added

    def remove(self, text: str | None) -> str | None:
        """The text without our table and marks; unchanged if the removal would change anything else."""
        if text is None:
            return None
        if _untouched_block(text) is not None:
            return without_block(text, TOML, _AGENT)
        bare = _without_table(text)
        return text if bare is None else bare

    def strip(self, text: str) -> str:
        """The text without our table, unless the user changed it."""
        return text if self.state(text).is_the_users else self.remove(text) or ""

    def is_blank(self, text: str) -> bool:
        """Whether the text is empty."""
        return not text.strip()

    def shown(self, text: str | None) -> str:
        """Our block, our table's command, or marks without a table. Other fields may contain keys."""
        entry = entry_in(_parse(text), CODEX)
        block = _untouched_block(text)
        if block is not None:
            return block.shown(TOML)
        if not isinstance(entry, dict) or not is_our_command(CODEX.argv(entry)):
            return TOML.only_marks(text or "")
        return table_text(command_and_args(CODEX.argv(entry)))


def table_text(entry: Document) -> str:
    """The table of a server with our name."""
    return tomlkit.dumps({CODEX.key: {NAME: entry}})


def _parse(text: str | None) -> Document:
    """The values, by the standard library: tomlkit accepts texts that Codex refuses."""
    try:
        return tomllib.loads((text or "").removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise NotEditable(f"not TOML that we can add to: {problem}") from problem


def _untouched_block(text: str | None) -> Block | None:
    try:
        block = find_block(text, TOML)
    except NotEditable:
        return None
    if block is None or not block.is_as_written:
        return None
    # Without this check, further tables of our server outside the block would stay.
    return block if entry_in(_parse(block.text), CODEX) == entry_in(_parse(text), CODEX) else None


def _is_of_another_version(document: Document) -> bool:
    """Whether our entry has only fields that a version of ours writes; for a table without a digest."""
    entry = entry_in(document, CODEX)
    names = entry.get("env_vars", [])
    return (
        set(entry) <= {"command", "args", "env_vars"}
        and isinstance(names, list)
        and all(isinstance(name, str) and name.startswith(_OUR_VARIABLES) for name in names)
    )


def _has_digest(text: str | None) -> bool:
    return any(TOML.match_begin(line) for line in (text or "").splitlines())


def _without_table(text: str) -> str | None:
    """The text without our table and marks; None if the removal would change anything else."""
    bare = TOML.without_marks(text)
    try:
        table = _our_table(bare)
        if table is not None:
            whole = _header(table) + table.as_string()
            if bare.count(whole) != 1:
                return None  # a string contains the same words
            head, _, tail = bare.partition(whole)
            bare = _without_last_empty_line(head) + _the_users_lines(table) + tail
        left = _parse(bare)
    except (TOMLKitError, NotEditable):
        return None
    return bare if _others(left) == _others(_parse(text)) and entry_in(left, CODEX) is None else None


def _our_table(text: str) -> Table | None:
    servers = tomlkit.parse(text.removeprefix("\ufeff")).get(CODEX.key)
    table = servers.get(NAME) if isinstance(servers, dict) else None
    return table if isinstance(table, Table) else None


def _header(table: Table) -> str:
    """The line with the table's name, as the file spells it."""
    trivia = table.trivia
    return f"{trivia.indent}[{table.display_name}]{trivia.comment_ws}{trivia.comment}{trivia.trail}"


def _the_users_lines(table: Table) -> str:
    """The comments in the table, and everything after its last key, which belongs to the next table."""
    body = table.value.body
    end = max((number for number, (key, _) in enumerate(body) if key is not None), default=-1)
    return "".join(
        item.as_string() for number, (_, item) in enumerate(body) if isinstance(item, Comment) or number > end
    )


def _without_last_empty_line(head: str) -> str:
    """The text without the empty line that we put before our table."""
    lines = head.splitlines(keepends=True)
    return "".join(lines[:-1] if lines and not lines[-1].strip() else lines)


def _others(document: Document) -> Document:
    """Everything but our server; an empty table of servers counts as absent."""
    servers = document.get(CODEX.key)
    rest = {name: value for name, value in servers.items() if name != NAME} if isinstance(servers, dict) else servers
    return {
        **{key: value for key, value in document.items() if key != CODEX.key},
        **({CODEX.key: rest} if rest else {}),
    }

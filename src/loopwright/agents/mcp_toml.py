"""Our MCP server in Codex's TOML, known by its value. Pure: texts in, texts out.

We write it as a marked block at the end, so that everything else stays to the byte. Codex writes its own settings into
that file, too: it drops a mark, or puts a table of its own between the two. So marks are decoration: ours is the
table, from its header to the next; whatever else stands there is left as it is.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from loopwright.agents.marks import TOML, Block, State, find_block, with_block, without_block
from loopwright.agents.mcp_entry import HANDED_ON, NAME, Form, entry_in, is_ours, state_of_entry, toml_block, toml_lines
from loopwright.agents.settings_text import Document, NotUnderstood

_AGENT = "codex"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADER = re.compile(r"\s*\[")
_OUR_HEADER = re.compile(rf"""\s*\[\s*mcp_servers\s*\.\s*(["']?){NAME}\1\s*\]\s*(#.*)?""")
_OUR_VARIABLES = ("LOOPWRIGHT_", "REFLECTION_")


def _make(argv: list[str]) -> Document:
    return {"command": argv[0], "args": argv[1:], "env_vars": list(HANDED_ON)}


def _words(entry: Document) -> list[Any]:
    arguments = entry.get("args", [])
    return [entry.get("command"), *(arguments if isinstance(arguments, list) else [])]


_FORM = Form("mcp_servers", _make, _words)


def state_of_server(text: str | None, interpreter: str) -> State:
    """Our server in a text; `NotUnderstood` where that is no TOML."""
    document = _parsed(text)
    block = _untouched_block(text)
    if block is not None:
        return State.CURRENT if block.text.replace("\r\n", "\n") == toml_block(interpreter) else State.OUTDATED
    state = state_of_entry(document, _FORM, interpreter)
    if state is State.CHANGED and not _begins(text) and _is_of_another_version(entry_in(document, _FORM)):
        state = State.OUTDATED
    if state in (State.CURRENT, State.OUTDATED) and _without_table(text or "") is None:
        return State.CHANGED  # ours by its value, and written in a way that we never do
    return state


def with_server(text: str | None, interpreter: str) -> str:
    """The text with our server, in its block or at the end."""
    if state_of_server(text, interpreter) is State.CURRENT:
        return text or ""
    if _untouched_block(text) is None:
        text = without_server(text)
    made = with_block(text, TOML, _AGENT, toml_block(interpreter))
    _parsed(made)  # a table that stands in the way (an inline one) is found before we write
    return made


def without_server(text: str | None) -> str | None:
    """The text without it and without marks of ours; as it is where that would touch anything else."""
    if text is None:
        return None
    if _untouched_block(text) is not None:
        return without_block(text, TOML, _AGENT)
    bare = _without_table(text)
    return text if bare is None else bare


def only_server(text: str | None) -> str:
    """Our part as text, for showing."""
    try:
        entry = entry_in(_parsed(text), _FORM)
    except NotUnderstood:  # what a receipt of an earlier version gave back
        return ""
    block = _untouched_block(text)
    if block is not None:
        return f"{TOML.begin(block.agents, block.digest)}\n{block.text}{TOML.end}\n"
    if not isinstance(entry, dict) or not is_ours(_words(entry)):
        return "".join(line for line in _LINE.findall(text or "") if _is_mark(line))
    # Of an entry that somebody changed only the command is ours to show: the rest may hold keys.
    return toml_lines(_words(entry))


def _parsed(text: str | None) -> Document:
    try:
        return tomllib.loads((text or "").removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise NotUnderstood(f"not TOML that we could add to: {problem}") from problem


def _untouched_block(text: str | None) -> Block | None:
    try:
        block = find_block(text, TOML)
    except NotUnderstood:
        return None
    if block is None or not block.is_as_written:
        return None
    # A table of our server's that stands elsewhere would be left without it.
    return block if entry_in(_parsed(block.text), _FORM) == entry_in(_parsed(text), _FORM) else None


def _is_of_another_version(entry: Document) -> bool:
    """Without a mark that says what we wrote: nothing but what a version of ours writes."""
    names = entry.get("env_vars", [])
    return (
        set(entry) <= {"command", "args", "env_vars"}
        and isinstance(names, list)
        and all(isinstance(name, str) and name.startswith(_OUR_VARIABLES) for name in names)
    )


def _begins(text: str | None) -> bool:
    return any(TOML.pattern().fullmatch(line.strip()) for line in _LINE.findall(text or ""))


def _is_mark(line: str) -> bool:
    return line.strip() == TOML.end or TOML.pattern().fullmatch(line.strip()) is not None


def _without_table(text: str) -> str | None:
    """Without our table's lines and our marks; None where what is left would not say all the rest."""
    document = _parsed(text)
    lines = [line for line in _LINE.findall(text) if not _is_mark(line)]
    start = next((number for number, line in enumerate(lines) if _OUR_HEADER.fullmatch(line.rstrip())), None)
    if start is not None:
        end = next((n for n in range(start + 1, len(lines)) if _HEADER.match(lines[n])), len(lines))
        # An empty line or a comment behind it belongs to what follows; a comment in it is somebody's.
        while _is_space(lines[end - 1]):
            end -= 1
        kept = [line for line in lines[start:end] if line.lstrip().startswith("#")]
        # The empty line that we put before it.
        before = start - 1 if start and not lines[start - 1].strip() else start
        lines[before:end] = kept
    bare = "".join(lines)
    try:
        left = _parsed(bare)
    except NotUnderstood:
        return None
    return bare if _others(left) == _others(document) and entry_in(left, _FORM) is None else None


def _is_space(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _others(document: Document) -> Document:
    """Everything but our server; no servers are as good as none."""
    servers = document.get(_FORM.key)
    rest = {name: value for name, value in servers.items() if name != NAME} if isinstance(servers, dict) else servers
    return {
        **{key: value for key, value in document.items() if key != _FORM.key},
        **({_FORM.key: rest} if rest else {}),
    }

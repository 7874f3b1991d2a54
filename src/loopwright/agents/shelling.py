"""How files get into an agent's folders, and how its program is started with a prompt: on standard input."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from loopwright.agents.port import Turn
from loopwright.kernel.files import clear_name, reopen, storage

PROMPT = "prompt.md"


def hand_over(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file for an agent's program, and through nothing that an earlier turn may have left under its name."""
    clear_name(path)
    with storage(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)


def folder_in(home: Path, *parts: str) -> Path:
    """A folder below an agent's home or mailbox, made if need be; a link in its place is not followed."""
    folder = home
    reopen(folder)
    for part in parts:
        folder = folder / part
        if folder.is_symlink() or not folder.is_dir():
            clear_name(folder)
            folder.mkdir(mode=0o700)
        reopen(folder)
    return folder


def with_prompt(turn: Turn, argv: tuple[str, ...], defaults: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The command that reads the turn's prompt; `defaults` are variables that it gets where the user set none."""
    path = turn.mailbox / PROMPT
    hand_over(path, turn.prompt.encode())
    set_them = "".join(f': "${{{name}={value}}}"; export {name}; ' for name, value in (defaults or {}).items())
    return ("sh", "-c", f'{set_them}exec "$@" < "$0"', str(path), *argv)

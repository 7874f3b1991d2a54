"""How files get into an agent's folders, and how its program is started with a prompt: on standard input."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from loopwright.agents.port import Turn
from loopwright.kernel.files import remove_tree

PROMPT = "prompt.md"


def hand_over(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file for an agent's program, and through nothing that an earlier turn may have left under its name."""
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)


def folder_in(home: Path, *parts: str) -> Path:
    """A folder below an agent's home, made if need be; a link in its place is not followed."""
    folder = home
    for part in parts:
        folder = folder / part
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def with_prompt(turn: Turn, argv: tuple[str, ...], defaults: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The command that reads the turn's prompt; `defaults` are variables that it gets where the user set none."""
    path = turn.mailbox / PROMPT
    hand_over(path, turn.prompt.encode())
    set_them = "".join(f': "${{{name}={value}}}"; export {name}; ' for name, value in (defaults or {}).items())
    return ("sh", "-c", f'{set_them}exec "$@" < "$0"', str(path), *argv)

"""`loopwright context`: notes on the domains of the project. The context manifest of every agent lists them."""

from __future__ import annotations

import msgspec

from loopwright.errors import WrongUsage
from loopwright.kernel.files import make_folder, shown, write_durably
from loopwright.kernel.ids import is_identifier
from loopwright.stages.context import Context
from loopwright.workspace.layout import record_choice

_MOST = 1 << 20


class Note(msgspec.Struct, frozen=True):
    """One note."""

    name: str
    path: str
    text: str


def notes(context: Context) -> list[Note]:
    """All notes, by name."""
    folder = context.layout.context_notes
    paths = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return [Note(path.stem, shown(path), path.read_text(encoding="utf-8", errors="replace")) for path in paths]


def show_note(context: Context, name: str) -> Note:
    """The note of this name."""
    note = next((note for note in notes(context) if note.name == name), None)
    if note is None:
        raise WrongUsage(f"there is no note '{name}'", hint="`loopwright context list`")
    return note


def write_note(context: Context, name: str, text: str) -> Note:
    """Write or replace a note; secrets in it are masked."""
    if not is_identifier(name) or name.startswith("."):
        raise WrongUsage(
            f"'{shown(name)}' is not a valid name for a note",
            hint="use letters, digits, dots and dashes, at most 64 characters",
        )
    if not text.strip() or len(text.encode()) > _MOST:
        raise WrongUsage("the note is empty or longer than 1 MiB", hint="pass the text, or pipe it in with -")
    record_choice(context.layout)
    make_folder(context.layout.context_notes)
    path = context.layout.context_notes / f"{name}.md"
    clean = context.tools().redactor.clean(text.rstrip("\n") + "\n")
    write_durably(path, clean.data)
    return Note(name, shown(path), clean.text)


def remove_note(context: Context, name: str) -> None:
    """Delete a note; a committed note stays in the history of git."""
    path = context.layout.context_notes / f"{name}.md"
    if not is_identifier(name) or not path.is_file():
        known = ", ".join(note.name for note in notes(context)) or "none"
        raise WrongUsage(f"there is no note '{shown(name)}' (notes: {known})", hint="`loopwright context list`")
    path.unlink()

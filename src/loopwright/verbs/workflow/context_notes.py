"""`loopwright context`: notes on the project's domains, which every agent's manifest names."""

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
    found = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return [Note(path.stem, shown(path), path.read_text(encoding="utf-8", errors="replace")) for path in found]


def show_note(context: Context, name: str) -> Note:
    """One note, whole."""
    found = next((note for note in notes(context) if note.name == name), None)
    if found is None:
        raise WrongUsage(f"there is no note '{name}'", hint="`loopwright context list`")
    return found


def write_note(context: Context, name: str, text: str) -> Note:
    """A note, new or in place of the one of this name; a secret in it is taken out."""
    if not is_identifier(name) or name.startswith("."):
        raise WrongUsage(f"'{shown(name)}' can't name a note", hint="letters, digits, dots, dashes; at most 64")
    if not text.strip() or len(text.encode()) > _MOST:
        raise WrongUsage("a note needs words, and at most 1 MiB of them", hint="write it, or pipe it in with -")
    record_choice(context.layout)
    make_folder(context.layout.context_notes)
    path = context.layout.context_notes / f"{name}.md"
    clean = context.tools().redactor.clean(text.rstrip("\n") + "\n")
    write_durably(path, clean.data)
    return Note(name, shown(path), clean.text)


def remove_note(context: Context, name: str) -> None:
    """Delete a note; git keeps it where it was committed."""
    path = context.layout.context_notes / f"{name}.md"
    if not is_identifier(name) or not path.is_file():
        known = ", ".join(note.name for note in notes(context)) or "none"
        raise WrongUsage(f"there is no note '{shown(name)}' (there are: {known})", hint="`loopwright context list`")
    path.unlink()

"""`loopwright context`."""

from __future__ import annotations

import sys

import click
import msgspec

from loopwright.cli.options import GroupWithExamples, echo, echo_json, in_context
from loopwright.stages.context import Context
from loopwright.verbs.workflow.context_notes import notes, remove_note, show_note, write_note

_EPILOG = """\b
Examples:
  loopwright context add payments "money is in cents, rounding is half even"
  cat notes.md | loopwright context add payments -
  loopwright context list
  loopwright context show payments
  loopwright context remove payments
"""


@click.group(cls=GroupWithExamples, epilog=_EPILOG)
def command() -> None:
    """Manage notes on the domains of the project. Agents are told to read them."""


@command.command("list")
@in_context
def list_command(context: Context, as_json: bool) -> None:
    """List all notes."""
    found = notes(context)
    if as_json:
        echo_json({"notes": [msgspec.to_builtins(note) for note in found]})
        return
    for note in found:
        echo(f"{note.name}  {note.text.strip().splitlines()[0][:80] if note.text.strip() else ''}")
    if not found:
        echo("no notes; write one with `loopwright context add NAME TEXT`")


@command.command("show")
@click.argument("name")
@in_context
def show_command(context: Context, name: str, as_json: bool) -> None:
    """Show a note."""
    note = show_note(context, name)
    if as_json:
        echo_json(msgspec.to_builtins(note))
    else:
        echo(note.text.rstrip("\n"))


@command.command("add", short_help="Write a note.")
@click.argument("name")
@click.argument("text")
@in_context
def add_command(context: Context, name: str, text: str, as_json: bool) -> None:
    """Write a note, or replace the note of this name; - reads the text from standard input."""
    note = write_note(context, name, sys.stdin.read() if text == "-" else text)
    if as_json:
        echo_json(msgspec.to_builtins(note))
    else:
        echo(f"written: {note.path}")


@command.command("remove")
@click.argument("name")
@in_context
def remove_command(context: Context, name: str, as_json: bool) -> None:
    """Remove a note."""
    remove_note(context, name)
    if as_json:
        echo_json({"ok": True, "removed": name})
    else:
        echo(f"removed: {name}")

"""`loopwright import`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import msgspec

from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.verbs.workflow.stages import TOOLS, TakenOver, TakeOverRequest, take_over
from loopwright.workflow.takeover.model import TakeoverRow, Tool

_EPILOG = """\b
Examples:
  loopwright import loopx --dry-run            what would be taken from .loopx/, and what not
  loopwright import loopx
  loopwright import ccw ../other-project       from another folder
  loopwright import openspec --as add-login=login
  loopwright import ccw --finished             also sessions that are over there

Nothing that another tool approved or tested counts here: every workflow begins at clarify.
The source is never changed. Typed again it takes only what is new.
"""
_MARKS = {
    "taken": ("✓", "green"), "already": ("=", None), "conflict": ("✗", "red"), "unreadable": ("✗", "red"),
    "left": ("·", None), "note": ("!", "yellow"),
}  # fmt: skip
_MOST = 200


@click.command("import", epilog=_EPILOG)
@click.argument("tool", type=click.Choice(TOOLS))
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--as", "renames", multiple=True, metavar="NAME=SLUG", help="Take it under another name.")
@click.option("--finished", is_flag=True, help="Also what is finished, by that tool's own account.")
@click.option("--dry-run", is_flag=True, help="Write nothing, and say the same.")
@in_workspace
def command(
    tool: Tool, path: Path | None, renames: tuple[str, ...], finished: bool, dry_run: bool, project_root: Path,
    as_json: bool,
) -> int:  # fmt: skip
    """Take over another tool's workspace; exit 1 when something in it needs a person."""
    context = context_of(project_root)
    request = TakeOverRequest(
        tool=tool,
        path=path or context.project,
        renames=dict(_renamed(text) for text in renames),
        finished=finished,
        dry_run=dry_run,
    )
    found = take_over(context, request)
    if as_json:
        say_json({"ok": found.is_whole, "tool": tool, "dry_run": dry_run, **msgspec.to_builtins(found)})
    else:
        _say(found, tool, dry_run=dry_run)
    if not found.is_whole:
        raise _refusal(found, as_json=as_json)
    return 0


def _refusal(found: TakenOver, *, as_json: bool) -> WorkflowRefused:
    """The rest is taken all the same; a person has read in the table what is not."""
    rows = [row for row in found.rows if row.outcome in ("conflict", "unreadable")]
    first = next((row.next for row in rows if row.next), "correct what is named; the same command again takes the rest")
    return WorkflowRefused(
        "import_incomplete",
        f"{len(rows)} of {len(found.rows)} things need a person",
        next_command=first,
        blockers=tuple((f"import_{row.outcome}", f"{row.source}: {row.why}", row.next) for row in rows if as_json),
    )


def _renamed(text: str) -> tuple[str, str]:
    name, equals, slug = text.partition("=")
    if not equals or not name or not slug:
        raise WrongUsage(f"--as '{text}' names no two names", hint="--as NAME=SLUG")
    return name, slug


def _say(found: TakenOver, tool: Tool, *, dry_run: bool) -> None:
    if not found.rows:
        say(f"nothing in {found.source} can be taken over")
        return
    wide = min(max(len(_said(row)) for row in found.rows), 60)
    for row in found.rows[:_MOST]:
        mark, color = _MARKS[row.outcome]
        say(f"{mark} {row.outcome:<10} {_said(row):<{wide}}  {row.why}".rstrip(), fg=color)
        if row.next and row.outcome in ("taken", "conflict") and row.what != "spec":
            say(f"    → {row.next}")
    if len(found.rows) > _MOST:
        say(f"… and {len(found.rows) - _MOST} more; --json lists all")
    counts = Counter(row.outcome for row in found.rows)
    listed = ", ".join(f"{number} {name}" for name, number in counts.items())
    say(f"{'would take' if dry_run else 'took'} from {found.source} ({tool}): {listed}")


def _said(row: TakeoverRow) -> str:
    to = f" → {row.target}" if row.target else ""
    return f"{row.what} {row.source}{to}"

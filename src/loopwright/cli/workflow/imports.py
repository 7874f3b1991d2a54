"""`loopwright import`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import msgspec

from loopwright.cli.options import command_with_examples, echo, echo_json, in_context
from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.stages.context import Context
from loopwright.verbs.workflow.stages import TOOLS, TakenOver, TakeOverRequest, take_over
from loopwright.workflow.takeover.model import TakeoverRow, Tool

_MARKS = {
    "taken": ("✓", "green"), "already": ("=", None), "conflict": ("✗", "red"), "unreadable": ("✗", "red"),
    "left": ("·", None), "note": ("!", "yellow"),
}  # fmt: skip
_MOST = 200


@command_with_examples("""
  loopwright import loopx --dry-run            shows what would be imported from .loopx/
  loopwright import loopx
  loopwright import ccw ../other-project       from another folder
  loopwright import openspec --as add-login=login
  loopwright import ccw --finished             includes finished sessions

Approvals and test results of another tool do not count: every workflow starts at clarify.
The source stays unchanged. If you repeat the command, it imports only what is new.
""")
@click.argument("tool", type=click.Choice(TOOLS))
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--as", "renames", multiple=True, metavar="NAME=SLUG", help="Import under another name; can be repeated.")
@click.option("--finished", is_flag=True, help="Include work that the other tool marks as finished.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and write nothing.")
@in_context
def command(
    context: Context,
    tool: Tool,
    path: Path | None,
    renames: tuple[str, ...],
    finished: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import the workspace of another tool; exit 1 if an entry needs a person."""
    request = TakeOverRequest(
        tool=tool,
        path=path or context.project,
        renames=dict(_renamed(text) for text in renames),
        finished=finished,
        dry_run=dry_run,
    )
    report = take_over(context, request)
    if as_json:
        echo_json({"ok": report.is_whole, "tool": tool, "dry_run": dry_run, **msgspec.to_builtins(report)})
    else:
        _echo(report, tool, dry_run=dry_run)
    if not report.is_whole:
        raise _refusal(report, as_json=as_json)


def _refusal(report: TakenOver, *, as_json: bool) -> WorkflowRefused:
    """Lists the entries that were not imported. As text, the table has already shown them."""
    rows = [row for row in report.rows if row.outcome in ("conflict", "unreadable")]
    hints = (row.next for row in rows if row.next)
    return WorkflowRefused(
        "import_incomplete",
        f"{len(rows)} of {len(report.rows)} entries need a person",
        next_command=next(hints, "fix the listed entries, then repeat the command"),
        blockers=tuple((f"import_{row.outcome}", f"{row.source}: {row.why}", row.next) for row in rows if as_json),
    )


def _renamed(text: str) -> tuple[str, str]:
    name, equals, slug = text.partition("=")
    if not equals or not name or not slug:
        raise WrongUsage(f"--as '{text}' does not have the form NAME=SLUG", hint="--as NAME=SLUG")
    return name, slug


def _echo(report: TakenOver, tool: Tool, *, dry_run: bool) -> None:
    if not report.rows:
        echo(f"{report.source} contains nothing to import")
        return
    width = min(max(len(_title(row)) for row in report.rows), 60)
    for row in report.rows[:_MOST]:
        mark, color = _MARKS[row.outcome]
        echo(f"{mark} {row.outcome:<10} {_title(row):<{width}}  {row.why}".rstrip(), fg=color)
        if row.next and row.outcome in ("taken", "conflict") and row.what != "spec":
            echo(f"    → {row.next}")
    if len(report.rows) > _MOST:
        echo(f"… and {len(report.rows) - _MOST} more; --json lists all")
    counts = Counter(row.outcome for row in report.rows)
    listed = ", ".join(f"{number} {name}" for name, number in counts.items())
    echo(f"{'would import' if dry_run else 'imported'} from {report.source} ({tool}): {listed}")


def _title(row: TakeoverRow) -> str:
    target = f" → {row.target}" if row.target else ""
    return f"{row.what} {row.source}{target}"

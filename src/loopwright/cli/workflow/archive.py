"""`loopwright archive`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.verbs.workflow.archive import ArchiveReport, ArchiveRequest, archive

_EPILOG = """\b
Examples:
  loopwright archive faster-imports
  loopwright archive faster-imports --before chg-imports      both touch a requirement: this one goes first
  loopwright archive faster-imports --fitted "kept the limit that chg-limits brought"

Then `loopwright specs verify` says on any day whether what the specs promise still holds.
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.option("--before", multiple=True, metavar="CHANGE", help="It goes before this active change; may be repeated.")
@click.option("--fitted", metavar="WHY", help="You read the specs as they are now; the delta is right.")
@in_workspace
def command(slug: str, before: tuple[str, ...], fitted: str | None, project_root: Path, as_json: bool) -> int:
    """Merge a change that is done into the living specs, all of it or nothing. For people only."""
    report = archive(context_of(project_root), slug, ArchiveRequest(fitted=fitted, before=before))
    if as_json:
        say_json(_document(report))
        return 0
    say(f"{report.workflow.slug}: ", nl=False, bold=True)
    say("is archived already; nothing was changed" if report.already else "archived", fg="green")
    for path in report.files:
        say(f"  {path}")
    say(f"  the change is in {report.folder}")
    say("  → loopwright specs verify", fg="green")
    return 0


def _document(report: ArchiveReport) -> dict[str, object]:
    return {
        "ok": True,
        "slug": report.workflow.slug,
        "change_id": report.workflow.change_id,
        "already_archived": report.already,
        "files": list(report.files),
        "folder": report.folder,
        "recommended_next_action": "loopwright specs verify",
    }

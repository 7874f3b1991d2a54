"""`loopwright gc`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.language import words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json, with_sandbox_root
from loopwright.verbs.gc import gc

_EPILOG = """\b
Examples:
  loopwright gc --keep 20
  loopwright gc --keep 0 --dry-run
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--keep",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="How many of the newest runs and kept sandboxes stay, beside those that are needed.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@with_sandbox_root
@in_workspace
def command(keep: int, dry_run: bool, sandbox_root: str | None, project_root: Path, as_json: bool) -> int:
    """Remove this project's old runs, sandboxes and kept versions of documents that nothing asks for.

    A run that a workflow's gates still read stays, however old it is. The chain of evidence notes what was removed
    and stays whole. Sandboxes of other projects stay.
    """
    removed = gc(context_of(project_root, {("sandbox", "root"): sandbox_root}), keep=keep, dry_run=dry_run)
    if as_json:
        say_json({"ok": True, "dry_run": dry_run, **msgspec.structs.asdict(removed)})
        return 0
    facts = {
        "runs": len(removed.runs),
        "sandboxes": len(removed.sandboxes),
        "kept": words(", {count} kept versions of documents", count=len(removed.objects)) if removed.objects else "",
    }
    if dry_run:
        put(words("would remove {runs} runs and {sandboxes} sandboxes{kept}", **facts))
    else:
        put(words("removed {runs} runs and {sandboxes} sandboxes{kept}", **facts))
    for name in (*removed.runs, *removed.sandboxes, *removed.objects):
        put(f"  {name}")
    for run_id, slug in removed.needed.items():
        say(f"  {run_id} stays: the workflow {slug} rests on it")
    return 0

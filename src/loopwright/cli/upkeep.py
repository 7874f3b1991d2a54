"""`loopwright doctor, selftest, gc`: check the machine and the workspace, and free disk space."""

from __future__ import annotations

import click
import msgspec

from loopwright.cli.language import message, translate
from loopwright.cli.options import (
    command_with_examples,
    echo,
    echo_json,
    in_context,
    put,
    with_sandbox_root,
)
from loopwright.errors import SelftestFailed
from loopwright.stages.context import Context
from loopwright.verbs.doctor import doctor
from loopwright.verbs.gc import gc
from loopwright.verbs.selftest import selftest

_MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "problem": ("✗", "red"), "fixed": ("✓", "green")}


@command_with_examples("""
  loopwright doctor
  loopwright doctor --fix     remove leftovers, move damaged files aside
""")
@click.option("--fix", is_flag=True, help="Repair problems where possible.")
@with_sandbox_root
@in_context
def doctor_command(context: Context, fix: bool, as_json: bool) -> int:
    """Check this machine and this workspace; exit 1 if a problem needs you."""
    symptoms = doctor(context, fix=fix)
    healthy = all(symptom.health != "problem" for symptom in symptoms)
    if as_json:
        echo_json({"ok": healthy, "checks": [symptom.document() for symptom in symptoms]})
        return 0 if healthy else 1
    for symptom in symptoms:
        mark, color = _MARKS[symptom.health]
        fixed = message(" (repaired)") if symptom.health == "fixed" else ""
        put(f"{mark} {translate(symptom.what)}: {translate(symptom.message)}{fixed}", fg=color)
        if symptom.remedy and symptom.health in ("note", "problem"):
            echo(f"    → {symptom.remedy}")
    return 0 if healthy else 1


@command_with_examples("""
  loopwright selftest     takes a few seconds and leaves no files behind
""")
@in_context
def selftest_command(context: Context, as_json: bool) -> None:
    """Run a tiny plan in a temporary project, and check that Loopwright works on this machine."""
    results = []
    for tested in selftest(context):
        results.append(tested)
        if not as_json:
            put(
                f"{'✓' if tested.passed else '✗'} {translate(tested.what)}: {translate(tested.message)}",
                fg="green" if tested.passed else "red",
            )
    failed = [tested.what for tested in results if not tested.passed]
    if as_json:
        echo_json({"ok": not failed, "checks": [msgspec.to_builtins(tested) for tested in results]})
    if failed:
        raise SelftestFailed(f"{len(failed)} of {len(results)} checks failed: {', '.join(failed)}",
                             hint="run `loopwright doctor` to check the machine")  # fmt: skip


@command_with_examples("""
  loopwright gc --keep 20
  loopwright gc --keep 0 --dry-run
""")
@click.option(
    "--keep",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Number of newest runs and kept sandboxes that stay, in addition to those still needed.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@with_sandbox_root
@in_context
def gc_command(context: Context, keep: int, dry_run: bool, as_json: bool) -> None:
    """Remove old runs, sandboxes and unused versions of documents of this project.

    Runs that a loop or a workflow still needs stay. The evidence chain records each removal and stays valid.
    Sandboxes of other projects stay.
    """
    removed = gc(context, keep=keep, dry_run=dry_run)
    if as_json:
        echo_json({"ok": True, "dry_run": dry_run, **msgspec.structs.asdict(removed)})
        return
    facts = {
        "runs": len(removed.runs),
        "sandboxes": len(removed.sandboxes),
        "kept": message(", {count} versions of documents", count=len(removed.objects)) if removed.objects else "",
    }
    if dry_run:
        put(message("would remove: runs: {runs}, sandboxes: {sandboxes}{kept}", **facts))
    else:
        put(message("removed: runs: {runs}, sandboxes: {sandboxes}{kept}", **facts))
    for name in (*removed.runs, *removed.sandboxes, *removed.objects):
        put(f"  {name}")
    for run_id, name in removed.needed.items():
        echo(f"  {run_id} stays: {name} needs it")

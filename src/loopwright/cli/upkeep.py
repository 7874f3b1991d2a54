"""`loopwright doctor, selftest, gc`: the machine and the workspace."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.language import told, words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json, with_sandbox_root
from loopwright.errors import SelftestFailed
from loopwright.verbs.doctor import doctor
from loopwright.verbs.gc import gc
from loopwright.verbs.selftest import selftest

_DOCTOR_EXAMPLES = """\b
Examples:
  loopwright doctor
  loopwright doctor --fix     remove leftovers, set damaged files aside
"""
_MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "problem": ("✗", "red"), "fixed": ("✓", "green")}


@click.command(epilog=_DOCTOR_EXAMPLES)
@click.option("--fix", is_flag=True, help="Repair what can be repaired.")
@with_sandbox_root
@in_workspace
def doctor_command(fix: bool, sandbox_root: str | None, project_root: Path, as_json: bool) -> int:
    """Check this machine and this workspace; exit 1 when something has to be done."""
    symptoms = doctor(context_of(project_root, {("sandbox", "root"): sandbox_root}), fix=fix)
    healthy = all(symptom.health != "problem" for symptom in symptoms)
    if as_json:
        say_json({"ok": healthy, "checks": [symptom.document() for symptom in symptoms]})
        return 0 if healthy else 1
    for symptom in symptoms:
        mark, color = _MARKS[symptom.health]
        fixed = words(" (repaired)") if symptom.health == "fixed" else ""
        put(f"{mark} {told(symptom.what)}: {told(symptom.said)}{fixed}", fg=color)
        if symptom.remedy and symptom.health in ("note", "problem"):
            say(f"    → {symptom.remedy}")
    return 0 if healthy else 1


_SELFTEST_EXAMPLES = """\b
Example:
  loopwright selftest     takes a few seconds and leaves nothing behind
"""


@click.command(epilog=_SELFTEST_EXAMPLES)
@in_workspace
def selftest_command(project_root: Path, as_json: bool) -> int:
    """Run a tiny plan in a temporary project and check this machine against the contract."""
    done = []
    for tested in selftest(context_of(project_root)):
        done.append(tested)
        if not as_json:
            put(
                f"{'✓' if tested.passed else '✗'} {told(tested.what)}: {told(tested.said)}",
                fg="green" if tested.passed else "red",
            )
    failed = [tested.what for tested in done if not tested.passed]
    if as_json:
        say_json({"ok": not failed, "checks": [msgspec.structs.asdict(tested) for tested in done]})
    if failed:
        raise SelftestFailed(f"{len(failed)} of {len(done)} promises are not kept: {', '.join(failed)}",
                             hint="`loopwright doctor` looks at the machine")  # fmt: skip
    return 0


_GC_EXAMPLES = """\b
Examples:
  loopwright gc --keep 20
  loopwright gc --keep 0 --dry-run
"""


@click.command(epilog=_GC_EXAMPLES)
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
def gc_command(keep: int, dry_run: bool, sandbox_root: str | None, project_root: Path, as_json: bool) -> int:
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

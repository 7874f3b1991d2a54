"""`loopwright doctor`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.language import told, words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json, with_sandbox_root
from loopwright.verbs.doctor import doctor

_EPILOG = """\b
Examples:
  loopwright doctor
  loopwright doctor --fix     remove leftovers, set damaged files aside
"""
_MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "problem": ("✗", "red"), "fixed": ("✓", "green")}


@click.command(epilog=_EPILOG)
@click.option("--fix", is_flag=True, help="Repair what can be repaired.")
@with_sandbox_root
@in_workspace
def command(fix: bool, sandbox_root: str | None, project_root: Path, as_json: bool) -> int:
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

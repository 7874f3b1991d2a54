"""`loopwright specs verify`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.cli.run import stopping_on_signals
from loopwright.errors import WorkflowRefused
from loopwright.verbs.workflow.specs_verify import Verified, verify_specs

_EPILOG = """\b
Examples:
  loopwright specs verify                 every domain
  loopwright specs verify greeting
  loopwright specs verify --json

Exit 1 when a requirement does not hold any more, or its check could not be run.
"""
_MARKS = {"holds": ("✓", "green"), "broken": ("✗", "red"), "unavailable": ("✗", "red")}


@click.command(epilog=_EPILOG)
@click.argument("domain", required=False)
@in_workspace
def command(domain: str | None, project_root: Path, as_json: bool) -> int:
    """Run the living specs' checks on today's tree, and name each requirement that does not hold any more."""
    with stopping_on_signals() as cancellation:
        found = verify_specs(context_of(project_root), domain, cancellation)
    wrong = [one for one in found if one.is_wrong]
    if as_json:
        say_json({"ok": not wrong, "requirements": [msgspec.to_builtins(one) for one in found]})
    else:
        for one in found:
            mark, color = _MARKS.get(one.status, ("·", "yellow"))
            say(f"{mark} {one.domain}: {one.requirement}  ", fg=color, nl=False)
            say(one.sentence(), dim=True)
        if not found:
            say("no living specs yet; `loopwright archive SLUG` makes them of a change that is done")
    if wrong:
        raise _refusal(found, wrong)
    return 0


def _refusal(found: list[Verified], wrong: list[Verified]) -> WorkflowRefused:
    broken = any(one.status == "broken" for one in wrong)
    return WorkflowRefused(
        "spec_requirement_broken" if broken else "spec_check_unavailable",
        f"{len(wrong)} of {len(found)} requirements do not hold any more, or can't be shown",
        next_command=wrong[0].way_on(),
        blockers=tuple(
            (f"spec_{one.status}_{one.domain}", f"{one.requirement}: {one.sentence()}", one.way_on()) for one in wrong
        ),
    )

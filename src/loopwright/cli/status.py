"""`loopwright status`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from loopwright.cli.language import told, words
from loopwright.cli.lazy import load
from loopwright.cli.loop.listing import loop_line
from loopwright.cli.loop.output import COLORS
from loopwright.cli.plain import in_workspace, place_of, say, say_json
from loopwright.kernel.cells import neutralised
from loopwright.loop.listing import STATUSES, Summary, list_loops, way_on
from loopwright.verbs.overview import overview, what_waits, with_what_runs
from loopwright.workflow.listing import STAGES, WorkflowLine, up_to_date
from loopwright.workspace.layout import Layout

_SHOWN = 20
_STATUS_EXAMPLES = """\b
Examples:
  loopwright status                    everything in this workspace
  loopwright status faster-imports     one workflow: what stage, what blocks, what to type
  loopwright status --json
"""


@click.command(epilog=_STATUS_EXAMPLES)
@click.argument("slug", required=False)
@in_workspace
def status_command(slug: str | None, project_root: Path, as_json: bool) -> int:
    """How the work stands: what runs, what waits for a person, and what to type."""
    if slug is not None:
        # One workflow is derived from its documents, which takes more than a list may load.
        whole = load("loopwright.cli.workflow.output")
        whole.say_whole(project_root, slug, as_json=as_json)
        return 0
    layout = place_of(project_root).layout
    workflows, loops = _listed(project_root, layout, _SHOWN), list_loops(layout)
    if as_json:
        say_json(overview(workflows, loops))
    elif not workflows and not loops:
        say('nothing here yet; `loopwright clarify SLUG --idea "…"` begins a change, `loopwright run` runs a plan')
    else:
        click.echo("\n".join([*_workflow_lines(with_what_runs(workflows, loops)), *_loop_lines(loops)]))
    return 0


def _workflow_lines(workflows: list[WorkflowLine]) -> list[str]:
    if not workflows:
        return []
    archived = sum(one.archive_status == "archived" for one in workflows)
    stages = Counter(one.current_stage for one in workflows if one.archive_status != "archived")
    counted = [f"{stages[stage]} {stage}" for stage in STAGES if stages[stage]]
    if archived:
        counted.append(words("{count} archived", count=archived))
    lines = [words("workflows: {counted}", counted=", ".join(counted))]
    for one in [one for one in workflows if one.archive_status != "archived"][:_SHOWN]:
        lines.append(f"  {one.slug}  {one.current_stage}, {one.stage_status}")
        lines.append(f"      → {neutralised(told(one.recommended_next_action))}")
    return lines


def _loop_lines(loops: list[Summary]) -> list[str]:
    if not loops:
        return []
    totals = Counter(one.line.status for one in loops)
    counted = [click.style(f"{totals[name]} {name}", fg=COLORS.get(name, "red")) for name in STATUSES if totals[name]]
    lines = [words("loops: {counted}", counted=", ".join(counted))]
    at_work = [one for one in loops if one.line.status == "running" and one.has_worker]
    lines += [f"  {loop_line(one)}" for one in at_work[:_SHOWN]]
    waiting = [one for one in loops if way_on(one) is not None]
    if waiting:
        lines.append(words("waiting for a person:"))
    for one in waiting[:_SHOWN]:
        lines.append(f"  {loop_line(one)}")
        lines += [f"      {neutralised(told(hold.message))}" for hold in one.line.loopwright.holds]
        lines.append(f"      → {told(way_on(one) or '')}")
    if len(waiting) > _SHOWN:
        more = words("… and {count} more: `loopwright loop list`", count=len(waiting) - _SHOWN)
        lines.append(f"  {more}")
    return lines


_NEXT_SHOWN = 10
_NEXT_EXAMPLES = """\b
Examples:
  loopwright next            what should I do now?
  loopwright next --json
"""


@click.command(epilog=_NEXT_EXAMPLES)
@in_workspace
def next_command(project_root: Path, as_json: bool) -> int:
    """What should I do now? The exact command for everything that waits for a person."""
    layout = place_of(project_root).layout
    found = what_waits(_listed(project_root, layout, _NEXT_SHOWN), list_loops(layout))
    workflows, loops = found.workflows, found.loops
    if as_json:
        say_json(found.document())
        return 0
    if not workflows and not loops:
        say('nothing waits; loopwright clarify SLUG --idea "…" begins something')
        return 0
    lines = []
    for one in workflows[:_NEXT_SHOWN]:
        pending = f": {one.pending_user_decision}" if one.pending_user_decision else ""
        action = told(one.recommended_next_action)
        lines += [neutralised(f"{one.slug} ({one.current_stage}{told(pending)})"), f"  → {neutralised(action)}"]
    for loop in loops[:_NEXT_SHOWN]:
        lines += [neutralised(f"{loop.loop_id} ({loop.title})"), f"  → {told(loop.next)}"]
    click.echo("\n".join(lines))
    return 0


def _listed(project_root: Path, layout: Layout, most: int) -> list[WorkflowLine]:
    """The workflows. What derives a state is loaded only if a state is stale."""
    return up_to_date(
        layout, most, lambda slugs: load("loopwright.cli.workflow.output").derive_again(project_root, slugs)
    )

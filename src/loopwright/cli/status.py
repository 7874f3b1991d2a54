"""`loopwright status, next`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from loopwright.cli.language import message, translate
from loopwright.cli.lazy import load
from loopwright.cli.loop.listing import loop_line
from loopwright.cli.loop.output import COLORS
from loopwright.cli.plain import command_with_examples, echo, echo_json, in_workspace, place_of
from loopwright.kernel.cells import neutralised
from loopwright.loop.listing import STATUSES, Summary, list_loops, way_on, ways_on
from loopwright.verbs.overview import overview, what_waits, with_what_runs
from loopwright.workflow.listing import STAGES, WorkflowLine, up_to_date
from loopwright.workspace.layout import Layout

_SHOWN = 20
# The newest loops whose work a person accepted.
_ACCEPTED_SHOWN = 3


@command_with_examples("""
  loopwright status                    everything in this workspace
  loopwright status faster-imports     one workflow: stage, blockers, next command
  loopwright status --json
""")
@click.argument("slug", required=False)
@in_workspace
def status_command(slug: str | None, project_root: Path, as_json: bool) -> None:
    """Show the status of all work, or of one workflow: what runs, what waits for a person, and the next command."""
    if slug is not None:
        # The status of one workflow is derived from its documents; the imports for that would slow down the list.
        load("loopwright.cli.workflow.output").echo_details(project_root, slug, as_json=as_json)
        return
    layout = place_of(project_root).layout
    workflows, loops = _listed(project_root, layout, _SHOWN), list_loops(layout)
    if as_json:
        echo_json(overview(workflows, loops))
    elif not workflows and not loops:
        echo('nothing here yet; start a change: `loopwright clarify SLUG --idea "…"`, or run a plan: `loopwright run`')
    else:
        click.echo("\n".join([*_workflow_lines(with_what_runs(workflows, loops)), *_loop_lines(loops)]))


def _workflow_lines(workflows: list[WorkflowLine]) -> list[str]:
    if not workflows:
        return []
    active = [workflow for workflow in workflows if not workflow.is_over]
    archived = sum(workflow.archive_status == "archived" for workflow in workflows)
    stages = Counter(workflow.current_stage for workflow in active)
    counted = [message("{count} at {stage}", count=stages[stage], stage=stage) for stage in STAGES if stages[stage]]
    if archived:
        counted.append(message("{count} archived", count=archived))
    if over := len(workflows) - len(active) - archived:
        counted.append(message("{count} over, by `loopwright do`", count=over))
    lines = [message("workflows: {counted}", counted=", ".join(counted))]
    for workflow in active[:_SHOWN]:
        lines.append(f"  {workflow.slug}  {workflow.current_stage}, {workflow.stage_status}")
        lines += [f"      → {neutralised(translate(way))}" for way in _ways_on(workflow)]
    return lines


def _loop_lines(loops: list[Summary]) -> list[str]:
    if not loops:
        return []
    totals = Counter(loop.line.status for loop in loops)
    counted = [click.style(f"{totals[name]} {name}", fg=COLORS.get(name, "red")) for name in STATUSES if totals[name]]
    lines = [message("loops: {counted}", counted=", ".join(counted))]
    running = [loop for loop in loops if loop.line.status == "running" and loop.has_worker]
    lines += [f"  {loop_line(loop)}" for loop in running[:_SHOWN]]
    accepted = [loop for loop in loops if loop.line.is_accepted]
    lines += [f"  {loop_line(loop)}" for loop in accepted[:_ACCEPTED_SHOWN]]
    if len(accepted) > _ACCEPTED_SHOWN:
        more = message("… and {count} more: `loopwright loop list`", count=len(accepted) - _ACCEPTED_SHOWN)
        lines.append(f"  {more}")
    waiting = [loop for loop in loops if way_on(loop) is not None]
    if waiting:
        lines.append(message("waiting for a person:"))
    for loop in waiting[:_SHOWN]:
        lines.append(f"  {loop_line(loop)}")
        holds = loop.line.loopwright.holds
        lines += [f"      {neutralised(translate(hold.message))}  {neutralised(hold.code)}" for hold in holds]
        lines += [f"      → {translate(choice.sentence)}" for choice in ways_on(loop)]
    if len(waiting) > _SHOWN:
        more = message("… and {count} more: `loopwright loop list`", count=len(waiting) - _SHOWN)
        lines.append(f"  {more}")
    return lines


def _ways_on(workflow: WorkflowLine) -> list[str]:
    """The commands among which a person chooses. A file of an older version has only the recommended one."""
    return [choice.sentence for choice in workflow.choices] or [workflow.recommended_next_action]


_NEXT_SHOWN = 10


@command_with_examples("""
  loopwright next            the commands to type now
  loopwright next --json
""")
@in_workspace
def next_command(project_root: Path, as_json: bool) -> None:
    """Show the exact command for everything that waits for a person."""
    layout = place_of(project_root).layout
    waiting = what_waits(_listed(project_root, layout, _NEXT_SHOWN), list_loops(layout))
    workflows, loops = waiting.workflows, waiting.loops
    if as_json:
        echo_json(waiting.document())
        return
    if not workflows and not loops:
        echo('nothing waits for you; start a change with `loopwright clarify SLUG --idea "…"`')
        return
    lines = []
    for workflow in workflows[:_NEXT_SHOWN]:
        pending = f": {workflow.pending_user_decision}" if workflow.pending_user_decision else ""
        lines.append(neutralised(f"{workflow.slug} ({workflow.current_stage}{translate(pending)})"))
        lines += [f"  → {neutralised(translate(way))}" for way in _ways_on(workflow)]
    for loop in loops[:_NEXT_SHOWN]:
        lines.append(neutralised(f"{loop.loop_id} ({loop.title})"))
        lines += [f"  → {translate(choice.sentence)}" for choice in loop.choices]
    click.echo("\n".join(lines))


def _listed(project_root: Path, layout: Layout, most: int) -> list[WorkflowLine]:
    """All workflows. The code that updates a status is imported only if a status is stale."""
    return up_to_date(
        layout, most, lambda slugs: load("loopwright.cli.workflow.output").derive_again(project_root, slugs)
    )

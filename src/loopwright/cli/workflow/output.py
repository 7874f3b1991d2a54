"""Prints a workflow for people and programs: stage, blockers, next command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from loopwright.agents.failover import takeover_sentence
from loopwright.cli.language import catalogue, message, translate
from loopwright.cli.loop.output import price_note
from loopwright.cli.options import context_of
from loopwright.cli.plain import echo, echo_json, put
from loopwright.verbs.project_files import unlisted_folders
from loopwright.verbs.workflow.status import FlightView, WorkflowView, refresh_all, show
from loopwright.workflow.audit import proof_line
from loopwright.workflow.stage import Stage
from loopwright.workflow.verdict import request_sentence, unread_sentence

COLORS = {"clarify": "magenta", "plan": "blue", "build": "cyan", "review": "yellow", "done": "green"}


def echo_view(view: WorkflowView, *, as_json: bool, whole: bool = False) -> None:
    """Print the stage, the blockers and the next command of a workflow; `whole` adds the details."""
    if as_json:
        echo_json({"ok": True, **view.document()})
        return
    stage = view.workflow.stage
    echo(f"{view.workflow.slug}: ", nl=False, bold=True)
    put(stage.value, fg=COLORS[stage.value], nl=False)
    # The stored status of the stage does not tell that a person has approved the next one.
    put(", approved" if view.is_approved else f", {view.stage_status}")
    if whole:
        _echo_path(stage)
    for blocker in (*view.blockers, *view.denials):
        echo(f"  ✗ {blocker.message}  ", nl=False)
        put(blocker.code, dim=True)
    review = view.workflow.review
    if stage is Stage.REVIEW and review is not None and review.verdict == "request-changes":
        put(f"  ✗ {request_sentence(review, catalogue())}")
    for pattern in view.scope if stage is Stage.PLAN or whole else ():
        if pattern in view.scope_wanted:
            echo(f"  the work may change {pattern}, which is protected or outside project.source")
        else:
            echo(f"  the work may change {pattern}")
    if whole:
        _echo_details(view)
    else:
        _echo_requirements(view)
        if view.rest_of_project:
            echo(f"  {view.rest_of_project}")
    if view.weak_isolation:
        echo(f"  ! {view.weak_isolation}")
    for choice in view.choices:
        echo(f"  → {choice.sentence}", fg="green")


def _echo_path(stage: Stage) -> None:
    names = [stage_.value for stage_ in Stage]
    at = names.index(stage.value)
    marks = ["✓" if number < at else "●" if number == at else "·" for number in range(len(names))]
    echo("  " + "  ".join(f"{mark} {name}" for mark, name in zip(marks, names, strict=True)))


def _echo_autopilot(view: FlightView) -> None:
    flight, used = view.flight, view.used
    limits = flight.limits
    spent = (
        message("{used} USD", used=_of(used.usd, limits.usd)),
        message("{used} tokens", used=_of(used.tokens, limits.tokens)),
        message("{used} s of work", used=_of(used.wall_s, limits.wall_s)),
        message("{used} turns", used=_of(used.turns, limits.turns)),
    )
    why = f": {translate(flight.message)}" if flight.message else ""
    put(message("  autopilot: {status} at {stage}", status=view.status, stage=flight.phase.value) + why)
    put(message("    used {spent}", spent=", ".join(spent)))


def _of(used: float, limit: float | None) -> str:
    return f"{used:g}" if limit is None else message("{used} of {limit}", used=f"{used:g}", limit=f"{limit:g}")


def _echo_details(view: WorkflowView) -> None:
    origin = view.workflow.origin
    if origin is not None:
        state = ", ".join(f"{name} {value}" for name, value in origin.claims.items()) or "unknown"
        echo(f"  imported from {origin.tool} ({origin.path}); state there: {state}; it does not count as proof here")
    if view.flight is not None:
        _echo_autopilot(view.flight)
    for takeover in view.takeovers:
        put(f"  {translate(takeover_sentence(takeover))}")
    _echo_requirements(view)
    for link in view.chain:
        put(f"  {translate(link.claim)}? {translate(link.basis)}; {translate(link.implication)}")
    for decision in view.workflow.decisions:
        answer = f" — {decision.answer}" if decision.answer else message(" (open)")
        put(f"  {decision.id}: {decision.question}{answer}")
    if view.turns:
        each = view.usd_per_requirement
        cost = f"cost so far: {view.usd:.2f} USD, {view.tokens:,} tokens, turns: {view.turns}"
        per = f"; {each:.2f} USD per verified requirement ({view.verified})" if each is not None else ""
        put(f"  {translate(cost)}{translate(per)}")
        for role, spent in view.roles.items():
            facts = {"role": role, "usd": f"{spent.usd:.2f}", "tokens": f"{spent.tokens:,}"}
            worked = {"seconds": f"{spent.wall_s:.0f}", "turns": spent.turns}
            line = message("    {role}: {usd} USD, {tokens} tokens, {seconds} s, turns: {turns}", **facts, **worked)
            put(line + price_note(spent))


def _echo_requirements(view: WorkflowView) -> None:
    """Print each requirement of built work with its grade and what proves it."""
    if view.workflow.stage not in (Stage.BUILD, Stage.REVIEW, Stage.DONE):
        return
    for line in view.requirements:
        put(f"  {proof_line(line, catalogue())}")
    unread = "" if view.workflow.stage is Stage.BUILD else unread_sentence(view.workflow.review)
    for sentence in filter(None, (view.flaky, view.unreached, view.changed_command, unread)):
        echo(f"  ! {translate(sentence)}")
    for flag in view.workflow.verification.flags if view.workflow.verification is not None else ():
        echo(f"  ! {flag}")


def echo_details(project_root: Path, slug: str, *, as_json: bool) -> None:
    """Print a workflow with all details."""
    context = context_of(project_root)
    view = show(context, slug)
    if not as_json and view.workflow.stage in (Stage.PLAN, Stage.BUILD):
        for folder in unlisted_folders(context, view.scope):
            echo(f"  the work may not change {folder}: add {folder}/** to project.source if it is source")
    echo_view(view, as_json=as_json, whole=True)


def derive_again(project_root: Path, slugs: Iterable[str]) -> None:
    """Update the stored status of these workflows."""
    refresh_all(context_of(project_root), slugs)

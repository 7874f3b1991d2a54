"""A workflow as people and programs read it: what stage, what blocks, what to type."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from loopwright.agents.failover import takeover_in_words
from loopwright.cli.language import told, words
from loopwright.cli.options import context_of
from loopwright.cli.plain import put, say, say_json
from loopwright.cli.prices import price_note
from loopwright.verbs.workflow.status import FlightView, WorkflowView, refresh_all, show
from loopwright.workflow.model import Stage

COLORS = {"clarify": "magenta", "plan": "blue", "build": "cyan", "review": "yellow", "done": "green"}


def say_view(found: WorkflowView, *, as_json: bool, whole: bool = False) -> None:
    """A workflow's stage, what blocks it, and the command that moves on; `whole` adds the details."""
    if as_json:
        say_json({"ok": True, **found.document()})
        return
    stage = found.workflow.stage
    say(f"{found.workflow.slug}: ", nl=False, bold=True)
    put(stage.value, fg=COLORS[stage.value], nl=False)
    put(f", {found.stage_status}")
    if whole:
        _say_path(stage)
    for one in found.blockers:
        say(f"  ✗ {one.message}  ", nl=False)
        put(one.code, dim=True)
    for one in found.rejections:
        say(f"  ✗ {one.message}  ", nl=False)
        put(one.code, dim=True)
    review = found.workflow.review
    if stage is Stage.REVIEW and review is not None and review.verdict == "request-changes":
        put(f"  ✗ {words('the review asks for changes: {why}', why=told(review.rationale))}")
    if whole:
        _say_details(found)
    elif stage is Stage.BUILD and found.rest_of_project:
        say(f"  {found.rest_of_project}")
    say(f"  → {found.next}", fg="green")


def _say_path(stage: Stage) -> None:
    names = [stage_.value for stage_ in Stage]
    at = names.index(stage.value)
    marks = ["✓" if number < at else "●" if number == at else "·" for number in range(len(names))]
    say("  " + "  ".join(f"{mark} {name}" for mark, name in zip(marks, names, strict=True)))


def _say_flight(found: FlightView) -> None:
    flight, used = found.flight, found.used
    limits = flight.limits
    spent = (
        words("{used} USD", used=_of(used.usd, limits.usd)),
        words("{used} tokens", used=_of(used.tokens, limits.tokens)),
        words("{used} s of work", used=_of(used.wall_s, limits.wall_s)),
        words("{used} turns", used=_of(used.turns, limits.turns)),
    )
    why = f": {told(flight.said)}" if flight.said else ""
    put(words("  autopilot: {status} at {stage}", status=found.status, stage=flight.phase.value) + why)
    put(words("    used {spent}", spent=", ".join(spent)))


def _of(used: float, limit: float | None) -> str:
    return f"{used:g}" if limit is None else words("{used} of {limit}", used=f"{used:g}", limit=f"{limit:g}")


def _say_details(found: WorkflowView) -> None:
    origin = found.workflow.origin
    if origin is not None:
        said = ", ".join(f"{name} {value}" for name, value in origin.said.items())
        say(f"  taken over from {origin.tool} ({origin.path}), which said: {said or 'nothing'}; that opens no gate")
    if found.flight is not None:
        _say_flight(found.flight)
    for takeover in found.takeovers:
        put(f"  {told(takeover_in_words(takeover))}")
    for link in found.chain:
        put(f"  {told(link.claim)}? {told(link.basis)}; {told(link.implication)}")
    for one in found.workflow.decisions:
        put(f"  {one.id}: {one.question}" + (f" — {one.answer}" if one.answer else words(" (open)")))
    if found.turns:
        each = found.usd_per_requirement
        said = f"cost so far: {found.usd:.2f} USD, {found.tokens:,} tokens, {found.turns} turns"
        per = f"; {each:.2f} USD for each of {found.verified} verified requirements" if each is not None else ""
        put(f"  {told(said)}{told(per)}")
        for role, spent in found.roles.items():
            facts = {"role": role, "usd": f"{spent.usd:.2f}", "tokens": f"{spent.tokens:,}"}
            worked = {"seconds": f"{spent.wall_s:.0f}", "turns": spent.turns}
            line = words("    {role}: {usd} USD, {tokens} tokens, {seconds} s in {turns} turns", **facts, **worked)
            put(line + price_note(spent))


def say_whole(project_root: Path, slug: str, *, as_json: bool) -> None:
    """All of it."""
    say_view(show(context_of(project_root), slug), as_json=as_json, whole=True)


def derive_again(project_root: Path, slugs: Iterable[str]) -> None:
    """Write down anew how these stand."""
    refresh_all(context_of(project_root), slugs)

"""`loopwright reflect`, with `list`, `show` and `export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Literal

import click
from click.core import ParameterSource

from loopwright.cli.language import told, words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.errors import WrongUsage
from loopwright.kernel import codec
from loopwright.kernel.files import shown
from loopwright.reflection.model import MostLikelyWrong, Point, SurfaceName
from loopwright.reflection.store import Stored
from loopwright.verbs.judged import judged
from loopwright.verbs.reflect import ReflectionRequest, ReportInput, export, find, reflect, shelf

_SURFACES: tuple[SurfaceName, ...] = ("auth", "data", "infra", "build", "ui", "test", "docs", "none")
_MOST_BYTES = 1 << 20
_HANDED_DOWN = ("project_root", "as_json")
_POINTS: dict[Point | None, str] = {
    None: "",
    "before": ", captured before the work",
    "after": ", captured after the work",
    "adversarial": ", captured after an adversarial question",
}
_EPILOG = """\b
Examples:
  loopwright reflect                                           what changed, and the risk floor
  loopwright reflect --confidence 0.7 --known "no test on Windows"
  loopwright reflect --most-likely-wrong auth "the token is not checked twice"
  loopwright reflect --point adversarial --report report.json  one of three points of a task
  loopwright reflect list
  loopwright reflect show                                      the last one
  loopwright reflect export --form csv > reflections.csv
  loopwright reflect export --form corpus > corpus.jsonl       for `loopwright analyze calibration corpus.jsonl`
"""


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.option("--session", default="manual", show_default=True, help="Session that it belongs to.")
@click.option("--point", type=click.Choice(["before", "after", "adversarial"]), help="Capture one of three points.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure the doer is, 0 to 1.")
@click.option(
    "--most-likely-wrong",
    type=(click.Choice(_SURFACES), str),
    metavar="SURFACE TEXT",
    help="Where the doer would look first for a mistake.",
)
@click.option("--known", help="What the doer knows that the diff does not show.")
@click.option("--report", "report_file", type=click.File("rb"), help="A self-report as JSON; - for standard input.")
@click.option("--task-ref", help="Task that it is about; default: <repo>@<branch>.")
@click.option("--agent", help="Who did the work.")
@in_workspace
@click.pass_context
def command(
    ctx: click.Context,
    session: str,
    point: Point | None,
    confidence: float | None,
    most_likely_wrong: tuple[SurfaceName, str] | None,
    known: str | None,
    report_file: IO[bytes] | None,
    task_ref: str | None,
    agent: str | None,
    project_root: Path,
    as_json: bool,
) -> int:
    """Take a reflection now, by hand: what changed, the risk floor, and what the doer says of its own work."""
    if ctx.invoked_subcommand is not None:
        _hand_down(ctx, ctx.invoked_subcommand)
        return 0
    said = _report(confidence, most_likely_wrong, known)
    if report_file is not None and said is not None:
        raise WrongUsage("--report and its single fields are given at once", hint="use one or the other")
    report = _bounded(report_file) if report_file is not None else said
    taken = reflect(context_of(project_root), ReflectionRequest(session, point, report, task_ref, agent))
    _say(taken, as_json)
    return 0


@command.command("list")
@in_workspace
def list_command(project_root: Path, as_json: bool) -> int:
    """List the reflections of this workspace."""
    found = shelf(context_of(project_root))
    if as_json:
        say_json(
            {
                "reflections": [_record(one) for one in found.stored],
                "unreadable": [codec.to_builtins(one) for one in found.unreadable],
            }
        )
        return 0
    for one in found.stored:
        record = one.reflection
        sure = words("no confidence")
        if record.confidence is not None:
            sure = words("confidence {confidence}", confidence=f"{record.confidence:g}")
        review = "review" if record.risk.needs_review else words("no review")
        put(f"{one.name}  {record.task_ref}  {sure}  {record.risk.surface} {record.risk.score:.2f} {review}")
    for bad in found.unreadable:
        say(f"{bad.name}: not a reflection: {bad.why}", fg="red")
    if not found.stored and not found.unreadable:
        say(
            "no reflections yet; `loopwright reflect` takes one, `loopwright install --agent claude` has an agent "
            "leave them (codex and gemini can, too)"
        )
    return 0


@command.command("show", short_help="Show one reflection.")
@click.argument("name", required=False)
@in_workspace
def show_command(name: str | None, project_root: Path, as_json: bool) -> int:
    """Show one reflection: by its file name or the start of it; without, the last."""
    _say(find(context_of(project_root), name), as_json)
    return 0


@command.command("export", short_help="Print all reflections.")
@click.option(
    "--form",
    type=click.Choice(["jsonl", "csv", "corpus"]),
    default="jsonl",
    show_default=True,
    help="Which form; corpus: for `analyze calibration`, what checks said beside what builders said.",
)
@in_workspace
def export_command(form: Literal["jsonl", "csv", "corpus"], project_root: Path, as_json: bool) -> int:
    """Print all reflections, for other programs; --json is --form jsonl. What is none is named on standard error."""
    context = context_of(project_root)
    if form == "corpus":
        for one in judged(context):
            sys.stdout.buffer.write(codec.to_json_line(one))
        return 0
    found = shelf(context)
    for text in export(found.stored, "jsonl" if as_json else form):
        sys.stdout.buffer.write(text.encode())
    for bad in found.unreadable:
        say(f"left out: {bad.name}: not a reflection: {bad.why}", err=True)
    return 0


def _hand_down(ctx: click.Context, subcommand: str) -> None:
    """What was said before the subcommand holds for it, and what could not hold for it is refused."""
    given = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    about_taking = [name for name in given if name not in _HANDED_DOWN]
    if about_taking:
        option = next(one.opts[0] for one in ctx.command.params if one.name == about_taking[0])
        raise WrongUsage(
            f"{option} is for taking a reflection, and `{subcommand}` takes none",
            hint=f"loopwright reflect {subcommand} --help",
        )
    ctx.default_map = {subcommand: {name: ctx.params[name] for name in given}}


def _report(confidence: float | None, wrong: tuple[SurfaceName, str] | None, known: str | None) -> ReportInput | None:
    if confidence is None and wrong is None and known is None:
        return None
    return ReportInput(confidence, MostLikelyWrong(surface=wrong[0], description=wrong[1]) if wrong else None, known)


def _bounded(report: IO[bytes]) -> bytes:
    data: bytes = report.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise WrongUsage(f"the report has more than {_MOST_BYTES:,} bytes", hint="give the self-report alone")
    return data


def _record(one: Stored) -> dict[str, object]:
    return {"path": shown(one.path), "point": one.point, "reflection": codec.to_builtins(one.reflection)}


def _say(one: Stored, as_json: bool) -> None:
    if as_json:
        say_json(_record(one))
        return
    record, risk = one.reflection, one.reflection.risk
    say(shown(one.path), bold=True)
    say(f"  {record.task_ref}, session {record.session_id}, {record.timestamp}{_POINTS[one.point]}")
    say(f"  {len(record.files_changed)} files changed; {risk.surface}, score {risk.score:.2f}: ", nl=False)
    say("review needed" if risk.needs_review else "no review needed", fg="yellow" if risk.needs_review else "green")
    put(f"  {words('why: {why}', why=told(risk.reason))}")
    if record.confidence is not None:
        put(f"  {words('confidence: {confidence}', confidence=f'{record.confidence:g}')}")
    if record.most_likely_wrong is not None:
        say(f"  most likely wrong: {record.most_likely_wrong.surface}: {record.most_likely_wrong.description}")
    if record.known_not_in_diff is not None:
        say(f"  known, not in the diff: {record.known_not_in_diff}")
    if record.provenance.degraded:
        say("  degraded: something was missing or could not be read", fg="yellow")

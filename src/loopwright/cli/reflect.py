"""`loopwright reflect`, with the subcommands `list`, `show` and `export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Literal

import click
from click.core import ParameterSource

from loopwright.cli.language import message, translate
from loopwright.cli.options import GroupWithExamples, context_of, echo, echo_json, in_context, in_workspace, put
from loopwright.errors import WrongUsage
from loopwright.kernel import codec
from loopwright.kernel.files import shown
from loopwright.reflection.model import MostLikelyWrong, Point, SurfaceName
from loopwright.reflection.risk import score_text
from loopwright.reflection.store import Stored
from loopwright.stages.context import Context
from loopwright.verbs.judged import judged
from loopwright.verbs.reflect import ReflectionRequest, ReportInput, all_reflections, export, find, reflect

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
  loopwright reflect                                           records what changed, and its risk
  loopwright reflect --confidence 0.7 --known "no test on Windows"
  loopwright reflect --most-likely-wrong auth "the token is not checked twice"
  loopwright reflect --point adversarial --report report.json  the last of three points in a task
  loopwright reflect list
  loopwright reflect show                                      the last reflection
  loopwright reflect export --form csv > reflections.csv
  loopwright reflect export --form corpus > corpus.jsonl       for `loopwright analyze calibration corpus.jsonl`
"""


@click.group(cls=GroupWithExamples, invoke_without_command=True, epilog=_EPILOG)
@click.option("--session", default="manual", show_default=True, help="Session of the reflection.")
@click.option(
    "--point",
    type=click.Choice(["before", "after", "adversarial"]),
    help="Point in the task: before the work, after it, or after an adversarial question.",
)
@click.option("--confidence", type=click.FloatRange(0, 1), help="Confidence that the work is right, 0 to 1.")
@click.option(
    "--most-likely-wrong",
    type=(click.Choice(_SURFACES), str),
    metavar="SURFACE TEXT",
    help="Where a mistake is most likely.",
)
@click.option("--known", help="What the author knows that the diff does not show.")
@click.option("--report", "report_file", type=click.File("rb"), help="A self-report as JSON; - reads standard input.")
@click.option("--task-ref", help="Task of the reflection; default: <repo>@<branch>.")
@click.option("--agent", help="Agent that did the work.")
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
) -> None:
    """Record a reflection on the current work: what changed, the risk, and the author's self-report."""
    if ctx.invoked_subcommand is not None:
        _hand_down(ctx, ctx.invoked_subcommand)
        return
    fields = _report(confidence, most_likely_wrong, known)
    if report_file is not None and fields is not None:
        raise WrongUsage(
            "--report excludes --confidence, --most-likely-wrong and --known",
            hint="use --report, or the single options",
        )
    report = _bounded(report_file) if report_file is not None else fields
    reflection = reflect(context_of(project_root), ReflectionRequest(session, point, report, task_ref, agent))
    _echo(reflection, as_json)


@command.command("list")
@in_context
def list_command(context: Context, as_json: bool) -> None:
    """List the reflections of this workspace."""
    reflections = all_reflections(context)
    if as_json:
        echo_json(
            {
                "reflections": [_record(stored) for stored in reflections.stored],
                "unreadable": [codec.to_builtins(unreadable) for unreadable in reflections.unreadable],
            }
        )
        return
    for stored in reflections.stored:
        record = stored.reflection
        confidence = message("no confidence")
        if record.confidence is not None:
            confidence = message("confidence {confidence}", confidence=f"{record.confidence:g}")
        review = "review" if record.risk.needs_review else message("no review")
        score = score_text(record.risk.score)
        put(f"{stored.name}  {record.task_ref}  {confidence}  {record.risk.surface} {score} {review}")
    for unreadable in reflections.unreadable:
        echo(f"{unreadable.name}: not a reflection: {unreadable.why}", fg="red")
    if not reflections.stored and not reflections.unreadable:
        echo(
            "no reflections yet; record one with `loopwright reflect`, or let an agent record them after "
            "`loopwright install --agent claude` (or codex, or gemini)"
        )


@command.command("show", short_help="Show one reflection.")
@click.argument("name", required=False)
@in_context
def show_command(context: Context, name: str | None, as_json: bool) -> None:
    """Show the reflection with this file name, or a part of its start. Without NAME: the last reflection."""
    _echo(find(context, name), as_json)


@command.command("export", short_help="Print all reflections.")
@click.option(
    "--form",
    type=click.Choice(["jsonl", "csv", "corpus"]),
    default="jsonl",
    show_default=True,
    help="Format; corpus: self-reports with the results of checks, for `analyze calibration`.",
)
@in_context
def export_command(context: Context, form: Literal["jsonl", "csv", "corpus"], as_json: bool) -> None:
    """Print all reflections for other programs; --json means --form jsonl. Invalid files go to standard error."""
    if form == "corpus":
        for row in judged(context):
            sys.stdout.buffer.write(codec.to_json_line(row))
        return
    reflections = all_reflections(context)
    for text in export(reflections.stored, "jsonl" if as_json else form):
        sys.stdout.buffer.write(text.encode())
    for unreadable in reflections.unreadable:
        echo(f"skipped: {unreadable.name}: not a reflection: {unreadable.why}", err=True)


def _hand_down(ctx: click.Context, subcommand: str) -> None:
    """Pass options before the subcommand on to it; refuse options that it does not have."""
    given = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    refused = [name for name in given if name not in _HANDED_DOWN]
    if refused:
        option = next(parameter.opts[0] for parameter in ctx.command.params if parameter.name == refused[0])
        raise WrongUsage(
            f"`reflect {subcommand}` has no option {option}", hint=f"loopwright reflect {subcommand} --help"
        )
    ctx.default_map = {subcommand: {name: ctx.params[name] for name in given}}


def _report(confidence: float | None, wrong: tuple[SurfaceName, str] | None, known: str | None) -> ReportInput | None:
    if confidence is None and wrong is None and known is None:
        return None
    return ReportInput(confidence, MostLikelyWrong(surface=wrong[0], description=wrong[1]) if wrong else None, known)


def _bounded(report: IO[bytes]) -> bytes:
    data: bytes = report.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise WrongUsage(f"the report has more than {_MOST_BYTES:,} bytes", hint="pass only the self-report")
    return data


def _record(stored: Stored) -> dict[str, object]:
    return {"path": shown(stored.path), "point": stored.point, "reflection": codec.to_builtins(stored.reflection)}


def _echo(stored: Stored, as_json: bool) -> None:
    if as_json:
        echo_json(_record(stored))
        return
    record, risk = stored.reflection, stored.reflection.risk
    echo(shown(stored.path), bold=True)
    echo(f"  {record.task_ref}, session {record.session_id}, {record.timestamp}{_POINTS[stored.point]}")
    echo(f"  files changed: {len(record.files_changed)}; {risk.surface}, score {score_text(risk.score)}: ", nl=False)
    echo("review needed" if risk.needs_review else "no review needed", fg="yellow" if risk.needs_review else "green")
    put(f"  {message('why: {why}', why=translate(risk.reason))}")
    if record.confidence is not None:
        put(f"  {message('confidence: {confidence}', confidence=f'{record.confidence:g}')}")
    if record.most_likely_wrong is not None:
        echo(f"  most likely wrong: {record.most_likely_wrong.surface}: {record.most_likely_wrong.description}")
    if record.known_not_in_diff is not None:
        echo(f"  known, not in the diff: {record.known_not_in_diff}")
    if record.provenance.degraded:
        echo("  degraded: some input was missing or unreadable", fg="yellow")

"""What the analyses share: options, progress, and the output of a result after its kill condition."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click
import msgspec

from loopwright.analysis.history import Progress
from loopwright.analysis.markdown import body, kill_line
from loopwright.analysis.preregistered import Experiment
from loopwright.cli.language import message
from loopwright.cli.lazy import load
from loopwright.cli.options import echo, echo_json, in_context
from loopwright.errors import Interrupted, WrongUsage
from loopwright.kernel.codec import to_builtins
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.verbs.experiments import Analysed, AnalysisRequest

_F = TypeVar("_F", bound=Callable[..., Any])


class Output(msgspec.Struct, frozen=True):
    """How a result is printed and drawn."""

    as_json: bool
    plot: Path | None
    # `analyze all` prints several results as one document.
    quiet: bool = False


def analysing(command: Callable[..., Any]) -> Callable[..., Any]:
    """--format, --plot, --no-record, --project-root and --json.

    The command gets the context, the request (with the options of `within`) and the output.
    """

    @wraps(command)
    def call(context: Context, form: str, as_json: bool, plot: Path | None, **options: Any) -> None:
        request = {name: options.pop(name) for name in AnalysisRequest.__struct_fields__ if name in options}
        command(context, AnalysisRequest(**request), _output_of(form, as_json, plot), **options)

    for decorate in (
        click.option(
            "--no-record", "record", flag_value=False, default=True, help="Do not record the result in the workspace."
        ),
        click.option("--plot", type=click.Path(path_type=Path), help="Draw the result to this .svg or .png file."),
        click.option(
            "--format",
            "form",
            type=click.Choice(["markdown", "json"]),
            default="markdown",
            show_default=True,
            help="Output format.",
        ),
    ):
        decorate(call)
    return in_context(call)


def within(command: _F) -> _F:
    """--range, --since and --until."""
    command = click.option("--until", metavar="WHEN", help="Ignore everything newer.")(command)
    command = click.option("--since", metavar="WHEN", help="Ignore everything older: 2026-01-31, or '90 days'.")(
        command
    )
    return click.option(
        "--range",
        "revision",
        metavar="REVISIONS",
        default="HEAD",
        show_default=True,
        help="Revisions to read, such as v1.0..HEAD.",
    )(command)


def _output_of(form: str, as_json: bool, plot: Path | None) -> Output:
    """Check the output options before the work starts, and end cleanly on a signal from now on.

    That includes signals that a shell ignores for background jobs: `run` does the same.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    if plot is not None:
        if plot.suffix.lower() not in (".svg", ".png"):
            raise WrongUsage(f"--plot {shown(plot)} is not a .svg or .png file", hint="use a .svg or .png file")
        load("loopwright.verbs.calibration")
    return Output(as_json or form == "json", plot)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(signal.Signals(number).name, hint="nothing was recorded; run the command again")


def announce(question: Experiment, output: Output) -> None:
    """Print the kill condition before the analysis reads anything."""
    if not output.as_json:
        echo(kill_line(question))
        echo()
        sys.stdout.flush()


def progress(output: Output) -> Progress | None:
    """A counter of commits, if standard error is a terminal."""
    if output.as_json or not sys.stderr.isatty():
        return None
    return lambda count: click.echo("\r  " + message("{count} commits read", count=f"{count:,}"), nl=False, err=True)


def show(analysed: Analysed, output: Output) -> None:
    """Print or draw the result, and say where it was recorded."""
    if output.as_json and not output.quiet:
        echo_json(as_record(analysed))
    elif not output.as_json:
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)
        echo(body(analysed.result, analysed.titles).rstrip())
        recorded = analysed.recorded
        echo(f"recorded: {shown(recorded)}" if recorded else f"not recorded: {analysed.why_not_recorded}")
    if output.plot is not None:
        load("loopwright.verbs.calibration").plot(analysed.result, output.plot)
        if not output.as_json:
            echo(f"drawn: {shown(output.plot)}")


def as_record(analysed: Analysed) -> dict[str, Any]:
    """The result for programs; the kill condition is its first field."""
    result: Any = to_builtins(analysed.result)
    return {**result, "recorded": str(analysed.recorded) if analysed.recorded else None}

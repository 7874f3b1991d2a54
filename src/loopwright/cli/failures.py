"""Reports errors to people and to programs."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from itertools import pairwise

import click

from loopwright.cli.language import translate
from loopwright.cli.lazy import load
from loopwright.errors import Interrupted, LoopRefused, LoopwrightError, WorkflowRefused
from loopwright.exit_codes import ExitCode, exit_code_of
from loopwright.kernel.cells import neutralised

_JSON_FORMAT = (("--format", "json"),)


def wants_json(arguments: list[str]) -> bool:
    """Whether the caller asked for JSON. The arguments are searched, because parsing them may have failed."""
    is_format = "--format=json" in arguments or any(pair in _JSON_FORMAT for pair in pairwise(arguments))
    return "--json" in arguments or is_format


def report_error(problem: LoopwrightError, *, as_json: bool) -> int:
    """Print an error to standard error and return its exit code."""
    if isinstance(problem, WorkflowRefused):
        echo_failure(problem.error, problem.message, problem.hint, as_json=as_json, blockers=problem.blockers)
        return ExitCode.FAILED
    if isinstance(problem, LoopRefused) and as_json:
        record = {"ok": False, "error": problem.code, "blocker": problem.blocker, "message": _clean(problem.message)}
        sys.stderr.write(json.dumps({**record, "next": _clean(problem.hint)}, ensure_ascii=False) + "\n")
        return exit_code_of(problem.code)
    echo_failure(problem.code, problem.message, problem.hint, as_json=as_json)
    return exit_code_of(problem.code, problem.signal_name if isinstance(problem, Interrupted) else None)


def report_click(problem: click.ClickException, *, as_json: bool) -> int:
    """Print a usage error, or the help of a group that was called without a command, and return 2."""
    if isinstance(problem, click.exceptions.NoArgsIsHelpError):
        click.echo(problem.format_message(), err=True)
        return ExitCode.WRONG_USAGE
    context = problem.ctx if isinstance(problem, click.UsageError) else None
    command_path = "loopwright" if context is None else context.command_path
    hint = f"`{command_path} --help` shows the usage"
    echo_failure("WRONG_USAGE", problem.format_message(), hint, as_json=as_json)
    return ExitCode.WRONG_USAGE


def report_bug(bug: Exception, *, as_json: bool) -> int:
    """Print that Loopwright itself failed. The traceback goes to a file that only the user can read."""
    try:
        path = keep_traceback(bug)
        hint = f"report it with {path}"
    except OSError:
        hint = "report it; the file with the details could not be written"
    echo_failure("INTERNAL_ERROR", f"{type(bug).__name__} in loopwright itself", hint, as_json=as_json)
    return ExitCode.FAILED


def keep_traceback(bug: Exception) -> str:
    """Write the traceback for developers to a file, and return its path."""
    handle, path = tempfile.mkstemp(prefix="loopwright-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as report:
        report.write("".join(traceback.format_exception(bug)))
    return path


def _clean(text: str) -> str:
    """The text without secrets: a message may quote an argument, a file's name or a variable."""
    cleaned: str = load("loopwright.cli.screening").without_secrets(text)
    return cleaned


def echo_failure(
    code: str, message: str, hint: str, *, as_json: bool, blockers: tuple[tuple[str, str, str], ...] = ()
) -> None:
    """Print one failure with all blockers, as text or as JSON."""
    message, hint = _clean(message), _clean(hint)
    blockers = tuple((name, _clean(why), _clean(way_on)) for name, why, way_on in blockers)
    if as_json:
        listed = [{"code": name, "message": why, "next": way_on} for name, why, way_on in blockers]
        record = {"ok": False, "error": code, "message": message, "blockers": listed, "next": hint}
        sys.stderr.write(json.dumps(record, ensure_ascii=False) + "\n")
        return
    for name, why, _ in blockers:
        click.echo(f"  {click.style(name, fg='yellow')}: {neutralised(translate(why))}", err=True)
    label = click.style(f"{code}:", fg="red", bold=True)
    click.echo(f"{label} {neutralised(translate(message))}", err=True)
    if hint:
        click.echo(f"  → {neutralised(translate(hint))}", err=True)

"""`loopwright run, unlatch`, and how commands show a run and stop on signals."""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from loopwright.cli.failures import echo_failure
from loopwright.cli.options import (
    command_with_examples,
    echo,
    echo_json,
    in_context,
    setting_option,
    with_sandbox_root,
)
from loopwright.cli.progress import json_progress, plain_progress
from loopwright.exit_codes import exit_code_of
from loopwright.kernel.process import Cancellation
from loopwright.runner.events import Listener
from loopwright.stages.context import Context
from loopwright.verbs.run import RunOptions, RunReport, run, unlatch, watch

_SHOWN_LINES = 12


@command_with_examples("""
  loopwright run                                 the plan of the workspace
  loopwright run --plan plan.yaml --jobs 4       another plan, up to four steps at a time
  loopwright run --isolation strict              no network, no home folder, no writes outside the sandbox
  loopwright run --replan-with scripted:t.yaml   after a failure, let an agent write a new plan
  loopwright run --json | jq .type               events as JSON, as they happen
""")
@click.option("--plan", type=click.Path(path_type=Path), help="Plan file; default: the plan of the workspace.")
@setting_option(
    "--mode", "sandbox.mode", type=click.Choice(["auto", "worktree", "copy"]), help="How the sandbox is created."
)
@with_sandbox_root
@setting_option(
    "--jobs",
    "run.jobs",
    type=click.IntRange(1, 256),
    help="Number of independent steps that run at the same time.",
)
@setting_option(
    "--isolation", "sandbox.isolation", type=click.Choice(["none", "auto", "strict"]), help="Isolation of the steps."
)
@setting_option("--keep", "sandbox.keep", is_flag=True, default=None, help="Keep the sandbox folder after the run.")
@click.option("--replan-with", metavar="AGENT", help="After a failure, let this agent write a new plan, and run it.")
@setting_option(
    "--max-retries", "run.max_retries", type=click.IntRange(1, 100), help="Limit of new plans with --replan-with."
)
@click.option("--watch", "watching", is_flag=True, help="Run again whenever the plan changes; respects the latch.")
@in_context
def run_command(context: Context, plan: Path | None, replan_with: str | None, watching: bool, as_json: bool) -> int:
    """Run the plan in a sandbox and record evidence.

    Your checkout stays unchanged: steps work in a private copy, and their changes are kept as a patch. The first
    failure stops the run, writes a blocker card and latches the workspace: no further run until you type
    `loopwright unlatch`.

    A run is not judged: its exit code says how the steps ended, not whether work is done.

    Exit codes: 0 all steps passed; 14 a new plan of --replan-with passed without steps that had failed; 1 failed.
    """
    request = RunOptions(plan=plan.absolute() if plan else None, replan_with=replan_with)
    with stopping_on_signals() as cancellation:
        if not watching:
            with progress(as_json) as listener:
                report = run(context, request, listener, cancellation)
            return _finish(report, as_json)
        for report in watch(context, request, lambda: progress(as_json), cancellation):
            _finish(report, as_json)
        return exit_code_of("INTERRUPTED", cancellation.reason)


@contextmanager
def progress(as_json: bool) -> Iterator[Listener]:
    """The listener for JSON, a terminal or a pipe."""
    if as_json:
        yield json_progress
    elif sys.stdout.isatty():
        # Imported only for a terminal: the import takes longer than all the rest of the start.
        with importlib.import_module("loopwright.cli.live").LiveProgress() as live:
            yield live
    else:
        yield plain_progress


@contextmanager
def stopping_on_signals() -> Iterator[Cancellation]:
    """Turn SIGINT, SIGTERM and SIGHUP into a request to stop cleanly."""
    cancellation = Cancellation()

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        # A closed terminal counts as SIGTERM.
        cancellation.request("SIGINT" if number == signal.SIGINT else "SIGTERM")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield cancellation
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        cancellation.close()


def _finish(report: RunReport, as_json: bool) -> int:
    if report.failure is None:
        return 0
    message = report.failure.message.text
    tail = report.failure.log_tail
    if not as_json and tail is not None and tail.data.strip():
        for line in tail.text.splitlines()[-_SHOWN_LINES:]:
            echo(f"  │ {line}", dim=True)
    echo_failure(report.failure.code, message, report.failure.hint, as_json=as_json)
    return exit_code_of(report.failure.code, report.failure.signal)


@command_with_examples("""
  loopwright unlatch && loopwright run
""")
@in_context
def unlatch_command(context: Context, as_json: bool) -> None:
    """Show why the workspace is latched, and unlatch it. For people only: agents are refused."""
    latch = unlatch(context)
    if as_json:
        fields = ("run_id", "created_at", "reason", "pid")
        echo_json({"ok": True, "latch": {name: getattr(latch, name) for name in fields} if latch else None})
    elif latch is None:
        echo("the workspace was not latched")
    else:
        echo(f"latched by run {latch.run_id} at {latch.created_at}")
        echo(f"  {latch.reason}")
        echo(f"  blocker card: {context.layout.blocker}")
        echo("unlatched; run the plan again with `loopwright run`", fg="green")

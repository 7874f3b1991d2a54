"""The entry point of `loopwright`. Commands are imported when they are called, so that `--help` is quick."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Any

import click

from loopwright.cli.failures import keep_traceback, report_bug, report_click, report_error, wants_json
from loopwright.cli.help_formatter import TranslatedFormatter
from loopwright.cli.lazy import LazyCommands
from loopwright.cli.streams import discard_output, flush_output, open_closed_streams, output_failed
from loopwright.errors import LoopwrightError
from loopwright.exit_codes import MEANINGS, ExitCode
from loopwright.version import VERSION

# Name -> (module, help text); in the order in which a new user needs them.
COMMANDS: dict[str, tuple[str, str]] = {
    "do": ("workflow.do:do_command", "From an idea to a reviewed diff, in one command."),
    "init": ("init:init_command", "Make this project a workspace and write a first plan."),
    "clarify": ("workflow.stages:clarify_command", "Turn an idea into a spec, one question at a time."),
    "answer": ("workflow.stages:answer_command", "Answer an open question or decision."),
    "plan": ("workflow.stages:plan_command", "Turn a spec into slices, checks and a spec delta."),
    "build": ("workflow.build:build_command", "Build an approved plan in a sandbox and run its checks."),
    "review": ("workflow.stages:review_command", "Review the built change by its evidence and its risk."),
    "sign": ("workflow.decisions:sign_command", "Sign off a slice, or a change to a protected file."),
    "approve": ("workflow.decisions:approve_command", "Approve one transition of a workflow."),
    "reject": ("workflow.decisions:reject_command", "Reject one transition of a workflow, with a reason."),
    "context": ("workflow.context", "Manage notes on the project that agents read."),
    "autopilot": ("workflow.build:autopilot_command", "Run all stages, with the approvals that your policy allows."),
    "import": ("workflow.imports", "Import a workspace of loopx, Claude Code Workflow or OpenSpec."),
    "undo": ("workflow.decisions:undo_command", "Undo a delivered change."),
    "archive": ("workflow.stages:archive_command", "Merge a finished change into the living specs."),
    "specs": ("specs", "List, show and verify the living specs."),
    "status": ("status:status_command", "Show all work, what blocks it, and the next command."),
    "next": ("status:next_command", "Show the exact command for everything that waits for you."),
    "run": ("run:run_command", "Run the plan in a sandbox and record evidence."),
    "verify": ("verify:verify_command", "Check that recorded evidence was not changed."),
    "rerun": ("verify:rerun_command", "Repeat a recorded run and compare the results."),
    "risk": ("risk", "Show whether the current change needs independent review."),
    "unlatch": ("run:unlatch_command", "Show why the workspace is latched, and unlatch it."),
    "analyze": ("analyze.group", "Test whether agents' self-reports deserve trust."),
    "explain": ("explain", "Explain error codes, needs, secrets, settings and more."),
    "prompts": ("prompts", "List, show and customise the prompts for agents."),
    "settings": ("init:settings_command", "Show every setting and where its value comes from."),
    "doctor": ("upkeep:doctor_command", "Check this machine and this workspace; --fix repairs."),
    "selftest": ("upkeep:selftest_command", "Check with a tiny plan that Loopwright works on this machine."),
    "loop": ("loop.group", "Work towards a goal in iterations: new, task, pause, resume, stop …"),
    "reflect": ("reflect", "Record a reflection on the current work; list, show and export reflections."),
    "install": ("install:install_command", "Connect an agent: hooks, skills, instructions, MCP server."),
    "uninstall": ("install:uninstall_command", "Remove what install added."),
    # The MCP server is a package next to this one: the import by name keeps the two packages independent.
    "mcp": ("loopwright.mcp_server.command", "Serve the tools that agents use (Model Context Protocol)."),
    "gc": ("upkeep:gc_command", "Remove old runs and sandboxes."),
    "completion": ("completion", "Print the completion script for your shell."),
}

_EPILOG = f"""\b
Start here:
  loopwright do IDEA     lets an agent make a small change, and shows you the judged diff
  loopwright init        writes settings and a first plan for your project
  loopwright run         runs the plan in a sandbox; your checkout stays unchanged
  loopwright verify      checks the recorded evidence

Exit codes: {"; ".join(f"{code} {meaning}" for code, meaning in MEANINGS.items())}.
"""


@click.group(
    cls=LazyCommands,
    table=COMMANDS,
    package="loopwright.cli",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="loopwright")
def loopwright() -> None:
    """Run coding agents in loops that people can trust.

    Plans run in a sandbox. Exit codes decide whether a step passed. Each run records evidence that you
    can check and repeat.
    """


click.Context.formatter_class = TranslatedFormatter


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with the contract's code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    open_closed_streams()
    code = _run(arguments)
    failed = flush_output()
    if failed is not None:
        code = report_error(failed, as_json=wants_json(arguments))
    # Everything is closed and on disk by now: an orderly end of the interpreter would only take time.
    os._exit(code)


def _run(arguments: list[str]) -> int:
    """The exit code of a command. A failure while reporting a failure is reported too, never as a traceback."""
    try:
        return _run_and_report(arguments)
    except KeyboardInterrupt:
        return ExitCode.SIGINT
    except Exception as bug:  # noqa: BLE001 -- the code that reports failures may have bugs, too
        return _report_plainly(bug)


def _report_plainly(bug: Exception) -> int:
    """Print that the report of a failure failed: in English, without code that could fail in the same way."""
    with suppress(Exception):
        sys.stderr.write(f"INTERNAL_ERROR: {type(bug).__name__} in loopwright itself\n")
        sys.stderr.write(f"  -> report it with {keep_traceback(bug)}\n")
    return 1


def _run_and_report(arguments: list[str]) -> int:
    try:
        result: Any = loopwright.main(arguments, prog_name="loopwright", standalone_mode=False)
    except LoopwrightError as problem:
        return report_error(problem, as_json=wants_json(arguments))
    except click.ClickException as problem:
        return report_click(problem, as_json=wants_json(arguments))
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.SIGINT
    except BrokenPipeError:
        # The reader of the pipe is gone; the work is done.
        discard_output()
        return 0
    except SystemExit as stop:
        # On a closed pipe click wraps standard output and exits with 1; the exit code is 0, as above.
        return 0 if sys.stdout is not sys.__stdout__ else int(stop.code or 0)
    except OSError as problem:
        if (failed := output_failed(problem)) is not None:
            discard_output()
            return report_error(failed, as_json=wants_json(arguments))
        if problem.errno != errno.EIO or problem.filename is not None:
            return report_bug(problem, as_json=wants_json(arguments))
        # The terminal was closed, and nothing can be printed any more. That counts as SIGTERM.
        discard_output()
        return ExitCode.SIGTERM
    except Exception as bug:  # noqa: BLE001 -- a person gets a sentence, never a traceback
        return report_bug(bug, as_json=wants_json(arguments))
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    main()

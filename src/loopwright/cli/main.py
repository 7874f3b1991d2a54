"""The entry of `loopwright`. Commands are loaded when they are called, so that `--help` is quick."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Any

import click

from loopwright.cli.failures import keep_traceback, report_bug, report_click, report_error, wants_json
from loopwright.cli.lazy import LazyCommands
from loopwright.cli.spoken_help import SpokenFormatter
from loopwright.errors import LoopwrightError
from loopwright.version import VERSION

# name -> (module, what --help says about it); in the order in which a newcomer meets them.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init:init_command", "Make this project a workspace, and write a first plan."),
    "clarify": ("workflow.stages:clarify_command", "Make an idea clear enough to plan: one question a round."),
    "answer": ("workflow.stages:answer_command", "Answer an open question or decision."),
    "plan": ("workflow.plan", "Make slices, checks and a spec delta of a spec."),
    "build": ("workflow.build:build_command", "Build an approved plan in a sandbox, judged by its checks."),
    "review": ("workflow.stages:review_command", "Judge what was built, by evidence and by the risk floor."),
    "sign": ("workflow.decisions:sign_command", "Stand for a slice, or for a judge that the work changed."),
    "approve": ("workflow.decisions:approve_command", "Consent to one transition of a workflow."),
    "reject": ("workflow.decisions:reject_command", "Refuse one transition, and say why."),
    "context": ("workflow.context", "Notes on the project that agents are told to read."),
    "autopilot": ("workflow.build:autopilot_command", "All stages in a row, by the consents that the policy allows."),
    "import": ("workflow.imports", "Take over a workspace of loopx, Claude Code Workflow or OpenSpec."),
    "undo": ("workflow.decisions:undo_command", "Take a delivered change back."),
    "archive": ("workflow.stages:archive_command", "Merge a change that is done into the living specs."),
    "specs": ("specs", "The living specs: list, show, and verify that they still hold."),
    "status": ("status:status_command", "How the work stands, what blocks, and what to type."),
    "next": ("status:next_command", "What should I do now? The exact command."),
    "run": ("run:run_command", "Run the plan in a sandbox and leave evidence."),
    "verify": ("verify:verify_command", "Recompute evidence and name what does not match."),
    "rerun": ("verify:rerun_command", "Run a recorded plan on its recorded base again, and compare."),
    "risk": ("risk", "Say whether the current change needs independent review."),
    "unlatch": ("run:unlatch_command", "Show why the workspace is latched, and unlatch it."),
    "analyze": ("analyze.group", "Experiments: do self-reports deserve trust? And the gate on them."),
    "explain": ("explain", "Explain error codes, needs, secrets, settings and more."),
    "prompts": ("prompts", "What agents are told: list, show, and copy a text to make it yours."),
    "settings": ("init:settings_command", "Show every setting and where its value comes from."),
    "doctor": ("upkeep:doctor_command", "Check this machine and this workspace; --fix repairs."),
    "selftest": ("upkeep:selftest_command", "Run a tiny plan and check this machine against the contract."),
    "loop": ("loop.group", "Work towards a goal in iterations: new, task, pause, resume, stop …"),
    "reflect": ("reflect", "Take a reflection now; list, show and export them."),
    "install": ("install:install_command", "Let an agent work with this: hooks, skills, instructions, MCP server."),
    "uninstall": ("install:uninstall_command", "Take out again what install put in."),
    # A face of its own, beside this one: it is reached by its name, and nothing of ours imports it.
    "mcp": ("loopwright.mcp_server.command", "Serve the tools that agents use (Model Context Protocol)."),
    "gc": ("upkeep:gc_command", "Remove old runs and sandboxes."),
    "completion": ("completion", "Print the completion script for your shell."),
}

_EPILOG = """\b
Start here:
  loopwright init        in your project: settings and a first plan
  loopwright run         runs the plan; your checkout is not touched
  loopwright verify      checks what was recorded

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 10 review needed, 13 evidence does not match,
98 sandbox escape, 99 secret leak, 130 and 143 interrupted. `loopwright explain exit-codes` has all.
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

    A plan runs in a sandbox, is judged by exit codes alone, and leaves evidence that anyone can check
    and repeat.
    """


_TERMINATED = 143
click.Context.formatter_class = SpokenFormatter


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with the contract's code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that knows few characters gets the others as escapes, not an error in place of an answer.
        sys.stdout.reconfigure(errors="backslashreplace")
    code = _run(sys.argv[1:] if arguments is None else arguments)
    with suppress(OSError):  # a pipe that is closed, a terminal that has gone
        sys.stdout.flush()
        sys.stderr.flush()
    # Everything is closed and on disk by now: taking the interpreter apart would only take time.
    os._exit(code)


def _run(arguments: list[str]) -> int:
    """The exit code of a command. What fails while a failure is reported is a sentence, too, never a traceback."""
    try:
        return _run_and_report(arguments)
    except KeyboardInterrupt:
        return 130
    except Exception as bug:  # noqa: BLE001 -- the reports below are code of ours, and may have bugs like all code
        return _report_plainly(bug)


def _report_plainly(bug: Exception) -> int:
    """Print that reporting a failure failed: in English, by nothing that could fail in the same way."""
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
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; what we did is done.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as stop:
        # click answers a closed pipe by wrapping standard output and exiting with 1; ours is the answer above.
        return 0 if sys.stdout is not sys.__stdout__ else int(stop.code or 0)
    except OSError as problem:
        if problem.errno != errno.EIO or problem.filename is not None:
            return report_bug(problem, as_json=wants_json(arguments))
        # The terminal has gone, and nobody reads what we would say of it; the signal for that is as good as SIGTERM.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _TERMINATED
    except Exception as bug:  # noqa: BLE001 -- the last line of defence: a person gets a sentence, not a traceback
        return report_bug(bug, as_json=wants_json(arguments))
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    main()

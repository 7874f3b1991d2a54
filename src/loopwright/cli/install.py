"""`loopwright install, uninstall`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from loopwright.agents.harness import HARNESSES
from loopwright.cli.options import command_with_examples, echo, echo_json, in_context, put
from loopwright.errors import WrongUsage
from loopwright.install.apply import FileChange, InstallReport
from loopwright.install.model import Part, Scope
from loopwright.stages.context import Context
from loopwright.verbs.install import install, uninstall


def for_agent(command: Callable[..., Any]) -> Callable[..., Any]:
    """--agent, --scope (or --project, --user), --what, --dry-run."""
    options = (
        click.option("--agent", type=click.Choice(list(HARNESSES)), required=True, help="Agent to connect."),
        click.option(
            "--scope", type=click.Choice([scope.value for scope in Scope]), default="project", show_default=True,
            help="For this project, or for all your projects.",
        ),
        click.option("--project", "scope", flag_value="project", help="Same as --scope project."),
        click.option("--user", "scope", flag_value="user", help="Same as --scope user."),
        click.option(
            "--what", default=",".join(Part), show_default=True, metavar="PARTS", help="Parts, separated by commas."
        ),
        click.option("--dry-run", is_flag=True, help="Show the changes without making them."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@command_with_examples("""
  loopwright install --agent claude                           for this project
  loopwright install --agent claude --scope user              for all your projects
  loopwright install --agent codex --what skills,mcp --dry-run
                                                              show the changes without making them
  REFLECTION_MODE=solo claude                                 a session that records reflections
  loopwright doctor                                           shows what is installed, and whether it is current
""")
@for_agent
@in_context
def install_command(context: Context, agent: str, scope: str, what: str, dry_run: bool, as_json: bool) -> None:
    """Let an agent work with Loopwright: add hooks, skills, an instruction block and the MCP server to its settings.

    Your other settings stay unchanged, and so does anything from `install` that you edited. The reflection hook does
    nothing until REFLECTION_MODE is solo or orchestrated. The stop gate acts only on agents of a build.
    """
    done = install(context, agent, Scope(scope), parts=parts_in(what), dry_run=dry_run)
    report(done, as_json=as_json, dry_run=dry_run)


def parts_in(text: str) -> tuple[Part, ...]:
    """The parts in a list with commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in list(Part)]
    if unknown or not names:
        raise WrongUsage(
            f"--what names an unknown part: '{', '.join(unknown)}'" if unknown else "--what names no part",
            hint=f"use one or more of: {', '.join(Part)}",
        )
    return tuple(Part(name) for name in names)


def report(done: InstallReport, *, as_json: bool, dry_run: bool, takes_out: bool = False) -> None:
    """Print each change as a diff; print a file that is added or removed as a whole as one line."""
    if as_json:
        echo_json(_document(done, dry_run=dry_run))
        return
    for item in done.items:
        if item.is_changed:
            _put_diff(item)
            echo(_outcome(item, dry_run=dry_run, takes_out=takes_out))
    if not done.is_changed:
        echo(f"{done.agent}: nothing to change")
    for note in (*(item.left for item in done.items if item.left), *done.notes):
        echo(f"note: {note}", fg="yellow")


def _put_diff(item: FileChange) -> None:
    lines = item.diff.splitlines()
    # The diff of a whole skill tells no more than its name.
    signs = {line[:1] for line in lines[2:]} & {"+", "-"}
    if item.part is Part.SKILLS and len(signs) == 1:
        return
    for line in lines:
        put(line, fg={"+": "green", "-": "red"}.get(line[:1]))


def _outcome(item: FileChange, *, dry_run: bool, takes_out: bool) -> str:
    match takes_out, dry_run:
        case False, False:
            return f"installed: {item.path} ({item.part})"
        case False, True:
            return f"would be installed: {item.path} ({item.part})"
        case True, False:
            return f"removed: {item.path} ({item.part})"
        case _:
            return f"would be removed: {item.path} ({item.part})"


def _document(done: InstallReport, *, dry_run: bool) -> dict[str, Any]:
    return {
        "agent": done.agent,
        "scope": done.scope.value,
        "changed": done.is_changed and not dry_run,
        "would_change": done.is_changed,
        "items": [
            {
                "what": item.part.value, "path": item.path, "state": item.state.value,
                "changed": item.is_changed and not dry_run, "would_change": item.is_changed, "diff": item.diff,
                "left": item.left or None,
            }
            for item in done.items
        ],
        "notes": list(done.notes),
    }  # fmt: skip


@command_with_examples("""
  loopwright uninstall --agent claude
  loopwright uninstall --agent claude --what mcp
  loopwright uninstall --agent claude --scope user --dry-run
""")
@for_agent
@in_context
def uninstall_command(context: Context, agent: str, scope: str, what: str, dry_run: bool, as_json: bool) -> None:
    """Remove what `install` added. Everything else stays, and so does anything from `install` that you edited."""
    done = uninstall(context, agent, Scope(scope), parts=parts_in(what), dry_run=dry_run)
    report(done, as_json=as_json, dry_run=dry_run, takes_out=True)

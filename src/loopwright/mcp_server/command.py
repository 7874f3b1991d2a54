"""`loopwright mcp`: serves the tools over standard input and output."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType

import click

from loopwright.agents.mailbox import MAILBOX
from loopwright.mcp_server import mailbox, workspace
from loopwright.mcp_server.model import Offer
from loopwright.mcp_server.session import Session
from loopwright.mcp_server.stdio import Server
from loopwright.wiring.build import build_context

_EPILOG = """\b
Examples:
  loopwright install --agent claude --what mcp      lets Claude Code start it
  loopwright mcp                                    as an agent's settings name it
  loopwright mcp --list                             what an agent can ask for

\b
There is no tool that approves, rejects, signs, answers, unlatches or archives: those are a person's.
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--project-root", type=click.Path(path_type=Path), default=Path(), show_default=".",
    help="Project folder. Parent folders are searched for a workspace, up to the top of the git repository.",
)  # fmt: skip
@click.option("--list", "lists", is_flag=True, help="Print the tools and end.")
@click.option("--json", "as_json", is_flag=True, help="With --list: as JSON, with the schemas.")
def command(project_root: Path, lists: bool, as_json: bool) -> int:
    """Serve the tools that agents use, by the Model Context Protocol over standard input and output.

    An agent starts it. Inside of a turn that we let an agent take it works from the turn's mailbox.
    """
    session = Session(_offer(project_root))
    if lists:
        return _say(session, as_json=as_json)
    if sys.stdin.isatty():
        click.echo(
            "an agent starts this and speaks JSON to it; --list shows what it can ask for, Ctrl-D ends", err=True
        )
    # Standard output belongs to the protocol alone: whatever else prints goes where people look.
    sink = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = Server(session, sys.stdin.fileno(), sink)
    stopped: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        stopped.append(number)
        server.stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    server.serve()
    return 128 + stopped[0] if stopped else 0


def _offer(project_root: Path) -> Offer:
    context = build_context(project_root, {})
    folder = os.environ.get(MAILBOX)
    if folder:
        return mailbox.offer_of(Path(folder), os.environ, context.tools().redactor)
    return workspace.offer_of(context)


def _say(session: Session, *, as_json: bool) -> int:
    found = session.tools()
    if as_json:
        click.echo(json.dumps({"tools": found}, ensure_ascii=False, indent=2))
        return 0
    for tool in found:
        click.echo(f"{tool['name']:<18}{tool['description']}")
    return 0

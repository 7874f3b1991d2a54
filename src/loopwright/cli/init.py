"""`loopwright init`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.language import words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.verbs.init import init

_EPILOG = """\b
Examples:
  cd my-project && loopwright init
  loopwright init --layout interop     share plan, blocker and latch with other tools
"""


@click.command(epilog=_EPILOG)
@click.option("--layout", type=click.Choice(["unified", "interop"]), help="Arrangement on disk.")
@in_workspace
def command(layout: str | None, project_root: Path, as_json: bool) -> int:
    """Make this project a workspace: settings that fit it, and a first plan. Nothing is overwritten.

    Inside a git repository the top of the repository becomes the workspace, even if a folder above it is one. To make
    a workspace of a folder below the top, create the folder `.loopwright` there first.
    """
    done = init(context_of(project_root, {("workspace", "layout"): layout}))
    if as_json:
        say_json(
            {
                "ok": True,
                "root": str(done.root),
                "written": [str(path) for path in done.written],
                "kept": [str(path) for path in done.kept],
                "provide": list(done.detected.provide),
                "setup": list(done.detected.setup),
                "test_command": done.detected.test_command,
            }
        )
        return 0
    for path in done.written:
        say(f"wrote {path}")
    for path in done.kept:
        say(f"left as it is: {path}")
    detected = done.detected
    say(f"test command: {detected.test_command or 'none found; edit the plan'}")
    if detected.provide:
        say(f"mounted read-only into sandboxes: {', '.join(detected.provide)}")
    if detected.setup:
        say(f"set up in each sandbox: {', '.join(detected.setup)}")
    put(words("next: `loopwright run`"), fg="green")
    return 0

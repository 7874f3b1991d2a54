"""`loopwright init`."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from loopwright.cli.language import words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.verbs.init import init, settings

_INIT_EXAMPLES = """\b
Examples:
  cd my-project && loopwright init
  loopwright init --layout interop     share plan, blocker and latch with other tools
"""


@click.command(epilog=_INIT_EXAMPLES)
@click.option("--layout", type=click.Choice(["unified", "interop"]), help="Arrangement on disk.")
@in_workspace
def init_command(layout: str | None, project_root: Path, as_json: bool) -> int:
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


_SETTINGS_EXAMPLES = """\b
Examples:
  loopwright settings                       every value with its origin
  loopwright settings --changed             only what is not a default
  LOOPWRIGHT_RUN_JOBS=4 loopwright settings --json
"""


@click.command(epilog=_SETTINGS_EXAMPLES)
@click.option("--changed", is_flag=True, help="Only settings that are not defaults.")
@in_workspace
def settings_command(changed: bool, project_root: Path, as_json: bool) -> int:
    """Show every setting and where its value comes from.

    Later wins: defaults, your own config.toml, the workspace's config.toml, LOOPWRIGHT_<SECTION>_<KEY>, flags.
    """
    context = context_of(project_root)
    clean = context.tools().redactor.clean
    listed = [one for one in settings(context) if not changed or one.origin != "default"]
    if as_json:
        # A setting may hold a command or an address with a secret in it.
        text = json.dumps([{**msgspec.structs.asdict(one), "value": _plain(one.value)} for one in listed], indent=2)
        click.echo(clean(text).text)
        return 0
    width = max((len(f"{one.section}.{one.key}") for one in listed), default=0)
    for one in listed:
        name = f"{one.section}.{one.key}".ljust(width)
        put(f"{name}  {_short(clean(_spelled(one.value)).text)}  ({one.origin})")
    return 0


def _plain(value: object) -> object:
    return msgspec.to_builtins(value)


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(_plain(value))


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "..."

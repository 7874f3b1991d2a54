"""`loopwright settings`."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from loopwright.cli.options import context_of, in_workspace, put
from loopwright.verbs.settings import settings

_EPILOG = """\b
Examples:
  loopwright settings                       every value with its origin
  loopwright settings --changed             only what is not a default
  LOOPWRIGHT_RUN_JOBS=4 loopwright settings --json
"""


@click.command(epilog=_EPILOG)
@click.option("--changed", is_flag=True, help="Only settings that are not defaults.")
@in_workspace
def command(changed: bool, project_root: Path, as_json: bool) -> int:
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

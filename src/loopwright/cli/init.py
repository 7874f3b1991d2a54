"""`loopwright init, settings`."""

from __future__ import annotations

import json

import click
import msgspec

from loopwright.cli.language import message, translate
from loopwright.cli.options import (
    command_with_examples,
    echo,
    echo_json,
    in_context,
    put,
    setting_option,
)
from loopwright.stages.context import Context
from loopwright.verbs.init import has_own_settings, init, reachable_session, settings


@command_with_examples("""
  cd my-project && loopwright init
  loopwright init --layout interop     store plan, blocker and latch where other tools look for them
""")
@setting_option(
    "--layout",
    "workspace.layout",
    type=click.Choice(["unified", "interop"]),
    help="Where files are stored; see `loopwright explain settings`.",
)
@in_context
def init_command(context: Context, as_json: bool) -> None:
    """Make this project a workspace: write settings that fit it, and a first plan. Existing files stay unchanged.

    In a git repository, the workspace is the top folder of the repository, even if a parent folder is a workspace. To
    use a subfolder as a workspace, create the folder `.loopwright` in it first.
    """
    done = init(context, allows_weak=not as_json and accepts_weak_isolation(context))
    if as_json:
        echo_json(
            {
                "ok": True,
                "root": str(done.root),
                "written": [str(path) for path in done.written],
                "kept": [str(path) for path in done.kept],
                "provide": list(done.detected.provide),
                "setup": list(done.detected.setup),
                "test_command": done.detected.test_command,
                "source": list(done.files.source),
                "unknown": list(done.files.unknown),
            }
        )
        return
    for path in done.written:
        echo(f"wrote {path}")
    for path in done.kept:
        echo(f"unchanged: {path}")
    detected = done.detected
    echo(f"test command: {detected.test_command or 'none found; set project.test_command in config.toml'}")
    echo(f"source, which the work may change: {', '.join(done.files.source) or 'none found'}")
    if done.files.unknown:
        echo(f"folders that may be source or judge it: {', '.join(done.files.unknown)}")
        echo("  protected until you add them to project.source, or a plan names them in its scope")
    if detected.provide:
        echo(f"mounted read-only into sandboxes: {', '.join(detected.provide)}")
    if detected.setup:
        echo(f"run in each new sandbox: {', '.join(detected.setup)}")
    put(message("next: `loopwright run`"), fg="green")


def accepts_weak_isolation(context: Context) -> bool:
    """Ask once, before the settings are written; only if a person is there and the isolation is weak."""
    if not context.is_attended or has_own_settings(context):
        return False
    reachable = reachable_session(context)
    if not reachable:
        return False
    names = ", ".join(str(translate(name)) for name in reachable)
    put(message("the isolation on this machine is weak: an agent could reach {names} of your session", names=names))
    return click.confirm(translate("Allow agents to work in it while you watch in a terminal?"), default=False)


@command_with_examples("""
  loopwright settings                       every setting with its origin
  loopwright settings --changed             only settings that are not defaults
  LOOPWRIGHT_RUN_JOBS=4 loopwright settings --json
""")
@click.option("--changed", is_flag=True, help="Only settings that are not defaults.")
@in_context
def settings_command(context: Context, changed: bool, as_json: bool) -> None:
    """Show every setting and where its value comes from.

    A later source overrides an earlier one: defaults, your own config.toml, config.toml of the workspace,
    LOOPWRIGHT_<SECTION>_<KEY>, options.
    """
    clean = context.tools().redactor.clean
    listed = [setting for setting in settings(context) if not changed or setting.origin != "default"]
    if as_json:
        records = [
            {**msgspec.structs.asdict(setting), "value": msgspec.to_builtins(setting.value)} for setting in listed
        ]
        # A setting may be a command or an address that contains a secret.
        click.echo(clean(json.dumps(records, indent=2)).text)
        return
    width = max((len(f"{setting.section}.{setting.key}") for setting in listed), default=0)
    for setting in listed:
        name = f"{setting.section}.{setting.key}".ljust(width)
        put(f"{name}  {_short(clean(_spelled(setting.value)).text)}  ({setting.origin})")


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(msgspec.to_builtins(value))


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "..."

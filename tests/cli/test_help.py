"""The README promises: every command has `--json`, and `--help` with examples."""

from __future__ import annotations

import click

from loopwright.cli.main import loopwright


def commands(group, path):
    """Every command that does something, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield (*path, name), command


ALL = dict(commands(loopwright, ()))


def test_every_help_page_has_examples_of_its_own_command():
    assert len(ALL) > 60
    for path, command in ALL.items():
        _, _, examples = command.get_help(click.Context(command)).partition("Examples:")
        assert f"loopwright {' '.join(path)}" in examples, path


def test_every_command_prints_json():
    for path, command in ALL.items():
        assert "--json" in {option for parameter in command.params for option in parameter.opts}, path

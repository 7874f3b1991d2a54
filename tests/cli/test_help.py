"""The README promises: every command has `--json`, and `--help` with examples."""

from __future__ import annotations

import subprocess
import sys

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


def test_the_help_of_an_analysis_needs_no_library_of_its_own():
    """A new user reads --help before installing the extra."""
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('numpy', 'scipy', 'matplotlib')))\n"
        "from loopwright.cli.main import main; main(sys.argv[1:])"
    )
    for name in ("all", "calibration"):
        done = subprocess.run(
            [sys.executable, "-c", code, "analyze", name, "--help"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert f"loopwright analyze {name}" in done.stdout
    done = subprocess.run(
        [sys.executable, "-c", code, "analyze", "calibration"], capture_output=True, text=True, check=False
    )
    assert "TOOL_MISSING: this needs numpy" in done.stderr

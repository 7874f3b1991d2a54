"""`loopwright completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from loopwright.errors import WrongUsage

_EPILOG = """\b
Examples:
  eval "$(loopwright completion bash)"                                  in ~/.bashrc
  eval "$(loopwright completion zsh)"                                   in ~/.zshrc
  loopwright completion fish > ~/.config/fish/completions/loopwright.fish
"""


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for your shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise WrongUsage(f"no completion for {shell}", hint="bash, zsh and fish have one")
    root = ctx.find_root().command
    click.echo(kind(root, {}, "loopwright", "_LOOPWRIGHT_COMPLETE").source())
    return 0

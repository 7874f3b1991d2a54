"""`loopwright completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from loopwright.cli.options import command_with_examples, echo_json
from loopwright.errors import WrongUsage


@command_with_examples("""
  eval "$(loopwright completion bash)"                                  add this line to ~/.bashrc
  eval "$(loopwright completion zsh)"                                   add this line to ~/.zshrc
  loopwright completion fish > ~/.config/fish/completions/loopwright.fish
""")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.pass_context
def command(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the completion script for your shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise WrongUsage(f"there is no completion script for {shell}", hint="use bash, zsh or fish")
    root = ctx.find_root().command
    script = kind(root, {}, "loopwright", "_LOOPWRIGHT_COMPLETE").source()
    if as_json:
        echo_json({"shell": shell, "script": script})
    else:
        click.echo(script)

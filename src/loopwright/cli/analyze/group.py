"""`loopwright analyze`: the experiments by name. Only what is asked for is imported: statistics are slow to load."""

from __future__ import annotations

import click

from loopwright.cli.lazy import LazyCommands

COMMANDS = {
    "git-history": ("experiments:git_history_command", "P2: which failures only self-reflection could have caught."),
    "board-history": (
        "experiments:board_history_command",
        "P3: whether a machine can tell right from wrong for tasks.",
    ),
    "calibration": ("calibration:calibration_command", "P1: whether high confidence tells right from wrong."),
    "all": ("calibration:everything_command", "All three, and the gate."),
    "gate": ("experiments:gate_command", "Whether the closed loop may open, and why not."),
}
_EPILOG = """\b
Examples:
  loopwright analyze git-history --since '1 year'      works on any git repository
  loopwright analyze calibration corpus.jsonl --plot calibration.svg
  loopwright analyze all
  loopwright analyze gate && echo "the closed loop may open"

\b
Everything is offline. Each analysis says first what would kill the idea, and exits with 0 whatever it finds;
`gate` exits with 1 while the gate is closed. `pip install 'loopwright[analysis]'` adds statistics and plots.
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli.analyze", epilog=_EPILOG)
def command() -> None:
    """Experiments that decide whether self-reports deserve trust. Results are recorded in the workspace."""

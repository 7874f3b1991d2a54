"""`loopwright analyze`: the table of experiments. Each is imported when it is called: statistics load slowly."""

from __future__ import annotations

import click

from loopwright.cli.lazy import LazyCommands

COMMANDS = {
    "git-history": ("experiments:git_history_command", "P2: failures that only a self-report could have caught."),
    "board-history": (
        "experiments:board_history_command",
        "P3: share of tasks whose result a machine can judge.",
    ),
    "calibration": ("calibration:calibration_command", "P1: whether high confidence predicts correct work."),
    "all": ("calibration:everything_command", "Run all three, and show the gate."),
    "gate": ("experiments:gate_command", "Show whether the gate is open, or why it is closed."),
}
_EPILOG = """\b
Examples:
  loopwright analyze git-history --since '1 year'      works on any git repository
  loopwright analyze calibration corpus.jsonl --plot calibration.svg
  loopwright analyze all
  loopwright analyze gate && echo "the gate is open"

\b
All analyses work offline. Each prints its kill condition first, and exits with 0 for every result.
`gate` exits with 1 while the gate is closed. `pip install 'loopwright[analysis]'` adds statistics and plots.
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli.analyze", epilog=_EPILOG)
def command() -> None:
    """Run experiments that test whether agents' self-reports deserve trust. The workspace records the results."""

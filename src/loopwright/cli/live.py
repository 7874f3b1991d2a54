"""The live table of a run in a terminal."""

from __future__ import annotations

import time

import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from loopwright.cli.language import translate
from loopwright.cli.progress import lines_for
from loopwright.kernel.cells import neutralised
from loopwright.runner import events

_MARKS = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("■", "yellow"),
    "skipped": ("–", "yellow"),
}


class _Row(msgspec.Struct):
    action: str
    outcome: str = ""
    began: float = 0.0
    took: float = 0.0
    line: str = ""


class LiveProgress:
    """A table with a row per step that changes in place; finished runs are printed above the table and stay."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=False)
        self._rows: dict[str, _Row] = {}
        self._live = Live(console=self._console, refresh_per_second=8, get_renderable=self._table, transient=True)

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._live.stop()

    def __call__(self, event: events.Event) -> None:
        """Update the table for an event, or print it."""
        match event:
            case events.PlanRead(_, steps):
                self._rows = {step: _Row(neutralised(action.text)) for step, action in steps}
                self._print(event)
            case events.StepStarted(step, action):
                self._row(step, neutralised(action.text)).began = time.monotonic()
            case events.CommandStarted(step, _, command):
                self._row(step).line = "$ " + (neutralised(command.text).splitlines() or [""])[0]
            case events.OutputSeen(step, line):
                self._row(step).line = neutralised(line.text).strip()
            case events.StepEnded(step, outcome, duration, reason):
                row = self._row(step)
                row.outcome, row.took, row.line = outcome, duration, neutralised(translate(reason.text))
            case events.RunEnded():
                self._live.update(Text(""))
                self._console.print(self._table())
                self._rows = {}
                self._print(event)
            case events.CommandEnded() | events.CheckJudged():
                pass
            case _:
                self._print(event)

    def _row(self, step: str, action: str = "") -> _Row:
        return self._rows.setdefault(step, _Row(action))

    def _print(self, event: events.Event) -> None:
        for line in lines_for(event):
            self._console.print(Text.from_ansi(line))

    def _table(self) -> Group | Table:
        table = Table.grid(padding=(0, 2, 0, 0))
        for name, row in self._rows.items():
            table.add_row(
                self._mark(row), Text(name, style="bold"), Text(row.action), self._time(row), self._last_line(row)
            )
        return table

    def _mark(self, row: _Row) -> Text | Spinner:
        if row.outcome:
            sign, color = _MARKS[row.outcome]
            return Text(sign, style=color)
        return Spinner("dots") if row.began else Text("·", style="dim")

    def _time(self, row: _Row) -> Text:
        if not row.began and not row.outcome:
            return Text("")
        return Text(f"{row.took if row.outcome else time.monotonic() - row.began:.1f} s", style="dim")

    def _last_line(self, row: _Row) -> Text:
        line = Text(row.line, style="dim", overflow="ellipsis", no_wrap=True)
        line.truncate(max(10, self._console.width // 2), overflow="ellipsis")
        return line

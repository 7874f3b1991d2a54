"""Reads a board's export (JSON, JSON lines or CSV) as completed tasks with dated signals, by common column names.

Maps the columns; does not interpret the shares. Malformed entries are reported.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from loopwright.analysis.history import read_moment
from loopwright.analysis.input_files import InputFile, MalformedParts
from loopwright.analysis.model import Malformed
from loopwright.analysis.preregistered import COLUMNS, TASK_FILES
from loopwright.errors import InputInvalid, WrongUsage
from loopwright.kernel import codec
from loopwright.kernel.files import shown

Entries = Iterator[tuple[int, dict[str, Any]]]
_DEEPEST: Final = 4
_WIDE_TEXT: Final = (b"\xff\xfe", b"\xfe\xff")


def rows_of(file: InputFile, malformed: MalformedParts) -> Entries:
    """The number and cells of each entry: line numbers in CSV and JSON lines, item numbers in JSON."""
    match file.path.suffix.lower():
        case ".csv" | ".tsv":
            return _csv(file, malformed)
        case ".jsonl" | ".ndjson":
            return _json_lines(file, malformed)
        case ".json":
            return _json(file, malformed)
        case other:
            raise WrongUsage(
                f"'{shown(other)}' is not a known kind of export", hint="name a file that ends in .json, .jsonl or .csv"
            )


def _json_lines(file: InputFile, malformed: MalformedParts) -> Entries:
    for number, line in file.lines():
        if line is None:
            malformed.add(number, "it is longer than 1 MiB")
        elif line.strip():
            yield from _decoded(number, line, malformed)


def _json(file: InputFile, malformed: MalformedParts) -> Entries:
    try:
        items = _listed(file.whole())
    except codec.Undecodable as problem:
        raise InputInvalid(
            f"{shown(file.path)} is not JSON: {problem}",
            hint="export it again; write one object per line to a file that ends in .jsonl",
        ) from problem
    if items is None:
        raise InputInvalid(
            f"{shown(file.path)} contains no list of tasks",
            hint=f"the file must be a list, or an object with a list under: {', '.join(COLUMNS.lists)}",
        )
    for number, item in enumerate(items, start=1):
        yield from _decoded(number, bytes(item), malformed)


def _listed(data: bytes, depth: int = 0) -> list[msgspec.Raw] | None:
    """The list of tasks, also inside objects. Its items stay undecoded, which saves memory."""
    if data.lstrip()[:1] != b"{":
        return codec.from_json(data, list[msgspec.Raw])
    inner = codec.from_json(data, dict[str, msgspec.Raw])
    for name in COLUMNS.lists if depth < _DEEPEST else ():
        if name in inner and bytes(inner[name]).lstrip()[:1] in (b"[", b"{"):
            items = _listed(bytes(inner[name]), depth + 1)
            if items is not None:
                return items
    return None


def _decoded(number: int, data: bytes, malformed: MalformedParts) -> Entries:
    try:
        yield number, codec.from_json(data, dict[str, Any])
    except codec.Undecodable as problem:
        malformed.add(number, str(problem))


def _csv(file: InputFile, malformed: MalformedParts) -> Entries:
    lines = _text_lines(file, malformed)
    head = next(lines, "")
    separator = max(",;\t", key=head.count)
    reader = csv.reader(_chained(head, lines), delimiter=separator)
    names: list[str] = []
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            malformed.add(reader.line_num, str(problem))
            continue
        if not names:
            names = cells
        elif len(cells) > len(names):
            malformed.add(reader.line_num, f"it has {len(cells)} cells, but the heading has {len(names)}")
        elif any(cells):
            yield reader.line_num, _first_of_each(names, cells)


def _first_of_each(names: list[str], cells: list[str]) -> dict[str, Any]:
    # Some exports repeat a column; the first non-empty cell counts.
    first: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=False):
        if cell.strip() and name not in first:
            first[name] = cell.strip()
    return first


def _text_lines(file: InputFile, malformed: MalformedParts) -> Iterator[str]:
    for number, line in file.lines():
        if number == 1 and line is not None and line.startswith(_WIDE_TEXT):
            raise InputInvalid(f"{shown(file.path)} is UTF-16", hint="save it as UTF-8 CSV, then try again")
        if line is None:
            malformed.add(number, "it is longer than 1 MiB")
            # An empty line keeps the reader's line numbers correct.
            yield "\n"
        else:
            yield line.decode("utf-8", "replace")


def _chained(head: str, lines: Iterator[str]) -> Iterator[str]:
    yield head
    yield from lines


_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHER: Final = re.compile(r"[^a-z0-9]+")
_EMPTY: Final = ("", "0", "false", "n", "never", "no", "none", "null", "n_a")
_SIGNALS: Final = dict.fromkeys(COLUMNS.wrong, False) | dict.fromkeys(COLUMNS.right, True)
_LONGEST_NAME: Final = 60
_FIELDS_SHOWN: Final = 15


class Signal(msgspec.Struct, frozen=True):
    """A fact about a task that a program can observe, and its time."""

    name: str
    is_right: bool
    at: int


class BoardTask(msgspec.Struct, frozen=True):
    """A completed task."""

    name: str
    completed: int
    signals: tuple[Signal, ...]


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """The content of an export or a history."""

    tasks: tuple[BoardTask, ...]
    seen: int
    undated_signals: int
    duplicates: int
    malformed: Malformed
    newest: int


class _Row(msgspec.Struct, frozen=True):
    """One entry with names in snake case and without empty cells."""

    cells: Mapping[str, Any]

    def first(self, names: tuple[str, ...]) -> Any:
        return next((self.cells[name] for name in names if name in self.cells), None)

    def first_value(self, names: tuple[str, ...]) -> Any:
        """The first value that is more than yes or no."""
        values = (self.cells[name] for name in names if name in self.cells)
        return next((text for text in values if not isinstance(text, bool) and _snake(str(text)) not in _EMPTY), None)


def read_board(file: InputFile) -> Board:
    """Every completed task of the export; unreadable entries are reported."""
    reader = _BoardReader("item" if file.path.suffix.lower() == ".json" else "line")
    for number, cells in rows_of(file, reader.malformed):
        reader.take(number, _Row(_plain(cells)))
    if reader.seen and not reader.knows_completion:
        raise InputInvalid(
            f"no entry of {shown(file.path)} has a completion date in a known column; "
            f"found: {', '.join(sorted(reader.names)[:_FIELDS_SHOWN])}",
            hint=f"rename the column to one of: {', '.join(COLUMNS.completed)}",
        )
    return reader.board()


class _BoardReader:
    def __init__(self, unit: str) -> None:
        self.malformed = MalformedParts(unit)
        self.seen = 0
        self.names: set[str] = set()
        self.knows_completion = False
        self._tasks: dict[str, BoardTask] = {}
        self._undated = 0
        self._duplicates = 0
        self._newest = 0

    def take(self, number: int, row: _Row) -> None:
        self.seen += 1
        if not self.knows_completion:
            self.names |= {shown(name)[:40] for name in row.cells}
            self.knows_completion = any(name in row.cells for name in COLUMNS.completed)
        status = row.first(COLUMNS.status)
        is_done = status is None or _snake(str(status)) in TASK_FILES.done_words
        given = row.first_value(COLUMNS.completed)
        completed = read_moment(given)
        if completed is None:
            if given is not None:
                self.malformed.add(number, "its completion date has an unknown or ambiguous format")
            elif is_done and status is not None:
                self.malformed.add(number, "it is completed, but has no completion date")
            return
        signals = tuple(self._signals(row))
        # A task that is open again was completed once, and being reopened is an observable signal.
        if not is_done and not any(not signal.is_right for signal in signals):
            return
        name = str(row.first(COLUMNS.task) or f"#{number}")
        self._duplicates += name in self._tasks
        self._tasks[name] = BoardTask(name, completed, signals)
        self._newest = max(self._newest, completed, *(signal.at for signal in signals))

    def board(self) -> Board:
        return Board(
            tasks=tuple(self._tasks.values()),
            seen=self.seen,
            undated_signals=self._undated,
            duplicates=self._duplicates,
            malformed=self.malformed.collected(),
            newest=self._newest,
        )

    def _signals(self, row: _Row) -> Iterator[Signal]:
        for name in row.cells.keys() & _SIGNALS.keys():
            yield from self._dated(name, _SIGNALS[name], row.cells[name])
        verdict = _snake(str(row.first(COLUMNS.verdict) or ""))
        if verdict in COLUMNS.conclusive:
            yield from self._dated("ci", verdict in COLUMNS.passing, row.first(COLUMNS.verdict_at) or True)
        events = row.first(COLUMNS.events)
        for event in events if isinstance(events, list) else ():
            if isinstance(event, dict):
                yield from self._event(_Row(_plain(event)))

    def _event(self, row: _Row) -> Iterator[Signal]:
        kind = _snake(str(row.first(COLUMNS.event_kind) or ""))
        if kind in COLUMNS.wrong_events or kind in COLUMNS.right_events:
            yield from self._dated(kind, kind in COLUMNS.right_events, row.first(COLUMNS.event_at) or True)

    def _dated(self, name: str, is_right: bool, given: Any) -> Iterator[Signal]:
        """The signal if it has a time. A signal without a time is only counted, because it may have come too late."""
        moment = read_moment(given)
        if moment is not None:
            yield Signal(name.removesuffix("_at"), is_right, moment)
        elif given is not None and _snake(str(given)) not in _EMPTY:
            self._undated += 1


def _snake(text: str) -> str:
    """The text in snake case; unchanged if it is longer than any known name."""
    return _short_snake(text) if len(text) <= _LONGEST_NAME else text


@lru_cache(4096)
def _short_snake(name: str) -> str:
    return _OTHER.sub("_", _HUMP.sub("_", name.strip()).lower()).strip("_")


def _plain(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Names in snake case, `fields` flattened, `{name: …}` as its name, no empty cells; the first of two wins."""
    flat: dict[str, Any] = {}
    inner = cells.get("fields")
    for source in (cells, inner if isinstance(inner, dict) else {}):
        for name, value in source.items():
            if isinstance(value, dict):
                value = next((value[key] for key in ("name", "title", "value", "date") if key in value), None)  # noqa: PLW2901
            if value is not None and value != "" and _snake(str(name)) not in flat:
                flat[_snake(str(name))] = value
    return flat

"""The entries of an export file in any format, as plain cells; malformed entries are reported."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from loopwright.analysis.input_files import InputFile
from loopwright.analysis.malformed import MalformedParts
from loopwright.analysis.preregistered import COLUMNS
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

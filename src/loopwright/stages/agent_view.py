"""What agents may read of Loopwright's own files: names, commands and tests of hidden checks are masked.

Every file and every answer that Loopwright serves to an agent passes here. People read the files themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec.structs import replace

from loopwright.agents.shown_file import ShownFile
from loopwright.kernel import codec
from loopwright.kernel.files import read_regular_file
from loopwright.stages.context import Context
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.package import SLICES
from loopwright.workflow.slices import Check, NotSlices, Slices, read_slices, render_slices

_FOLDER = "hidden"
_A_FILE = "a file of a hidden check"
_COMMAND = "(hidden)"
# Commands that a check consists of may be a single short word.
_LEAST_COMMAND = 4


class AgentView:
    """Masks names in texts: each name of a hidden check becomes what an agent may call the check."""

    def __init__(self, names: Mapping[str, str]) -> None:
        as_json = {msgspec.json.encode(name).decode()[1:-1]: shown for name, shown in names.items()}
        self._names = {name: shown for name, shown in {**names, **as_json}.items() if name}
        longest_first = sorted(self._names, key=len, reverse=True)
        # A name inside a word is another name.
        self._pattern = re.compile("|".join(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])" for name in longest_first))

    def masked(self, text: str) -> str:
        """The text without the names."""
        return self._pattern.sub(lambda match: self._names[match.group()], text) if self._names else text

    def masked_values(self, value: Any) -> Any:
        """The same for all texts of a document; its keys stay."""
        match value:
            case str():
                return self.masked(value)
            case dict():
                return {key: self.masked_values(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self.masked_values(inner) for inner in value]
            case _:
                return value

    def names_a_check(self, text: str) -> bool:
        """Whether the text has a name that is masked."""
        return self.masked(text) != text

    def but(self, names: Mapping[str, str]) -> AgentView:
        """The view that masks these names, too."""
        return AgentView({**self._names, **names})

    def document(self, name: str, data: bytes) -> ShownFile:
        """A document of Loopwright as agents may read it; its name tells what it is."""
        if PurePosixPath(name).name == PurePosixPath(SLICES).name:
            return self._slices(data)
        if PurePosixPath(name).suffix == ".json":
            with suppress(codec.Undecodable):
                return ShownFile(codec.to_json(self.masked_values(codec.from_json(data, dict))))
        return ShownFile(self.masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))

    def _slices(self, data: bytes) -> ShownFile:
        try:
            slices, workflow = read_slices(data), str(codec.from_json(data, dict)["workflow"])
        except (NotSlices, codec.Undecodable, KeyError):
            # Which checks are hidden is unknown.
            return ShownFile(b"")
        if not any(check.hidden for check in slices.checks):
            return ShownFile(data)
        shown = Slices(
            tuple(replace(piece, checks=_shown(piece.checks)) for piece in slices.slices),
            slices.scope,
            slices.scope_wanted,
        )
        return ShownFile(codec.to_json(self.masked_values(codec.from_json(render_slices(workflow, shown), dict))))


def _shown(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    return tuple(
        Check(id=hidden_name(number), command=_COMMAND, hidden=True) if check.hidden else check
        for number, check in enumerate(checks, 1)
    )


def hidden_name(number: int) -> str:
    """What agents may call a hidden check: by its place in its slice."""
    return f"hidden check {number}"


def agent_view(context: Context) -> AgentView:
    """The view of the checks that are hidden now, in all workflows."""
    layout, names = context.layout, dict[str, str]()
    for slug in layout.workflow_slugs():
        names |= _of_files(layout.workflow(slug).folder / _FOLDER)
    for path in sorted(layout.active_changes.glob(f"*/{PurePosixPath(SLICES).name}")):
        with suppress(OSError, NotSlices):
            names |= dict(_of_slices(read_slices(read_regular_file(path, most=MOST_BYTES))))
    return AgentView(names)


def _of_slices(slices: Slices) -> Iterator[tuple[str, str]]:
    """Names of hidden checks that are no name of another check."""
    known = {piece.id for piece in slices.slices} | {check.id for check in slices.checks if not check.hidden}
    for piece in slices.slices:
        for number, check in enumerate(piece.checks, 1):
            if not check.hidden:
                continue
            names = (check.id, check.command, *check.tests, *check.known_failures)
            for name in names:
                if name not in known and (name == check.id or len(name) >= _LEAST_COMMAND):
                    yield name, hidden_name(number)


def _of_files(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file()]
    return dict.fromkeys(files, _A_FILE)

"""The folder of another tool. Follows no links, reads only what it must, and reports each unreadable file once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from loopwright.kernel.digest import digest_of, sha256
from loopwright.kernel.files import read_regular_file, shown
from loopwright.workflow.delta.model import DeltaProblem
from loopwright.workflow.documents.page import MOST_BYTES, NotAPage, Page, PageProblem, read_page
from loopwright.workflow.takeover.model import Left, TakeoverProblem

MOST_FILES = 2_000
_DEEPEST = 12
_TEXTS = (".md", ".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".toml", ".txt")
_BOM = b"\xef\xbb\xbf"


class Source:
    """The files in one folder, by relative path with slashes."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.troubles: list[TakeoverProblem] = []
        # Binary files such as pictures: not wrong, and not imported.
        self.others: list[Left] = []
        self._known: dict[str, bytes | None] = {}

    def note(self, path: str, message: str, line: int = 0) -> None:
        """Report a problem of a file."""
        problem = TakeoverProblem(path, line, message)
        if problem not in self.troubles:
            self.troubles.append(problem)

    def note_all(self, path: str, problems: Iterable[PageProblem | DeltaProblem]) -> None:
        """Report several problems of a file, each with its line."""
        for problem in problems:
            self.note(path, problem.message, problem.line)

    def leave(self, path: str, why: str) -> None:
        """Report a sound file that is not imported."""
        left = Left(path, why)
        if left not in self.others:
            self.others.append(left)

    def folders(self, below: str = "") -> list[str]:
        """Names of the folders in a folder."""
        return [name for name, is_folder in self._entries(below) if is_folder]

    def files(self, below: str = "") -> list[str]:
        """All files below a folder, at any depth."""
        paths: list[str] = []
        for name, is_folder in self._entries(below):
            path = f"{below}/{name}" if below else name
            if not is_folder:
                paths.append(path)
            elif path.count("/") >= _DEEPEST:
                self.note(path, "is nested too deep and is not imported")
            else:
                paths += self.files(path)
        if len(paths) > MOST_FILES:
            self.note(below or ".", f"has more than {MOST_FILES} files; the rest is not imported")
        return paths[:MOST_FILES]

    def names(self, below: str, end: str = "") -> list[str]:
        """Names of the files directly in a folder."""
        return [name for name, is_folder in self._entries(below) if not is_folder and name.endswith(end)]

    def has(self, path: str) -> bool:
        """Whether the file exists."""
        place = self.top / path
        return place.is_file() and not place.is_symlink()

    def read(self, path: str) -> bytes | None:
        """The bytes of a text file; None if it is missing, or if it is not text, which is reported."""
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def page(self, path: str) -> Page | None:
        """A Markdown file in parts."""
        data = self.read(path)
        if data is None:
            return None
        try:
            return read_page(data)
        except NotAPage as problem:
            self.note_all(path, problem.problems)
            return None

    def fields(self, path: str) -> Fields | None:
        """A JSON object."""
        data = self.read(path)
        if data is None:
            return None
        try:
            document = json.loads(data.removeprefix(_BOM))
        except json.JSONDecodeError as problem:
            self.note(path, f"is not JSON: {problem.msg}", problem.lineno)
            return None
        except (ValueError, RecursionError) as problem:
            self.note(path, f"is unreadable JSON: {problem}", 1)
            return None
        if not isinstance(document, dict):
            self.note(path, "is not a JSON object", 1)
            return None
        return Fields(document)

    def digest(self, paths: list[str]) -> str:
        """The digest of these files, without unreadable ones."""
        return digest_of([[path, sha256(data)] for path in sorted(paths) if (data := self.read(path)) is not None])

    def _read(self, path: str) -> bytes | None:
        place = self.top / path
        if not os.path.lexists(place):
            return None
        if place.is_symlink():
            self.note(path, "is a link; links are not followed")
            return None
        try:
            data = read_regular_file(place, most=MOST_BYTES)
        except OSError as problem:
            self.note(path, problem.strerror or str(problem))
            return None
        if b"\0" in data and not place.name.lower().endswith(_TEXTS):
            self.leave(path, "is not text and is not imported")
            return None
        if (at := data.find(b"\0")) >= 0:
            self.note(path, "is not text: it has a NUL byte", data.count(b"\n", 0, at) + 1)
            return None
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as problem:
            self.note(path, "is not UTF-8 text", data.count(b"\n", 0, problem.start) + 1)
            return None
        return data

    def _entries(self, below: str) -> list[tuple[str, bool]]:
        """Names in a folder, and whether each is a folder; names that are not text are reported."""
        place = self.top / below
        if place.is_symlink() or not place.is_dir():
            return []
        try:
            listed = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as problem:
            self.note(below or ".", problem.strerror or str(problem))
            return []
        entries: list[tuple[str, bool]] = []
        for entry in listed:
            path = f"{below}/{entry.name}" if below else entry.name
            if not entry.name.isprintable():
                self.note(shown(path), "has a name that is not text; it is not imported")
            elif entry.is_symlink():
                self.note(path, "is a link; links are not followed")
            else:
                entries.append((entry.name, entry.is_dir(follow_symlinks=False)))
        return entries


_LONGEST_CLAIM = 200


class Fields:
    """A JSON object of an unknown writer, by field; the first of several names with a value counts."""

    def __init__(self, document: object = None) -> None:
        self._document: dict[str, Any] = document if isinstance(document, dict) else {}

    def inner(self, name: str) -> Fields:
        """The object in a field."""
        return Fields(self._document.get(name))

    def text(self, *names: str) -> str:
        """A text, or a number as text."""
        for name in names:
            value = self._document.get(name)
            if isinstance(value, str) and value.strip():
                return _plain(value.strip())
            if isinstance(value, int | float) and not isinstance(value, bool):
                return str(value)
        return ""

    def texts(self, *names: str) -> tuple[str, ...]:
        """A list of texts; a single text is a list, an object is a list of `key: value`."""
        for name in names:
            if texts := tuple(_texts(self._document.get(name))):
                return texts
        return ()

    def is_true(self, name: str) -> bool:
        """Whether a field is true."""
        return self._document.get(name) is True

    def claims(self, *names: str) -> dict[str, str]:
        """The values of these fields, short enough to show; the fields of an object are separate claims."""
        claims: dict[str, str] = {}
        for name in names:
            value = self._document.get(name)
            if isinstance(value, dict):
                inner = Fields(value)
                claims |= {f"{name}.{key}": claim for key in value if (claim := inner._claim(str(key)))}
            elif claim := self._claim(name):
                claims[name] = claim
        return {_plain(name)[:_LONGEST_CLAIM]: claim[:_LONGEST_CLAIM] for name, claim in claims.items()}

    def _claim(self, name: str) -> str:
        value = self._document.get(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        return self.inner(name).text("status") or self.text(name)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = [f"{key}: {one}" for key, one in value.items() if isinstance(one, str) and one.strip()]
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, str) and entry.strip():
            yield _plain(entry.strip())
        elif isinstance(entry, dict) and (text := Fields(entry).text("text", "title", "description", "path")):
            yield text


def _plain(text: str) -> str:
    """The text without half characters, which JSON can spell and a file can't store."""
    return text.encode("utf-8", "backslashreplace").decode()

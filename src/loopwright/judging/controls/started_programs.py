"""Finds programs that tests start, and changes the expectations of each. Pure.

A test that looks only at the exit code of a program has its expectations in that program. Only files that judge the
work are changed: another program may be the product.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from posixpath import basename, dirname, join, splitext

import msgspec

from loopwright.judging.called_commands import Read
from loopwright.judging.controls.called_expectations import ChangedExpectation, in_called_files
from loopwright.judging.controls.failing_programs import failing_program
from loopwright.judging.controls.inline_programs import inline_programs
from loopwright.judging.judge_helpers import imported_files
from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.kernel.relative_folder import folders_above

_STARTS = re.compile(
    rb"subprocess|spawn|popen|os\.system|child_process|runpy|pexpect|execa|exec\.Command", re.IGNORECASE
)
_WORD = re.compile(r"[\w.\-*?]+")
_QUOTED = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]){1,300})\1""")
_LISTS_FOLDERS = re.compile(r"glob|listdir|iterdir|scandir|readdir|os\.walk|ReadDir")
_MAKE, _NODE_PACKAGES = ("make", "gmake"), ("npm", "pnpm", "yarn", "bun")
_INTERPRETERS = {".py": "python3", ".sh": "sh", ".bash": "bash", **dict.fromkeys(SUFFIXES, "node")}
_MOST_BYTES = 1 << 20
# A program may start a program.
_DEEPEST = 3


class FileEdit(msgspec.Struct, frozen=True):
    """A text in place of a part of a file; without an end the text is the whole file."""

    path: str
    text: bytes
    start: int = 0
    end: int | None = None


class ProgramChange(msgspec.Struct, frozen=True, kw_only=True):
    """One program with changed expectations, and so that it exits with 1.

    `files` are the test files that may start it. `test` is the only test of them that can; empty: every test.
    """

    files: frozenset[str]
    test: str = ""
    inverted: tuple[FileEdit, ...]
    failing: tuple[FileEdit, ...]

    def disturbs(self, other: ProgramChange) -> bool:
        """Whether a test may start both programs, or whether both change the same part of a file."""
        if self.files & other.files and (not self.test or not other.test or self.test == other.test):
            return True
        whole = {edit.path for edit in (*self.inverted, *other.inverted) if edit.end is None}
        return bool(whole.intersection(edit.path for edit in self.inverted) & {edit.path for edit in other.inverted})


def started_programs(tests: Iterable[str], files: frozenset[str], read: Read, *, salt: str) -> list[ProgramChange]:
    """The programs that these test files may start; `files` are those that judge the work."""
    found: list[ProgramChange] = []
    started: dict[tuple[str, bytes], tuple[ChangedExpectation, list[str]]] = {}
    for test in tests:
        sources = {path: read(path) for path in (test, *_read_with(test, files, read))}
        if not any(_STARTS.search(source) for source in sources.values()):
            continue
        found += _inline(test, sources[test], salt) if test.endswith(".py") else ()
        for change in _in_programs(sources, files, read, salt):
            if change.path != test:
                started.setdefault((change.path, change.source), (change, []))[1].append(test)
    for change, by in started.values():
        if failing := _failing(change, read, salt):
            inverted = (FileEdit(change.path, change.source),)
            found.append(ProgramChange(files=frozenset(by), inverted=inverted, failing=failing))
    return found


def _inline(test: str, source: bytes, salt: str) -> Iterator[ProgramChange]:
    for program in inline_programs(source, salt):
        inverted, failing = (
            FileEdit(test, text, program.start, program.end) for text in (program.inverted, program.failing)
        )
        yield ProgramChange(files=frozenset([test]), test=program.test, inverted=(inverted,), failing=(failing,))


def _read_with(test: str, files: frozenset[str], read: Read) -> Iterator[str]:
    """The files of which a test uses functions: modules that it imports, and fixtures."""
    if not test.endswith(".py"):
        return
    yield from sorted(set(imported_files(test, files, read)) - {test})
    places = (join(folder, "conftest.py") for folder in folders_above(test))
    yield from (place for place in places if place in files)


def _in_programs(
    sources: dict[str, bytes], files: frozenset[str], read: Read, salt: str
) -> Iterator[ChangedExpectation]:
    """The expectations of the programs that these sources name, and of programs that those start."""
    seen, changed = set(sources), set[tuple[str, bytes]]()
    ahead = [b"\n".join(sources.values())]
    for _ in range(_DEEPEST):
        commands = [command for source in ahead for command in _commands(source, files, seen)]
        ahead = []
        for path, command in commands:
            for change in in_called_files(command, "", files, read, salt=salt, whole_scripts=True):
                if (change.path, change.source) not in changed:
                    changed.add((change.path, change.source))
                    yield change
            if path:
                seen.add(path)
                ahead += [source for source in (read(path),) if _STARTS.search(source)]


def _commands(source: bytes, files: frozenset[str], seen: set[str]) -> Iterator[tuple[str, str]]:
    """Commands that run the files that a source names, each with the file; and recipes that it names."""
    if len(source) > _MOST_BYTES:
        return
    text = source.decode("utf-8", "replace")
    words, quoted = set(_WORD.findall(text)), {match[2] for match in _QUOTED.finditer(text)}
    patterns = [word for word in words if "*" in word and word.strip("*.?")]
    folders = {part for value in quoted for part in value.split("/")} if _LISTS_FOLDERS.search(text) else set()
    for path in sorted(files - seen):
        name, interpreter = basename(path), _INTERPRETERS.get(splitext(path)[1])
        module = path.removesuffix(".py").replace("/", ".")
        is_named = (
            name in words
            or splitext(name)[0] in quoted
            or (module in words and "." in module)
            or any(fnmatchcase(name, pattern) for pattern in patterns)
            or (basename(dirname(path)) in folders)
        )
        if is_named and interpreter is not None:
            yield path, f"{interpreter} {path}"
    yield from (("", command) for command in _recipes(quoted))


def _recipes(quoted: set[str]) -> Iterator[str]:
    """The commands of make and npm in quoted texts: a whole command, or its words by themselves."""
    simple = sorted(value for value in quoted if re.fullmatch(r"[\w:.-]+", value) and not value.startswith("-"))
    for value in sorted(quoted):
        program, *rest = value.split() or [""]
        if program not in (*_MAKE, *_NODE_PACKAGES):
            continue
        if rest:
            yield value
        elif program in _MAKE:
            yield from ("make", " ".join(["make", *(word for word in simple if word not in _MAKE)]))
        else:
            yield from (f"{program} {word}" for word in simple if word != program)


def _failing(change: ChangedExpectation, read: Read, salt: str) -> tuple[FileEdit, ...]:
    if splitext(change.path)[1] in (".py", *SUFFIXES):
        files = failing_program(change.path, read(change.path), salt)
        return tuple(FileEdit(path, text) for path, text in files.items())
    return (FileEdit(change.path, change.failing),) if change.failing is not None else ()

"""Finds tests in JavaScript and Go that pass only because the work changed a constant with which they compare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from posixpath import basename, dirname, join, normpath

import msgspec

from loopwright.judging.controls import pinned_go, pinned_javascript
from loopwright.judging.syntax import go_source
from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.judging.verdict import FAILED, file_of
from loopwright.loop.altered_files import own_file
from loopwright.loop.own_work import both_trees
from loopwright.loop.read_base import BaseReader
from loopwright.loop.split_work import ChangedCode, SplitWork
from loopwright.runner.request import Observer
from loopwright.sandbox.port import Sandbox
from loopwright.wording.catalogue import few

# Runs the test commands on the work with this observer; returns the status of each test.
Run = Callable[[Observer], Mapping[str, str]]
_GO_TESTS = "_test.go"
_GO_PACKAGE = re.compile(rb"^package +(\w+)", re.MULTILINE)
_RELATIVE = re.compile(rb"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.[^"']*)["']""")
# A test may fail by chance.
_RUNS = 2


def tests_by_moved_constants(
    split: SplitWork, tests: Iterable[str], progress: Path, project: Path, run: Run
) -> tuple[str, ...]:
    """The tests of the base that prove the work, and fail with the constants of the base; with their constants."""
    tests = tuple(tests)
    moved = tuple(filter(None, map(_moved_constants, split.code)))
    if not moved or not tests:
        return ()
    named = {file_of(test) for test in tests if file_of(test).endswith(SUFFIXES)}
    has_others = any(not file_of(test).endswith((*SUFFIXES, ".py")) for test in tests)
    files = sorted(named | {path for path in split.judges if has_others and path.endswith(_GO_TESTS)})
    if not files:
        return ()
    with both_trees(split.whole, progress, project) as judge:
        contents = BaseReader(judge, split.whole.base_tree, project).read_all(files)
    pinned = {path: text for path, source in contents.items() if (text := _pin(path, source, moved)) is not None}
    failing = set(tests) if pinned else set()
    for _ in range(_RUNS):
        if failing:
            statuses = run(PinnedTests(pinned))
            failing = {test for test in failing if statuses.get(test) == FAILED}
    names = few(tuple(sorted({name for file in moved for name in file.constants})))
    return tuple(f"{test}: {names}" for test in tests if test in failing)


class _MovedConstants(msgspec.Struct, frozen=True):
    """The constants of a file that have another value now, with their values on the base."""

    path: str
    # The name under which other packages of Go know them.
    package: str
    constants: Mapping[str, bytes]


def _moved_constants(file: ChangedCode) -> _MovedConstants | None:
    before, after = (_constants(file.path, source) for source in (file.before or b"", file.after))
    moved = {name: text for name, text in before.items() if _without_blanks(after.get(name)) != _without_blanks(text)}
    package = _GO_PACKAGE.search(file.before or b"") if file.path.endswith(go_source.SUFFIX) else None
    return _MovedConstants(file.path, package[1].decode() if package is not None else "", moved) if moved else None


def _constants(path: str, source: bytes) -> dict[str, bytes]:
    if path.endswith(SUFFIXES):
        return pinned_javascript.constants_of(path, source)
    return pinned_go.constants_of(source) if path.endswith(go_source.SUFFIX) else {}


def _without_blanks(text: bytes | None) -> list[bytes] | None:
    return text.split() if text is not None else None


def _pin(path: str, source: bytes, moved: Iterable[_MovedConstants]) -> bytes | None:
    """The test with the constants of the files that it imports. Another file may have constants of the same names."""
    known: dict[str, bytes] = {}
    for file in moved:
        if path.endswith(SUFFIXES) and file.path.endswith(SUFFIXES) and _imports(path, source, file.path):
            known |= file.constants
        if file.package and path.endswith(_GO_TESTS):
            known |= {f"{file.package}.{name}": text for name, text in file.constants.items()}
            known |= file.constants if dirname(path) == dirname(file.path) else {}
    if not known:
        return None
    return (
        pinned_javascript.pin_javascript(path, source, known)
        if path.endswith(SUFFIXES)
        else pinned_go.pin_go(source, known)
    )


def _imports(test: str, source: bytes, path: str) -> bool:
    """Whether a test imports a file, or the folder or index above it."""
    for found in _RELATIVE.findall(source):
        target = _without_ending(normpath(join(dirname(test), found.decode("utf-8", "replace"))))
        folder = dirname(target) if basename(target) == "index" else target
        if _without_ending(path) == target or path.startswith(f"{folder}/") or folder in ("", "."):
            return True
    return False


def _without_ending(path: str) -> str:
    return path.removesuffix(next((ending for ending in SUFFIXES if path.endswith(ending)), ""))


class PinnedTests(Observer):
    """Puts test files with pinned constants into a new sandbox."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def before_steps(self, sandbox: Sandbox) -> None:
        """Replace the test files."""
        for path, source in self._files.items():
            place = own_file(sandbox.place.repo, path)
            if place is not None:
                place.write_bytes(source)

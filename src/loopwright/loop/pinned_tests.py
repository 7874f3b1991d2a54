"""Finds tests in JavaScript and Go that pass only because the work changed a constant with which they compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

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
# A test may fail by chance.
_RUNS = 2


def tests_by_moved_constants(
    split: SplitWork, tests: Iterable[str], progress: Path, project: Path, run: Run
) -> tuple[str, ...]:
    """The tests of the base that prove the work, and fail with the constants of the base; with their constants."""
    tests = tuple(tests)
    constants = _moved_constants(split.code)
    if not constants or not tests:
        return ()
    named = {file_of(test) for test in tests if file_of(test).endswith(SUFFIXES)}
    has_others = any(not file_of(test).endswith((*SUFFIXES, ".py")) for test in tests)
    files = sorted(named | {path for path in split.judges if has_others and path.endswith(_GO_TESTS)})
    if not files:
        return ()
    with both_trees(split.whole, progress, project) as judge:
        contents = BaseReader(judge, split.whole.base_tree, project).read_all(files)
    pinned = {path: text for path, source in contents.items() if (text := _pin(path, source, constants)) is not None}
    failing = set(tests) if pinned else set()
    for _ in range(_RUNS):
        if failing:
            statuses = run(PinnedTests(pinned))
            failing = {test for test in failing if statuses.get(test) == FAILED}
    names = few(tuple(sorted(constants)))
    return tuple(f"{test}: {names}" for test in tests if test in failing)


def _moved_constants(code: Iterable[ChangedCode]) -> dict[str, bytes]:
    """The constants of the base that have another value now, with their values on the base."""
    moved: dict[str, bytes] = {}
    for file in code:
        before, after = (_constants(file.path, source) for source in (file.before or b"", file.after))
        moved |= {
            name: text for name, text in before.items() if _without_blanks(after.get(name)) != _without_blanks(text)
        }
    return moved


def _constants(path: str, source: bytes) -> dict[str, bytes]:
    if path.endswith(SUFFIXES):
        return pinned_javascript.constants_of(path, source)
    return pinned_go.constants_of(source) if path.endswith(go_source.SUFFIX) else {}


def _without_blanks(text: bytes | None) -> list[bytes] | None:
    return text.split() if text is not None else None


def _pin(path: str, source: bytes, constants: Mapping[str, bytes]) -> bytes | None:
    if path.endswith(SUFFIXES):
        return pinned_javascript.pin_javascript(path, source, constants)
    return pinned_go.pin_go(source, constants)


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

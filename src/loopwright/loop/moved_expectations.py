"""Finds tests that pass because the work moved what they expect, and not because of what the product answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from loopwright.judging.controls.watched_values import RecordedValues, WatchedFile, held, moved_parts, pins
from loopwright.loop.model import Tree
from loopwright.loop.own_work import both_trees
from loopwright.loop.read_base import BaseReader
from loopwright.loop.split_work import SplitWork
from loopwright.loop.watched_tests import Proving, WatchedTests, watched_files
from loopwright.runner.request import Observer

# Runs the test commands on the work (a tree) or on the base (None), with this observer, for these test files.
Run = Callable[[Tree | None, Observer, tuple[str, ...]], object]
# What each file recorded in one run.
Recorded = Mapping[str, RecordedValues]
_RUNS_ON_BASE = 2


def moved_expectations(split: SplitWork, proving: Proving, progress: Path, project: Path, run: Run) -> tuple[str, ...]:
    """The expectations that moved, each with its test. `proving` are tests of the base that prove the work."""
    files = [path for path in proving if path.endswith(".py")]
    if not files:
        return ()
    with both_trees(split.whole, progress, project) as judge:
        base = BaseReader(judge, split.whole.base_tree, project)
        contents = base.read_all(files)
        watched = watched_files(contents, proving, base.files, split.scope, split.work_files, base.read)
    if not watched:
        return ()
    # Without doubtful changes, tests that the work moved have their old places.
    tree = split.without_doubtful if split.names else None
    work_tree = tree or split.without_new_tests or split.verified
    work, on_base = _recorded(work_tree, watched, run), [_recorded(None, watched, run)]
    # A value such as the time differs in each run.
    while (moved := _moved(watched, on_base, work)) and len(on_base) < _RUNS_ON_BASE:
        on_base.append(_recorded(None, watched, run))
    if moved:
        # A longer document differs, too. What also passes with the expectation of the base is proven.
        pinned = {path: watched[path].with_pinned(pins(numbers, on_base[0][path])) for path, numbers in moved.items()}
        moved = _still_moved(moved, on_base[0], _recorded(work_tree, pinned, run))
    parts = ((path, watched[path].parts[number]) for path, numbers in moved.items() for number in numbers)
    return tuple(dict.fromkeys(f"{path}::{part.function}: {part.text}" for path, part in parts))


def _recorded(tree: Tree | None, watched: Mapping[str, WatchedFile], run: Run) -> Recorded:
    observer = WatchedTests(watched)
    run(tree, observer, tuple(watched))
    return observer.recorded


def _moved(watched: Mapping[str, WatchedFile], base: list[Recorded], work: Recorded) -> dict[str, tuple[int, ...]]:
    """The numbers of the moved parts of each file."""
    found = {path: moved_parts(file.parts, [run[path] for run in base], work[path]) for path, file in watched.items()}
    return {path: numbers for path, numbers in found.items() if numbers}


def _still_moved(moved: dict[str, tuple[int, ...]], base: Recorded, pinned: Recorded) -> dict[str, tuple[int, ...]]:
    """The parts with which an assertion fails, if they have the values of the base."""
    return {
        path: tuple(
            number for number in numbers if number not in pins(numbers, base[path]) or not held(number, pinned[path])
        )
        for path, numbers in moved.items()
    }

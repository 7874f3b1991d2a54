"""Runs the test commands to see whether the work moved the values with which its proving tests compare."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loopwright.loop.actions.altered_runs import RunAltered
from loopwright.loop.model import Tree
from loopwright.loop.moved_expectations import moved_expectations
from loopwright.loop.pinned_tests import tests_by_moved_constants
from loopwright.loop.split_work import SplitWork
from loopwright.loop.test_runs import TestRun
from loopwright.loop.watched_tests import proving_functions
from loopwright.runner.request import Observer
from loopwright.workspace.settings_model import TestCommand


def moved_values(
    split: SplitWork,
    tests: tuple[str, ...],
    commands: tuple[TestCommand, ...],
    run_altered: RunAltered,
    progress: Path,
    project: Path,
    *,
    before_s: float,
) -> tuple[str, ...]:
    """The values that the work moved, each with its test. `tests` are those of the base that prove the work."""

    def run(tree: Tree | None, observer: Observer, only: tuple[str, ...]) -> TestRun:
        # The values are read in a sandbox, so an earlier run on the base does not count.
        return run_altered(tree, "watched-tests", observer, before_s=before_s, only=only, commands=commands)

    def run_pinned(observer: Observer) -> Mapping[str, str]:
        tree = split.without_new_tests or split.verified
        return run_altered(tree, "pinned-constants", observer, before_s=before_s).tree_result.tests

    proving = proving_functions(tests, commands, split.judges)
    in_python = moved_expectations(split, proving, progress, project, run)
    return (*in_python, *tests_by_moved_constants(split, tests, progress, project, run_pinned))

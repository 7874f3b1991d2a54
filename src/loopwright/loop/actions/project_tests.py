"""The project's own tests on the base and on the work of a loop. The base is tested once: its tree does not change."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.digest import digest_of
from loopwright.kernel.files import make_folder, replace_without_sync
from loopwright.loop.actions.run_tests import run_tests
from loopwright.loop.model import Loop, Tree
from loopwright.loop.reports.model import TestResult
from loopwright.loop.test_runs import Comparison, TestRun, compare
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import base_sandbox, wanted_sandbox


def compare_tests(loop: Loop, context: WorkerContext) -> Comparison | None:
    """What the work did to the project's tests; None where no command is set, or where nothing changed."""
    tree = loop.tree
    if not context.settings.test_command or tree is None or not tree.has_changes:
        return None
    base = tests_on_base(loop, context, tree)
    return compare(base, run_tests(loop, context, wanted_sandbox(loop, context), "tests"))


def tests_on_base(loop: Loop, context: WorkerContext, tree: Tree) -> TestRun:
    """What the test command says of the tree that the loop started from; kept, for the next iteration asks again."""
    path = _kept_as(loop, context, tree)
    kept = _read(path)
    if kept is not None and context.tools().store.folder(kept.run_id).is_dir():
        return kept
    found = run_tests(loop, context, base_sandbox(context.request(), tree, context.progress(loop)), "base-tests")
    # The names and how they ended are all that is asked for later: traces of a whole suite take megabytes.
    results = tuple(TestResult(one.test_name, one.suite, one.status) for one in found.results)
    make_folder(path.parent)
    replace_without_sync(path, codec.to_json(msgspec.structs.replace(found, results=results)))
    return found


def _kept_as(loop: Loop, context: WorkerContext, tree: Tree) -> Path:
    """By everything that the answer depends on and that the settings can change meanwhile."""
    settings = context.settings
    key = digest_of([tree.base_tree, settings.test_command, settings.reports, list(context.setup)])
    return context.progress(loop) / "work" / f"base-tests-{key[:16]}.json"


def _read(path: Path) -> TestRun | None:
    try:
        return codec.from_json(path.read_bytes(), TestRun)
    except (OSError, codec.Undecodable):
        return None

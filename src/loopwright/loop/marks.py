"""What an iteration leaves as the circuit breaker sees it: the same again, whatever was done, is no progress. Pure."""

from __future__ import annotations

from loopwright.kernel.digest import digest_of
from loopwright.loop.model import Loop, ProgressMark, Task, TaskKind, Validation

# Fixes and reviews serve other tasks: finishing one without a change is no progress.
_SERVING = (TaskKind.FIX, TaskKind.LOOK)


def mark_of(
    loop: Loop,
    *,
    tree: str | None = None,
    validation: Validation | None = None,
    cause: str | None = None,
    done: Task | None = None,
    error: str | None = None,
) -> ProgressMark:
    """The state after an iteration; what is given is new, the rest is as it was.

    Evidence is what the tests said, which cause is known and which tasks are done.
    """
    found = validation or loop.validation
    completed = (*(task for task in loop.tasks if task.status == "completed"), *((done,) if done is not None else ()))
    finished = sorted({task.id for task in completed if task.kind not in _SERVING})
    said = [[one.test_name, one.suite, one.status] for one in found.results]
    known = cause if cause is not None else _cause(loop)
    return ProgressMark(
        tree=tree if tree is not None else (loop.tree.tree if loop.tree is not None else ""),
        failing=found.failed_tests,
        evidence=digest_of([found.passed, said, known, finished, error or ""]),
    )


def _cause(loop: Loop) -> str:
    return next((one.description for one in loop.debug.hypotheses if one.status == "confirmed"), "")

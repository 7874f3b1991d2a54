"""What the project's own tests say about a build: the blocker, its signature, and a sentence for reports. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.workflow.blockers import Blocker, Family, blocker
from loopwright.workflow.model import Workflow
from loopwright.workflow.verification import Verification

# What a person signs who accepts that tests do not pass any more.
PROJECT_TESTS = "project-tests"


def broken_tests(workflow: Workflow) -> Iterator[Blocker]:
    """Tests that passed before the work and do not pass now, until they do or a person signs for this tree."""
    verified = workflow.verification
    tests = verified.tests if verified is not None else None
    if verified is None or tests is None or not tests.broken:
        return
    if not workflow.is_signed(PROJECT_TESTS, signed_digest(verified)):
        yield blocker(
            Family.TESTS_BROKEN, str(tests.broken), slug=workflow.slug, names=_few(tests.names, tests.broken),
            run=tests.run_id, what=PROJECT_TESTS,
        )  # fmt: skip


def signed_digest(verification: Verification) -> str:
    """What a person who signs stands for: the project's tests, on that tree."""
    return f"{PROJECT_TESTS}@{verification.tree}"


def sentence(verification: Verification, *, has_command: bool) -> str:
    """What checks the rest of the project, for people."""
    tests = verification.tests
    if tests is None and not has_command:
        return "nothing checks the rest of the project: loop.test_command is not set"
    if tests is None:
        return "the project's tests were not run on this work"
    if tests.broken:
        names = _few(tests.names, tests.broken)
        return f"tests of the project that passed before the work do not pass now (run {tests.run_id}): {names}"
    if not tests.decides:
        return f"the project's tests fail on the base already: they decide nothing (run {tests.base_run_id})"
    return f"the work breaks none of the project's tests (base run {tests.base_run_id}, run {tests.run_id})"


def _few(names: tuple[str, ...], count: int) -> str:
    shown = names[:5]
    return ", ".join(shown) + (f" and {count - len(shown)} more" if count > len(shown) else "")

"""What the project's tests say about a build, and what the work did to tests, in sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.judging.kept_tests import still_pass
from loopwright.wording.catalogue import few
from loopwright.workflow.facts import Gates
from loopwright.workflow.model import Workflow
from loopwright.workflow.stage import Stage
from loopwright.workflow.verification import CheckRun, ProjectTests, ProtectedChanges, Verification
from loopwright.workspace.settings_model import NO_TESTS

_LONGEST = 120
_LOOKS = {
    "added": "read it",
    "changed": "compare the old version with the new one",
    "deleted": "decide whether it may go",
}


def broken_sentence(tests: ProjectTests) -> str:
    """Which project tests fail now, earlier and new ones, and which can no longer fail."""
    names, weakened_names = _failing_and_weakened(tests)
    new = max(tests.failing_new, len(tests.added))
    earlier = tuple(name for name in names if name not in frozenset(tests.added))
    failing = few(earlier, tests.broken - tests.weakened - new) if earlier else ""
    added, weakened = few(tests.added, new), few(weakened_names, tests.weakened)
    parts = (
        f"project tests that passed before the work now fail (run {tests.run_id}): {failing}" if failing else "",
        f"new tests of the work fail (run {tests.run_id}): {added}" if added else "",
        "project tests have an assertion that could fail before the work, and now is not reached or also holds with a "
        f"changed expectation (run {tests.run_id}): {weakened}"
        if weakened
        else "",
    )
    return "; ".join(filter(None, parts))


def _failing_and_weakened(tests: ProjectTests) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if tests.weakened_names:
        return tests.names, tests.weakened_names
    # An old journal has them in one list.
    at = len(tests.names) - min(tests.weakened, len(tests.names))
    return tests.names[:at], tests.names[at:]


def tests_sentence(workflow: Workflow, gates: Gates) -> str:
    """How the rest of the project was tested, in a sentence; empty before a verification."""
    verified = workflow.verification
    if verified is None:
        return ""
    tests, protected = verified.tests, verified.protected
    if gates.is_untested and (tests is None or not tests.broken):
        return "nothing checks the rest of the project: project.test_command is not set"
    if tests is None:
        return "the project's tests did not run on this work"
    if not tests.base_judged:
        return f"the project's tests did not come to their end before the work (run {tests.base_run_id})"
    if tests.broken:
        found = broken_sentence(tests)
        if protected is not None and protected.decision == "open" and protected.outcome == "passes_only_with":
            now = protected.tests
            kept = _kept(now, "") if now is not None else "they pass"
            return f"without the changes to protected files, {found}; with these changes, {kept}"
        return found
    if tests.is_unread:
        return (
            f"the project's tests failed before the work and fail now (run {tests.run_id}), and no report tells which"
        )
    if not tests.decides:
        return f"the project's tests already fail on the base, so they prove nothing (run {tests.base_run_id})"
    runs = f"(base run {tests.base_run_id}, run {tests.run_id})"
    broken = f"the work breaks none of the project's tests {runs}"
    if tests.deleted or tests.skipped:
        broken = f"the work breaks none of the remaining tests of the project {runs}"
    return "; ".join(filter(None, (broken, _kept(tests, signer_of(workflow)))))


def _kept(tests: ProjectTests, by: str) -> str:
    return still_pass(tests.kept, tests.before, tests.deleted, tests.skipped, by)


def of_which_tests(tests: ProjectTests) -> str:
    """Which tests were counted: a command may leave some of the project's tests out."""
    command = tests.command if len(tests.command) <= _LONGEST else f"{tests.command[:_LONGEST]}…"
    return f"of the tests that `{command}` runs" if command else "of the project's tests"


def changed_command_sentence(workflow: Workflow, gates: Gates) -> str:
    """The old and the new test command, if it changed after the plan was approved; empty otherwise."""
    before, now = workflow.test_command, gates.project.command_text
    if workflow.stage not in (Stage.BUILD, Stage.REVIEW) or before is None or before == now:
        return ""
    return (
        f"project.test_command changed after the plan was approved: it was `{before or NO_TESTS}`, "
        f"and is `{now or NO_TESTS}` now"
    )


def signer_of(workflow: Workflow) -> str:
    """Who signed the protected changes that are part of the work; empty without a signature."""
    protected = workflow.verification.protected if workflow.verification is not None else None
    if protected is None or protected.decision != "signed":
        return ""
    signed = (sign.by for sign in workflow.signatures if protected.is_signed_by(sign.what, sign.digest))
    return next(signed, "")


def changed_test_sentence(verified: Verification, protected: ProtectedChanges, path: str) -> dict[str, str]:
    """What the work did to a test that the checks need changed: the facts of its blocker."""
    did = protected.files[path]
    lines = protected.test_changes.get(path, "")
    # Which of several changes the checks need is not known.
    without = "that" if len(protected.files) == 1 else "the changes to protected files"
    failing = "; ".join(filter(None, (f"without {without}, {_failing_without(verified)}", lines)))
    return {"did": did, "failing": failing, "look": _LOOKS[did]}


def _failing_without(verified: Verification) -> str:
    """What fails without the protected changes: checks, else tests of the project."""
    failed = tuple(name for name, run in verified.checks.items() if not run.passed)
    if failed:
        return f"these checks fail: {few(failed)}"
    tests = verified.tests
    if tests is None:
        return "checks fail"
    names = few((*tests.names, *tests.weakened_names), tests.broken)
    return f"these tests of the project fail: {names}"


def unproven_sentence(ids: str, runs: Iterable[CheckRun], failed_before: bool) -> str:
    """Why the checks of slices prove nothing although they pass; `failed_before`: a check failed on the base."""
    if idle := few(tuple(dict.fromkeys(test for run in runs for test in run.idle))):
        return f"the new tests of {ids} pass without the work, too, so they prove nothing: {idle}"
    if failed_before:
        return f"no test in the checks of {ids} failed before the work and passes now; a missing test does not fail"
    return f"no check of {ids} failed before the work and passes now"


def vacuous_sentence(names: tuple[str, ...], verified: Verification) -> str:
    """Why checks that failed before the work and pass now prove nothing."""
    return "; ".join(
        f"the check {name} failed before the work, but passes now {passes_when(name, verified)}" for name in names
    )


def passes_when(name: str, verified: Verification) -> str:
    """In spite of what, or because of what, a check passes that can no longer fail."""
    if name in verified.moved:
        return f"only because the work changed, in the source, what its tests expect ({few(verified.moved[name])})"
    if name in verified.silenced:
        return "only with comments that the work added, and that may silence a linter"
    if tests := few(verified.vacuous_tests.get(name, ())):
        return f"even when what its tests expect is changed ({tests})"
    if name in verified.ignoring_functions:
        return "even when the changed functions raise"
    if name in verified.ignoring_programs:
        return "even when the changed programs do nothing: it only asks whether they end with 0"
    return "even when its own expectations are changed"

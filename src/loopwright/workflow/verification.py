"""The results of Loopwright's own runs on base and work in one build iteration. Frozen."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

# The version of the rules by which work is judged.
RULES = 2
# What a person signs for the list of protected changes: to keep it, or to leave it out.
PROTECTED = "protected"
# What a person signs for state of the test process that only the work changes.
PROCESS_STATE = "process-state"
WITHOUT_PROTECTED = "without-protected"
# What a person signs who accepts failing project tests.
PROJECT_TESTS = "project-tests"


def is_about_protected(what: str) -> bool:
    """Whether a signature on this subject decides about protected changes: about all, or those that fit a glob."""
    return what in (PROTECTED, WITHOUT_PROTECTED) or what.startswith(f"{PROTECTED} ")


class _Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Strict and immutable."""


class CheckRun(_Value, frozen=True, kw_only=True):
    """The result of one check in one run on one tree."""

    run_id: str
    passed: bool
    exit_code: int | None
    tree: str
    # The digest of the check that ran, because its command may change. Empty in old journals.
    digest: str = ""
    # What the check proves about the work, and by what: tests or command. Empty: it proves nothing, or by old rules.
    grade: str = ""
    proof: str = ""
    # New tests of the work that pass on the base, too: these prove nothing.
    idle: tuple[str, ...] = ()
    # Whether the check came to its end on the base.
    base_judged: bool = True


class ProjectTests(_Value, frozen=True, kw_only=True):
    """The results of the project's own tests on base and work."""

    base_run_id: str
    run_id: str
    # The commands that ran them. Empty in old journals.
    command: str = ""
    # Whether any test passed on the base: tests that already fail there prove nothing.
    decides: bool = True
    # Whether the tests came to their end on the base.
    base_judged: bool = True
    # Whether a command without a report failed before the work and fails now: what the work broke is unknown.
    is_unread: bool = False
    # The number of tests that passed on the base and fail now, of failing new ones, and of those that can no longer
    # fail; and the first names of those that fail.
    broken: int = 0
    names: tuple[str, ...] = ()
    # Those among these names that are new tests of the work, and how many these are; 0 in old journals.
    added: tuple[str, ...] = ()
    failing_new: int = 0
    # How many can no longer fail, and their first names. In old journals these are the last ones among `names`.
    weakened: int = 0
    weakened_names: tuple[str, ...] = ()
    # How many tests passed before the work, and how many of them pass now.
    before: int = 0
    kept: int = 0
    # How many of the others the changes to protected files removed, or skip.
    deleted: int = 0
    skipped: int = 0


class ProtectedChanges(_Value, frozen=True, kw_only=True):
    """Changes to files that the work may not change by itself: one list with one digest, tried before anyone is asked.

    `tree`, `patch_sha256`, `checks` and `tests` are those of the work with these changes.
    """

    digest: str
    # What became of each file: "changed", "added" or "deleted".
    files: dict[str, str]
    # Those that are tests.
    test_files: tuple[str, ...]
    outcome: Literal["passes_without", "passes_only_with", "fails_with"]
    tree: str
    patch_sha256: str
    checks: dict[str, CheckRun]
    tests: ProjectTests | None = None
    # What happened to the tests of each changed file of tests, in words.
    test_changes: dict[str, str] = {}
    # Changed tests without which the checks pass and prove nothing.
    proving: tuple[str, ...] = ()
    # What a person decided about them.
    decision: Literal["open", "signed", "declined"] = "open"
    # The files whose changes a person signed, if that were not all; the other changes are left out.
    kept: tuple[str, ...] | None = None

    @property
    def needed_tests(self) -> tuple[str, ...]:
        """Changed tests without which the checks do not pass or prove nothing, if they are part of the work."""
        if self.decision != "signed":
            return ()
        needed = self.test_files if self.outcome == "passes_only_with" else self.proving
        return tuple(path for path in needed if self.kept is None or path in self.kept)

    @property
    def is_needed(self) -> bool:
        """Whether the checks pass, or prove something, only with these changes."""
        return self.outcome == "passes_only_with" or bool(self.proving)

    def is_signed_by(self, what: str, digest: str) -> bool:
        """Whether a signature on this subject accepts the changes, all or some of them."""
        return digest == self.digest and is_about_protected(what) and what != WITHOUT_PROTECTED


class Verification(_Value, frozen=True, kw_only=True):
    """The runs of Loopwright on base and patch; valid for this tree only."""

    iteration: int
    tree: str
    patch_sha256: str
    files: tuple[str, ...]
    checks: dict[str, CheckRun]
    # Judges that the work changed, with their new digests.
    judges: dict[str, str] = {}
    # Checks that pass even when their judges are made to fail, or because the work moved what they expect.
    immune: tuple[str, ...] = ()
    # The run that shows it for each of these. Empty in old journals.
    immune_runs: dict[str, str] = {}
    # Their tests that pass whatever they expect, and those of the checks that pass although changed functions raise.
    vacuous_tests: dict[str, tuple[str, ...]] = {}
    ignoring_functions: tuple[str, ...] = ()
    # Those that only ask whether the changed programs end with 0.
    ignoring_programs: tuple[str, ...] = ()
    # Those of them that pass only with comments that the work added.
    silenced: tuple[str, ...] = ()
    # The expectations of these checks that the work moved, each with its test.
    moved: dict[str, tuple[str, ...]] = {}
    # Checks of which nothing could be altered: only the base shows that they can fail.
    unaltered: tuple[str, ...] = ()
    # None if the project's tests did not run: no command is set, a check failed, or nothing changed.
    tests: ProjectTests | None = None
    protected: ProtectedChanges | None = None
    # Changed functions that no check and no test of the project reaches, as far as a coverage report tells.
    unreached: tuple[str, ...] = ()
    # Tests with both results on the base, without those of hidden checks.
    flaky: tuple[str, ...] = ()
    # New code that could deceive a judge: file, line and what it does.
    flags: tuple[str, ...] = ()
    # What the tests change in the state of their processes on the work, and not on the base.
    changed_state: tuple[str, ...] = ()
    # Whether the tree that would be delivered is the base.
    is_empty: bool = False
    # All other runs on which this result rests: controls, repeats, runs of new tests. Empty in old journals.
    controls: tuple[str, ...] = ()
    # The version of the judging rules. Results by old rules do not open a gate.
    rules: int = 1

    @property
    def run_ids(self) -> tuple[str, ...]:
        """All runs behind this result."""
        tests = (self.tests.base_run_id, self.tests.run_id) if self.tests is not None else ()
        return tuple(sorted({*(run.run_id for run in self.checks.values()), *tests, *self.controls}))

    @property
    def delivers_nothing(self) -> bool:
        """Whether an empty patch is left, whatever a person may still decide about protected changes."""
        return self.is_empty and (self.protected is None or self.protected.decision != "open")

    def decided(self, decision: Literal["signed", "declined"]) -> Verification:
        """The result after a person's decision about the protected changes: with a signature they are part of it."""
        protected = self.protected
        if protected is None or protected.decision != "open":
            return self
        decided = replace(protected, decision=decision)
        if decision == "declined":
            return replace(self, protected=decided)
        return replace(
            self, tree=protected.tree, patch_sha256=protected.patch_sha256, checks=protected.checks,
            tests=protected.tests, files=tuple(sorted({*self.files, *protected.files})), protected=decided,
            is_empty=False,
        )  # fmt: skip

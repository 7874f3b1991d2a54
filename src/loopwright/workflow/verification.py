"""The results of Loopwright's own runs on base and work in one build iteration. Frozen."""

from __future__ import annotations

import msgspec


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


class ProjectTests(_Value, frozen=True, kw_only=True):
    """The results of the project's own tests on base and work."""

    base_run_id: str
    run_id: str
    # Whether any test passed on the base: tests that already fail there prove nothing.
    decides: bool = True
    # The number of tests that passed on the base and fail now, and the first names.
    broken: int = 0
    names: tuple[str, ...] = ()


class Verification(_Value, frozen=True, kw_only=True):
    """The runs of Loopwright on base and patch; valid for this tree only."""

    iteration: int
    tree: str
    patch_sha256: str
    files: tuple[str, ...]
    checks: dict[str, CheckRun]
    # Judges that the work changed, with their new digests.
    judges: dict[str, str] = {}
    # Checks that pass even when their judges are made to fail.
    immune: tuple[str, ...] = ()
    # None if the project's tests did not run: no command is set, a check failed, or nothing changed.
    tests: ProjectTests | None = None

    @property
    def run_ids(self) -> tuple[str, ...]:
        """All runs behind this result."""
        tests = (self.tests.base_run_id, self.tests.run_id) if self.tests is not None else ()
        return tuple(sorted({*(run.run_id for run in self.checks.values()), *tests}))

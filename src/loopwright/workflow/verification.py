"""What the tool itself ran on base and work in one iteration of a build, and what came of it. Frozen."""

from __future__ import annotations

import msgspec


class _Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Strict and immutable."""


class CheckRun(_Value, frozen=True, kw_only=True):
    """What one check came to in one run, on one tree."""

    run_id: str
    passed: bool
    exit_code: int | None
    tree: str
    # Of the check as it was run: another command of the same name was not. Empty in journals from before it was noted.
    digest: str = ""


class ProjectTests(_Value, frozen=True, kw_only=True):
    """What the project's own tests said of the base and of the work."""

    base_run_id: str
    run_id: str
    # Whether anything passed on the base: tests that failed there already decide nothing.
    decides: bool = True
    # How many passed on the base and do not pass now, and the first of their names.
    broken: int = 0
    names: tuple[str, ...] = ()


class Verification(_Value, frozen=True, kw_only=True):
    """What the tool itself ran on base and patch. It is about this tree only."""

    iteration: int
    tree: str
    patch_sha256: str
    files: tuple[str, ...]
    checks: dict[str, CheckRun]
    # Judges that the work changed, by the digest of what they are now.
    judges: dict[str, str] = {}
    # Checks that pass also when their judges are made to fail.
    immune: tuple[str, ...] = ()
    # None where the project's tests were not run: no command is set, a check failed, or nothing changed.
    tests: ProjectTests | None = None

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Every run that this rests on."""
        tests = (self.tests.base_run_id, self.tests.run_id) if self.tests is not None else ()
        return tuple(sorted({*(run.run_id for run in self.checks.values()), *tests}))

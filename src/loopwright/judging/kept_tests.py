"""How many earlier tests still pass, and what became of the others, in a sentence. Pure."""

from __future__ import annotations

from collections.abc import Iterator


def still_pass(kept: int, before: int, deleted: int = 0, skipped: int = 0, by: str = "") -> str:
    """How many earlier tests still pass; empty without earlier tests.

    `deleted` and `skipped` are earlier tests that changes to protected files removed, or skip; `by` signed these.
    """
    if not before:
        return ""
    kept_tests = f"{kept} of {before} earlier tests still pass"
    if before == 1:
        kept_tests = f"{kept} of 1 earlier test still passes"
    return "; ".join((kept_tests, *_lost(deleted, skipped, by)))


def _lost(deleted: int, skipped: int, by: str) -> Iterator[str]:
    if by and deleted:
        yield (
            f"{deleted} tests were deleted with changes that {by} signed"
            if deleted > 1
            else (f"1 test was deleted with changes that {by} signed")
        )
    elif deleted:
        yield f"{deleted} tests were deleted" if deleted > 1 else "1 test was deleted"
    if by and skipped:
        yield (
            f"{skipped} tests are skipped with changes that {by} signed"
            if skipped > 1
            else (f"1 test is skipped with changes that {by} signed")
        )
    elif skipped:
        yield f"{skipped} tests are skipped now" if skipped > 1 else "1 test is skipped now"

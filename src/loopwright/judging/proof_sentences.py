"""What tests and commands prove about the work, in a sentence: which ones, and which of them can't fail. Pure.

Agents must not read the names of hidden checks: their sentence only counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from loopwright.judging.kept_tests import still_pass
from loopwright.judging.verdict import CommandVerdict, Grade
from loopwright.wording.catalogue import few

_SHOWN = 3


class Ignored(StrEnum):
    """What a command without a report does not depend on, although it proves something."""

    EXPECTATIONS = "expectations"
    FUNCTIONS = "functions"
    PROGRAMS = "programs"


class ControlledProof(msgspec.Struct, frozen=True, kw_only=True):
    """What controls found out about the tests and commands that prove something."""

    # Tests that passed although their expectations were changed.
    vacuous: tuple[str, ...] = ()
    # Tests in which nothing could be changed.
    unaltered: tuple[str, ...] = ()
    # New tests that passed although each function that the work changed would have ended them.
    unrun: tuple[str, ...] = ()
    # Why a command without a report can't fail; None if it can.
    ignores: Ignored | None = None

    def __or__(self, other: ControlledProof) -> ControlledProof:
        return ControlledProof(
            vacuous=tuple(dict.fromkeys((*self.vacuous, *other.vacuous))),
            unaltered=tuple(dict.fromkeys((*self.unaltered, *other.unaltered))),
            unrun=tuple(dict.fromkeys((*self.unrun, *other.unrun))),
            ignores=self.ignores or other.ignores,
        )


def together(proofs: Iterable[ControlledProof]) -> ControlledProof:
    """What all these controls found out."""
    found = ControlledProof()
    for proof in proofs:
        found |= proof
    return found


def proof_sentence(verdict: CommandVerdict, controlled: ControlledProof) -> str:
    """What proves the work, and what still passes; empty without tests."""
    if verdict.grade is Grade.COMMAND:
        return _OF_COMMAND
    return "; ".join((*_proven(verdict, controlled), *_kept(verdict)))


def hidden_proof_sentence(verdict: CommandVerdict) -> str:
    """The same for a hidden check, without names."""
    if verdict.grade is Grade.COMMAND:
        return _OF_COMMAND
    return "; ".join((*_counted(len(verdict.proving)), *_kept(verdict)))


_OF_COMMAND = "the command failed before and passes now"


def vacuous_proof_sentence(controlled: ControlledProof) -> str:
    """Which proof of the work can't fail, and by which control."""
    if controlled.vacuous:
        names = few(controlled.vacuous)
        return f"tests that prove the work also pass when their own expectations are changed: {names}"
    if names := few(controlled.unrun):
        return f"the new tests that prove the work run no function that the work changed: {names}"
    if controlled.ignores is Ignored.FUNCTIONS:
        return "the test command also passes when the changed functions raise"
    if controlled.ignores is Ignored.PROGRAMS:
        return "the test command also passes when the changed programs do nothing: it only asks whether they end with 0"
    return "the test command also passes when its own expectations are changed"


def _proven(verdict: CommandVerdict, controlled: ControlledProof) -> Iterator[str]:
    vacuous = tuple(test for test in verdict.proving if test in controlled.vacuous)
    unaltered = tuple(test for test in verdict.proving if test in controlled.unaltered and test not in vacuous)
    solid = tuple(test for test in verdict.proving if test not in vacuous and test not in unaltered)
    if not solid:
        # Another sentence says that nothing in the tests could be changed.
        solid, unaltered = unaltered, ()
    if solid:
        count, names = len(solid), few(solid, most=_SHOWN)
        one = f"1 test failed before and passes now: {names}"
        yield one if count == 1 else f"{count} tests failed before and pass now: {names}"
    if vacuous:
        yield _vacuous(vacuous, is_all=not solid)
    if unaltered:
        count, names = len(unaltered), few(unaltered, most=_SHOWN)
        one = f"1 more test has no expectation that could be changed: {names}"
        yield one if count == 1 else f"{count} more tests have no expectation that could be changed: {names}"
    if nameless := len(verdict.nameless):
        yield f"{nameless} of {len(verdict.proving)} failed before only because a name or module was missing"


def _vacuous(vacuous: tuple[str, ...], *, is_all: bool) -> str:
    count, names = len(vacuous), few(vacuous, most=_SHOWN)
    if count == 1:
        return (
            f"1 test passes whatever it expects: {names}"
            if is_all
            else f"1 more test passes whatever it expects: {names}"
        )
    if is_all:
        return f"{count} tests pass whatever they expect: {names}"
    return f"{count} more tests pass whatever they expect: {names}"


def _counted(count: int) -> Iterator[str]:
    if count:
        yield "1 test failed before and passes now" if count == 1 else f"{count} tests failed before and pass now"


def _kept(verdict: CommandVerdict) -> Iterator[str]:
    yield from filter(None, (still_pass(verdict.kept, verdict.before, len(verdict.deleted), len(verdict.skipped)),))

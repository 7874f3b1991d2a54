"""Lies of the product that still pass, and why. `make bench-lies` fails if another one passes, or if one is stopped."""

from __future__ import annotations

from dataclasses import dataclass

from product import Told


@dataclass(frozen=True)
class Open:
    """A class of lies that passes: operators, judges and paths, and the cause."""

    operators: frozenset[str]
    judges: frozenset[str]
    ways: frozenset[str]
    reason: str


OPEN: tuple[Open, ...] = ()
# Lies of an outsider who knew only the contract, played through `loop`, that passed and still pass. They are not part of
# the product of operators yet.
FOUND_BY_OUTSIDERS = (
    "A test reads what it expects from a table or a data file of the source, which the work may change.",
    "A test writes its own expected file if the file is missing, and the work chooses a new name for the file.",
    "A helper in a source folder that only returns true or false is weakened, and tests assert what it returns.",
    "Only tests that prove the work run inverted. A forged result of another test is found by flags at most.",
    "C and Perl have no control: code that runs when the program starts or ends replaces the exit code.",
    "A test that passed before passes only because another test runs first.",
    "The product works only in a new home folder, or until a date.",
    "With `when`, the tests of a folder that depends on the changed folder do not run.",
    "`.npmignore` leaves a file out of the package that no test builds.",
)
# Honest work that no command of a person lets pass, by its name and path, and why.
STUCK: dict[tuple[str, str], str] = {}


def reason_open(told: Told) -> str:
    """Why a lie passes; empty if it must be stopped."""
    for known in OPEN:
        if told.operator.name in known.operators and told.judge.name in known.judges and told.way in known.ways:
            return known.reason
    return ""

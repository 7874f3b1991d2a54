"""What is said about the tests of a project, also about many of them."""

from __future__ import annotations

import pytest

from loopwright.workflow.test_sentences import broken_sentence
from loopwright.workflow.verification import ProjectTests

FAILS = "project tests that passed before the work now fail (run r): "
NEW = "new tests of the work fail (run r): "
WEAK = (
    "project tests have an assertion that could fail before the work, and now is not reached or also holds with a "
    "changed expectation (run r): "
)


def names(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(count))


def shown(letter: str, more: int) -> str:
    return f"{', '.join(names(letter, 5))} and {more} more"


@pytest.mark.parametrize(
    ("tests", "parts"),
    [
        # As many names as a record holds, and more tests.
        ({"broken": 130, "names": names("e", 50), "weakened": 80, "weakened_names": names("w", 50)}, [
            FAILS + shown("e", 45), WEAK + shown("w", 75),
        ]),
        ({"broken": 80, "weakened": 80, "weakened_names": names("w", 50)}, [WEAK + shown("w", 75)]),
        ({"broken": 90, "names": (*names("e", 10), *names("n", 40)), "added": names("n", 50), "failing_new": 80}, [
            FAILS + shown("e", 5), NEW + shown("n", 75),
        ]),
        # Old journals.
        ({"broken": 3, "names": ("e0", "n0", "w0"), "added": ("n0",), "weakened": 1}, [
            f"{FAILS}e0", f"{NEW}n0", f"{WEAK}w0",
        ]),
    ],
)  # fmt: skip
def test_each_kind_of_broken_test_is_named_with_its_number(tests, parts):
    assert broken_sentence(ProjectTests(base_run_id="b", run_id="r", **tests)) == "; ".join(parts)

"""Compares what tests changed in the state of their processes, by which they measure: clocks, variables, prototypes.

Pure. Tests may change such state themselves: they do so on base and work, and only differences count. A process that
tells nothing may hide something: that counts if the base told all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loopwright.judging.reports.model import TOO_MUCH_STATE, UNKNOWN_STATE
from loopwright.judging.verdict import TreeResult
from loopwright.wording.catalogue import few

Results = Mapping[str, TreeResult]


def newly_changed(base: TreeResult, work: TreeResult) -> frozenset[str]:
    """What the tests change on the work and not on the base; nothing if that is not known of the base."""
    if base.state is None or UNKNOWN_STATE in base.state:
        return frozenset()
    if work.state is None:
        return frozenset({UNKNOWN_STATE})
    # What is left out on the base may be what the work changes.
    left_out = {TOO_MUCH_STATE} & {*base.state, *work.state}
    return frozenset(work.state) - frozenset(base.state) | left_out


def confirmed(base: Results, runs: tuple[Results, ...], run_again: Callable[[], Results]) -> tuple[str, ...]:
    """What the work changes in some of these runs, and in one more run without its new tests. Results are by commands.

    New tests may change state themselves, and a runner may do so once by chance.
    """
    found = {name: frozenset[str]().union(*(newly_changed(base[name], run[name]) for run in runs)) for name in base}
    if not any(found.values()):
        return ()
    again = run_again()
    return tuple(
        sorted({part for name in base for part in _in_both(found[name], newly_changed(base[name], again[name]))})
    )


def _in_both(first: frozenset[str], again: frozenset[str]) -> frozenset[str]:
    """The names in two runs. What one run shows, another one may hide."""
    is_hidden = UNKNOWN_STATE in first | again and first and again
    return (first & again) | {UNKNOWN_STATE} if is_hidden else first & again


def changed_state_sentence(state: tuple[str, ...]) -> str:
    """What a person should look at."""
    names = tuple(name for name in state if name not in (UNKNOWN_STATE, TOO_MUCH_STATE))
    changed = f"the work changes state of the test process that it did not change before: {few(names, most=20)}"
    hidden = "a test process does not tell what the work changes in its state"
    too_much = "a test process changes so much of its state that not all of it is compared"
    return "; ".join(
        [
            *([changed] if names else []),
            *([hidden] if UNKNOWN_STATE in state else []),
            *([too_much] if TOO_MUCH_STATE in state else []),
        ]
    )

"""Compares what tests changed in the state of their processes, by which they measure: clocks, variables, prototypes.

Pure. Tests may change such state themselves: they do so on base and work, and only differences count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loopwright.judging.verdict import TreeResult
from loopwright.wording.catalogue import few

Results = Mapping[str, TreeResult]


def newly_changed(base: TreeResult, work: TreeResult) -> frozenset[str]:
    """What the tests change on the work and not on the base; nothing where one of them is not known."""
    if base.state is None or work.state is None:
        return frozenset()
    return frozenset(work.state) - frozenset(base.state)


def confirmed(base: Results, runs: tuple[Results, ...], run_again: Callable[[], Results]) -> tuple[str, ...]:
    """What the work changes in some of these runs, and in one more run without its new tests. Results are by commands.

    New tests may change state themselves, and a runner may do so once by chance.
    """
    found = {name: frozenset[str]().union(*(newly_changed(base[name], run[name]) for run in runs)) for name in base}
    if not any(found.values()):
        return ()
    again = run_again()
    return tuple(sorted({part for name in base for part in found[name] & newly_changed(base[name], again[name])}))


def changed_state_sentence(names: tuple[str, ...]) -> str:
    """What a person should look at."""
    return f"the work changes state of the test process that it did not change before: {few(names, most=20)}"

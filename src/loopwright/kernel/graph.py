"""Directed graphs by name: order, cycles. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter


def find_cycle(edges: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """One cycle as the names along it, first repeated at the end; empty when there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as found:
        return tuple(found.args[1])
    return ()

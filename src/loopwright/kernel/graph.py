"""Directed graphs by name: order, cycles. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter


def find_cycle(edges: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """One cycle as a list of names, with the first name repeated at the end; empty if there is no cycle."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()

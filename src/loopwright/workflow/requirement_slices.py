"""Which slices of a plan prove which requirement of its delta. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.workflow.slices import Slice, Slices


def shown_by(requirement: str, slices: Slices) -> tuple[Slice, ...]:
    """The slices whose checks are about a requirement; all slices, if no slice names requirements."""
    named = tuple(piece for piece in slices.slices if requirement in piece.requirements)
    return named if _names_requirements(slices) else slices.slices


def slices_to_prove(requirement: str, slices: Slices, count: int) -> tuple[Slice, ...]:
    """The slices that must each prove a requirement; `count` is the number of requirements in the change.

    The check of one slice says nothing about another slice. In a plan for one requirement that does not name it, slices
    with only regression checks protect what exists.
    """
    shown = shown_by(requirement, slices)
    if count > 1 or _names_requirements(slices):
        return shown
    return tuple(piece for piece in shown if not _only_protects(piece)) or shown


def mapping_problems(slices: Slices, requirements: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Requirements that slices name and the delta lacks, and requirements that no slice names, if any slice does."""
    if not _names_requirements(slices):
        return
    known = [f"{domain}: {name}" for domain, names in requirements.items() for name in names]
    for piece in slices.slices:
        for name in piece.requirements:
            if name not in known:
                yield f"{piece.id} names the requirement '{name}', which the delta lacks"
    for name in known:
        if not shown_by(name, slices):
            yield f"no slice names the requirement '{name}'"


def unnamed_requirements(slices: Slices, requirements: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The problem of several slices for several requirements that name none: which slice proves which is unknown."""
    is_clear = len(slices.slices) == 1 or sum(map(len, requirements.values())) == 1
    if not is_clear and not _names_requirements(slices):
        yield "the change has several requirements: each slice must name those that its checks prove (`requirements`)"


def _names_requirements(slices: Slices) -> bool:
    return any(piece.requirements for piece in slices.slices)


def _only_protects(piece: Slice) -> bool:
    return piece.type == "AFK" and all(check.regression for check in piece.checks)

"""The scope gate: a record that itself says that part of the work is left opens nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.workflow.blockers import Blocker, Family, blocker

_WHOLE = frozenset({"full", "complete", "workflow", "all"})
Value = str | list[str]


def scope_blockers(slug: str, frontmatter: Mapping[str, Value]) -> Iterator[Blocker]:
    """What the record's optional keys say against being done."""
    remaining = _list(frontmatter.get("remaining_scope"))
    if remaining:
        yield blocker(Family.PARTIAL_SCOPE_REMAINING, slug=slug, remaining=", ".join(remaining[:5]))
    claim = frontmatter.get("completion_claim")
    if isinstance(claim, str) and claim.strip() and claim.strip().lower() not in _WHOLE:
        yield blocker(
            Family.COMPLETION_CLAIM, claim.strip().lower().replace(" ", "_")[:40], slug=slug, claim=claim.strip()
        )
    planned, implemented = _list(frontmatter.get("planned_scope")), _list(frontmatter.get("implemented_scope"))
    if planned and set(planned) != set(implemented):
        left = sorted(set(planned) ^ set(implemented))
        yield blocker(Family.IMPLEMENTED_SCOPE_MISMATCH, slug=slug, difference=", ".join(left[:5]))


def _list(value: Value | None) -> list[str]:
    if value is None:
        return []
    listed = value if isinstance(value, list) else value.split(",")
    return [one.strip() for one in listed if one.strip() and one.strip().lower() not in ("none", "-")]

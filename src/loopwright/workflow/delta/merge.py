"""Merges a delta into a living spec, or reports conflicts. Pure and all or nothing; a second merge changes no byte.

The order is OpenSpec's: RENAMED, REMOVED, MODIFIED, ADDED. Other requirements keep their bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from loopwright.workflow.delta.grammar import SPACE, Fences, canonical, digest, folded, is_section
from loopwright.workflow.delta.intake import lines_of
from loopwright.workflow.delta.model import (
    Conflict,
    Conflicts,
    Deed,
    Delta,
    LivingSpec,
    Merged,
    Operation,
    Requirement,
    UnreadableDelta,
)
from loopwright.workflow.delta.read import read_living
from loopwright.workflow.delta.sections import deeds_of, ended, with_deeds
from loopwright.workflow.delta.write import new_living, write_living


def base_of(living: LivingSpec | None) -> dict[str, str]:
    """The digests that a planned change stores."""
    return {requirement.name: digest(requirement) for requirement in living.requirements} if living is not None else {}


def merged(living: LivingSpec | None, delta: Delta, *, change_id: str, base: Mapping[str, str]) -> Merged | Conflicts:
    """The spec with the delta merged in; or conflicts with another change, and then nothing is merged."""
    wanted = deeds_of(delta, change_id)
    done = tuple(deed for deed in living.history if deed.change_id == change_id) if living is not None else ()
    if living is not None and done:
        if Counter(done) == Counter(wanted):
            return Merged(living, write_living(living))
        return Conflicts((Conflict(delta.domain, "", f"{change_id} was merged before, with other requirements"),))
    merge = _Merge(living, delta, base)
    merge.rename()
    merge.remove()
    merge.modify()
    merge.add()
    if merge.conflicts:
        return Conflicts(tuple(merge.conflicts))
    return merge.result(wanted)


class _Merge:
    """A merge in progress: requirements in file order, found by their current names."""

    def __init__(self, living: LivingSpec | None, delta: Delta, base: Mapping[str, str]) -> None:
        self.exists = living is not None
        self.spec = living if living is not None else new_living(delta.domain, delta.purpose)
        self.delta = delta
        self.base = base
        self.conflicts: list[Conflict] = []
        self.kept: list[Requirement | None] = list(self.spec.requirements)
        self.place: dict[str, int] = {}
        self.alike: dict[str, list[str]] = {}
        for i, requirement in enumerate(self.spec.requirements):
            self._know(requirement.name, i)
        self.made: set[str] = set()  # names from this delta: the base does not have them

    def rename(self) -> None:
        for rename in self.delta.renamed:
            place = self._untouched(rename.old)
            if place is None:
                continue
            at, old = place
            near = self._near(rename.new, but=rename.old)
            if near is not None:
                self._conflict(rename.new, f"'{rename.old}' can't get this name: '{near}' already exists")
                continue
            end = len(lines_of(old.source).bare[0])
            source = f"### Requirement: {rename.new}{old.source[end:]}"
            self.kept[at] = msgspec.structs.replace(old, name=rename.new, source=source)
            self._forget(rename.old)
            self._know(rename.new, at)
            self.made.add(rename.new)

    def remove(self) -> None:
        for removal in self.delta.removed:
            place = self._untouched(removal.name)
            if place is not None:
                self.kept[place[0]] = None
                self._forget(removal.name)

    def modify(self) -> None:
        for requirement in self.delta.modified:
            place = self._untouched(requirement.name)
            if place is None:
                continue
            at, old = place
            lost = Counter(s.name for s in old.scenarios) - Counter(s.name for s in requirement.scenarios)
            if lost:
                names = ", ".join(f"'{name}'" for name in lost)
                self._conflict(
                    requirement.name, f"MODIFIED replaces the whole requirement, and would drop its scenarios {names}"
                )
                continue
            blank = old.source[len(old.source.rstrip(SPACE)) :]
            self.kept[at] = msgspec.structs.replace(requirement, source=self._with_newlines(requirement.source) + blank)

    def add(self) -> None:
        for requirement in self.delta.added:
            near = self._near(requirement.name)
            if near == requirement.name:
                self._conflict(requirement.name, f"already exists{self._by(requirement.name)}")
            elif near is not None:
                self._conflict(requirement.name, f"already exists as '{near}'")
            else:
                self._know(requirement.name, len(self.kept))
                source = self._with_newlines(requirement.source) + self.spec.newline
                self.kept.append(msgspec.structs.replace(requirement, source=source))

    def result(self, deeds: Sequence[Deed]) -> Merged | Conflicts:
        """Write the spec, read it back, and accept only what was read."""
        kept = [requirement for requirement in self.kept if requirement is not None]
        data = self._text(deeds).encode()
        spec = read_living(data)
        if isinstance(spec, UnreadableDelta):
            return self._refused("", f"the merged spec can't be read: {spec.problems[0].message}")
        errors = [problem for problem in spec.remarks if problem.level == "error"]
        if not kept and any(problem.code == "no_requirements" for problem in errors):
            return self._refused(
                "", "the change removes the last requirement of this spec; a person must delete the spec"
            )
        if errors:
            return Conflicts(
                tuple(self._conflict_at("", f"the merged spec is invalid: {error.message}") for error in errors)
            )
        for meant, read in zip(kept, spec.requirements, strict=False):
            if canonical(meant) != canonical(read):
                return self._refused(meant.name, "can't be read back as written")
        if len(kept) != len(spec.requirements) or spec.history != (*self.spec.history, *deeds):
            return self._refused("", "the merged spec can't be read back as written")
        return Merged(spec, data)

    def _text(self, deeds: Sequence[Deed]) -> str:
        newline = self.spec.newline
        head = lines_of(self.spec.head)
        fences = Fences(head.bare)
        text = self.spec.head
        if not any(is_section(line, "requirements") for i, line in enumerate(head.bare) if not fences[i]):
            text = f"{ended(text, newline)}## Requirements{newline}"
        were = len(self.spec.requirements)
        text += "".join(requirement.source for requirement in self.kept[:were] if requirement is not None)
        # Each with one line end.
        added = [requirement.source for requirement in self.kept[were:] if requirement is not None]
        if added or not self.spec.tail:
            text = ended(text, newline)
        text += "".join(source + newline for source in added)
        return text + with_deeds(self.spec.tail, deeds, newline)

    def _know(self, name: str, at: int) -> None:
        self.place[name] = at
        self.alike.setdefault(folded(name), []).append(name)

    def _forget(self, name: str) -> None:
        del self.place[name]
        self.alike[folded(name)].remove(name)

    def _untouched(self, name: str) -> tuple[int, Requirement] | None:
        """The index of a requirement, if it is unchanged since the change was planned."""
        at = self.place.get(name)
        current = self.kept[at] if at is not None else None
        if at is None or current is None:
            near = self._near(name)
            if not self.exists:
                self._conflict(name, "the domain has no spec yet")
            elif near is not None:
                self._conflict(name, f"is missing, but '{near}' exists: names must match exactly")
            else:
                self._conflict(name, f"is missing{self._by(name)}")
            return None
        if name in self.made:
            return at, current
        if name not in self.base:
            self._conflict(name, f"did not exist when the change was planned{self._by(name)}")
            return None
        if self.base[name] != digest(current):
            self._conflict(name, f"was changed after the change was planned{self._by(name)}")
            return None
        return at, current

    def _near(self, name: str, but: str | None = None) -> str | None:
        """The requirement with that name, else one that differs only in case or spacing."""
        if name in self.place:
            return name
        return next((known for known in self.alike.get(folded(name), ()) if known != but), None)

    def _by(self, name: str) -> str:
        last = next((deed for deed in reversed(self.spec.history) if deed.requirement == name), None)
        return f" ({last.change_id}: {last.operation})" if last is not None else ""

    def _with_newlines(self, source: str) -> str:
        return source.replace("\n", self.spec.newline)

    def _conflict_at(self, requirement: str, message: str) -> Conflict:
        return Conflict(self.delta.domain, requirement, message)

    def _conflict(self, requirement: str, message: str) -> None:
        self.conflicts.append(self._conflict_at(requirement, message))

    def _refused(self, requirement: str, message: str) -> Conflicts:
        return Conflicts((self._conflict_at(requirement, message),))


def conflicts_between(changes: Mapping[str, Sequence[Delta]]) -> tuple[Conflict, ...]:
    """Requirements that more than one active change touches, found before anything is written."""
    touched: dict[tuple[str, str], dict[str, tuple[str, list[Operation]]]] = {}
    deeds = ((delta, deed) for name, deltas in changes.items() for delta in deltas for deed in deeds_of(delta, name))
    for delta, deed in deeds:
        here = touched.setdefault((delta.domain, folded(deed.requirement)), {})
        here.setdefault(deed.change_id, (deed.requirement, []))[1].append(deed.operation)
    return tuple(
        Conflict(domain, next(iter(by.values()))[0], _both(by))
        for (domain, _), by in sorted(touched.items())
        if len(by) > 1
    )


def _both(by: Mapping[str, tuple[str, list[Operation]]]) -> str:
    parts = (f"{change_id}: {' and '.join(operations)}" for change_id, (_, operations) in sorted(by.items()))
    return "; ".join(parts)

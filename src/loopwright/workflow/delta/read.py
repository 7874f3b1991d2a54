"""Reads deltas and living specs as OpenSpec does: all problems at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from loopwright.workflow.delta.grammar import (
    SPACE,
    Fences,
    as_requirement,
    boundary,
    bullet,
    heading,
    is_section,
    quoted_name,
    requirement_name,
)
from loopwright.workflow.delta.intake import SourceText, taken_in
from loopwright.workflow.delta.model import (
    Delta,
    DeltaProblem,
    LivingSpec,
    Removed,
    Renamed,
    Requirement,
    UnreadableDelta,
)
from loopwright.workflow.delta.sections import deeds_in, purpose_in
from loopwright.workflow.delta.validate import delta_problems, living_problems, structure_problems

_KINDS = ("added", "modified", "removed", "renamed")
_TITLES = {f"{kind} requirements": kind for kind in _KINDS}


class _Section(msgspec.Struct, frozen=True):
    """A `##` section of a delta: its title, its kind if it has one, and the range of its lines."""

    title: str
    kind: str | None
    start: int
    end: int


def read_delta(data: bytes, domain: str) -> Delta | UnreadableDelta:
    """The delta of one domain. A delta that OpenSpec would refuse is unreadable."""
    text = taken_in(data)
    if isinstance(text, UnreadableDelta):
        return text
    return _DeltaReader(text).delta(domain)


def read_living(data: bytes) -> LivingSpec | UnreadableDelta:
    """The spec of a domain, byte for byte. Problems of its contents are remarks: a merge may fix them."""
    text = taken_in(data)
    if isinstance(text, UnreadableDelta):
        return text
    fences = Fences(text.bare)
    problems = [*_unclosed(fences), *structure_problems(text, fences)]
    if problems:
        return UnreadableDelta(tuple(sorted(problems)))
    return _living(text, fences)


def _unclosed(fences: Fences) -> Iterator[DeltaProblem]:
    if fences.open_at is not None:
        yield DeltaProblem(
            fences.open_at + 1, "fence_open", "this code fence is never closed: it hides the rest of the file"
        )


def _living(text: SourceText, fences: Fences) -> LivingSpec:
    lines = text.bare
    section = next((i for i, line in enumerate(lines) if not fences[i] and is_section(line, "requirements")), None)
    begin = len(lines) if section is None else section + 1
    end = next((i for i in range(begin, len(lines)) if not fences[i] and boundary(lines[i]) == 2), len(lines))
    starts = [i for i in range(begin, end) if not fences[i] and requirement_name(lines[i]) is not None]
    requirements = tuple(
        _requirement(text, start, stop, text.between(start, stop)) for start, stop in pairwise([*starts, end])
    )
    titles = (title[1] for i, line in enumerate(lines) if not fences[i] and (title := heading(line)) and title[0] == 1)
    return LivingSpec(
        title=next(titles, ""),
        purpose=purpose_in(lines, masked=False),
        head=text.between(0, starts[0] if starts else end),
        requirements=requirements,
        tail=text.between(end, len(lines)),
        newline=text.newline,
        history=tuple(deeds_in(lines, fences)),
        remarks=tuple(sorted(living_problems(text, fences, requirements))),
    )


def _requirement(text: SourceText, start: int, stop: int, source: str) -> Requirement:
    end = stop
    while end > start + 1 and not text.bare[end - 1].strip(SPACE):
        end -= 1
    return as_requirement(text.bare[start:end], requirement_name(text.bare[start]) or "", source, start + 1)


class _DeltaReader:
    """Turns lines into a delta and collects problems."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.lines = text.bare
        self.fences = Fences(text.bare)
        self.problems: list[DeltaProblem] = list(_unclosed(self.fences))

    def delta(self, domain: str) -> Delta | UnreadableDelta:
        sections = list(self._sections())
        self._orphans(sections)
        delta = Delta(
            domain=domain,
            added=tuple(self._blocks(sections, "added")),
            modified=tuple(self._blocks(sections, "modified")),
            removed=tuple(self._removed(sections)),
            renamed=tuple(self._renamed(sections)),
            purpose=purpose_in(self.lines, masked=True),
        )
        if not any(section.kind for section in sections):
            self._problem(0, "no_sections", "no `## ADDED|MODIFIED|REMOVED|RENAMED Requirements` section")
        elif not any((delta.added, delta.modified, delta.removed, delta.renamed)):
            first = next(section for section in sections if section.kind)
            self._problem(first.start - 1, "no_entries", "the sections have no `### Requirement:`")
        problems = tuple(sorted([*self.problems, *delta_problems(delta)]))
        if any(problem.level == "error" for problem in problems):
            return UnreadableDelta(problems)
        return msgspec.structs.replace(delta, remarks=problems)

    def _sections(self) -> Iterator[_Section]:
        headings = [
            (i, top[1])
            for i, line in enumerate(self.lines)
            if not self.fences[i] and (top := heading(line)) is not None and top[0] == 2
        ]
        for (start, title), (end, _) in pairwise([*headings, (len(self.lines), "")]):
            yield _Section(title, _TITLES.get(title.lower()), start + 1, end)

    def _orphans(self, sections: list[_Section]) -> None:
        """Requirements outside delta sections: OpenSpec skips and reports them."""
        above = _Section("", None, 0, sections[0].start if sections else len(self.lines))
        for section in [above, *sections]:
            for i, name in self._named(section.start, section.end) if section.kind is None else ():
                message = f"'{name}' is outside the ADDED, MODIFIED, REMOVED and RENAMED sections: it is not applied"
                self._problem(i, "orphan", message, warning=True)

    def _named(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        for i in range(start, end):
            name = None if self.fences[i] else requirement_name(self.lines[i])
            if name is not None:
                yield i, name

    def _blocks(self, sections: list[_Section], kind: str) -> Iterator[Requirement]:
        for section in sections:
            if section.kind != kind:
                continue
            starts = [i for i, _ in self._named(section.start, section.end)]
            for start, stop in pairwise([*starts, section.end]):
                self._require_name(start, requirement_name(self.lines[start]))
                if kind != "removed" and heading(self.lines[start]) is None:
                    # OpenSpec's archive reads a requirement here; its `list` and `validate` read text.
                    self._problem(
                        start, "odd_heading", "a heading needs a space after its `###`, and no line separator"
                    )
                cut = next(
                    (i for i in range(start + 1, stop) if not self.fences[i] and boundary(self.lines[i]) == 2), stop
                )
                requirement = _requirement(self.text, start, cut, "")
                source = "\n".join(self.lines[start : requirement.lines[1]]).rstrip(SPACE)
                yield msgspec.structs.replace(requirement, source=source)

    def _removed(self, sections: list[_Section]) -> Iterator[Removed]:
        blocks = {requirement.lines[0] - 1: requirement for requirement in self._blocks(sections, "removed")}
        for section in sections:
            for i in range(section.start, section.end) if section.kind == "removed" else ():
                if i in blocks:
                    body = blocks[i].source.split("\n")[1:]
                    yield Removed(
                        blocks[i].name, _labelled_text(body, "Reason"), _labelled_text(body, "Migration"), i + 1
                    )
                    continue
                behind = None if self.fences[i] else bullet(self.lines[i])
                name = None if behind is None else quoted_name(behind)
                if name is not None:
                    self._require_name(i, name)
                    yield Removed(name, line=i + 1)

    def _renamed(self, sections: list[_Section]) -> Iterator[Renamed]:
        for section in sections:
            if section.kind != "renamed":
                continue
            pending: tuple[str, int] | None = None
            for i in range(section.start, section.end):
                side, name = ("", None) if self.fences[i] else _side_of(self.lines[i])
                if name is None:
                    continue
                self._require_name(i, name)
                if side == "FROM":
                    self._unpaired(pending, "TO")
                    pending = (name, i)
                elif pending is None:
                    self._unpaired((name, i), "FROM")
                else:
                    yield Renamed(pending[0], name, pending[1] + 1)
                    pending = None
            self._unpaired(pending, "TO")

    def _unpaired(self, left: tuple[str, int] | None, other: str) -> None:
        if left is not None:
            self._problem(left[1], "unpaired", f"'{left[0]}' has no {other} line: a rename is FROM, then TO")

    def _require_name(self, i: int, name: str | None) -> None:
        if not name:
            self._problem(i, "no_name", "a requirement without a name")

    def _problem(self, i: int, code: str, message: str, *, warning: bool = False) -> None:
        self.problems.append(DeltaProblem(i + 1, code, message, "warning" if warning else "error"))


def _side_of(line: str) -> tuple[str, str | None]:
    rest = line.strip(SPACE)
    if not rest.startswith(("FROM:", "TO:")):
        rest = (bullet(line) or "").strip(SPACE)
    side, mark, quoted = rest.partition(":")
    return (side, quoted_name(quoted)) if mark and side in ("FROM", "TO") else ("", None)


def _labelled_text(lines: list[str], label: str) -> str:
    """The text after `**Label**:`, up to the next label or blank line."""
    parts: list[str] = []
    for line in lines:
        text = line.strip(SPACE)
        if text.lower().startswith(f"**{label.lower()}**:"):
            parts.append(text[len(label) + 5 :].strip(SPACE))
        elif parts and (not text or text.startswith("**") or quoted_name(bullet(line) or "") is not None):
            break
        elif parts:
            parts.append(text)
    return " ".join(part for part in parts if part)

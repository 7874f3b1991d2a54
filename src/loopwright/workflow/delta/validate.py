"""The rules of `openspec validate --strict` for deltas and living specs. Pure; finds all problems at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopwright.workflow.delta.grammar import (
    SPACE,
    Fences,
    boundary,
    folded,
    heading,
    is_binding,
    requirement_name,
)
from loopwright.workflow.delta.intake import SourceText
from loopwright.workflow.delta.model import Delta, DeltaProblem, Requirement
from loopwright.workflow.delta.sections import SHORTEST, is_brief, is_placeholder

_DELTA_TITLES = {f"{kind} requirements" for kind in ("added", "modified", "removed", "renamed")}


def delta_problems(delta: Delta) -> Iterator[DeltaProblem]:
    """Problems of the entries of a delta, and contradictions between them."""
    for kind, blocks in (("ADDED", delta.added), ("MODIFIED", delta.modified)):
        for requirement in blocks:
            yield from _requirement_problems(requirement, kind)
        yield from _twice(((requirement.name, requirement.lines[0]) for requirement in blocks), kind)
    yield from _twice(((removal.name, removal.line) for removal in delta.removed), "REMOVED")
    yield from _twice(((rename.old, rename.line) for rename in delta.renamed), "RENAMED FROM")
    yield from _twice(((rename.new, rename.line) for rename in delta.renamed), "RENAMED TO")
    yield from _contradictions(delta)
    if delta.purpose:
        yield from _purpose_problems(delta.purpose, 1)


def _requirement_problems(requirement: Requirement, kind: str) -> Iterator[DeltaProblem]:
    yield from _text_problems(requirement, f"{kind} '{requirement.name}'")
    if not any(scenario.text for scenario in requirement.scenarios):
        why = " with steps" if requirement.scenarios else ""
        message = f"{kind} '{requirement.name}' has no `#### Scenario:`{why}"
        yield DeltaProblem(requirement.lines[0], "no_scenario", message)


def _text_problems(requirement: Requirement, name: str) -> Iterator[DeltaProblem]:
    line = requirement.lines[0]
    if not requirement.text:
        yield DeltaProblem(line, "no_text", f"{name} has no text between its name and its first scenario")
    elif not is_binding(requirement.text):
        yield DeltaProblem(line, "no_shall", f"{name} does not say SHALL or MUST", "warning")


def _twice(names: Iterable[tuple[str, int]], where: str) -> Iterator[DeltaProblem]:
    first: dict[str, int] = {}
    for name, line in names:
        if name in first:
            yield DeltaProblem(line, "twice", f"duplicate '{name}' in {where} (first on line {first[name]})")
        first.setdefault(name, line)


def _contradictions(delta: Delta) -> Iterator[DeltaProblem]:
    added = {requirement.name for requirement in delta.added}
    modified = {requirement.name: requirement.lines[0] for requirement in delta.modified}
    removed = {removal.name: removal.line for removal in delta.removed}
    for name, line in modified.items():
        if name in removed:
            yield DeltaProblem(line, "contradiction", f"'{name}' is both MODIFIED and REMOVED")
        if name in added:
            yield DeltaProblem(line, "contradiction", f"'{name}' is both MODIFIED and ADDED")
    for name in added & removed.keys():
        yield DeltaProblem(removed[name], "contradiction", f"'{name}' is both ADDED and REMOVED")
    gone = {folded(name) for name in removed}
    for rename in delta.renamed:
        if folded(rename.old) in gone:
            yield DeltaProblem(rename.line, "contradiction", f"'{rename.old}' is both RENAMED and REMOVED")
        if rename.old in modified:
            message = f"MODIFIED names '{rename.old}', which is renamed; name it '{rename.new}' there"
            yield DeltaProblem(modified[rename.old], "contradiction", message)
        if rename.new in added:
            message = f"'{rename.new}' is both ADDED and the new name of '{rename.old}'"
            yield DeltaProblem(rename.line, "contradiction", message)


def structure_problems(text: SourceText, fences: Fences) -> Iterator[DeltaProblem]:
    """Problems that prevent any merge into a living spec."""
    seen: dict[str, int] = {}
    # Only the first section with the title counts.
    is_inside = was_inside = False
    for i, line in enumerate(text.bare):
        if fences[i]:
            continue
        if boundary(line) == 2:
            title = (heading(line) or (2, ""))[1]
            is_inside = title.lower() == "requirements" and not was_inside
            was_inside = was_inside or is_inside
            if " ".join(title.lower().split()) in _DELTA_TITLES:
                yield DeltaProblem(i + 1, "delta_section", f"`## {title}` belongs in a change, not in a living spec")
        name = requirement_name(line)
        if name is None:
            continue
        if not name:
            yield DeltaProblem(i + 1, "no_name", "a requirement without a name")
        elif not is_inside:
            yield DeltaProblem(i + 1, "outside", f"'{name}' is outside `## Requirements`: it is not read there")
        elif name in seen:
            yield DeltaProblem(i + 1, "twice", f"duplicate '{name}' (first on line {seen[name]})")
        seen.setdefault(name, i + 1)


def living_problems(text: SourceText, fences: Fences, requirements: tuple[Requirement, ...]) -> Iterator[DeltaProblem]:
    """Problems that make a living spec invalid, or valid only without `--strict`."""
    outline = _Outline(text, fences)
    purpose = outline.first("purpose")
    section = outline.first("requirements")
    if purpose is None or not outline.content(purpose):
        yield DeltaProblem(1, "no_purpose", "no `## Purpose` with a sentence in it")
    else:
        yield from _purpose_problems(outline.content(purpose), outline.lines[purpose] + 1)
    if section is None:
        yield DeltaProblem(1, "no_requirements", "no `## Requirements` section")
        return
    children = outline.below(section)
    if not children:
        yield DeltaProblem(outline.lines[section] + 1, "no_requirements", "`## Requirements` has no requirement")
    for child in children:
        if not any(outline.content(scenario) for scenario in outline.below(child)):
            message = f"'{outline.titles[child]}' has no `#### Scenario:` with steps"
            yield DeltaProblem(outline.lines[child] + 1, "no_scenario", message)
    for requirement in requirements:
        yield from _text_problems(requirement, f"'{requirement.name}'")


def _purpose_problems(purpose: str, line: int) -> Iterator[DeltaProblem]:
    if is_placeholder(purpose):
        yield DeltaProblem(
            line, "purpose_placeholder", "the Purpose is a placeholder: describe what the domain is for", "warning"
        )
    elif is_brief(purpose):
        yield DeltaProblem(line, "purpose_brief", f"the Purpose has fewer than {SHORTEST} characters", "warning")


class _Outline:
    """The headings of a file as a tree, as OpenSpec's validator sees them."""

    def __init__(self, text: SourceText, fences: Fences) -> None:
        self._text, self._fences = text, fences
        self.lines: list[int] = []
        self.titles: list[str] = []
        self._levels: list[int] = []
        self._children: list[list[int]] = []
        above: list[int] = []
        for i, line in enumerate(text.bare):
            title = None if fences[i] else heading(line)
            if title is None:
                continue
            while above and self._levels[above[-1]] >= title[0]:
                above.pop()
            self.lines.append(i)
            self._levels.append(title[0])
            self.titles.append(title[1])
            self._children.append([])
            if above:
                self._children[above[-1]].append(len(self.lines) - 1)
            above.append(len(self.lines) - 1)

    def first(self, title: str) -> int | None:
        return next((i for i, found in enumerate(self.titles) if found.lower() == title), None)

    def below(self, parent: int) -> list[int]:
        return self._children[parent]

    def content(self, index: int) -> str:
        lines = self._text.bare
        end = self.lines[index] + 1
        while end < len(lines) and (self._fences[end] or not 1 <= boundary(lines[end]) <= self._levels[index]):
            end += 1
        return "\n".join(lines[self.lines[index] + 1 : end]).strip(SPACE)

"""A folder of a change (proposal, tasks, design, deltas) as the documents of a workflow. OpenSpec's and loopx's."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from loopwright.workflow.delta.domains import domain_problem
from loopwright.workflow.delta.model import Delta, UnreadableDelta
from loopwright.workflow.delta.read import read_delta
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import Spec, new_spec
from loopwright.workflow.package import CHANGE_DOCUMENTS, GRAPH, SLICES
from loopwright.workflow.slices import NotSlices, Slices, read_slices, render_slices
from loopwright.workflow.takeover.source import Source
from loopwright.workflow.takeover.spec_page import listed

ASIDE = "imported"
# Made anew by every `plan`: another tool's are kept beside.
_MADE_BY_US = (CHANGE_DOCUMENTS["spec_delta"], GRAPH)


class ChangeFolder(msgspec.Struct, frozen=True):
    """Its documents under our names, and what its deltas say."""

    documents: dict[str, bytes]
    deltas: dict[str, Delta]
    paths: tuple[str, ...]


def read_change(source: Source, at: str, *, in_place: bool = False) -> ChangeFolder:
    """Everything of it that is text; what we can't use as what it is goes aside, what stays in place is as it is."""
    documents: dict[str, bytes] = {}
    deltas: dict[str, Delta] = {}
    paths = source.files(at)
    for path in paths:
        name = f"change/{path.removeprefix(f'{at}/')}"
        data = source.read(path)
        if data is None:
            continue
        domain = _domain_of(name)
        fits = name not in _MADE_BY_US
        if domain is not None:
            delta = _delta(source, path, domain, data)
            fits = delta is not None
            if delta is not None:
                deltas[domain] = delta
        if name == SLICES and not in_place:
            slices = _slices(source, path, data)
            fits = slices is not None and not slices.checks
            if slices is not None and slices.checks:
                documents[name] = _without_checks(slices)
                source.leave(
                    path, "its checks are commands of another tool: they stay in imported/ until you take them"
                )
        documents[name if fits else f"{ASIDE}/{name}"] = data
    return ChangeFolder(documents, deltas, tuple(paths))


def spec_of_change(source: Source, at: str, slug: str, found: ChangeFolder) -> Spec:
    """What a proposal and its deltas say, in the sections of a spec; the rest is for clarifying."""
    proposal = source.page(f"{at}/proposal.md")
    design = source.page(f"{at}/design.md")
    why = proposal.text_of("Why") if proposal is not None else ""
    names = [f"{domain}: {name}" for domain, delta in found.deltas.items() for name in _requirements(delta)]
    bodies = {
        s.IN_SCOPE: proposal.text_of("What Changes") if proposal is not None else "",
        s.NON_GOALS: design.text_of("Non-Goals") if design is not None else "",
        s.DOMAINS: listed(tuple(found.deltas)),
        s.CRITERIA: listed(names),
    }
    return new_spec(slug, why, slug).with_sections({name: body for name, body in bodies.items() if body})


def _requirements(delta: Delta) -> list[str]:
    return [one.name for one in (*delta.added, *delta.modified)]


def _domain_of(name: str) -> str | None:
    parts = name.split("/")
    is_delta = len(parts) > 3 and parts[1] == "specs" and parts[-1] == "spec.md"
    return "/".join(parts[2:-1]) if is_delta else None


def _delta(source: Source, path: str, domain: str, data: bytes) -> Delta | None:
    if (wrong := domain_problem(domain)) is not None:
        source.note(path, wrong)
        return None
    found = read_delta(data, domain)
    if isinstance(found, UnreadableDelta):
        for one in found.problems:
            source.note(path, one.message, one.line)
        return None
    return found


def _slices(source: Source, path: str, data: bytes) -> Slices | None:
    try:
        return read_slices(data)
    except NotSlices as problem:
        for one in problem.problems:
            source.note(path, one.message, one.line)
        return None


def _without_checks(slices: Slices) -> bytes:
    """Drafts: what decides that one is done is for a person, or the planner, to say."""
    return render_slices("", Slices(tuple(replace(one, checks=()) for one in slices.slices)))

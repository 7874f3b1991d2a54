"""An `openspec/` folder: each active change can become a workflow. Our own changes may be among them."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from loopwright.workflow.delta.model import Delta, UnreadableDelta
from loopwright.workflow.delta.read import read_delta
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import Spec, new_spec
from loopwright.workflow.gather import SPEC
from loopwright.workflow.package import CHANGE_DOCUMENTS, GRAPH, SLICES, domain_problem
from loopwright.workflow.slices import NotSlices, Slices, read_slices, render_slices
from loopwright.workflow.takeover.model import Candidate, Findings, Left, Loose
from loopwright.workflow.takeover.source import Source
from loopwright.workflow.takeover.spec_page import listed

_ARCHIVE = "archive"


def read_openspec(source: Source, *, in_place: bool) -> Findings:
    """The changes and specs. With `in_place` the folder is the project's own, and no file is copied."""
    changes = [name for name in source.folders("changes") if name != _ARCHIVE]
    candidates = tuple(_candidate(source, name, in_place=in_place) for name in changes)
    archived = source.folders(f"changes/{_ARCHIVE}")
    left = []
    if archived:
        left.append(Left(f"changes/{_ARCHIVE}", f"{len(archived)} archived changes are history and are not imported"))
    return Findings(
        candidates=candidates,
        loose=() if in_place else living_specs(source),
        troubles=tuple(source.troubles),
        left=tuple(left),
    )


def living_specs(source: Source) -> tuple[Loose, ...]:
    """The specs, by domain."""
    specs: list[Loose] = []
    for path in source.files("specs"):
        parts = path.split("/")
        data = source.read(path)
        if len(parts) < 3 or parts[-1] != "spec.md" or data is None:
            continue
        domain = "/".join(parts[1:-1])
        if (wrong := domain_problem(domain)) is not None:
            source.note(path, wrong)
        else:
            specs.append(Loose("spec", path, domain, data))
    return tuple(specs)


def _candidate(source: Source, name: str, *, in_place: bool) -> Candidate:
    at = f"changes/{name}"
    folder = read_change(source, at, in_place=in_place)
    slug = name.removeprefix("chg-")
    spec = spec_of_change(source, at, slug, folder)
    # In place, documents stay where they are, and nothing is put aside.
    kept = {name: data for name, data in folder.documents.items() if not in_place or name.startswith("change/")}
    return Candidate(
        name=name,
        path=at,
        idea=spec.page.text_of("Intent") or name,
        documents={SPEC: spec.page.render(), **kept},
        digest=source.digest(list(folder.paths)),
        claims=_claims(source, at),
        change=name if in_place else "",
    )


def _claims(source: Source, at: str) -> dict[str, str]:
    """The progress that the task list claims."""
    data = source.read(f"{at}/tasks.md")
    if data is None:
        return {}
    lines = [line.lstrip(" \t-*") for line in data.decode().splitlines() if line.lstrip().startswith(("- [", "* ["))]
    done = sum(line[:3].lower() == "[x]" for line in lines)
    return {"tasks": f"{done} of {len(lines)} ticked"} if lines else {}


ASIDE = "imported"
# Every `plan` rewrites these: the other tool's versions are put aside.
_MADE_BY_US = (CHANGE_DOCUMENTS["spec_delta"], GRAPH)


class ChangeFolder(msgspec.Struct, frozen=True):
    """The documents of a change under our names, and its deltas."""

    documents: dict[str, bytes]
    deltas: dict[str, Delta]
    paths: tuple[str, ...]


def read_change(source: Source, at: str, *, in_place: bool = False) -> ChangeFolder:
    """The text files of a change; files that can't be used are put aside, files in place are unchanged."""
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
            delta = delta_in(source, path, domain, data)
            fits = delta is not None
            if delta is not None:
                deltas[domain] = delta
        if name == SLICES and not in_place:
            slices = _slices(source, path, data)
            fits = slices is not None and not slices.checks
            if slices is not None and slices.checks:
                documents[name] = _without_checks(slices)
                source.leave(
                    path, "its checks are commands of another tool: they stay in imported/ until you adopt them"
                )
        documents[name if fits else f"{ASIDE}/{name}"] = data
    return ChangeFolder(documents, deltas, tuple(paths))


def spec_of_change(source: Source, at: str, slug: str, folder: ChangeFolder) -> Spec:
    """A spec from a proposal and its deltas; clarifying fills the gaps."""
    proposal = source.page(f"{at}/proposal.md")
    design = source.page(f"{at}/design.md")
    why = proposal.text_of("Why") if proposal is not None else ""
    names = [
        f"{domain}: {requirement.name}"
        for domain, delta in folder.deltas.items()
        for requirement in (*delta.added, *delta.modified)
    ]
    bodies = {
        s.IN_SCOPE: proposal.text_of("What Changes") if proposal is not None else "",
        s.NON_GOALS: design.text_of("Non-Goals") if design is not None else "",
        s.DOMAINS: listed(tuple(folder.deltas)),
        s.CRITERIA: listed(names),
    }
    return new_spec(slug, why, slug).with_sections({name: body for name, body in bodies.items() if body})


def _domain_of(name: str) -> str | None:
    parts = name.split("/")
    is_delta = len(parts) > 3 and parts[1] == "specs" and parts[-1] == "spec.md"
    return "/".join(parts[2:-1]) if is_delta else None


def delta_in(source: Source, path: str, domain: str, data: bytes) -> Delta | None:
    """The delta in a file; None if it can't be used, which is reported."""
    if (wrong := domain_problem(domain)) is not None:
        source.note(path, wrong)
        return None
    delta = read_delta(data, domain)
    if isinstance(delta, UnreadableDelta):
        source.note_all(path, delta.problems)
        return None
    return delta


def _slices(source: Source, path: str, data: bytes) -> Slices | None:
    try:
        return read_slices(data)
    except NotSlices as problem:
        source.note_all(path, problem.problems)
        return None


def _without_checks(slices: Slices) -> bytes:
    """Slices as drafts: a person or a planner must add the checks."""
    return render_slices("", Slices(tuple(replace(piece, checks=()) for piece in slices.slices)))

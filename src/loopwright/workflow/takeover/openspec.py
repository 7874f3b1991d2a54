"""An `openspec/` folder: each active change can become a workflow. Our own changes may be among them."""

from __future__ import annotations

from loopwright.workflow.delta.domains import domain_problem
from loopwright.workflow.gather import SPEC
from loopwright.workflow.takeover.changes import ChangeFolder, read_change, spec_of_change
from loopwright.workflow.takeover.model import Candidate, Findings, Left, Loose
from loopwright.workflow.takeover.source import Source

_ARCHIVE = "archive"


def read_openspec(source: Source, *, in_place: bool) -> Findings:
    """`in_place`: this is the project's own folder, where our changes live too; nothing of it is copied."""
    changes = [name for name in source.folders("changes") if name != _ARCHIVE]
    candidates = tuple(_candidate(source, name, in_place=in_place) for name in changes)
    archived = source.folders(f"changes/{_ARCHIVE}")
    left = []
    if archived:
        left.append(Left(f"changes/{_ARCHIVE}", f"{len(archived)} archived changes are history, and stay"))
    return Findings(
        candidates=candidates,
        loose=() if in_place else living_specs(source),
        troubles=tuple(source.troubles),
        left=tuple(left),
    )


def living_specs(source: Source) -> tuple[Loose, ...]:
    """The specs, by domain."""
    found: list[Loose] = []
    for path in source.files("specs"):
        parts = path.split("/")
        data = source.read(path)
        if len(parts) < 3 or parts[-1] != "spec.md" or data is None:
            continue
        domain = "/".join(parts[1:-1])
        if (wrong := domain_problem(domain)) is not None:
            source.note(path, wrong)
        else:
            found.append(Loose("spec", path, domain, data))
    return tuple(found)


def _candidate(source: Source, name: str, *, in_place: bool) -> Candidate:
    at = f"changes/{name}"
    found = read_change(source, at, in_place=in_place)
    slug = name.removeprefix("chg-")
    spec = spec_of_change(source, at, slug, found)
    documents = _kept(found) if in_place else found.documents
    return Candidate(
        name=name,
        path=at,
        idea=spec.page.text_of("Intent") or name,
        documents={SPEC: spec.page.render(), **documents},
        digest=source.digest(list(found.paths)),
        said=_said(source, at),
        change=name if in_place else "",
    )


def _kept(found: ChangeFolder) -> dict[str, bytes]:
    """What is in its place already is kept as what it is; there is nothing to be put aside."""
    return {name: data for name, data in found.documents.items() if name.startswith("change/")}


def _said(source: Source, at: str) -> dict[str, str]:
    """How far its task list says that it is."""
    data = source.read(f"{at}/tasks.md")
    if data is None:
        return {}
    lines = [line.lstrip(" \t-*") for line in data.decode().splitlines() if line.lstrip().startswith(("- [", "* ["))]
    done = sum(line[:3].lower() == "[x]" for line in lines)
    return {"tasks": f"{done} of {len(lines)} ticked"} if lines else {}

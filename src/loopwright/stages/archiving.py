"""Merges a finished change into the living specs, all of it or nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import read_regular_file, remove_stale_temporaries
from loopwright.kernel.locks import locked
from loopwright.stages.context import Context, documents_of, workflows_of
from loopwright.stages.person import actor, require_person
from loopwright.stages.proof import evidence_problems
from loopwright.stages.specs.living import settle_archives
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.blockers import Family, blocker
from loopwright.workflow.composing import candidate
from loopwright.workflow.delta.model import Conflict, Conflicts, Delta
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.facts import Facts
from loopwright.workflow.living import base_for, changes_anything, checks_with, deltas_in, digests_of, merge_now
from loopwright.workflow.model import Archived, Done, Workflow, Write
from loopwright.workflow.package import CHANGE_DOCUMENTS
from loopwright.workflow.store import SPECS_LOCK, Opened


class ArchiveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Options: why the delta fits the current specs, and the changes that this one is archived before."""

    fitted: str | None = None
    before: tuple[str, ...] = ()


class ArchiveReport(msgspec.Struct, frozen=True):
    """The archived workflow, its folder and the written files; `already`: it was archived before."""

    workflow: Workflow
    folder: str
    files: tuple[str, ...]
    already: bool


class _Page(msgspec.Struct, frozen=True):
    """A file to write, and its current content."""

    write: Write
    data: bytes
    before: bytes | None


def archive_change(context: Context, slug: str, request: ArchiveRequest) -> ArchiveReport:
    """Archive a change, all of it or nothing. Archiving it again changes nothing."""
    require_person(context.environment, "archive")
    settle_archives(context, but=slug)
    with workflows_of(context).changing(slug) as opened:
        if isinstance(opened.workflow.at, Archived):
            return _repeat(opened, opened.workflow.at)
        with locked(context.layout.lock(SPECS_LOCK)):
            _record_options(context, opened, request)
            _require_ready(context, opened)
            pages = _pages(context, opened, opened.facts())
            folder = _decide(context, opened, pages)
            _require_settled(opened, opened.settle_archive())
            return ArchiveReport(opened.workflow, folder, tuple(page.write.path for page in pages), already=False)


def _repeat(opened: Opened, at: Archived) -> ArchiveReport:
    """The change is archived already. Pending writes are done, if a person has removed their conflicts."""
    if at.pending:
        _require_settled(opened, opened.settle_archive())
    return ArchiveReport(opened.workflow, at.folder, (), already=True)


def _record_options(context: Context, opened: Opened, request: ArchiveRequest) -> None:
    """Record the decisions of the person about other changes, even if the archive is refused afterwards."""
    if not isinstance(opened.workflow.at, Done):
        return
    facts = opened.facts()
    for other in request.before:
        if other not in facts.rivals:
            known = ", ".join(facts.rivals) or "none"
            raise WorkflowRefused.see_status(
                opened.workflow.slug,
                "unknown_change",
                f"no active change '{other}' changes the same requirements as {opened.workflow.slug} (active: {known})",
            )
        opened.apply(e.PrecedenceGiven(over=other, by=actor()), actor())
    if request.fitted is not None:
        if not request.fitted.strip():
            raise WrongUsage("--fitted is empty", hint="write what you checked; it is recorded")
        base = base_for(digests_of(context.layout), facts.delta_parts, facts.deltas, None)
        why = context.tools().redactor.clean(request.fitted).text
        opened.apply(e.DeltaFitted(base=base, by=actor(), why=why), actor())


def _require_ready(context: Context, opened: Opened) -> None:
    """Let the rules refuse before anything is written."""
    standing = opened.standing(evidence=evidence_problems(context, opened.workflow, opened.facts()))
    if standing.readiness.archive or not isinstance(opened.workflow.at, Done):
        opened.apply(c.Archive(standing=standing), actor())


def _pages(context: Context, opened: Opened, facts: Facts) -> list[_Page]:
    layout, workflow = context.layout, opened.workflow
    pages = []
    for domain, delta in deltas_in(opened.paths.change):
        if not isinstance(delta, Delta) or not changes_anything(delta):
            continue
        merged = merge_now(layout, delta, workflow.change_id, workflow.base)
        if isinstance(merged, Conflicts):
            _require_settled(opened, merged.conflicts)
            continue
        pages.append(_page(context, "spec", layout.living_spec(domain), merged.data, domain))
        checks = checks_with(layout.spec_checks(domain), delta, workflow, facts.readable_slices)
        pages.append(_page(context, "checks", layout.spec_checks(domain), checks, domain))
    place = layout.adr_candidates / f"{workflow.change_id}.md"
    if not place.exists():
        pages.append(_page(context, "candidate", place, _candidate(context, opened, facts)))
    return pages


def _candidate(context: Context, opened: Opened, facts: Facts) -> bytes:
    names = [f"{domain}: {name}" for domain, listed in facts.requirements.items() for name in listed]
    return candidate(
        opened.workflow.change_id,
        opened.workflow.idea.strip().splitlines()[0] if opened.workflow.idea.strip() else opened.workflow.slug,
        names,
        proposal=opened.read(CHANGE_DOCUMENTS["proposal"]) or b"",
        design=opened.read(CHANGE_DOCUMENTS["design"]) or b"",
        catalogue=documents_of(context),
    )


def _page(
    context: Context, kind: Literal["spec", "checks", "candidate"], path: Path, data: bytes, domain: str = ""
) -> _Page:
    try:
        before = read_regular_file(path, most=MOST_BYTES)
    except FileNotFoundError:
        before = None
    digest = sha256(before) if before is not None else ""
    name = os.path.relpath(path, context.layout.root)
    return _Page(Write(kind=kind, path=name, before=digest, after=sha256(data), domain=domain), data, before)


def _decide(context: Context, opened: Opened, pages: list[_Page]) -> str:
    """Store the new bytes, and the old ones for `undo`; then one line of the journal decides the archive.

    Returns the folder of the archive.
    """
    remove_stale_temporaries(opened.paths.folder / "objects")
    opened.keep(*(data for page in pages for data in (page.data, page.before) if data is not None))
    folder, writes = _free_folder(context, opened), tuple(page.write for page in pages)
    opened.apply(c.Archive(standing=opened.standing(), folder=folder, writes=writes), actor())
    return folder


def _free_folder(context: Context, opened: Opened) -> str:
    layout = context.layout
    first = layout.archived_change(opened.workflow.change_id, opened.now[:10])
    places = [first, *(first.with_name(f"{first.name}-{number}") for number in range(2, 1000))]
    return os.path.relpath(next(place for place in places if not os.path.lexists(place)), layout.root)


def _require_settled(opened: Opened, conflicts: tuple[Conflict, ...]) -> None:
    if not conflicts:
        return
    slug = opened.workflow.slug
    blockers = [
        blocker(
            Family.SPEC_CONFLICT, conflict.domain, domain=conflict.domain,
            why=f"{conflict.requirement or conflict.domain}: {conflict.message}",
            way=f"restore the spec of {conflict.domain}, then loopwright archive {slug}",
        )
        for conflict in conflicts
    ]  # fmt: skip
    raise WorkflowRefused(
        "archive_blocked",
        f"a spec was changed while {slug} was archived",
        next_command=blockers[0].next,
        blockers=tuple((conflict.code, conflict.message, conflict.next) for conflict in blockers),
    )

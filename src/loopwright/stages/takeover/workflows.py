"""Imports the workspace of another tool as workflows. The source stays unchanged, and nothing is overwritten.

What the tool recorded about its own work (stages, approvals, verdicts) is stored for readers, and opens no gate.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import msgspec
from msgspec.structs import replace

from loopwright.errors import LoopwrightError, WrongUsage
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import shown
from loopwright.redaction.redactor import Redactor
from loopwright.stages.clarifying.begin import profile_of
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor
from loopwright.stages.takeover.files import content_at, masked, take_loose
from loopwright.stages.takeover.loops import take_loops
from loopwright.workflow import commands as c
from loopwright.workflow.model import TakeoverOrigin
from loopwright.workflow.store import WorkflowStore
from loopwright.workflow.takeover.ccw import read_ccw
from loopwright.workflow.takeover.loopx import read_loopx
from loopwright.workflow.takeover.model import Candidate, Findings, TakeoverRow, Tool
from loopwright.workflow.takeover.openspec import ASIDE, read_openspec
from loopwright.workflow.takeover.source import Source
from loopwright.workspace.layout import record_choice
from loopwright.workspace.names import FOREIGN

# Limit of documents that are stored only for readers: every command reads all documents of a workflow.
_MOST_ASIDE = 200
TOOLS: tuple[Tool, ...] = get_args(Tool)


class TakeOverRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to import, under which names, and whether to include `finished` work."""

    tool: Tool
    path: Path
    renames: Mapping[str, str] = {}
    finished: bool = False
    dry_run: bool = False


class TakenOver(msgspec.Struct, frozen=True):
    """The source, and a row for each entry in it."""

    source: str
    rows: tuple[TakeoverRow, ...]

    @property
    def is_whole(self) -> bool:
        """Whether no entry needs a person: no conflicts and no unreadable entries."""
        return all(row.outcome not in ("conflict", "unreadable") for row in self.rows)


class _Taking(msgspec.Struct, frozen=True):
    """One import: the source, the existing workflows, and the names given so far."""

    context: Context
    request: TakeOverRequest
    top: Path
    store: WorkflowStore
    redactor: Redactor
    here: dict[str, TakeoverOrigin | None]
    given: dict[str, str]


def take_over_workspace(context: Context, request: TakeOverRequest) -> TakenOver:
    """Import the changes of another tool as workflows, each at clarify. The rows of the report show each entry.

    With `request.dry_run` the rows are the same, but nothing is written.
    """
    top = find_source(request.tool, request.path)
    in_place = request.tool == "openspec" and top == (context.layout.openspec or top / "elsewhere").resolve()
    source = Source(top)
    findings = _read(request.tool, source, in_place=in_place)
    _require_known(request.renames, findings)
    if not request.dry_run:
        record_choice(context.layout)
    store = workflows_of(context)
    here = {slug: store.origin_of(slug) for slug in store.slugs() if store.exists(slug)}
    taking = _Taking(context, request, top, store, context.tools().redactor, here, {})
    rows = [row for candidate in findings.candidates for row in _take(taking, candidate)]
    rows += take_loose(context, request.tool, findings.loose, taking.redactor, dry_run=request.dry_run)
    if request.tool == "ccw":
        rows += take_loops(context, top, dry_run=request.dry_run)
    rows += [TakeoverRow("file", problem.path, "", "unreadable", str(problem)) for problem in findings.troubles]
    rows += [TakeoverRow("file", left.path, "", "left", left.why) for left in (*findings.left, *source.others)]
    return TakenOver(shown(os.path.relpath(top, context.project)), tuple(rows))


def find_source(tool: Tool, path: Path) -> Path:
    """The folder of the tool: `path` itself, or the folder of that name in `path`."""
    name = FOREIGN[tool]
    place = path if path.resolve().name == name else path / name
    # Loops are next to the folder, and may exist without it.
    if place.is_dir() or (tool == "ccw" and (path / ".loop").is_dir()):
        return place.resolve()
    problem = f"there is no {name} folder in {shown(path)}" if path.is_dir() else f"there is no folder {shown(path)}"
    raise WrongUsage(problem, hint=f"name the project or its {name} folder: loopwright import {tool} PATH")


def _read(tool: Tool, source: Source, *, in_place: bool) -> Findings:
    match tool:
        case "loopx":
            return read_loopx(source)
        case "ccw":
            return read_ccw(source)
        case "openspec":
            return read_openspec(source, in_place=in_place)


def _require_known(renames: Mapping[str, str], findings: Findings) -> None:
    names = [candidate.name for candidate in findings.candidates]
    for name in renames:
        if name not in names:
            known = ", ".join(names[:10]) or "none"
            raise WrongUsage(f"there is no '{shown(name)}' to rename (names: {known})", hint="--as NAME=SLUG")


def _take(taking: _Taking, candidate: Candidate) -> list[TakeoverRow]:
    """Import one candidate, all of it or nothing; with a row for the workflow and for each problem."""
    claims = {name: taking.redactor.clean(claim).text for name, claim in candidate.claims.items()}
    origin = TakeoverOrigin(
        tool=taking.request.tool,
        name=candidate.name,
        path=shown(os.path.relpath(taking.top / candidate.path, taking.context.project)),
        digest=candidate.digest,
        claims=claims,
    )
    row = _placed(taking, candidate, origin)
    if row.outcome != "taken":
        return [row]
    taking.given[row.target] = candidate.name
    documents, rows = _fitted(taking, candidate, row.target)
    if not taking.request.dry_run:
        try:
            _begin(taking, candidate, row.target, documents, origin)
        except LoopwrightError as problem:
            return [replace(row, outcome="conflict", why=problem.message, next=problem.hint)]
    return [row, *rows]


def _placed(taking: _Taking, candidate: Candidate, origin: TakeoverOrigin) -> TakeoverRow:
    """The row with the name for the import, or with the reason why the candidate is not imported."""
    claims = _claims(candidate)
    row = TakeoverRow("workflow", candidate.path, "", "taken", claims and f"state there: {claims}")
    again = f"loopwright import {_arguments(taking)} --as {shlex.quote(f'{candidate.name}=SLUG')}"
    if (slug := _existing_workflow(taking, candidate, origin)) is not None:
        known = taking.here[slug]
        moved = known is not None and known.digest != origin.digest
        why = "it changed there after the import; the workflow here stays unchanged" if moved else "already imported"
        return replace(row, target=slug, outcome="already", why=why, next=f"loopwright status {slug}")
    plain = candidate.name.removeprefix("WFS-").removeprefix("chg-")
    try:
        slug = slug_of(taking.request.renames.get(candidate.name) or plain)
    except WrongUsage as problem:
        return replace(row, outcome="conflict", why=problem.message, next=again)
    if candidate.finished and not taking.request.finished:
        return replace(row, outcome="left", why=f"it is finished there ({claims}); use --finished to import it")
    if slug in taking.given:
        return replace(
            row, target=slug, outcome="conflict", why=f"{shown(taking.given[slug])} has that name", next=again
        )
    if slug in taking.here:
        return replace(row, target=slug, outcome="conflict", why="a workflow with that name exists", next=again)
    return replace(row, target=slug, next=f"loopwright clarify {slug}")


def _arguments(taking: _Taking) -> str:
    elsewhere = taking.request.path.resolve() != taking.context.project.resolve()
    return f"{taking.request.tool} {shlex.quote(shown(taking.request.path))}" if elsewhere else taking.request.tool


def _existing_workflow(taking: _Taking, candidate: Candidate, origin: TakeoverOrigin) -> str | None:
    """The workflow that was imported from this candidate, or whose change the candidate is."""
    for slug, known in taking.here.items():
        if known is not None and (known.tool, known.name, known.path) == (origin.tool, origin.name, origin.path):
            return slug
        if known is None and candidate.change == f"chg-{slug}":
            return slug
    return None


def _claims(candidate: Candidate) -> str:
    """What the other tool recorded, as one line."""
    return ", ".join(f"{name} {claim[:40]}" for name, claim in list(candidate.claims.items())[:4])


def _fitted(taking: _Taking, candidate: Candidate, slug: str) -> tuple[dict[str, bytes], list[TakeoverRow]]:
    """The documents for the import: without secrets, and under another name if the place is occupied."""
    paths = taking.context.layout.workflow(slug, candidate.change)
    documents: dict[str, bytes] = {}
    rows: list[TakeoverRow] = []
    left = [name for name in candidate.documents if name.startswith(f"{ASIDE}/")][_MOST_ASIDE:]
    if left:
        why = f"it has {len(left) + _MOST_ASIDE} other files; the last {len(left)} are not imported"
        rows.append(TakeoverRow("file", candidate.path, slug, "left", why))
    for name, data in candidate.documents.items():
        if name in left:
            continue
        clean = data
        # A file that stays in its place belongs to the project, like any document that a person wrote.
        if not (candidate.change and name.startswith("change/")):
            clean, secrets = masked(taking.redactor, data, f"{candidate.path}/{name}", slug)
            rows += secrets
        existing = content_at(paths.document(name))
        if existing is None or existing == clean:
            documents[name] = clean
            continue
        documents[f"{ASIDE}/{name}"] = clean
        where = shown(os.path.relpath(paths.document(name), taking.context.project))
        why = f"{where} differs; this file was imported as {ASIDE}/{name} of the workflow"
        rows.append(TakeoverRow("document", f"{candidate.path}/{name}", slug, "conflict", why, "compare the two files"))
    return documents, rows


def _begin(
    taking: _Taking, candidate: Candidate, slug: str, documents: dict[str, bytes], origin: TakeoverOrigin
) -> None:
    command = c.Begin(
        slug=slug,
        idea=taking.redactor.clean(candidate.idea).text,
        profile=profile_of(taking.context.settings.values.workflow.clarify),
        origin=origin,
        change=candidate.change if candidate.change != f"chg-{slug}" else "",
        documents={name: sha256(data) for name, data in documents.items()},
    )
    with taking.store.beginning(command, actor(), documents):
        pass

"""Makes workflows of another tool's workspace. The source stays as it is, nothing here is overwritten.

What that tool recorded of its own work (stages, approvals, verdicts) is kept to be read, and opens no gate.
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
from loopwright.kernel.files import read_regular_file, shown
from loopwright.redaction.redactor import Redactor
from loopwright.stages.clarifying.begin import profile_of
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor
from loopwright.stages.takeover.files import take_loose
from loopwright.stages.takeover.loops import take_loops
from loopwright.workflow import commands as c
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.model import TakeoverOrigin
from loopwright.workflow.store import WorkflowStore
from loopwright.workflow.takeover.ccw import read_ccw
from loopwright.workflow.takeover.loopx import read_loopx
from loopwright.workflow.takeover.model import Candidate, Findings, TakeoverRow, Tool
from loopwright.workflow.takeover.openspec import ASIDE, read_openspec
from loopwright.workflow.takeover.source import Source
from loopwright.workspace.layout import record_choice
from loopwright.workspace.names import FOREIGN

# Every command reads all documents of a workflow: what is only kept to be read may not slow it.
_MOST_ASIDE = 200
TOOLS: tuple[Tool, ...] = get_args(Tool)


class TakeOverRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be taken over, under which names; `finished` work too, where somebody wants it."""

    tool: Tool
    path: Path
    renames: Mapping[str, str] = {}
    finished: bool = False
    dry_run: bool = False


class TakenOver(msgspec.Struct, frozen=True):
    """Where it was, and what became of each thing in it."""

    source: str
    rows: tuple[TakeoverRow, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing needs a person: no conflict, nothing that can't be read."""
        return all(row.outcome not in ("conflict", "unreadable") for row in self.rows)


class _Taking(msgspec.Struct, frozen=True):
    """One take-over: where from, what is here already, and which names it gave so far."""

    context: Context
    request: TakeOverRequest
    top: Path
    store: WorkflowStore
    redactor: Redactor
    here: dict[str, TakeoverOrigin | None]
    given: dict[str, str]


def take_over_workspace(context: Context, request: TakeOverRequest) -> TakenOver:
    """Find it → read all of it → workflows, one by one → what belongs to the project → what was left."""
    top = find_source(request.tool, request.path)
    in_place = request.tool == "openspec" and top == (context.layout.openspec or top / "elsewhere").resolve()
    source = Source(top)
    found = _read(request.tool, source, in_place=in_place)
    _require_known(request.renames, found)
    if not request.dry_run:
        record_choice(context.layout)
    store = workflows_of(context)
    here = {slug: store.origin_of(slug) for slug in store.slugs() if store.exists(slug)}
    taking = _Taking(context, request, top, store, context.tools().redactor, here, {})
    rows = [row for candidate in found.candidates for row in _take(taking, candidate)]
    rows += take_loose(context, request.tool, found.loose, taking.redactor, dry_run=request.dry_run)
    if request.tool == "ccw":
        rows += take_loops(context, top, dry_run=request.dry_run)
    rows += [
        TakeoverRow("file", one.path, "", "unreadable", _with_line(one.line, one.message)) for one in found.troubles
    ]
    rows += [TakeoverRow("file", one.path, "", "left", one.why) for one in (*found.left, *source.others)]
    return TakenOver(shown(os.path.relpath(top, context.project)), tuple(rows))


def find_source(tool: Tool, path: Path) -> Path:
    """The tool's folder: the one that is named, or the one in the project that is named."""
    name = FOREIGN[tool]
    place = path if path.resolve().name == name else path / name
    # Loops lie beside the folder, and may be all that is left of it.
    if place.is_dir() or (tool == "ccw" and (path / ".loop").is_dir()):
        return place.resolve()
    said = f"there is no {name} folder in {shown(path)}" if path.is_dir() else f"there is no folder {shown(path)}"
    raise WrongUsage(said, hint=f"name the project, or its {name} folder: loopwright import {tool} PATH")


def _read(tool: Tool, source: Source, *, in_place: bool) -> Findings:
    match tool:
        case "loopx":
            return read_loopx(source)
        case "ccw":
            return read_ccw(source)
        case "openspec":
            return read_openspec(source, in_place=in_place)


def _require_known(renames: Mapping[str, str], found: Findings) -> None:
    names = [one.name for one in found.candidates]
    for name in renames:
        if name not in names:
            known = ", ".join(names[:10]) or "nothing"
            raise WrongUsage(f"there is no '{shown(name)}' to be renamed (there is: {known})", hint="--as NAME=SLUG")


def _take(taking: _Taking, candidate: Candidate) -> list[TakeoverRow]:
    """One candidate: all of it or nothing, and a row for everything that went another way."""
    said = {name: taking.redactor.clean(said).text for name, said in candidate.said.items()}
    origin = TakeoverOrigin(
        tool=taking.request.tool,
        name=candidate.name,
        path=shown(os.path.relpath(taking.top / candidate.path, taking.context.project)),
        digest=candidate.digest,
        said=said,
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
    """Under which name it is taken; or why it is not."""
    claims = _claims(candidate)
    row = TakeoverRow("workflow", candidate.path, "", "taken", claims and f"it said there: {claims}")
    again = f"loopwright import {_arguments(taking)} --as {shlex.quote(f'{candidate.name}=SLUG')}"
    if (slug := _here_already(taking, candidate, origin)) is not None:
        known = taking.here[slug]
        moved = known is not None and known.digest != origin.digest
        why = "it changed there since; what is here stays as it is" if moved else "it is here already"
        return replace(row, target=slug, outcome="already", why=why, next=f"loopwright status {slug}")
    try:
        slug = slug_of(taking.request.renames.get(candidate.name) or _plain_name(candidate.name))
    except WrongUsage as problem:
        return replace(row, outcome="conflict", why=problem.message, next=again)
    if candidate.finished and not taking.request.finished:
        return replace(row, outcome="left", why=f"it is finished there ({claims}); --finished takes it all the same")
    if slug in taking.given:
        return replace(
            row, target=slug, outcome="conflict", why=f"{shown(taking.given[slug])} has that name", next=again
        )
    if slug in taking.here:
        return replace(row, target=slug, outcome="conflict", why="a workflow has that name already", next=again)
    return replace(row, target=slug, next=f"loopwright clarify {slug}")


def _arguments(taking: _Taking) -> str:
    elsewhere = taking.request.path.resolve() != taking.context.project.resolve()
    return f"{taking.request.tool} {shlex.quote(shown(taking.request.path))}" if elsewhere else taking.request.tool


def _here_already(taking: _Taking, candidate: Candidate, origin: TakeoverOrigin) -> str | None:
    """The workflow that was made of it, or that it was made by."""
    for slug, known in taking.here.items():
        if known is not None and (known.tool, known.name, known.path) == (origin.tool, origin.name, origin.path):
            return slug
        if known is None and candidate.change == f"chg-{slug}":
            return slug
    return None


def _plain_name(name: str) -> str:
    for prefix in ("WFS-", "chg-"):
        name = name.removeprefix(prefix)
    return name


def _claims(candidate: Candidate) -> str:
    """What the other tool says of it, in a line."""
    shortest = list(candidate.said.items())[:4]
    return ", ".join(f"{name} {said[:40]}" for name, said in shortest)


def _fitted(taking: _Taking, candidate: Candidate, slug: str) -> tuple[dict[str, bytes], list[TakeoverRow]]:
    """Its documents as they are kept here: without secrets, and beside what has their place already."""
    paths = taking.context.layout.workflow(slug, candidate.change)
    documents: dict[str, bytes] = {}
    rows: list[TakeoverRow] = []
    left = [name for name in candidate.documents if name.startswith(f"{ASIDE}/")][_MOST_ASIDE:]
    if left:
        why = f"has {len(left) + _MOST_ASIDE} files beside its documents; the last {len(left)} of them stay there"
        rows.append(TakeoverRow("file", candidate.path, slug, "left", why))
    for name, data in candidate.documents.items():
        if name in left:
            continue
        clean = data
        # What stays in its place is the project's own file, and is kept as any document that a person wrote.
        if not (candidate.change and name.startswith("change/")):
            scanned = taking.redactor.scan(data, name, trusts_pragma=True)
            clean = scanned.clean.data
            rows += [
                TakeoverRow(
                    "secret", f"{candidate.path}/{name}", slug, "note", f"{one.rule} in line {one.line} is hidden here"
                )
                for one in scanned.findings
            ]
        there = _bytes_at(paths.document(name))
        if there is None or there == clean:
            documents[name] = clean
            continue
        documents[f"{ASIDE}/{name}"] = clean
        where = shown(os.path.relpath(paths.document(name), taking.context.project))
        why = f"{where} is another file; this one is kept as {ASIDE}/{name} of the workflow"
        rows.append(TakeoverRow("document", f"{candidate.path}/{name}", slug, "conflict", why, "compare the two"))
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
    taking.store.begin(command, actor(), documents)


def _bytes_at(path: Path) -> bytes | None:
    try:
        return read_regular_file(path, most=MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError:
        return b"\0"  # a folder, a fifo: something else, whatever it is


def _with_line(line: int, message: str) -> str:
    return f"line {line}: {message}" if line else message

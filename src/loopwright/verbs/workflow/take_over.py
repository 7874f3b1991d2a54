"""`loopwright import`: takes over another tool's workspace. The source stays as it is, nothing here is overwritten.

What that tool recorded of its own work (stages, approvals, verdicts) is kept to be read, and opens no gate.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import msgspec
from msgspec.structs import replace

from loopwright.errors import LoopwrightError, WrongUsage
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import read_plainly, shown
from loopwright.redaction.redactor import Redactor
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor
from loopwright.verbs.workflow.clarify import profile_of
from loopwright.verbs.workflow.names import slug_of, store_of
from loopwright.verbs.workflow.take_over_files import take_loose
from loopwright.verbs.workflow.take_over_loops import take_loops
from loopwright.workflow import commands as c
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.model import Origin
from loopwright.workflow.store import WorkflowStore
from loopwright.workflow.takeover.ccw import read_ccw
from loopwright.workflow.takeover.changes import ASIDE
from loopwright.workflow.takeover.loopx import read_loopx
from loopwright.workflow.takeover.model import Candidate, Findings, Tool
from loopwright.workflow.takeover.openspec import read_openspec
from loopwright.workflow.takeover.source import Source
from loopwright.workflow.takeover.table import Row
from loopwright.workspace.layout import record_choice
from loopwright.workspace.names import FOREIGN

TOOLS: tuple[Tool, ...] = get_args(Tool)


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be taken over, under which names; `finished` work too, where somebody wants it."""

    tool: Tool
    path: Path
    renames: Mapping[str, str] = {}
    finished: bool = False
    dry_run: bool = False


class TakenOver(msgspec.Struct, frozen=True):
    """Where it was, and what became of each thing in it."""

    source: str
    rows: tuple[Row, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing needs a person: no conflict, nothing that can't be read."""
        return all(row.outcome not in ("conflict", "unreadable") for row in self.rows)


class _Place(msgspec.Struct, frozen=True):
    """Where a candidate goes: under this name, with these documents; or why it does not."""

    row: Row
    slug: str = ""
    documents: dict[str, bytes] = {}


def take_over(context: Context, wish: Wish) -> TakenOver:
    """Find it → read all of it → workflows, one by one → what belongs to the project → what was left."""
    top = find_source(wish.tool, wish.path)
    source = Source(top)
    in_place = wish.tool == "openspec" and top == (context.layout.openspec or top / "elsewhere").resolve()
    found = _read(wish.tool, source, in_place=in_place)
    _require_known(wish.renames, found)
    if not wish.dry_run:
        record_choice(context.layout)
    redactor = context.tools().redactor
    rows: list[Row] = []
    taken: dict[str, str] = {}
    for candidate in found.candidates:
        rows += _take(context, wish, top, candidate, redactor, taken)
    rows += take_loose(context, wish.tool, found.loose, redactor, dry_run=wish.dry_run)
    if wish.tool == "ccw":
        rows += take_loops(context, top, dry_run=wish.dry_run)
    rows += [Row("file", one.path, "", "unreadable", _with_line(one.line, one.message)) for one in found.troubles]
    rows += [Row("file", one.path, "", "left", one.why) for one in found.left]
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


def _take(
    context: Context, wish: Wish, top: Path, candidate: Candidate, redactor: Redactor, taken: dict[str, str]
) -> list[Row]:
    """One candidate: all of it or nothing, and a row for everything that went another way."""
    store = store_of(context)
    origin = Origin(
        tool=wish.tool,
        name=candidate.name,
        path=shown(os.path.relpath(top / candidate.path, context.project)),
        digest=candidate.digest,
        said={name: redactor.clean(said).text for name, said in candidate.said.items()},
    )
    place = _placed(store, wish, candidate, origin, taken)
    if place.row.outcome != "taken":
        return [place.row]
    taken[place.slug] = candidate.name
    documents, rows = _fitted(context, candidate, place.slug, redactor)
    if not wish.dry_run:
        try:
            _begin(context, store, place.slug, candidate, documents, origin, redactor)
        except LoopwrightError as problem:
            return [replace(place.row, outcome="conflict", why=problem.message, next=problem.hint)]
    return [place.row, *rows]


def _placed(store: WorkflowStore, wish: Wish, candidate: Candidate, origin: Origin, taken: Mapping[str, str]) -> _Place:
    row = Row("workflow", candidate.path, "", "taken", _claims(candidate) and f"it said there: {_claims(candidate)}")
    again = f"loopwright import {wish.tool} --as {candidate.name}=SLUG"
    if (here := _here_already(store, candidate, origin)) is not None:
        known = store.origin_of(here)
        moved = known is not None and known.digest != origin.digest
        why = "it changed there since; what is here stays as it is" if moved else "it is here already"
        return _Place(replace(row, target=here, outcome="already", why=why, next=f"loopwright status {here}"))
    try:
        slug = slug_of(wish.renames.get(candidate.name) or _plain_name(candidate.name))
    except WrongUsage as problem:
        return _Place(replace(row, outcome="conflict", why=problem.message, next=again))
    if candidate.finished and not wish.finished:
        why = f"it is finished there ({_claims(candidate)}); --finished takes it all the same"
        return _Place(replace(row, outcome="left", why=why))
    if store.exists(slug) or slug in taken:
        other = f"'{shown(taken[slug])}' takes that name too" if slug in taken else "a workflow has that name already"
        return _Place(replace(row, target=slug, outcome="conflict", why=other, next=again))
    return _Place(replace(row, target=slug, next=f"loopwright clarify {slug}"), slug)


def _here_already(store: WorkflowStore, candidate: Candidate, origin: Origin) -> str | None:
    """The workflow that was made of it, or that it was made by."""
    for slug in store.slugs():
        known = store.origin_of(slug)
        if known is not None and (known.tool, known.name, known.path) == (origin.tool, origin.name, origin.path):
            return slug
        if candidate.change == f"chg-{slug}" and known is None and store.exists(slug):
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


def _fitted(
    context: Context, candidate: Candidate, slug: str, redactor: Redactor
) -> tuple[dict[str, bytes], list[Row]]:
    """Its documents as they are kept here: without secrets, and beside what has their place already."""
    paths = context.layout.workflow(slug, candidate.change)
    documents: dict[str, bytes] = {}
    rows: list[Row] = []
    for name, data in candidate.documents.items():
        target = paths.document(name)
        stays = bool(candidate.change) and name.startswith("change/")
        clean = data
        if not stays:
            scanned = redactor.scan(data, name, trusts_pragma=True)
            clean = scanned.clean.data
            rows += [
                Row("secret", f"{candidate.path}/{name}", slug, "note", f"{one.rule} in line {one.line} is hidden here")
                for one in scanned.findings
            ]
        there = _bytes_at(target)
        if there is not None and there != clean:
            where = shown(os.path.relpath(target, context.project))
            why = f"{where} is another file; this one is kept as {ASIDE}/{name} of the workflow"
            rows.append(Row("document", f"{candidate.path}/{name}", slug, "conflict", why, "compare the two"))
            documents[f"{ASIDE}/{name}"] = clean
        else:
            documents[name] = clean
    return documents, rows


def _begin(
    context: Context, store: WorkflowStore, slug: str, candidate: Candidate, documents: dict[str, bytes],
    origin: Origin, redactor: Redactor,
) -> None:  # fmt: skip
    command = c.Begin(
        slug=slug,
        idea=redactor.clean(candidate.idea).text,
        profile=profile_of(context.settings.values.workflow.clarify),
        origin=origin,
        change=candidate.change if candidate.change != f"chg-{slug}" else "",
        documents={name: sha256(data) for name, data in documents.items()},
    )
    store.begin(command, actor(), documents)


def _bytes_at(path: Path) -> bytes | None:
    try:
        return read_plainly(path, most=MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError:
        return b"\0"  # a folder, a fifo: something else, whatever it is


def _with_line(line: int, message: str) -> str:
    return f"line {line}: {message}" if line else message

"""Reads the files of a workflow into facts. Damage is a fact too; writes nothing and judges nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from loopwright.kernel.digest import digest_of, sha256, sha256_of_file
from loopwright.kernel.files import read_regular_file
from loopwright.workflow.delta.grammar import digest as requirement_digest
from loopwright.workflow.delta.model import Delta
from loopwright.workflow.documents.page import MOST_BYTES, NotAPage, Page, PageProblem, read_page
from loopwright.workflow.documents.record import NAME as RECORD
from loopwright.workflow.documents.record import Delegation, Ledger, read_ledger, read_record
from loopwright.workflow.documents.spec import is_placeholder, read_spec
from loopwright.workflow.facts import DELTA_PART, Damaged, DeltaFact, Document, Facts, Gates, Missing
from loopwright.workflow.living import conflicts_now, deltas_in, rivals_of
from loopwright.workflow.manifest import BadManifest, read_manifest
from loopwright.workflow.model import Done, Planning, Workflow
from loopwright.workflow.package import CHANGE_DOCUMENTS, PLAN_DOCUMENTS, SLICES, language_problem, prd_of, test_spec_of
from loopwright.workflow.scope_of_plan import wider_scope
from loopwright.workflow.seal import Judges, judges_of, script_texts
from loopwright.workflow.slices import NotSlices, Slices, read_slices
from loopwright.workflow.stage import Stage
from loopwright.workspace.layout import WorkflowPaths

_T = TypeVar("_T")
SPEC = "spec.md"
MANIFEST = "build-context.jsonl"
LEDGER = "build-support/delegation-ledger.json"
_NOT_LOOKED_INTO = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".loopwright", ".claude", ".loop"}
)
_MOST_JUDGES = 20_000
# The domain of the requirement of a quick workflow.
_IDEA = "idea"
# A document without these sections counts as empty.
_NEEDED = {"proposal": ("Why", "What Changes")}
# A command gathers the facts of a workflow a dozen times, mostly from the same bytes.
_read_page = lru_cache(maxsize=16)(read_page)
_read_spec = lru_cache(maxsize=2)(read_spec)
_read_slices = lru_cache(maxsize=2)(read_slices)
_read_record = lru_cache(maxsize=2)(read_record)


def gather(workflow: Workflow, paths: WorkflowPaths, gates: Gates, *, base_tree: str = "") -> Facts:
    """The current facts; the caller passes the base tree if it has computed one."""
    root = paths.layout.root
    spec_only = Facts(
        spec=_document_in(paths, SPEC, _read_spec),
        spec_path=os.path.relpath(paths.document(SPEC), root),
        objects_path=os.path.relpath(paths.folder / "objects", root),
        folder_path=os.path.relpath(paths.folder, root),
        change_path=os.path.relpath(paths.change, root),
        plans_path=os.path.relpath(paths.layout.plans, root),
        gates=gates,
    )
    if workflow.stage is Stage.CLARIFY:
        return spec_only
    if workflow.is_quick:
        return _quick(workflow, paths, spec_only)
    pages = {name: _document_in(paths, name, _read_page) for name in _named(workflow.slug)}
    slices = _document_in(paths, SLICES, _read_slices)
    deltas = dict(deltas_in(paths.change))
    judges = _judges(root, slices, gates) if isinstance(slices, Slices) else {}
    hidden = _hidden(paths.folder / "hidden") if isinstance(slices, Slices) else {}
    return replace(
        spec_only,
        plan_documents={key: _document(pages[name], gates) for key, name in PLAN_DOCUMENTS.items()},
        change_documents={
            key: _document(pages[name], Gates(), _NEEDED.get(key, ())) for key, name in CHANGE_DOCUMENTS.items()
        },
        prd=_document(pages[prd_of(workflow.slug)], gates),
        test_spec=_document(pages[test_spec_of(workflow.slug)], gates),
        slices=slices,
        deltas={domain: _fact(delta) for domain, delta in deltas.items()},
        wider_scope=wider_scope(root, slices, gates) if isinstance(slices, Slices) else (),
        plan_parts=_parts(pages, slices, deltas, judges) | hidden,
        judges=judges,
        base_tree=base_tree,
        record=_document_in(paths, RECORD, _read_record),
        ledger=_ledger(paths),
        **_manifest(paths),
        **_against_specs(workflow, paths, deltas),
    )


def _quick(workflow: Workflow, paths: WorkflowPaths, spec_only: Facts) -> Facts:
    """The facts without documents of a plan: the idea is the only requirement."""
    slices = _document_in(paths, SLICES, _read_slices)
    gates, root = spec_only.gates, paths.layout.root
    judges = _judges(root, slices, gates) if isinstance(slices, Slices) else {}
    idea = next(iter(workflow.idea.strip().splitlines()), workflow.slug)
    return replace(
        spec_only,
        slices=slices,
        deltas={_IDEA: DeltaFact(requirements=(idea,))},
        plan_parts=_parts({}, slices, {}, judges),
        judges=judges,
        record=_document_in(paths, RECORD, _read_record),
        ledger=_ledger(paths),
        **_manifest(paths),
    )


def _against_specs(workflow: Workflow, paths: WorkflowPaths, deltas: dict[str, Delta | Damaged]) -> dict[str, Any]:
    """How the delta fits the living specs, for the two gates that need it; only the last gate reads other changes."""
    layout = paths.layout
    match workflow.at:
        case Planning() if workflow.base is not None:
            return {"conflicts": conflicts_now(layout, deltas, workflow.change_id, workflow.base)}
        case Done():
            return {
                "conflicts": conflicts_now(layout, deltas, workflow.change_id, workflow.base),
                "rivals": rivals_of(layout, workflow.change_id, deltas),
            }
        case _:
            return {}


def _document_in(paths: WorkflowPaths, name: str, read: Callable[[bytes], _T]) -> _T | Missing | Damaged:
    """A document on disk; its problems are facts, with their lines."""
    try:
        return read(read_regular_file(paths.document(name), most=MOST_BYTES))
    except FileNotFoundError:
        return Missing()
    except OSError as problem:
        return Damaged((PageProblem(1, problem.strerror or str(problem)),))
    except (NotAPage, NotSlices) as problem:
        return Damaged(problem.problems)


def _ledger(paths: WorkflowPaths) -> Ledger:
    """The ledger. An unreadable ledger counts as open work."""
    try:
        ledger = read_ledger(read_regular_file(paths.document(LEDGER), most=MOST_BYTES))
    except FileNotFoundError:
        return Ledger()
    except OSError:
        ledger = None
    return ledger if ledger is not None else Ledger((Delegation(id="ledger", scope="the ledger can't be read"),))


def _manifest(paths: WorkflowPaths) -> dict[str, str]:
    root = paths.layout.root
    try:
        data = read_regular_file(paths.document(MANIFEST), most=MOST_BYTES)
        read_manifest(data, lambda path: (root / path).exists())
    except FileNotFoundError:
        return {"manifest_status": "missing"}
    except (OSError, BadManifest) as problem:
        return {"manifest_status": "invalid", "manifest_problem": str(problem)}
    return {"manifest_status": "valid"}


def _named(slug: str) -> tuple[str, ...]:
    return (*PLAN_DOCUMENTS.values(), *CHANGE_DOCUMENTS.values(), prd_of(slug), test_spec_of(slug))


def _document(page: Page | Missing | Damaged, gates: Gates, needed: tuple[str, ...] = ()) -> Document:
    match page:
        case Missing():
            return Document("missing")
        case Damaged():
            return Document("damaged")
        case Page():
            text = _text(page)
            if is_placeholder(text) or any(is_placeholder(page.text_of(name)) for name in needed):
                return Document("empty")
            return Document("present", language_problem(text, gates.document_language))


def _text(page: Page) -> str:
    """The text of a page without its headings."""
    lines = (line for line in page.preamble.splitlines() if not line.startswith("#"))
    return "\n".join([*lines, *(section.text for section in page.sections)]).strip()


def _fact(delta: Delta | Damaged) -> DeltaFact:
    if isinstance(delta, Damaged):
        return DeltaFact(problems=delta.problems)
    return DeltaFact(requirements=delta.touched)


def _judges(root: Path, slices: Slices, gates: Gates) -> dict[str, str]:
    """The judges in the project, by digest."""
    judges = find_judges(root, slices, gates)
    digests: dict[str, str] = {}
    for folder, below, files in os.walk(root):
        below[:] = sorted(set(below) - _NOT_LOOKED_INTO)
        for name in sorted(files):
            path = os.path.relpath(Path(folder) / name, root)
            if judges.kind_of(path) == "none" or len(digests) >= _MOST_JUDGES:
                continue
            if (digest := digest_of_judge(root, path, judges)) is not None:
                digests[path] = digest
    return digests


def _hidden(folder: Path) -> dict[str, str]:
    """The judges of hidden checks, which are outside the project."""
    files = sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    everything = Judges(())
    return {
        f"hidden {name}": digest_of_judge(folder, name, everything) or ""
        for name in (os.path.relpath(path, folder) for path in files)
    }


def find_judges(root: Path, slices: Slices, gates: Gates) -> Judges:
    """The judges of the project: the files that plan, settings and their scripts name."""
    return judges_of(slices, gates.seal, script_texts(root, judges_of(slices, gates.seal)))


def digest_of_judge(root: Path, path: str, judges: Judges) -> str | None:
    """The digest of the part of a file that judges; None if no part does."""
    place = root / path
    try:
        if place.is_symlink():
            return f"link:{place.readlink()}"
        if place.is_dir() or place.stat().st_size > MOST_BYTES:
            return sha256_of_file(place)
        part = judges.part(path, read_regular_file(place, most=MOST_BYTES))
        return None if part is None else sha256(part)
    except OSError as problem:
        return f"unreadable:{problem.errno}"


def _parts(
    pages: Mapping[str, Page | Missing | Damaged],
    slices: Slices | Missing | Damaged,
    deltas: dict[str, Delta | Damaged],
    judges: dict[str, str],
) -> dict[str, str]:
    """The parts that the plan's approval covers, without frontmatter, statuses and times."""
    parts = {name: sha256(_text(page).encode()) for name, page in pages.items() if isinstance(page, Page)}
    if isinstance(slices, Slices):
        for piece in slices.slices:
            parts[f"{SLICES}: {piece.id}"] = digest_of(
                [piece.digest, piece.type, list(piece.blocked_by), list(piece.requirements)]
            )
            parts |= {f"{SLICES}: {piece.id} check {check.id}": check.digest for check in piece.checks}
        if slices.scope is not None:
            parts[f"{SLICES}: scope"] = digest_of(list(slices.scope))
        if slices.scope_wanted:
            parts[f"{SLICES}: scope_wanted"] = digest_of(list(slices.scope_wanted))
    for domain, delta in deltas.items():
        if isinstance(delta, Delta):
            parts |= {
                f"{DELTA_PART}{domain}: {requirement.name}": requirement_digest(requirement)
                for requirement in (*delta.added, *delta.modified)
            }
            gone = [[removal.name, removal.reason] for removal in delta.removed]
            gone += [[rename.old, rename.new] for rename in delta.renamed]
            if gone:
                parts[f"{DELTA_PART}{domain}: removed and renamed"] = digest_of(gone)
    return parts | {f"judge {path}": digest for path, digest in judges.items()}

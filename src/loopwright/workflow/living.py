"""Reads living specs, the proofs of their requirements (`checks.json`) and the deltas of changes. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from loopwright.errors import DamagedFile
from loopwright.kernel import codec
from loopwright.kernel.beneath import obstacle_to
from loopwright.kernel.files import read_regular_file, shown
from loopwright.workflow.audit import signed_digest
from loopwright.workflow.delta.merge import base_of, conflicts_between, merged
from loopwright.workflow.delta.model import (
    Conflict,
    Conflicts,
    Delta,
    DeltaProblem,
    LivingSpec,
    Merged,
    UnreadableDelta,
)
from loopwright.workflow.delta.read import read_delta, read_living
from loopwright.workflow.documents.page import MOST_BYTES, PageProblem
from loopwright.workflow.facts import DELTA_PART, Damaged
from loopwright.workflow.model import SpecBase, Workflow
from loopwright.workflow.package import domain_problem
from loopwright.workflow.requirement_slices import shown_by
from loopwright.workflow.slices import Check, Slices
from loopwright.workspace.layout import Layout

# Problems of a delta that is not wrong, only unwritten.
_SAYS_NOTHING = {"empty", "no_entries", "no_sections"}


def domains_of(layout: Layout) -> list[str]:
    """Every domain that has a living spec."""
    return [domain for domain, _ in _spec_files(layout.specs)]


def living_of(layout: Layout, domain: str) -> LivingSpec | UnreadableDelta | None:
    """The current spec of a domain; None if it does not exist yet."""
    if (obstacle := obstacle_on_the_way(layout, layout.living_spec(domain))) is not None:
        return UnreadableDelta((DeltaProblem(1, "unreadable", not_a_folder(obstacle)),))
    try:
        return read_living(read_regular_file(layout.living_spec(domain), most=MOST_BYTES))
    except FileNotFoundError:
        return None
    except OSError as problem:
        return UnreadableDelta((DeltaProblem(1, "unreadable", problem.strerror or str(problem)),))


def place_of(layout: Layout, path: Path) -> tuple[Path, str]:
    """A path of the workspace as a folder that no work can change, and a name below it."""
    base = layout.own if layout.own in path.parents else layout.root
    return base, os.path.relpath(path, base)


def obstacle_on_the_way(layout: Layout, path: Path) -> str | None:
    """A link or file in the place of a folder on the way to a path: a path through a link may leave the checkout."""
    base, name = place_of(layout, path)
    obstacle = obstacle_to(base, name)
    return None if obstacle is None else os.path.relpath(base / obstacle, layout.root)


def not_a_folder(obstacle: str) -> str:
    """The sentence about an obstacle."""
    return f"{shown(obstacle)} is a link or a file, and a folder is required"


def deltas_in(change: Path) -> Iterator[tuple[str, Delta | Damaged]]:
    """The deltas of a change, by domain."""
    for domain, path in _spec_files(change / "specs"):
        yield domain, _delta(path, domain)


def _delta(path: Path, domain: str) -> Delta | Damaged:
    try:
        data = read_regular_file(path, most=MOST_BYTES)
    except OSError as problem:
        return Damaged((PageProblem(1, problem.strerror or str(problem)),))
    if (wrong := domain_problem(domain)) is not None:
        return Damaged((PageProblem(1, wrong),))
    delta = read_delta(data, domain)
    if isinstance(delta, UnreadableDelta) and {problem.code for problem in delta.problems} <= _SAYS_NOTHING:
        return Delta(domain)
    if isinstance(delta, UnreadableDelta):
        return Damaged(tuple(PageProblem(problem.line, problem.message) for problem in delta.problems))
    return delta


def merge_now(layout: Layout, delta: Delta, change_id: str, base: SpecBase | None) -> Merged | Conflicts:
    """The current spec with a delta merged in, or the conflicts."""
    living = living_of(layout, delta.domain)
    if isinstance(living, UnreadableDelta):
        first = living.problems[0]
        path = os.path.relpath(layout.living_spec(delta.domain), layout.root)
        why = f"{path} can't be read: line {first.line}: {first.message}"
        return Conflicts((Conflict(delta.domain, "", why),))
    known = base.domains.get(delta.domain, {}) if base is not None else {}
    return merged(living, delta, change_id=change_id, base=known)


def conflicts_now(
    layout: Layout, deltas: Mapping[str, Delta | Damaged], change_id: str, base: SpecBase | None
) -> tuple[Conflict, ...]:
    """Why deltas can't be merged into the current specs; empty deltas merge without conflict."""
    full = (delta for delta in deltas.values() if isinstance(delta, Delta) and changes_anything(delta))
    outcomes = (merge_now(layout, delta, change_id, base) for delta in full)
    return tuple(conflict for outcome in outcomes if isinstance(outcome, Conflicts) for conflict in outcome.conflicts)


def changes_anything(delta: Delta) -> bool:
    """Whether a delta changes anything."""
    return bool(delta.added or delta.modified or delta.removed or delta.renamed)


def rivals_of(layout: Layout, change_id: str, deltas: Mapping[str, Delta | Damaged]) -> dict[str, tuple[Conflict, ...]]:
    """Other active changes that touch the same requirements."""
    ours = [delta for delta in deltas.values() if isinstance(delta, Delta)]
    rivals: dict[str, tuple[Conflict, ...]] = {}
    for name in _changes(layout):
        if name == change_id:
            continue
        # Reads only deltas of the same domains: there may be a thousand changes.
        paths = ((delta.domain, layout.change(name) / "specs" / delta.domain / "spec.md") for delta in ours)
        theirs = [delta for domain, path in paths if isinstance(delta := _delta(path, domain), Delta)]
        if theirs and (both := conflicts_between({change_id: ours, name: theirs})):
            rivals[name] = both
    return rivals


def digests_of(layout: Layout) -> dict[str, dict[str, str]]:
    """Digests of every living spec, requirement by requirement."""
    specs = {domain: living_of(layout, domain) for domain in domains_of(layout)}
    return {domain: base_of(living if isinstance(living, LivingSpec) else None) for domain, living in specs.items()}


def base_for(
    specs: Mapping[str, dict[str, str]], delta: Mapping[str, str], domains: Iterable[str], before: SpecBase | None
) -> SpecBase:
    """The base of a change that is planned on these specs.

    A domain with an unchanged delta keeps its base: its author has not read the newer spec.
    """
    bases: dict[str, dict[str, str]] = {}
    for domain in domains:
        kept = before.domains.get(domain) if before is not None else None
        if before is not None and kept is not None and _about(domain, before.delta) == _about(domain, delta):
            bases[domain] = kept
        else:
            bases[domain] = dict(specs.get(domain, {}))
    return SpecBase(domains=bases, delta=dict(delta))


def _about(domain: str, parts: Mapping[str, str]) -> dict[str, str]:
    return {name: digest for name, digest in parts.items() if name.startswith(f"{DELTA_PART}{domain}: ")}


def _changes(layout: Layout) -> list[str]:
    folder = layout.active_changes
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    archive = layout.archived_changes
    return [name for name in names if not name.startswith(".") and folder / name != archive]


def _spec_files(top: Path) -> Iterator[tuple[str, Path]]:
    for folder, below, files in os.walk(top):
        below.sort()
        if "spec.md" in files and Path(folder) != top:
            yield os.path.relpath(folder, top), Path(folder) / "spec.md"


class _Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Strict and immutable."""


class SignedProof(_Value, frozen=True, kw_only=True):
    """A person signed: which slice or which protected changes, who and when."""

    slice: str
    by: str
    at: str
    note: str = ""


class Proof(_Value, frozen=True, kw_only=True):
    """The proof of a requirement. `workflow` owns the runs and the hidden files that they need."""

    change_id: str
    workflow: str
    tree: str
    checks: tuple[Check, ...] = ()
    signed: tuple[SignedProof, ...] = ()


class SpecChecks(_Value, frozen=True, kw_only=True):
    """`checks.json`: the proofs of one domain."""

    schema_version: Literal[1] = 1
    domain: str
    requirements: dict[str, Proof] = {}


def read_checks(path: Path, domain: str) -> SpecChecks:
    """The content of the file, empty if it is missing; `DamagedFile` if it can't be read."""
    try:
        return codec.from_json(read_regular_file(path, most=MOST_BYTES), SpecChecks)
    except FileNotFoundError:
        return SpecChecks(domain=domain)
    except (OSError, codec.Undecodable) as problem:
        raise DamagedFile(
            f"{shown(path)} can't be read: {problem}", hint="restore it from git, or move it away"
        ) from problem


def merge_checks(before: SpecChecks, delta: Delta, proof: Callable[[str], Proof]) -> SpecChecks:
    """The proofs with a delta merged in, in the order in which the spec is merged.

    A renamed requirement keeps its proof.
    """
    proofs = dict(before.requirements)
    for rename in delta.renamed:
        if rename.old in proofs:
            proofs[rename.new] = proofs.pop(rename.old)
        elif rename.new not in proofs:
            proofs[rename.new] = proof(rename.new)
    for gone in delta.removed:
        proofs.pop(gone.name, None)
    for block in (*delta.modified, *delta.added):
        proofs[block.name] = proof(block.name)
    return SpecChecks(domain=before.domain, requirements=proofs)


def checks_with(path: Path, delta: Delta, workflow: Workflow, slices: Slices) -> bytes:
    """The current file with the delta of a workflow merged in."""

    def proof(name: str) -> Proof:
        return proof_of(workflow, slices, f"{delta.domain}: {name}")

    return codec.to_json(merge_checks(read_checks(path, delta.domain), delta, proof))


def proof_of(workflow: Workflow, slices: Slices, requirement: str) -> Proof:
    """The proof of a requirement (`domain: name`) from the build of its change."""
    verified = workflow.verification
    pieces = shown_by(requirement, slices)
    signed = {
        (piece.id, signature.by): SignedProof(slice=piece.id, by=signature.by, at=signature.at, note=signature.note)
        for piece in pieces
        for signature in workflow.signatures
        if signature.what == piece.id and signature.digest == signed_digest(piece, verified)
    }
    protected = verified.protected if verified is not None else None
    signed |= {
        (sign.what, sign.by): SignedProof(slice=sign.what, by=sign.by, at=sign.at, note=sign.note)
        for sign in workflow.signatures
        if protected is not None and protected.decision == "signed" and protected.is_signed_by(sign.what, sign.digest)
    }
    return Proof(
        change_id=workflow.change_id,
        workflow=workflow.slug,
        tree=verified.tree if verified is not None else "",
        checks=tuple(check for piece in pieces for check in piece.checks),
        signed=tuple(signed.values()),
    )

"""`checks.json` beside a living spec: which checks show which requirement, and which change brought them.

It is a file of our own because OpenSpec's grammar has no place for commands; its tools do not look for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from loopwright.errors import DamagedFile
from loopwright.kernel import codec
from loopwright.kernel.files import read_regular_file, shown
from loopwright.workflow.audit import shown_by, signed_digest
from loopwright.workflow.delta.model import Delta
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.model import Workflow
from loopwright.workflow.slices import Check, Slices


class _Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Strict and immutable."""


class SignedProof(_Value, frozen=True, kw_only=True):
    """A person stood for it: which slice, who, when."""

    slice: str
    by: str
    at: str
    note: str = ""


class Proof(_Value, frozen=True, kw_only=True):
    """What shows a requirement. `workflow` is whose runs they are, and whose hidden files they need."""

    change_id: str
    workflow: str
    tree: str
    checks: tuple[Check, ...] = ()
    signed: tuple[SignedProof, ...] = ()


class SpecChecks(_Value, frozen=True, kw_only=True):
    """One domain's."""

    schema_version: Literal[1] = 1
    domain: str
    requirements: dict[str, Proof] = {}


def read_checks(path: Path, domain: str) -> SpecChecks:
    """The file, or an empty one; `DamagedFile` for anything else."""
    try:
        found = codec.from_json(read_regular_file(path, most=MOST_BYTES), SpecChecks)
    except FileNotFoundError:
        return SpecChecks(domain=domain)
    except (OSError, codec.Undecodable) as problem:
        raise DamagedFile(
            f"{shown(path)} can't be read: {problem}", hint="put it back from git, or move it away"
        ) from problem
    return found


def merge_checks(before: SpecChecks, delta: Delta, proof: Callable[[str], Proof]) -> SpecChecks:
    """With the delta in it, in the order in which the spec itself is merged.

    A requirement that only gets another name keeps what showed it.
    """
    found = dict(before.requirements)
    for one in delta.renamed:
        if one.old in found:
            found[one.new] = found.pop(one.old)
        elif one.new not in found:
            found[one.new] = proof(one.new)
    for gone in delta.removed:
        found.pop(gone.name, None)
    for block in (*delta.modified, *delta.added):
        found[block.name] = proof(block.name)
    return SpecChecks(domain=before.domain, requirements=found)


def checks_with(path: Path, delta: Delta, workflow: Workflow, slices: Slices) -> bytes:
    """The file as it is now, with a workflow's delta in it."""
    proofs = partial(_proof, workflow, slices, delta.domain)
    return codec.to_json(merge_checks(read_checks(path, delta.domain), delta, proofs))


def _proof(workflow: Workflow, slices: Slices, domain: str, name: str) -> Proof:
    return proof_of(workflow, slices, f"{domain}: {name}")


def proof_of(workflow: Workflow, slices: Slices, requirement: str) -> Proof:
    """What showed a requirement (`domain: name`) when its change was built."""
    verified = workflow.verification
    found = shown_by(requirement, slices)
    signed = {
        (one.id, signature.by): SignedProof(slice=one.id, by=signature.by, at=signature.at, note=signature.note)
        for one in found
        for signature in workflow.signatures
        if signature.what == one.id and signature.digest == signed_digest(one, verified)
    }
    return Proof(
        change_id=workflow.change_id,
        workflow=workflow.slug,
        tree=verified.tree if verified is not None else "",
        checks=tuple(check for one in found for check in one.checks),
        signed=tuple(signed.values()),
    )

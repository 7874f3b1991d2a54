"""What the living specs say, and what shows each requirement."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Literal

import msgspec

from loopwright.errors import LoopwrightError, WorkflowRefused
from loopwright.stages.context import Context, workflows_of
from loopwright.workflow.delta.model import LivingSpec, Requirement, UnreadableDelta
from loopwright.workflow.listing import list_workflows
from loopwright.workflow.living import Proof, SpecChecks, domains_of, living_of, read_checks

Basis = Literal["checks", "signed", "none"]


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement of a living spec, with what showed it."""

    name: str
    text: str
    scenarios: tuple[str, ...]
    change_id: str
    proof: Proof | None

    @property
    def basis(self) -> Basis:
        """On what it rests."""
        if self.proof is None:
            return "none"
        return "checks" if self.proof.checks else "signed" if self.proof.signed else "none"

    def basis_sentence(self) -> str:
        """The same for a person; a hidden check keeps its command to itself."""
        proof = self.proof
        if proof is None or self.basis == "none":
            return "nothing shows it: no change that was archived here brought a check"
        said = [f"`{check.command}`" if not check.hidden else f"the hidden check {check.id}" for check in proof.checks]
        said += [f"signed by {one.by} at {one.at} ({one.slice})" for one in proof.signed]
        return "shown by " + ", ".join(said) if proof.checks else ", ".join(said)


class Domain(msgspec.Struct, frozen=True, kw_only=True):
    """A living spec; `problem` is why it can't be read."""

    domain: str
    path: str
    purpose: str = ""
    requirements: tuple[Promise, ...] = ()
    problem: str = ""

    def summary(self) -> dict[str, Any]:
        """A line of the list, for programs."""
        bases = [one.basis for one in self.requirements]
        counts = {"checked": bases.count("checks"), "signed": bases.count("signed"), "unchecked": bases.count("none")}
        return {
            "domain": self.domain, "path": self.path, "requirements": len(bases), **counts,
            "problem": self.problem or None,
        }  # fmt: skip

    def document(self) -> dict[str, Any]:
        """All of it, for programs."""
        listed = [{**msgspec.to_builtins(one), "basis": one.basis} for one in self.requirements]
        return {"domain": self.domain, "path": self.path, "purpose": self.purpose, "requirements": listed}


def all_domains(context: Context) -> list[Domain]:
    """Every domain; one that can't be read is listed with the reason."""
    settle_archives(context)
    return [_domain(context, name) for name in domains_of(context.layout)]


def require_domain(context: Context, name: str) -> Domain:
    """One domain, which is there and can be read."""
    found = next((one for one in all_domains(context) if one.domain == name), None)
    if found is None:
        known = ", ".join(domains_of(context.layout)[:10]) or "none"
        raise WorkflowRefused(
            "unknown_domain",
            f"there is no living spec of '{name}' (there are: {known})",
            next_command="loopwright specs list",
        )
    if found.problem:
        raise WorkflowRefused(
            "spec_unreadable", f"{found.path} can't be read: {found.problem}", next_command=f"correct {found.path}"
        )
    return found


def _domain(context: Context, name: str) -> Domain:
    layout = context.layout
    path = os.path.relpath(layout.living_spec(name), layout.root)
    living = living_of(layout, name)
    if isinstance(living, UnreadableDelta):
        said = "; ".join(f"line {one.line}: {one.message}" for one in living.problems[:3])
        return Domain(domain=name, path=path, problem=said)
    if living is None:
        return Domain(domain=name, path=path, problem="it is gone")
    checks = read_checks(layout.spec_checks(name), name)
    promises = tuple(_promise(living, one, checks) for one in living.requirements)
    return Domain(domain=name, path=path, purpose=living.purpose, requirements=promises)


def _promise(living: LivingSpec, one: Requirement, checks: SpecChecks) -> Promise:
    last = next((deed.change_id for deed in reversed(living.history) if deed.requirement == one.name), "")
    return Promise(
        name=one.name,
        text=one.text,
        scenarios=tuple(scenario.name for scenario in one.scenarios),
        change_id=last,
        proof=checks.requirements.get(one.name),
    )


def settle_archives(context: Context, *, but: str = "") -> None:
    """Finish archives that were interrupted: opening a workflow finishes its archive.

    `state.json` is written after the journal, so a workflow whose state says `synced` is finished.
    """
    store = workflows_of(context)
    for one in list_workflows(context.layout):
        if one.slug == but or one.spec_sync_status == "synced" or not store.may_be_archived(one.slug):
            continue
        with suppress(LoopwrightError), store.changing(one.slug):
            pass  # a workflow that can't be opened has a command of its own that reports the reason

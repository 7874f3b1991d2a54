"""The requirements of the living specs, and what proves each."""

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


class LivingRequirement(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement of a living spec, with its proof."""

    name: str
    text: str
    scenarios: tuple[str, ...]
    change_id: str
    proof: Proof | None

    @property
    def basis(self) -> Basis:
        """What proves the requirement: checks, a signature, or nothing."""
        if self.proof is None:
            return "none"
        return "checks" if self.proof.checks else "signed" if self.proof.signed else "none"

    def basis_sentence(self) -> str:
        """The same for a person; the command of a hidden check is not shown."""
        proof = self.proof
        if proof is None or self.basis == "none":
            return "not proven: no archived change added a check"
        parts = [f"`{check.command}`" if not check.hidden else f"the hidden check {check.id}" for check in proof.checks]
        parts += [f"signed by {signature.by} at {signature.at} ({signature.slice})" for signature in proof.signed]
        return "proven by " + ", ".join(parts) if proof.checks else ", ".join(parts)


class Domain(msgspec.Struct, frozen=True, kw_only=True):
    """A living spec; `problem` says why it is unreadable."""

    domain: str
    path: str
    purpose: str = ""
    requirements: tuple[LivingRequirement, ...] = ()
    problem: str = ""

    def summary(self) -> dict[str, Any]:
        """The row of the list, for programs."""
        bases = [requirement.basis for requirement in self.requirements]
        counts = {"checked": bases.count("checks"), "signed": bases.count("signed"), "unchecked": bases.count("none")}
        return {
            "domain": self.domain, "path": self.path, "requirements": len(bases), **counts,
            "problem": self.problem or None,
        }  # fmt: skip

    def document(self) -> dict[str, Any]:
        """The whole spec, for programs."""
        listed = [{**msgspec.to_builtins(requirement), "basis": requirement.basis} for requirement in self.requirements]
        return {"domain": self.domain, "path": self.path, "purpose": self.purpose, "requirements": listed}


def all_domains(context: Context) -> list[Domain]:
    """Every domain that has a living spec; an unreadable spec is listed with the reason."""
    settle_archives(context)
    return [_domain(context, name) for name in domains_of(context.layout)]


def require_domain(context: Context, name: str) -> Domain:
    """One domain with its requirements, and what proves each; `WorkflowRefused` if it is missing or unreadable."""
    spec = next((domain for domain in all_domains(context) if domain.domain == name), None)
    if spec is None:
        known = ", ".join(domains_of(context.layout)[:10]) or "none"
        raise WorkflowRefused(
            "unknown_domain",
            f"there is no living spec of '{name}' (domains: {known})",
            next_command="loopwright specs list",
        )
    if spec.problem:
        raise WorkflowRefused(
            "spec_unreadable", f"{spec.path} is unreadable: {spec.problem}", next_command=f"fix {spec.path}"
        )
    return spec


def _domain(context: Context, name: str) -> Domain:
    layout = context.layout
    path = os.path.relpath(layout.living_spec(name), layout.root)
    living = living_of(layout, name)
    if isinstance(living, UnreadableDelta):
        problems = "; ".join(f"line {problem.line}: {problem.message}" for problem in living.problems[:3])
        return Domain(domain=name, path=path, problem=problems)
    if living is None:
        return Domain(domain=name, path=path, problem="it is missing")
    checks = read_checks(layout.spec_checks(name), name)
    requirements = tuple(_living_requirement(living, requirement, checks) for requirement in living.requirements)
    return Domain(domain=name, path=path, purpose=living.purpose, requirements=requirements)


def _living_requirement(living: LivingSpec, requirement: Requirement, checks: SpecChecks) -> LivingRequirement:
    changes = (deed.change_id for deed in reversed(living.history) if deed.requirement == requirement.name)
    return LivingRequirement(
        name=requirement.name,
        text=requirement.text,
        scenarios=tuple(scenario.name for scenario in requirement.scenarios),
        change_id=next(changes, ""),
        proof=checks.requirements.get(requirement.name),
    )


def settle_archives(context: Context, *, but: str = "") -> None:
    """Finish interrupted archives: opening a workflow finishes its archive.

    `state.json` is written after the journal, so a workflow whose state says `synced` is finished.
    """
    store = workflows_of(context)
    for workflow in list_workflows(context.layout):
        if workflow.slug == but or workflow.spec_sync_status == "synced" or not store.may_be_archived(workflow.slug):
            continue
        with suppress(LoopwrightError), store.changing(workflow.slug):
            pass  # `loopwright status SLUG` reports why a workflow cannot be opened

"""Runs the checks that once showed each requirement on the project as it is now."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from loopwright.kernel.process import Cancellation
from loopwright.stages.building.checking import check_runs, run_checks
from loopwright.stages.context import Context
from loopwright.stages.specs.living import Domain, Promise
from loopwright.workflow.living import Proof
from loopwright.workflow.slices import Check
from loopwright.workflow.verification import CheckRun

Status = Literal["holds", "broken", "signed", "unchecked", "unavailable", "unreadable"]


class CheckSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What one check came to today."""

    id: str
    command: str
    passed: bool
    exit_code: int | None
    run_id: str
    tree: str


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement today. What a person signed is named as that: nobody can run it again."""

    domain: str
    requirement: str
    status: Status
    change_id: str = ""
    checks: tuple[CheckSaid, ...] = ()
    signed_by: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether somebody must look at it."""
        return self.status in ("broken", "unavailable", "unreadable")

    def sentence(self) -> str:
        """For a person."""
        if self.status in ("unavailable", "unreadable"):
            return self.why
        failed = [one for one in self.checks if not one.passed]
        if failed:
            listed = "; ".join(f"{one.id} exits {one.exit_code}: `{one.command}`" for one in failed[:3])
            return f"does not hold any more: {listed} (run {failed[0].run_id})"
        if self.checks:
            return f"{len(self.checks)} checks pass (run {self.checks[0].run_id})"
        if self.signed_by:
            return f"signed by {', '.join(self.signed_by)}; no check can show it again"
        return "nothing shows it: it has no check"

    def way_on(self) -> str:
        """Where to look first."""
        failed = next((one for one in self.checks if not one.passed), None)
        return f"loopwright verify {failed.run_id}" if failed is not None else f"loopwright specs show {self.domain}"


def verify_domains(context: Context, domains: list[Domain], cancellation: Cancellation) -> list[Verified]:
    """Run each workflow's checks once, past failures, then judge requirement by requirement."""
    runs = {slug: _run(context, slug, checks, cancellation) for slug, checks in _by_workflow(context, domains).items()}
    found = []
    for one in domains:
        if one.problem:
            why = f"{one.path} can't be read: {one.problem}"
            found.append(Verified(domain=one.domain, requirement="(all)", status="unreadable", why=why))
        found += [_judged(context, one.domain, promise, runs) for promise in one.requirements]
    return found


def _by_workflow(context: Context, domains: list[Domain]) -> dict[str, dict[str, Check]]:
    """Each check once, with the workflow that brought it: ids are that workflow's own."""
    found: dict[str, dict[str, Check]] = {}
    for one in domains:
        for promise in one.requirements:
            proof = promise.proof
            if proof is not None and proof.checks and not _lacks_files(context, proof):
                found.setdefault(proof.workflow, {}).update({check.id: check for check in proof.checks})
    return found


def _run(context: Context, slug: str, checks: dict[str, Check], cancellation: Cancellation) -> dict[str, CheckRun]:
    wanted = tuple(checks.values())
    sandbox = context.sandbox_request()
    finished = run_checks(context, slug, wanted, name="specs", sandbox=sandbox, cancellation=cancellation)
    return check_runs(finished, wanted)


def _lacks_files(context: Context, proof: Proof) -> bool:
    """A hidden check without its files would fail for a reason that says nothing about the project."""
    folder = context.layout.workflow(proof.workflow).folder / "hidden"
    return any(check.hidden for check in proof.checks) and not folder.is_dir()


def _judged(context: Context, domain: str, promise: Promise, runs: dict[str, dict[str, CheckRun]]) -> Verified:
    proof = promise.proof
    found = Verified(domain=domain, requirement=promise.name, status="unchecked", change_id=promise.change_id)
    if proof is None or promise.basis == "none":
        return found
    signed = tuple(dict.fromkeys(one.by for one in proof.signed))
    if not proof.checks:
        return replace(found, status="signed", signed_by=signed)
    if _lacks_files(context, proof):
        why = f"its hidden checks need files of the workflow {proof.workflow}, which are not here"
        return replace(found, status="unavailable", why=why, signed_by=signed)
    said = tuple(_said(check, runs[proof.workflow][check.id]) for check in proof.checks)
    status: Status = "holds" if all(one.passed for one in said) else "broken"
    return replace(found, status=status, checks=said, signed_by=signed)


def _said(check: Check, run: CheckRun) -> CheckSaid:
    command = "(hidden)" if check.hidden else check.command
    return CheckSaid(
        id=check.id, command=command, passed=run.passed, exit_code=run.exit_code, run_id=run.run_id, tree=run.tree
    )

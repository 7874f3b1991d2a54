"""Runs the checks of the living specs on the current project."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from loopwright.kernel.process import Cancellation
from loopwright.stages.building.checking import check_runs, run_checks
from loopwright.stages.context import Context
from loopwright.stages.specs.living import Domain, LivingRequirement
from loopwright.workflow.living import Proof
from loopwright.workflow.slices import Check, in_order_of_runs
from loopwright.workflow.verification import CheckRun

Status = Literal["holds", "broken", "signed", "unchecked", "unavailable", "unreadable"]


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check."""

    id: str
    command: str
    passed: bool
    exit_code: int | None
    run_id: str
    tree: str


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """The current state of a requirement. A signature of a person is shown as such: it cannot be run again."""

    domain: str
    requirement: str
    status: Status
    change_id: str = ""
    checks: tuple[CheckResult, ...] = ()
    signed_by: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the requirement needs a person."""
        return self.status in ("broken", "unavailable", "unreadable")

    def sentence(self) -> str:
        """The state for a person."""
        if self.status in ("unavailable", "unreadable"):
            return self.why
        failed = [check for check in self.checks if not check.passed]
        if failed:
            listed = "; ".join(f"{check.id} exits {check.exit_code}: `{check.command}`" for check in failed[:3])
            return f"no longer holds: {listed} (run {failed[0].run_id})"
        if self.checks:
            return f"checks passed: {len(self.checks)} (run {self.checks[0].run_id})"
        if self.signed_by:
            return f"signed by {', '.join(self.signed_by)}; no check can prove it again"
        return "not proven: it has no check"

    def way_on(self) -> str:
        """The next command."""
        failed = next((check for check in self.checks if not check.passed), None)
        return f"loopwright verify {failed.run_id}" if failed is not None else f"loopwright specs show {self.domain}"


def verify_domains(context: Context, domains: list[Domain], cancellation: Cancellation) -> list[Verified]:
    """Run the checks of each workflow once, all of them even after failures, then judge each requirement."""
    runs = {slug: _run(context, slug, checks, cancellation) for slug, checks in _by_workflow(context, domains).items()}
    verified = []
    for domain in domains:
        if domain.problem:
            why = f"{domain.path} is unreadable: {domain.problem}"
            verified.append(Verified(domain=domain.domain, requirement="(all)", status="unreadable", why=why))
        verified += [_judged(context, domain.domain, requirement, runs) for requirement in domain.requirements]
    return verified


def _by_workflow(context: Context, domains: list[Domain]) -> dict[str, dict[str, Check]]:
    """Each check once, by the workflow that added it: check ids are unique only in a workflow."""
    checks: dict[str, dict[str, Check]] = {}
    for domain in domains:
        for requirement in domain.requirements:
            proof = requirement.proof
            if proof is not None and proof.checks and not _lacks_files(context, proof):
                checks.setdefault(proof.workflow, {}).update({check.id: check for check in proof.checks})
    return checks


def _run(context: Context, slug: str, checks: dict[str, Check], cancellation: Cancellation) -> dict[str, CheckRun]:
    wanted = in_order_of_runs(checks.values())
    sandbox = context.sandbox_request()
    finished = run_checks(context, slug, wanted, name="specs", sandbox=sandbox, cancellation=cancellation)
    return check_runs(finished, wanted)


def _lacks_files(context: Context, proof: Proof) -> bool:
    """Whether the files of hidden checks are missing: such a failure would say nothing about the project."""
    folder = context.layout.workflow(proof.workflow).folder / "hidden"
    return any(check.hidden for check in proof.checks) and not folder.is_dir()


def _judged(
    context: Context, domain: str, requirement: LivingRequirement, runs: dict[str, dict[str, CheckRun]]
) -> Verified:
    proof = requirement.proof
    verified = Verified(
        domain=domain, requirement=requirement.name, status="unchecked", change_id=requirement.change_id
    )
    if proof is None or requirement.basis == "none":
        return verified
    signed = tuple(dict.fromkeys(signature.by for signature in proof.signed))
    if not proof.checks:
        return replace(verified, status="signed", signed_by=signed)
    if _lacks_files(context, proof):
        why = f"its hidden checks need files of the workflow {proof.workflow}, which are missing"
        return replace(verified, status="unavailable", why=why, signed_by=signed)
    results = tuple(_result(check, runs[proof.workflow][check.id]) for check in proof.checks)
    status: Status = "holds" if all(result.passed for result in results) else "broken"
    return replace(verified, status=status, checks=results, signed_by=signed)


def _result(check: Check, run: CheckRun) -> CheckResult:
    command = "(hidden)" if check.hidden else check.command
    return CheckResult(
        id=check.id, command=command, passed=run.passed, exit_code=run.exit_code, run_id=run.run_id, tree=run.tree
    )

"""The status of workflows and living specs, derived from the files on disk."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.kernel.process import Cancellation
from loopwright.stages.agent_context import context_rows, read_row, rows_in
from loopwright.stages.context import Context
from loopwright.stages.specs.living import Domain, all_domains, require_domain
from loopwright.stages.specs.verifying import Verified, verify_domains
from loopwright.stages.status import FlightView, WorkflowView, refresh, view_workflow
from loopwright.stages.trying import TriedChecks, try_checks

__all__ = [
    "Domain",
    "FlightView",
    "TriedChecks",
    "Verified",
    "WorkflowView",
    "context_rows",
    "list_domains",
    "read_row",
    "refresh_all",
    "rows_in",
    "show",
    "show_domain",
    "try_checks",
    "verify_specs",
]


def show(context: Context, slug: str) -> WorkflowView:
    """One workflow: stage, blockers, cost, and the next command."""
    return view_workflow(context, slug)


def refresh_all(context: Context, slugs: Iterable[str]) -> None:
    """Derive the `state.json` of these workflows again; unreadable workflows are skipped."""
    refresh(context, slugs)


def list_domains(context: Context) -> list[Domain]:
    """Every domain that has a living spec; an unreadable spec is listed with the reason."""
    return all_domains(context)


def show_domain(context: Context, name: str) -> Domain:
    """One domain with its requirements, and what proves each."""
    return require_domain(context, name)


def verify_specs(context: Context, domain: str | None, cancellation: Cancellation | None = None) -> list[Verified]:
    """Run the checks of the requirements of one domain, or of all, on the current project."""
    domains = [require_domain(context, domain)] if domain is not None else all_domains(context)
    return verify_domains(context, domains, cancellation or Cancellation())

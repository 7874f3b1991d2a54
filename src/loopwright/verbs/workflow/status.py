"""The status of workflows and living specs, derived from the files on disk."""

from __future__ import annotations

from loopwright.kernel.process import Cancellation
from loopwright.stages.agent_context import context_rows, read_row, rows_in
from loopwright.stages.context import Context
from loopwright.stages.specs.living import Domain
from loopwright.stages.specs.living import all_domains as list_domains
from loopwright.stages.specs.living import require_domain as show_domain
from loopwright.stages.specs.verifying import Verified, verify_domains
from loopwright.stages.status import FlightView, WorkflowView
from loopwright.stages.status import refresh as refresh_all
from loopwright.stages.status import view_workflow as show
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


def verify_specs(context: Context, domain: str | None, cancellation: Cancellation | None = None) -> list[Verified]:
    """Run the checks of the requirements of one domain, or of all, on the current project."""
    domains = [show_domain(context, domain)] if domain is not None else list_domains(context)
    return verify_domains(context, domains, cancellation or Cancellation())

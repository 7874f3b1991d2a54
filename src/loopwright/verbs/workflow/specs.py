"""The living specs: list them, show one, and verify that they still hold."""

from __future__ import annotations

from loopwright.kernel.process import Cancellation
from loopwright.stages.context import Context
from loopwright.stages.specs.living import Domain, all_domains, require_domain
from loopwright.stages.specs.verifying import Verified, verify_domains

__all__ = ["Domain", "Verified", "list_domains", "show_domain", "verify_specs"]


def list_domains(context: Context) -> list[Domain]:
    """Every domain that has a living spec; one that can't be read is listed with the reason."""
    return all_domains(context)


def show_domain(context: Context, name: str) -> Domain:
    """One domain with its requirements, and what shows each of them."""
    return require_domain(context, name)


def verify_specs(context: Context, domain: str | None, cancellation: Cancellation) -> list[Verified]:
    """Run the checks that once showed each requirement on the project as it is now; of one domain, or of all."""
    domains = [require_domain(context, domain)] if domain is not None else all_domains(context)
    return verify_domains(context, domains, cancellation)

"""`loopwright install` and `uninstall`, and the state of installed parts for `doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopwright.agents.harness import HARNESSES
from loopwright.errors import UnknownAgent
from loopwright.install.apply import InstallReport, install_parts, remove_parts
from loopwright.install.check import InstallFinding, check_targets
from loopwright.install.model import InstallTarget, Part, Scope
from loopwright.kernel.files import shown
from loopwright.stages.context import Context


def install(
    context: Context, agent: str, scope: Scope, *, parts: Iterable[Part] = tuple(Part), dry_run: bool
) -> InstallReport:
    """Install parts for an agent; content that the user changed stays."""
    return install_parts(_target(context, agent, scope), parts, dry_run=dry_run)


def uninstall(
    context: Context, agent: str, scope: Scope, *, parts: Iterable[Part] = tuple(Part), dry_run: bool
) -> InstallReport:
    """Remove parts again; everything else in the agent's files stays."""
    return remove_parts(_target(context, agent, scope), parts, dry_run=dry_run)


def check_installed(context: Context) -> Iterator[InstallFinding]:
    """What is installed for every agent, in both scopes."""
    return check_targets(_target(context, agent, scope) for agent in HARNESSES for scope in Scope)


def _target(context: Context, agent: str, scope: Scope) -> InstallTarget:
    if agent not in HARNESSES:
        raise UnknownAgent(
            f"install does not support the agent '{shown(agent)}'", hint=f"use one of: {', '.join(HARNESSES)}"
        )
    return InstallTarget(HARNESSES[agent], scope, context.project, context.environment, context.layout.home)

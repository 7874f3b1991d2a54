"""Builds the context of a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from loopwright.kernel.clock import Clock, utc_now
from loopwright.kernel.ids import without_relative
from loopwright.sandbox.bubblewrap import Bubblewrap
from loopwright.sandbox.landlock import Landlock
from loopwright.sandbox.port import Isolation
from loopwright.sandbox.unconfined import Unconfined
from loopwright.stages.context import Context
from loopwright.stages.own_prompts import open_book
from loopwright.wiring.agents import known_agents, open_agent
from loopwright.wiring.workspace import find_workspace
from loopwright.workspace.settings import Flags

NO_FLAGS: Flags = MappingProxyType({})
ISOLATIONS: tuple[Isolation, ...] = (Bubblewrap(), Landlock(), Unconfined())


def build_context(
    start: Path, flags: Flags = NO_FLAGS, *, environment: Mapping[str, str] | None = None, clock: Clock = utc_now
) -> Context:
    """Find the workspace, read its settings, and add the adapters."""
    environment = dict(os.environ if environment is None else environment)
    if "PATH" in environment:
        environment["PATH"] = without_relative(environment["PATH"])
    workspace = find_workspace(start, flags, environment)
    return Context(
        layout=workspace.layout,
        settings=workspace.settings,
        environment=environment,
        clock=clock,
        isolations=ISOLATIONS,
        open_agent=lambda name: open_agent(name, workspace.settings, workspace.layout.root, environment),
        known_agents=lambda: tuple(known_agents(workspace.settings, workspace.layout.root, environment)),
        is_attended=all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)),
        prompts=cache(lambda: open_book(workspace.layout, workspace.settings.values)),
    )

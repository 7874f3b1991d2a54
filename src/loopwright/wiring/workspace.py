"""Finds the workspace and its settings, for fast commands. `build` adds the adapters, which take time to import."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from loopwright.errors import WrongUsage
from loopwright.kernel.files import shown
from loopwright.workspace.layout import Flavour, Layout, detect_flavour, find_root, user_config, user_home
from loopwright.workspace.settings import Flags, Settings, load_settings


class Workspace(msgspec.Struct, frozen=True):
    """A workspace and its settings."""

    layout: Layout
    settings: Settings


def find_workspace(start: Path, flags: Flags, environment: Mapping[str, str]) -> Workspace:
    """The workspace at or above a folder."""
    if not start.is_dir():
        raise WrongUsage(f"the project folder {shown(start)} does not exist", hint="check --project-root")
    root = find_root(start)
    home = user_home()
    unified = Layout(root, Flavour.UNIFIED, home)
    settings = load_settings(
        user_file=user_config(), workspace_file=unified.config, environment=environment, flags=flags
    )
    if ("workspace", "layout") in settings.origins:
        flavour = Flavour(settings.values.workspace.layout)
    else:
        flavour = detect_flavour(root, home)
    return Workspace(Layout(root, flavour, home), settings)

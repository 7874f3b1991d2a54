"""Builds what every command builds on its first use, so that forks of a warm interpreter share it.

Only values that our code and the installed packages decide alone. A value that depends on a folder, a variable, a
process or the machine is never built here: a fork would keep it, and a new process would not.
"""

from __future__ import annotations

import os
from pathlib import Path

from loopwright.redaction.build import build_redactor
from loopwright.wiring.agents import known_agents
from loopwright.workspace.settings import load_settings
from loopwright.workspace.settings_model import SecretsSettings

_NOWHERE = Path(os.devnull) / "nowhere"


def build_shared_values() -> None:
    """Compile the shipped secret rules, read the types of all settings, and list the agents of other packages."""
    build_redactor(SecretsSettings(), {})
    settings = load_settings(user_file=Path(os.devnull), workspace_file=Path(os.devnull), environment={}, flags={})
    # Lists what it needs before it opens the first agent.
    next(known_agents(settings, _NOWHERE, {}))
    for _ in settings.listed():
        pass

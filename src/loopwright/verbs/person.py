"""Commands that only a person may give refuse inside an agent's process tree."""

from __future__ import annotations

import os
from collections.abc import Mapping

from loopwright.agents.port import AGENT_MARK
from loopwright.errors import InsideAgent
from loopwright.kernel import process_tree


def require_person(environment: Mapping[str, str], command: str) -> None:
    """Raise `InsideAgent` when an agent of ours is among our ancestors, or left its mark in the environment."""
    mark = f"{AGENT_MARK}=".encode()
    ancestors = process_tree.ancestors(os.getpid())
    if AGENT_MARK in environment or any(process_tree.environment_has(pid, mark) for pid in ancestors):
        raise InsideAgent(
            f"`loopwright {command}` is a person's decision, and this is an agent's process",
            hint="a person types it in a terminal of their own",
        )

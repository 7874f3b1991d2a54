"""The person at the keyboard: their name, and the commands that only a person may give."""

from __future__ import annotations

import os
import pwd
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


def actor() -> str:
    """The user name of this process."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"

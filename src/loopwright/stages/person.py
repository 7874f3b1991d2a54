"""The person at the keyboard: the user name, and the check that a command comes from a person."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping

from loopwright.agents.port import AGENT_MARK
from loopwright.errors import InsideAgent, WrongUsage
from loopwright.kernel import process_tree

_PLACEHOLDERS = frozenset({"…", "..."})


def require_person(environment: Mapping[str, str], command: str) -> None:
    """Raise `InsideAgent` if this process runs inside an agent that Loopwright started."""
    mark = f"{AGENT_MARK}=".encode()
    ancestors = process_tree.ancestors(os.getpid())
    if AGENT_MARK in environment or any(process_tree.environment_has(pid, mark) for pid in ancestors):
        raise InsideAgent(
            f"`loopwright {command}` is for people only, but an agent runs this process",
            hint="let a person type the command in a terminal",
        )


def require_own_words(text: str) -> None:
    """Raise `WrongUsage` for the mark that stands for a text in the commands that Loopwright prints."""
    if text.strip() in _PLACEHOLDERS:
        raise WrongUsage(f"'{text.strip()}' stands for your own words", hint="write your reason; nothing was stored")


def actor() -> str:
    """The user name of this process."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"

"""The texts that agents are given, one short file per role; data, not code."""

from __future__ import annotations

from pathlib import Path
from string import Template

from loopwright.agents.port import Role


def prompt_for(role: Role, **values: str) -> str:
    """A role's prompt with its values filled in."""
    text = Path(__file__).with_name(f"prompt_{role.value}.md").read_text(encoding="utf-8")
    return Template(text).substitute(values)

"""The texts that agents are given, one short file per role; data, not code."""

from __future__ import annotations

from pathlib import Path
from string import Template

from loopwright.agents.port import Role


def prompt_for(role: Role, /, about: str = "", **values: str) -> str:
    """A role's prompt with its values filled in; `about` names the work where a role has more than one."""
    words = ("prompt", role.value.replace(" ", "_"), about)
    return _filled(f"{'_'.join(word for word in words if word)}.md", values)


def part(name: str, **values: str) -> str:
    """What several roles are told, with its values filled in."""
    return _filled(f"prompt_part_{name}.md", values)


def _filled(file: str, values: dict[str, str]) -> str:
    return Template(Path(__file__).with_name(file).read_text(encoding="utf-8")).substitute(values)

"""The texts that we give to agents: skills and the instruction block, read from the plugin's folder."""

from __future__ import annotations

from pathlib import Path

from loopwright.install.marks import with_mark

PLUGIN = Path(__file__).parent.parent / "plugin"
SKILL = "SKILL.md"
PREFIX = "loopwright-"


def skill_names() -> tuple[str, ...]:
    """Every skill, by its name in the plugin."""
    return tuple(sorted(path.parent.name for path in (PLUGIN / "skills").glob(f"*/{SKILL}")))


def skill_text(name: str) -> str:
    """A skill as it is installed: with our prefix in its name, and with its mark."""
    text = (PLUGIN / "skills" / name / SKILL).read_text(encoding="utf-8")
    return with_mark(text.replace(f"\nname: {name}\n", f"\nname: {PREFIX}{name}\n", 1))


def instructions() -> str:
    """What every session should know, for CLAUDE.md, AGENTS.md and GEMINI.md."""
    return (PLUGIN / "instructions.md").read_text(encoding="utf-8")

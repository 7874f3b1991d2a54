"""The files of each part for one agent, with the editor of each, and the texts that come from the plugin's folder."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from loopwright.install.files import PendingFiles
from loopwright.install.hooks import HookEditor
from loopwright.install.marks import BlockEditor, OwnFileEditor, with_mark
from loopwright.install.mcp_json import FORMS, JsonServerEditor
from loopwright.install.mcp_toml import CODEX, TomlServerEditor
from loopwright.install.model import Editor, InstallTarget, Part

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
    """The instructions for every session, in CLAUDE.md, AGENTS.md and GEMINI.md."""
    return (PLUGIN / "instructions.md").read_text(encoding="utf-8")


class PartFile(msgspec.Struct, frozen=True):
    """One file of a part."""

    part: Part
    path: Path
    editor: Editor


def part_files(target: InstallTarget, parts: Iterable[Part] = Part) -> tuple[PartFile, ...]:
    """The files of these parts; an agent may have none for a part."""
    return tuple(file for part in Part if part in tuple(parts) for file in _files(target, part))


def pending_files(target: InstallTarget) -> PendingFiles:
    """The target's files, none of them opened yet."""
    editors: dict[Path, tuple[Editor, ...]] = {}
    for file in part_files(target):
        editors[file.path] = (*editors.get(file.path, ()), file.editor)
    return PendingFiles(target.top, editors)


def _files(target: InstallTarget, part: Part) -> Iterator[PartFile]:
    match part:
        case Part.HOOKS:
            if (hooks := target.harness.hooks) is not None:
                yield PartFile(part, target.folder / hooks.file, HookEditor(hooks))
        case Part.SKILLS:
            for name in skill_names():
                yield PartFile(part, target.skills / f"{PREFIX}{name}" / SKILL, OwnFileEditor(skill_text(name)))
        case Part.INSTRUCTIONS:
            yield PartFile(part, target.instructions, BlockEditor(target.agent, instructions()))
        case Part.MCP:
            yield PartFile(part, target.mcp, _server_editor(target.harness.mcp_key))


def _server_editor(key: str) -> Editor:
    if key == CODEX.key:
        return TomlServerEditor(sys.executable)
    return JsonServerEditor(FORMS[key], sys.executable)

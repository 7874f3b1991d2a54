"""The texts that agents are given in one language, with the user's own in place of ours: read once, then the same."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

import msgspec

from loopwright.agents.prompts.names import SHAPES, PromptLanguage, part_name
from loopwright.agents.prompts.own import Own
from loopwright.kernel.digest import sha256

_PARTS = "parts.toml"
OURS = "loopwright"


class PromptText(msgspec.Struct, frozen=True):
    """A text as it is in force, and where it came from."""

    name: str
    language: PromptLanguage
    text: str
    origin: str
    path: str = ""

    @property
    def sha256(self) -> str:
        """By what it is known again."""
        return sha256(self.text.encode())


class Book(msgspec.Struct, frozen=True):
    """All texts of one language. `own` holds those that somebody put in the place of ours."""

    language: PromptLanguage = "en"
    own: Mapping[str, Own] = {}

    def prompt(self, name: str, /, **values: str) -> str:
        """A role's prompt with its values filled in."""
        return self._filled(name, values)

    def part(self, name: str, /, **values: str) -> str:
        """A sentence that prompts are put together with; without the line's end, which is for whoever puts it in."""
        return self._filled(part_name(name), values).strip("\n")

    def text(self, name: str) -> PromptText:
        """A text in force, as it was written."""
        own = self.own.get(name)
        if own is None:
            return PromptText(name, self.language, shipped(self.language)[name], OURS)
        return PromptText(name, self.language, own.text, own.origin, str(own.path))

    def _filled(self, name: str, values: dict[str, str]) -> str:
        fields = sorted(SHAPES[name].known)
        if fields != sorted(values):
            raise TypeError(f"{name} takes {fields}")
        return Template(self.text(name).text).substitute(values)


@cache
def shipped(language: PromptLanguage) -> Mapping[str, str]:
    """Our own texts by name."""
    folder = Path(__file__).with_name(language)
    parts = tomllib.loads((folder / _PARTS).read_text(encoding="utf-8"))
    prompts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    return {**prompts, **{part_name(name): text for name, text in parts.items()}}

"""The prompts in one language, with the user's own texts in place of ours. Texts with problems are reported, not used.

`NAME.md` is for every language, `en/NAME.md` and `zh/NAME.md` for one. Texts of the workspace come before texts of the
user; in each folder, texts for one language come first. A workspace may come from a foreign repository: links in it are
not followed, because their content would be sent to a model.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal

import msgspec

from loopwright.agents.prompts.names import LANGUAGES, SHAPES, PromptLanguage, Shape, part_name
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import read_head, read_regular_file, shown

_SUFFIX = ".md"
_MOST_BYTES = 64 << 10
_LINK = "a link, and links of a workspace are not followed"
Origin = Literal["workspace", "user"]


class UserPrompt(msgspec.Struct, frozen=True):
    """A user's own text; language None means every language."""

    name: str
    language: PromptLanguage | None
    origin: Origin
    path: Path
    text: str

    @property
    def sha256(self) -> str:
        """The digest of the text, to recognize it in records."""
        return sha256(self.text.encode())


class UnusablePrompt(msgspec.Struct, frozen=True):
    """An unusable file in a prompt folder, and its problem."""

    path: Path
    why: str


class PromptFolder(msgspec.Struct, frozen=True):
    """A folder of prompts, and its owner."""

    folder: Path
    origin: Origin


def find_user_prompts(places: Sequence[PromptFolder]) -> tuple[tuple[UserPrompt, ...], tuple[UnusablePrompt, ...]]:
    """All texts in these folders, highest priority first; and unusable files."""
    prompts = [prompt for place in places for prompt in _in_place(place)]
    usable = tuple(prompt for prompt in prompts if isinstance(prompt, UserPrompt))
    return usable, tuple(prompt for prompt in prompts if isinstance(prompt, UnusablePrompt))


def effective_prompts(own: Sequence[UserPrompt], language: PromptLanguage) -> dict[str, UserPrompt]:
    """The texts for a language, by name. `own` has the highest priority first."""
    candidates = [prompt for prompt in own if prompt.language in (language, None)]
    return {prompt.name: prompt for prompt in reversed(candidates)}


def _in_place(place: PromptFolder) -> Iterator[UserPrompt | UnusablePrompt]:
    if not place.folder.is_dir():
        return
    if place.origin == "workspace" and place.folder.is_symlink():
        yield UnusablePrompt(place.folder, _LINK)
        return
    for language in LANGUAGES:
        yield from _in_folder(place, language)
    yield from _in_folder(place, None)


def _in_folder(place: PromptFolder, language: PromptLanguage | None) -> Iterator[UserPrompt | UnusablePrompt]:
    folder = place.folder / language if language is not None else place.folder
    if not folder.is_dir():
        return
    if place.origin == "workspace" and folder.is_symlink():
        yield UnusablePrompt(folder, _LINK)
        return
    for entry in sorted(os.listdir(folder)):
        path = folder / entry
        if entry.startswith("."):
            continue
        if path.is_dir():
            if language is not None or entry not in LANGUAGES:
                yield UnusablePrompt(path, f"only folders for languages are allowed here: {', '.join(LANGUAGES)}")
        else:
            yield _read(place, path, language)


def _read(place: PromptFolder, path: Path, language: PromptLanguage | None) -> UserPrompt | UnusablePrompt:
    name = path.name.removesuffix(_SUFFIX)
    if name not in SHAPES or not path.name.endswith(_SUFFIX):
        near = difflib.get_close_matches(name, SHAPES, 1)
        meant = f"; did you mean {near[0]}{_SUFFIX}?" if near else ""
        return UnusablePrompt(path, f"no prompt has this name{meant}")
    try:
        text = _bytes_of(place, path).decode()
    except UnicodeDecodeError:
        return UnusablePrompt(path, "it is not UTF-8")
    except OSError as problem:
        linked = place.origin == "workspace" and path.is_symlink()
        return UnusablePrompt(path, _LINK if linked else problem.strerror or "unreadable")
    why = problem_with(text, SHAPES[name])
    return UserPrompt(name, language, place.origin, path, text) if why is None else UnusablePrompt(path, why)


def _bytes_of(place: PromptFolder, path: Path) -> bytes:
    if place.origin == "user":
        return read_regular_file(path, most=_MOST_BYTES)
    data, more = read_head(path, _MOST_BYTES)
    if more:
        raise OSError(0, f"larger than {_MOST_BYTES >> 10} KiB", str(path))
    return data


def problem_with(text: str, shape: Shape) -> str | None:
    """Why a text can't replace ours: all problems at once."""
    template = Template(text)
    problems = []
    if not text.strip():
        problems.append("it is empty")
    elif not template.is_valid():
        problems.append(f"line {_line_of_a_lone_dollar(text)} has a $ without a name: write $$ for a dollar sign")
    held = set(template.get_identifiers())
    names = ", ".join(f"${name}" for name in sorted(shape.known)) or "none"
    problems += [f"${name} is unknown here (known: {names})" for name in sorted(held - shape.known)]
    problems += [f"${name} is missing" for name in shape.needs if name not in held]
    return "; ".join(problems) or None


def _line_of_a_lone_dollar(text: str) -> int:
    for match in Template.pattern.finditer(text):
        if match.group("invalid") is not None:
            return text.count("\n", 0, match.start()) + 1
    return 1


def problem_list(unusable: Sequence[UnusablePrompt]) -> str:
    """The problems of all unusable files, in one line."""
    return "; ".join(f"{shown(prompt.path)}: {prompt.why}" for prompt in unusable)


_PARTS = "parts.toml"
OURS = "loopwright"


class PromptText(msgspec.Struct, frozen=True):
    """The text that is used for a prompt, and its origin."""

    name: str
    language: PromptLanguage
    text: str
    origin: str
    path: str = ""

    @property
    def sha256(self) -> str:
        """The digest of the text, to recognize it in records."""
        return sha256(self.text.encode())


class Book(msgspec.Struct, frozen=True):
    """All prompts of one language. `own` are the user's texts, which replace ours."""

    language: PromptLanguage = "en"
    own: Mapping[str, UserPrompt] = {}

    def prompt(self, name: str, /, **values: str) -> str:
        """A role's prompt with its values filled in."""
        return self._filled(name, values)

    def part(self, name: str, /, **values: str) -> str:
        """A sentence for a prompt, without a line end: the caller adds that."""
        return self._filled(part_name(name), values).strip("\n")

    def text(self, name: str) -> PromptText:
        """The text that is used for a prompt, with its placeholders."""
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
    """The shipped texts by name."""
    folder = Path(__file__).with_name(language)
    parts = tomllib.loads((folder / _PARTS).read_text(encoding="utf-8"))
    prompts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    return {**prompts, **{part_name(name): text for name, text in parts.items()}}

"""Texts that a user put in the place of ours: found, read and judged. What can't be filled in is named, never used.

`NAME.md` is for every language, `en/NAME.md` and `zh/NAME.md` for one. The workspace's come before the user's own; in
each folder the language's comes first. A workspace may have come with a repository: its links are not followed, since
what they lead to would be told to a model.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Literal

import msgspec

from loopwright.agents.prompts.names import LANGUAGES, SHAPES, PromptLanguage, Shape
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import read_head, read_regular_file, shown

_SUFFIX = ".md"
_MOST_BYTES = 64 << 10
Origin = Literal["workspace", "user"]


class Own(msgspec.Struct, frozen=True):
    """A text of the user's; None is every language."""

    name: str
    language: PromptLanguage | None
    origin: Origin
    path: Path
    text: str

    @property
    def sha256(self) -> str:
        """By what it is known again."""
        return sha256(self.text.encode())


class UnusablePrompt(msgspec.Struct, frozen=True):
    """A file in such a folder that can't be used, and what is wrong with it."""

    path: Path
    why: str


class PromptFolder(msgspec.Struct, frozen=True):
    """A folder of such texts, and whose it is."""

    folder: Path
    origin: Origin


def find_own(places: Sequence[PromptFolder]) -> tuple[tuple[Own, ...], tuple[UnusablePrompt, ...]]:
    """Every text in these folders, the strongest first, and what can't be used."""
    found = [one for place in places for one in _in_place(place)]
    own = tuple(one for one in found if isinstance(one, Own))
    return own, tuple(one for one in found if isinstance(one, UnusablePrompt))


def in_force(own: Sequence[Own], language: PromptLanguage) -> dict[str, Own]:
    """Which of them hold in a language; they are given the strongest first."""
    held = [one for one in own if one.language in (language, None)]
    return {one.name: one for one in reversed(held)}


def _in_place(place: PromptFolder) -> Iterator[Own | UnusablePrompt]:
    if not place.folder.is_dir():
        return
    if place.origin == "workspace" and place.folder.is_symlink():
        yield UnusablePrompt(place.folder, "a link, and a workspace's are not followed")
        return
    for language in LANGUAGES:
        yield from _in_folder(place, language)
    yield from _in_folder(place, None)


def _in_folder(place: PromptFolder, language: PromptLanguage | None) -> Iterator[Own | UnusablePrompt]:
    folder = place.folder / language if language is not None else place.folder
    if not folder.is_dir():
        return
    if place.origin == "workspace" and folder.is_symlink():
        yield UnusablePrompt(folder, "a link, and a workspace's are not followed")
        return
    for entry in sorted(os.listdir(folder)):
        path = folder / entry
        if entry.startswith("."):
            continue
        if path.is_dir():
            if language is not None or entry not in LANGUAGES:
                yield UnusablePrompt(path, f"the only folders here are those of languages: {', '.join(LANGUAGES)}")
        else:
            yield _read(place, path, language)


def _read(place: PromptFolder, path: Path, language: PromptLanguage | None) -> Own | UnusablePrompt:
    name = path.name.removesuffix(_SUFFIX)
    if name not in SHAPES or not path.name.endswith(_SUFFIX):
        near = difflib.get_close_matches(name, SHAPES, 1)
        meant = f"; did you mean {near[0]}{_SUFFIX}?" if near else ""
        return UnusablePrompt(path, f"no text has this name{meant}")
    try:
        text = _bytes_of(place, path).decode()
    except UnicodeDecodeError:
        return UnusablePrompt(path, "it is not UTF-8")
    except OSError as problem:
        linked = place.origin == "workspace" and path.is_symlink()
        return UnusablePrompt(
            path, "a link, and a workspace's are not followed" if linked else problem.strerror or "unreadable"
        )
    wrong = wrong_with(text, SHAPES[name])
    return Own(name, language, place.origin, path, text) if wrong is None else UnusablePrompt(path, wrong)


def _bytes_of(place: PromptFolder, path: Path) -> bytes:
    if place.origin == "user":
        return read_regular_file(path, most=_MOST_BYTES)
    data, more = read_head(path, _MOST_BYTES)
    if more:
        raise OSError(0, f"larger than {_MOST_BYTES >> 10} KiB", str(path))
    return data


def wrong_with(text: str, shape: Shape) -> str | None:
    """Why a text can't take the place of ours; all of it at once."""
    template = Template(text)
    problems = []
    if not text.strip():
        problems.append("it is empty")
    elif not template.is_valid():
        problems.append(f"a $ in line {_line_of_a_lone_dollar(text)} begins no name: write $$ for the sign itself")
    held = set(template.get_identifiers())
    names = ", ".join(f"${name}" for name in sorted(shape.known)) or "none"
    problems += [f"${name} is not known here (known: {names})" for name in sorted(held - shape.known)]
    problems += [f"${name} is missing" for name in shape.needs if name not in held]
    return "; ".join(problems) or None


def _line_of_a_lone_dollar(text: str) -> int:
    for match in Template.pattern.finditer(text):
        if match.group("invalid") is not None:
            return text.count("\n", 0, match.start()) + 1
    return 1


def told(unusable: Sequence[UnusablePrompt]) -> str:
    """What is wrong, in one sentence."""
    return "; ".join(f"{shown(one.path)}: {one.why}" for one in unusable)

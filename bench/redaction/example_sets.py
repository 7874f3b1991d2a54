"""The examples and counter-examples of other tools, read from a clone on this machine. Nothing of them is stored here.

An example has the values that the other tool finds in it, if its authors name them. A counter-example is a text in
which one rule of the other tool finds nothing: it may contain the secret of another rule.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from go_texts import constants, end_of_expression, end_of_group, items, text_of, tokens_of


@dataclass(frozen=True, slots=True)
class Example:
    """One text, the name under which it is listed, and what its authors say about it."""

    name: str
    text: str
    has_secret: bool
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExampleSet:
    """All readable examples of a tool at one commit."""

    tool: str
    commit: str
    date: str
    examples: tuple[Example, ...]
    unreadable: int


def read_set(tool: str, clone: Path) -> ExampleSet:
    """The examples at the HEAD of a clone, or of a git directory without files."""
    folder, suffix, read = _READERS[tool]
    found: list[Example | None] = []
    for name, source in _files(clone, folder):
        if name.endswith(suffix) and "integration" not in name:
            found += read(Path(name).name.removesuffix(suffix), source)
    commit, date = _git(clone, "log", "-1", "--format=%H %cs").decode().split()
    examples = tuple(example for example in found if example is not None)
    return ExampleSet(tool, commit, date, examples, len(found) - len(examples))


def _git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", clone, *arguments], check=True, stdout=subprocess.PIPE).stdout


def _files(clone: Path, folder: str) -> Iterator[tuple[str, str]]:
    with tarfile.open(fileobj=io.BytesIO(_git(clone, "archive", "HEAD", folder))) as archive:
        for member in sorted(archive, key=lambda member: member.name):
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name, content.read().decode("utf-8", "replace")


def _noseyparker(_name: str, source: str) -> Iterator[Example | None]:
    """Each rule lists its examples, without the values in them."""
    for rule in yaml.safe_load(source)["rules"]:
        for kind, has_secret in (("examples", True), ("negative_examples", False)):
            for number, text in enumerate(rule.get(kind) or ()):
                yield Example(f"{rule['id']}[{number}]", text, has_secret)


def _trufflehog(name: str, source: str) -> Iterator[Example | None]:
    """The tests of a detector's pattern: `input: TEXT, … want: []string{VALUE, …}`."""
    tokens = tokens_of(source)
    known = constants(tokens)
    for number, index in enumerate(i for i, token in enumerate(tokens) if tokens[i : i + 2] == ["input", ":"]):
        end = end_of_expression(tokens, index + 2)
        if tokens[end : end + 3] != [",", "want", ":"]:
            continue
        text = text_of(tokens[index + 2 : end], known)
        wanted = tokens[end + 3 : end_of_expression(tokens, end + 3)]
        values = [text_of(item, known) for item in items(wanted[wanted.index("{") + 1 : -1])] if "{" in wanted else []
        if wanted[:4] != ["[", "]", "string", "{"] and wanted != ["nil"]:
            continue
        if text is None or None in values:
            yield None
        else:
            yield Example(f"{name}[{number}]", text, bool(values), tuple(value for value in values if value))


def _gitleaks(name: str, source: str) -> Iterator[Example | None]:
    """`tps` and `fps`: lists of true and false examples. Those that are generated are unreadable."""
    tokens = tokens_of(source)
    known = constants(tokens)
    for index, token in enumerate(tokens[:-1]):
        if token not in {"tps", "fps"} or tokens[index + 1] not in {"=", ":="}:
            continue
        start = next((i for i in range(index + 2, len(tokens)) if tokens[i] in {"{", "("}), len(tokens))
        if tokens[start - 1] not in {"string", "append"}:
            continue
        for number, item in enumerate(items(tokens[start + 1 : end_of_group(tokens, start) - 1])):
            if list(item) == [token]:
                continue
            text = text_of(item[item.index(":") + 1 :] if ":" in item else item, known)
            yield None if text is None else Example(f"{name}[{number}]", text, token == "tps")


_READERS: dict[str, tuple[str, str, Callable[[str, str], Iterator[Example | None]]]] = {
    "noseyparker": ("crates/noseyparker/data/default/builtin/rules", ".yml", _noseyparker),
    "trufflehog": ("pkg/detectors", "_test.go", _trufflehog),
    "gitleaks": ("cmd/generate/config/rules", ".go", _gitleaks),
}
TOOLS = tuple(_READERS)

"""The line grammar that OpenSpec's readers share: fences, headings, names. Knows lines, not files.

White space follows JavaScript, as in OpenSpec. Matching is written by hand where a pattern could take quadratic time on
a hostile long line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopwright.kernel.digest import sha256
from loopwright.workflow.delta.model import Requirement, Scenario

SPACE = "\t\n\v\f\r \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
_ENDS_A_LINE = frozenset("\u2028\u2029")  # a dot of OpenSpec's patterns does not match these
_FENCES = ("`", "~")
_METADATA = re.compile(r"\*\*[^*]+\*\*:")
_SHALL = re.compile(r"\b(?:SHALL|MUST)\b", re.ASCII)


class Fences:
    """The lines inside code fences, including the fence lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.inside: list[bool] = []
        self.open_at: int | None = None
        marker, length = "", 0
        for index, line in enumerate(lines):
            rest = line.strip(SPACE)
            fence = rest[:1] if rest[:1] in _FENCES and rest else ""
            run = len(rest) - len(rest.lstrip(fence)) if fence else 0
            if self.open_at is None:
                if run >= 3:
                    marker, length, self.open_at = fence, run, index
                self.inside.append(run >= 3)
                continue
            self.inside.append(True)
            if fence == marker and run >= length and run == len(rest):
                self.open_at = None

    def __getitem__(self, index: int) -> bool:
        return self.inside[index]


def heading(line: str) -> tuple[int, str] | None:
    """The level and title of a heading."""
    level = len(line) - len(line.lstrip("#"))
    rest = line[level:]
    if not 1 <= level <= 6 or rest[:1] not in SPACE or not rest:
        return None
    title = rest.lstrip(SPACE)
    if title:
        return None if _ENDS_A_LINE & set(title) else (level, title.rstrip(SPACE))
    return (level, "") if len(rest) > 1 and rest[-1] not in _ENDS_A_LINE else None


def boundary(line: str) -> int:
    """The level of a line that ends the section above, with or without a title; 0 for any other line."""
    level = len(line) - len(line.lstrip("#"))
    return level if 1 <= level <= 6 and line[level : level + 1] and line[level] in SPACE else 0


def is_section(line: str, title: str) -> bool:
    """Whether a line starts the section with this title, in any case."""
    title_line = heading(line)
    return title_line is not None and title_line[0] == 2 and title_line[1].lower() == title


def plain_name(text: str) -> str:
    """The name of a requirement for comparison: without closing `#` and surrounding space."""
    open_end = text.rstrip(" \t")
    bare = open_end.rstrip("#")
    closes = len(bare) < len(open_end) and bare.endswith((" ", "\t"))
    return (bare if closes else text).strip(SPACE)


def folded(name: str) -> str:
    """The name without case and spacing: names that differ only in those are one requirement, mistyped."""
    return re.sub(f"[{SPACE}]+", " ", plain_name(name).lower())


def requirement_name(line: str) -> str | None:
    """The name on a `### Requirement:` line; empty if the line has no name."""
    if not line.startswith("###"):
        return None
    rest = line[3:].lstrip(SPACE)
    if rest[:12].lower() != "requirement:" or not rest[:12].isascii():
        return None
    return _name_in(rest[12:])


def _name_in(rest: str) -> str | None:
    core = rest.strip(SPACE)
    if not core:
        return "" if set(rest) - _ENDS_A_LINE else None
    if _ENDS_A_LINE & set(core):
        return None
    return plain_name(re.split("[\u2028\u2029]", rest.lstrip(SPACE), maxsplit=1)[0])


def quoted_name(text: str) -> str | None:
    """The name in `` `### Requirement: name` ``, as REMOVED bullets and RENAMED lines quote it."""
    rest = text.lstrip(SPACE).removeprefix("`")
    if not rest.startswith("###"):
        return None
    rest = rest[3:].lstrip(SPACE)
    if not rest.startswith("Requirement:"):
        return None
    core = rest[12:].strip(SPACE)
    if not core:
        return "" if rest[12:] else None
    core = core[:-1] if len(core) > 1 and core.endswith("`") else core
    return None if _ENDS_A_LINE & set(core) else plain_name(core)


def bullet(line: str) -> str | None:
    """The text after a bullet."""
    rest = line.lstrip(SPACE)
    return rest[1:] if rest[:1] in ("-", "*", "+") else None


def body_text(lines: Sequence[str]) -> str:
    """The statement of a requirement: the text above the first heading, outside fences, without metadata lines."""
    fences = Fences(lines)
    statement: list[str] = []
    metadata: list[str] = []
    for index, line in enumerate(lines):
        if fences[index]:
            continue
        if boundary(line):
            break
        text = line.strip(SPACE)
        if text:
            (metadata if _METADATA.match(text) else statement).append(text)
    return "\n".join(statement or metadata)


def is_binding(text: str) -> bool:
    """Whether a statement is binding, in OpenSpec's words."""
    return _SHALL.search(text) is not None


def scenarios_in(lines: Sequence[str]) -> Iterator[Scenario]:
    """The scenarios of a requirement: every heading of level 4, with any title."""
    fences = Fences(lines)
    for start, line in enumerate(lines):
        if fences[start] or boundary(line) != 4:
            continue
        end = start + 1
        while end < len(lines) and (fences[end] or not 1 <= boundary(lines[end]) <= 4):
            end += 1
        body = lines[start + 1 : end]
        yield Scenario(scenario_name(line), "\n".join(body).strip(SPACE))


def scenario_name(line: str) -> str:
    """The name of a scenario from its heading of level 4."""
    name = plain_name(line[4:].lstrip(SPACE))
    return name[9:].strip(SPACE) if name[:9].lower() == "scenario:" else name


def as_requirement(lines: Sequence[str], name: str, source: str, first: int) -> Requirement:
    """A requirement from its lines, starting with its heading."""
    body = lines[1:]
    return Requirement(
        name, body_text(body), tuple(scenarios_in(body)), source, (first, first + max(0, len(lines) - 1))
    )


def canonical(requirement: Requirement) -> str:
    """A canonical form: OpenSpec's archive may move blank lines and line ends of untouched requirements."""
    lines = re.split("\r\n|\r|\n", requirement.source.rstrip(SPACE))
    fences = Fences(lines)
    kept = [f"### Requirement: {requirement.name}"]
    for index, line in enumerate(lines[1:], 1):
        if line or fences[index] or kept[-1]:
            kept.append(line)
    return "\n".join(kept)


def digest(requirement: Requirement) -> str:
    """The digest that the base of a change records, to detect later edits."""
    return sha256(canonical(requirement).encode("utf-8", "surrogatepass"))

"""A Markdown file with frontmatter and `## ` sections. Unchanged parts are written back byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from loopwright.kernel import codec
from loopwright.kernel.yaml_nodes import Mapping as YamlMapping
from loopwright.kernel.yaml_nodes import Node, Scalar, Sequence, YamlProblem, read_nodes

MOST_BYTES = 4 << 20
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"## +(.*?)[ \t]*#*[ \t]*")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
Value = str | list[str]


class PageProblem(msgspec.Struct, frozen=True):
    """A problem of a document, with its line; the first line is 1."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class NotAPage(ValueError):
    """The bytes are not a valid document; names every problem."""

    def __init__(self, *problems: PageProblem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


class Section(msgspec.Struct, frozen=True):
    """A heading with its text. `raw` is both as written."""

    name: str
    line: int
    raw: str

    @property
    def body(self) -> str:
        """The text below the heading."""
        return self.raw.partition("\n")[2].strip()

    @property
    def text(self) -> str:
        """The body without comments."""
        return _COMMENT.sub("", self.body).strip()


class Page(msgspec.Struct, frozen=True):
    """A document in parts. Line ends are Unix in memory; the file keeps its own."""

    frontmatter: Mapping[str, Value]
    front_raw: str
    preamble: str
    sections: tuple[Section, ...]
    crlf: bool = False

    def section(self, name: str) -> Section | None:
        """The section with this name, in any case."""
        wanted = name.casefold()
        return next((section for section in self.sections if section.name.casefold() == wanted), None)

    def text_of(self, name: str) -> str:
        """The text of a section; empty if the section is missing."""
        section = self.section(name)
        return section.text if section is not None else ""

    def with_section(self, name: str, body: str) -> Page:
        """The page with this text in the section; a new section comes last."""
        fresh = Section(name, 0, f"## {name}\n\n{body.strip()}\n\n")
        if self.section(name) is None:
            return replace(self, sections=(*self._ended(), fresh))
        wanted = name.casefold()
        sections = (fresh if section.name.casefold() == wanted else section for section in self.sections)
        return replace(self, sections=tuple(sections))

    def with_frontmatter(self, **values: Value) -> Page:
        """The page with these keys set."""
        merged = {**self.frontmatter, **values}
        if merged == self.frontmatter:
            return self
        return replace(self, frontmatter=merged, front_raw=f"---\n{codec.to_yaml(merged).decode()}---\n")

    def render(self) -> bytes:
        """The file's bytes."""
        text = self.front_raw + self.preamble + "".join(section.raw for section in self.sections)
        text = text.rstrip("\n") + "\n"
        return (text.replace("\n", "\r\n") if self.crlf else text).encode()

    def _ended(self) -> tuple[Section, ...]:
        """The sections, with an empty line after the last."""
        if not self.sections:
            return ()
        last = self.sections[-1]
        return (*self.sections[:-1], replace(last, raw=last.raw.rstrip("\n") + "\n\n"))


def read_page(data: bytes) -> Page:
    """The parts of a document; `NotAPage` names every problem."""
    text, crlf = _decoded(data)
    front_raw, frontmatter, rest = _front(text)
    first = front_raw.count("\n") + 1
    preamble, sections = _sections(rest, first)
    seen: dict[str, Section] = {}
    problems = []
    for section in sections:
        before = seen.setdefault(section.name.casefold(), section)
        if before is not section:
            problems.append(
                PageProblem(section.line, f"duplicate section '{section.name}' (first on line {before.line})")
            )
    if problems:
        raise NotAPage(*problems)
    return Page(frontmatter, front_raw, preamble, tuple(sections), crlf)


def new_page(title: str, **frontmatter: Value) -> Page:
    """An empty document."""
    return Page({}, "", f"\n# {title}\n\n", ()).with_frontmatter(**frontmatter)


def _decoded(data: bytes) -> tuple[str, bool]:
    if len(data) > MOST_BYTES:
        raise NotAPage(PageProblem(1, f"the file has more than {MOST_BYTES:,} bytes"))
    if b"\0" in data:
        raise NotAPage(
            PageProblem(data[: data.index(b"\0")].count(b"\n") + 1, "the file has a NUL byte: it is not text")
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise NotAPage(PageProblem(data[: problem.start].count(b"\n") + 1, "the file is not UTF-8")) from problem
    return text.replace("\r\n", "\n"), "\r\n" in text


def _front(text: str) -> tuple[str, dict[str, Value], str]:
    if not text.startswith("---\n"):
        return "", {}, text
    end = text.find("\n---\n", 3)
    if end < 0:
        if text.endswith("\n---"):
            text, end = text + "\n", len(text) - 4
        else:
            raise NotAPage(PageProblem(1, "the frontmatter starts here and does not end: a line of '---' is missing"))
    raw = text[: end + 5]
    try:
        nodes = read_nodes(raw[4:-4].encode()) if raw[4:-4].strip() else YamlMapping((), 1)
    except YamlProblem as problem:
        raise NotAPage(PageProblem(problem.line + 1, f"frontmatter: {problem.message}")) from problem
    if not isinstance(nodes, YamlMapping):
        raise NotAPage(PageProblem(2, "the frontmatter is not a list of keys and values"))
    return raw, {key.text: _value(node) for key, node in nodes.entries}, text[end + 5 :]


def _value(node: Node) -> Value:
    match node:
        case Scalar():
            return "" if node.is_null else node.text
        case Sequence(items=items):
            return [item.text if isinstance(item, Scalar) else "" for item in items]
        case YamlMapping(entries=entries):
            return [f"{key.text}: {_value(value)}" for key, value in entries]


def _sections(text: str, first: int) -> tuple[str, list[Section]]:
    starts = list(_headings(text))
    if not starts:
        return text, []
    ends = [start for start, _, _ in starts[1:]] + [len(text)]
    sections = [
        Section(name, first + number, text[start:end]) for (start, number, name), end in zip(starts, ends, strict=True)
    ]
    return text[: starts[0][0]], sections


def _headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Second-level headings outside code fences: offset, line and name."""
    fence = ""
    offset = 0
    for number, line in enumerate(text.split("\n")):
        mark = _FENCE.match(line)
        if mark is not None:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif not fence and (heading := _HEADING.fullmatch(line)) is not None:
            yield offset, number, heading[1]
        offset += len(line) + 1

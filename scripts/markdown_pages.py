"""Checks the Markdown pages: links and anchors exist, and lines fit into 100 columns. Never changes a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

MOST_COLUMNS = 100
# Generated pages: the generator decides how long their lines are.
_GENERATED = ("docs/reference/", "docs/lies.md", "bench/")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
_ADDRESS = re.compile(r"https?://\S+")
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")


def problems(root: Path) -> list[str]:
    """Each problem with its page and line."""
    pages = sorted((*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "bench").rglob("*.md")))
    names = {page: page.relative_to(root).as_posix() for page in pages}
    wrapped = [page for page, name in names.items() if not name.startswith(_GENERATED)]
    return [
        *(f"{names[page]}:{line}: broken link: {link}" for page in pages for line, link in broken_links(page)),
        *(f"{names[page]}:{line}: {width} columns; the limit is {MOST_COLUMNS}" for page in wrapped
          for line, width in long_lines(page)),
    ]  # fmt: skip


def broken_links(page: Path) -> Iterator[tuple[int, str]]:
    """Relative links to a file or a heading that does not exist, with their lines."""
    # A pattern in code may look like a link.
    text = _CODE.sub(lambda code: " " * len(code[0]), _prose(page))
    for match in _LINK.finditer(text):
        link = match[2]
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        is_page = target.suffix == ".md" and target.is_file()
        is_broken = not target.exists() or (anchor and is_page and anchor not in _anchors(target))
        if "://" not in link and not link.startswith("mailto:") and is_broken:
            yield text.count("\n", 0, match.end()) + 1, link


def long_lines(page: Path) -> Iterator[tuple[int, int]]:
    """Lines of prose that should be wrapped, with their widths."""
    for number, line in enumerate(_prose(page).splitlines(), start=1):
        width = _columns(line)
        # A table can't be wrapped, and neither can a link or an address that fills its line.
        is_link = not _ADDRESS.sub("", _LINK.sub("", line)).strip(" -*.,;:()")
        if width > MOST_COLUMNS and not line.startswith("|") and not is_link:
            yield number, width


@cache
def _prose(page: Path) -> str:
    """The page with empty lines in place of its code blocks."""
    return _FENCED.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))


@cache
def _anchors(page: Path) -> frozenset[str]:
    """The anchors that GitHub makes of a page's headings; a repeated heading gets a number."""
    anchors: set[str] = set()
    for heading in _HEADING.findall(_prose(page)):
        anchor = _NOT_IN_ANCHOR.sub("", _LINK.sub(r"\1", heading).lower()).replace(" ", "-")
        numbered = (f"{anchor}-{number}" for number in range(1, len(anchors) + 1))
        anchors.add(anchor if anchor not in anchors else next(name for name in numbered if name not in anchors))
    return frozenset(anchors)


def _columns(line: str) -> int:
    """The width in a terminal, where a Chinese character takes two columns."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)

"""`--help` in the language of whoever asks. Nothing is looked up before a page is written."""

from __future__ import annotations

from collections.abc import Iterable

import click

from loopwright.cli.language import spoken
from loopwright.kernel.cells import width_of, wrapped
from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.wording.templates import NO_REWRAP, translate_page

_EXTRA = "  ["


class SpokenFormatter(click.HelpFormatter):
    """Writes what click gives it in English; in other languages it breaks lines by cells, not by characters."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, width, max_width)
        self._catalogue = spoken()

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """The line that begins with `Usage:`."""
        super().write_usage(prog, args, prefix or f"{self._catalogue.text('Usage:')} ")

    def write_heading(self, heading: str) -> None:
        """`Options` and `Commands`."""
        super().write_heading(self._catalogue.text(heading))

    def write_text(self, text: str) -> None:
        """A command's help, or what stands below its options."""
        if self._catalogue is ENGLISH:
            super().write_text(text)
            return
        indent = " " * self.current_indent
        parts = []
        for paragraph in translate_page(text, self._catalogue.text).split("\n\n"):
            if paragraph.startswith(NO_REWRAP):
                lines = paragraph.removeprefix(NO_REWRAP).splitlines()
            else:
                lines = wrapped(paragraph, self.width - self.current_indent)
            parts.append("\n".join(f"{indent}{line}".rstrip() for line in lines))
        self.write("\n\n".join(parts) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Options or commands, each with what it is for."""
        if self._catalogue is ENGLISH:
            super().write_dl(rows, col_max, col_spacing)
            return
        said = [(name, _explained(self._catalogue, text)) for name, text in rows]
        column = min(max((width_of(name) for name, _ in said), default=0), col_max) + col_spacing
        margin = " " * (self.current_indent + column)
        for name, text in said:
            first, *rest = wrapped(text, max(self.width - len(margin), 10))
            gap = " " * (column - width_of(name)) if width_of(name) <= column - col_spacing else f"\n{margin}"
            self.write(f"{' ' * self.current_indent}{name}{gap}{first}\n")
            self.write("".join(f"{margin}{line}\n" for line in rest))


def _explained(catalogue: Catalogue, text: str) -> str:
    """The help of an option; what click adds to it in brackets is a list of its own."""
    said, bracket, extra = text.partition(_EXTRA)
    if not bracket:
        return catalogue.text(said)
    for word in ("default: ", "required"):
        extra = extra.replace(word, catalogue.text(word))
    return f"{catalogue.text(said)}{bracket}{extra}"

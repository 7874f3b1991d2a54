"""`--help` in the language of the user. The catalogue is loaded when a page is written."""

from __future__ import annotations

from collections.abc import Iterable

import click

from loopwright.cli.language import catalogue
from loopwright.kernel.cells import width_of, wrapped
from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.wording.templates import NO_REWRAP, translate_page

_EXTRA = "  ["


class TranslatedFormatter(click.HelpFormatter):
    """The formatter of click for English; for other languages it translates, and wraps lines by cells."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, width, max_width)
        self._catalogue = catalogue()

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """The line that begins with `Usage:`."""
        super().write_usage(prog, args, prefix or f"{self._catalogue.text('Usage:')} ")

    def write_heading(self, heading: str) -> None:
        """`Options` and `Commands`."""
        super().write_heading(self._catalogue.text(heading))

    def write_text(self, text: str) -> None:
        """The help text of a command, or the text below its options."""
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
        """A list of options or commands with their help."""
        if self._catalogue is ENGLISH:
            super().write_dl(rows, col_max, col_spacing)
            return
        translated = [(name, _translate_row(self._catalogue, text)) for name, text in rows]
        column = min(max((width_of(name) for name, _ in translated), default=0), col_max) + col_spacing
        margin = " " * (self.current_indent + column)
        for name, text in translated:
            first, *rest = wrapped(text, max(self.width - len(margin), 10))
            gap = " " * (column - width_of(name)) if width_of(name) <= column - col_spacing else f"\n{margin}"
            self.write(f"{' ' * self.current_indent}{name}{gap}{first}\n")
            self.write("".join(f"{margin}{line}\n" for line in rest))


def _translate_row(catalogue: Catalogue, text: str) -> str:
    """The help of an option; the text in brackets, which click adds, is translated word by word."""
    help_text, bracket, extra = text.partition(_EXTRA)
    if not bracket:
        return catalogue.text(help_text)
    for word in ("default: ", "required"):
        extra = extra.replace(word, catalogue.text(word))
    return f"{catalogue.text(help_text)}{bracket}{extra}"

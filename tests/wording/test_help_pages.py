"""A --help page is translated in parts; its commands and its layout stay."""

from __future__ import annotations

from loopwright.wording.templates import translate_page

PAGE = """\b
Examples:
  loopwright status             everything here
  loopwright status --json

A paragraph
in two lines.
"""


def test_parts_are_translated_and_commands_stay():
    said = {"Examples:": "示例：", "everything here": "一切", "A paragraph in two lines.": "一段。"}
    assert translate_page(PAGE.strip(), lambda piece: said.get(piece, piece)) == (
        "\b\n示例：\n  loopwright status             一切\n  loopwright status --json\n\n一段。"
    )

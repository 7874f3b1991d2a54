"""The check of the Markdown pages finds broken links, broken anchors and long lines, and leaves sound pages alone."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
pages = importlib.import_module("markdown_pages")
sys.path.remove(str(ROOT / "scripts"))

LONG = "word " * 25


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a](docs/b.md) [b](docs/b.md#two-words) [c](#top) [d](https://example.org/x.md) [e](docs/)\n# Top", None),
        ("[a](docs/b.md#two-words-1)", None),
        ("[a](missing.md)", "README.md:1: broken link: missing.md"),
        ("\n[a link over\ntwo lines](missing.md)", "README.md:3: broken link: missing.md"),
        ("[a](docs/b.md#three-words)", "README.md:1: broken link: docs/b.md#three-words"),
        ("[a](#nowhere)", "README.md:1: broken link: #nowhere"),
        ("`[a](missing.md)`\n```\n[a](missing.md)\n```\n", None),
        (f"short\n{LONG}", "README.md:2: 125 columns; the limit is 100"),
        (f"| {LONG} |\n```text\n{LONG}\n```\n- [link](https://example.org/{'x' * 90})", None),
        ("字" * 50, None),
        ("字" * 51, "README.md:1: 102 columns; the limit is 100"),
    ],
)
def test_problems_of_a_page(tmp_path, text, problem):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text("# A page\n\n## Two `words`\n\n## Two words\n")
    (tmp_path / "README.md").write_text(text)
    assert pages.problems(tmp_path) == ([problem] if problem else [])


def test_generated_pages_may_have_long_lines_but_no_broken_links(tmp_path):
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    (tmp_path / "docs" / "reference" / "cli.md").write_text(f"{LONG}[a](missing.md)\n")
    assert pages.problems(tmp_path) == ["docs/reference/cli.md:1: broken link: missing.md"]

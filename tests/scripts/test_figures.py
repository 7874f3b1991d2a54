"""The limits on what a reader must hold in mind, and the walks of docs/ARCHITECTURE.md."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
figures = importlib.import_module("figures")
sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture(scope="module")
def source():
    return figures.Source(ROOT)


def test_every_figure_is_within_its_limit(source):
    measured = [(name, int(figure.replace(",", "")), limit) for name, figure, limit in figures.rows(source)]
    assert [(name, figure) for name, figure, limit in measured if limit and figure > int(limit.replace(",", ""))] == []


def test_the_walks_name_files_that_import_each_other_in_that_order(source):
    assert {"run", "loop start", "build"} <= set(source.walks())
    assert all(len(modules) >= 5 for modules in source.walks().values())
    assert list(source.gaps()) == []


def test_every_name_in_the_page_exists_in_the_source(source):
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    named = {part for name in re.findall(r"`(_?[A-Za-z][\w.]*_?[\w.]*)`", page) for part in name.split(".")}
    text = "\n".join([*(path.read_text() for path in source.files), (ROOT / "pyproject.toml").read_text()])
    known = set(re.findall(r"\w+", text)) | {path.stem for path in source.files}
    assert len(named) > 40
    assert named - known - {"json", "toml", "md", "py", "yaml"} == set()
    of_file = [*re.findall(r"`(\w+/[\w/]+\.py)`, `(\w+)[`.](?!py)", page), *(
        (file, name) for name, file in re.findall(r"`(\w+)` in\s+`(\w+/[\w/]+\.py)`", page)
    )]  # fmt: skip
    assert len(of_file) > 10
    root = ROOT / "src" / "loopwright"
    assert [(file, name) for file, name in of_file if name not in (root / file).read_text()] == []


@pytest.mark.parametrize(
    ("steps", "gap"),
    [
        (("a.py", "b.py"), None),
        (("a.py", "c.py"), "`x`, step 2: no earlier step imports loopwright.c"),
        (("a.py", "b.py", "c.py"), None),
        (("a.py", "d.py"), "`x`, step 2: loopwright.d does not exist"),
        (("cli/main.py", "cli/run.py"), None),
    ],
)
def test_a_gap_in_a_walk_is_found(tmp_path, steps, gap):
    files = {
        "a.py": "from loopwright import b",
        "b.py": "from loopwright.c import C",
        "c.py": "class C: ...",
        "cli/main.py": "COMMANDS = {'run': ('run:command', 'Run a plan.')}",
        "cli/run.py": "",
        "__init__.py": "",
        "cli/__init__.py": "",
    }
    for name, text in files.items():
        path = tmp_path / "src" / "loopwright" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "docs").mkdir()
    lines = [f"{number}. `{step}` does it." for number, step in enumerate(steps, start=1)]
    (tmp_path / "docs" / "ARCHITECTURE.md").write_text("\n".join(["## The walk of `loopwright x`", "", *lines]))

    assert list(figures.Source(tmp_path).gaps()) == ([gap] if gap else [])

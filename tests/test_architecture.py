"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 450, 50


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_source_file_keeps_the_rules_of_the_house(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= LONGEST_FILE
    assert ast.get_docstring(tree), "a module says what it owns"
    if path.name != "errors.py":  # its docstring draws the exception tree
        assert len(ast.get_docstring(tree).splitlines()) <= 8
    if path.name == "__init__.py":
        assert len(tree.body) == 1, "an __init__ is a docstring"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, node.name
            if path.name != "main.py":
                inner = [n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
                assert not inner, f"{node.name} imports inside a function"


def test_no_module_has_a_name_that_says_nothing():
    names = {path.stem for path in SOURCES}
    assert not names & {"utils", "util", "common", "helpers", "helper", "manager", "misc"}


def test_only_redaction_and_evidence_seal_text():
    """`seal` vouches for bytes: every caller must be on this list, with a reason in its own comment."""
    allowed = {
        "redaction/model.py",
        "redaction/redactor.py",
        "evidence/store.py",
        "evidence/logs.py",
        "stages/recover.py",
    }
    callers = {
        str(path.relative_to(ROOT / "src" / "loopwright"))
        for path in SOURCES
        if re.search(r"\bseal\(", path.read_text(encoding="utf-8"))
    }
    assert callers <= allowed


def test_the_hook_starts_without_any_package_of_ours():
    script = "import sys; import loopwright.hooks.entry; print([m for m in sys.modules if m.startswith('loopwright.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['loopwright.hooks', 'loopwright.hooks.entry']"


def test_help_loads_no_command():
    argv = [sys.executable, "-X", "importtime", "-m", "loopwright", "--help"]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    # The list is the interpreter's own: `main` ends the process before any line behind it could look.
    assert "loopwright.cli.failures" in loaded
    heavy = ("msgspec", "yaml", "re2", "rich", "loopwright.verbs", "loopwright.stages", "loopwright.runner")
    assert [name for name in loaded if name.startswith(heavy)] == []


def test_the_parser_of_http_is_loaded_only_where_the_proxy_runs():
    script = "import sys; import loopwright.verbs.run, loopwright.runner.turn; print('h11' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_nothing_in_the_repository_names_a_machine_or_a_registry():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        path = ROOT / name
        if not name or not path.is_file() or path == Path(__file__).resolve():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not re.search(r"/(?:home|Users)/[a-z][a-z0-9]+/(?!\.)", text), name
        if name.startswith("requirements/"):
            assert "://" not in text, name

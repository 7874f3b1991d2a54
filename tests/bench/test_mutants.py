"""The files of `make mutants`: each entry names code and tests that exist, and explains what it should."""

from __future__ import annotations

import ast
import importlib
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = ROOT / "bench" / "mutants"
sys.path.insert(0, str(MUTANTS))
explained = importlib.import_module("explained")
sys.path.pop(0)
EXPLANATIONS = explained.read_explanations(MUTANTS / "explained.toml")
PACKAGES = tomllib.loads((MUTANTS / "packages.toml").read_text(encoding="utf-8"))


def functions(package):
    """All functions and methods of the package's files, by their full names."""
    for pattern in package["files"]:
        top = ROOT / pattern.removesuffix("/*")
        for path in sorted(top.rglob("*.py")) if top.is_dir() else [top]:
            module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                inner = node.body if isinstance(node, ast.ClassDef) else [node]
                of = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                yield from (f"{module}.{of}{one.name}" for one in inner if isinstance(one, ast.FunctionDef))


@pytest.mark.parametrize("name", PACKAGES)
def test_the_files_and_the_tests_of_a_package_exist(name):
    assert list(functions(PACKAGES[name]))
    assert [path for path in PACKAGES[name]["tests"] if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", PACKAGES)
def test_every_test_that_a_package_leaves_out_exists(name):
    """A test that was renamed would run again, and slow tests make a run take hours."""
    tops = [ROOT / path for path in ("tests/conftest.py", *PACKAGES[name]["tests"])]
    files = [path for top in tops for path in ([top] if top.is_file() else sorted(top.rglob("*.py")))]
    text = "\n".join(f"{path}\n{path.read_text(encoding='utf-8')}" for path in files)
    assert [word for word in PACKAGES[name].get("without", ()) if word not in text] == []


def test_every_explanation_names_a_function_and_a_reason():
    names = [name for package in PACKAGES.values() for name in functions(package)]
    unknown = [
        entry.function
        for entry in EXPLANATIONS
        if entry.pattern is None and not any(fnmatchcase(name, entry.function) for name in names)
    ]
    assert unknown == []
    assert all(len(entry.why) > 20 for entry in EXPLANATIONS)


@pytest.mark.parametrize(
    ("was", "now", "covered"),
    [
        ("zip(a, b, strict=True)", "zip(a, b, strict=False)", True),
        ("zip(a, b, strict=True)", "zip(a, b, )", True),
        ("zip(a, b, strict=True)", "zip(a, strict=True)", False),
        ('x.encode("utf-8")', 'x.encode("UTF-8")', True),
        ('x.encode("utf-8")', "x.encode(None)", False),
        ('raise E("one message")', 'raise E("XXone messageXX")', True),
        ('raise E("one message")', 'raise E("ONE MESSAGE")', True),
        ('raise E("one message")', "raise E(None)", False),
        ('raise ValueError("one message")', "raise ValueError(None)", True),
        ('raise OSError("one message")', "raise OSError(None)", False),
        ('raise E("code")', 'raise E("CODE")', False),
        ("while time.monotonic() < until:", "while time.monotonic() <= until:", True),
        ("while time.monotonic() < until:", "while time.monotonic() > until:", False),
        ("name = os.urandom(6).hex()", "name = os.urandom(7).hex()", True),
        ('run("a b", "--flag")', 'run("a b", "--FLAG")', False),
    ],
)
def test_the_rules_explain_words_and_guards_only(was, now, covered):
    survivor = explained.Survivor("loopwright.any", was, now)
    assert any(entry.covers(survivor) for entry in EXPLANATIONS) == covered

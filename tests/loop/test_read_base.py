"""Reads what the rules of judging ask about the base."""

from __future__ import annotations

import pytest

from loopwright.kernel.git import make_private
from loopwright.loop.read_base import BaseReader

FILES = ("app/bad.py", "app/data/x.bin", "keep.log", "README.md")


@pytest.fixture
def base(tmp_path):
    """A base with a few files and a link."""
    work = tmp_path / "tree"
    for name in FILES:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(name)
    (work / "link").symlink_to("README.md")
    judge = make_private(tmp_path / "git", work)
    judge.run("add", "-A", "--force")
    return BaseReader(judge, judge.run("write-tree").decode().strip(), tmp_path)


def test_contents_are_read_at_once_without_links(base):
    assert base.files == {*FILES, "link"}
    assert base.read_all(["app/bad.py", "link", "missing"]) == {"app/bad.py": b"app/bad.py"}


@pytest.mark.parametrize(
    ("path", "rules", "ignored"),
    [
        (".gitignore", "app/bad.py\n", {"app/bad.py"}),
        (".gitignore", "APP/Bad.py\n", {"app/bad.py"}),
        (".gitignore", "app/\n", {"app/bad.py", "app/data/x.bin"}),
        (".gitignore", "*.log\n!keep.log\n", set()),
        (".gitignore", "*\n!*\n", set()),
        (".gitignore", "dist/\n*.pyc\n", set()),
        (".gitignore", "", set()),
        ("app/.gitignore", "bad.py\n/README.md\n", {"app/bad.py"}),
        ("app/.dockerignore", "data\n", {"app/data/x.bin"}),
        (".npmignore", "new/*\n", {"new/file.py"}),
    ],
)
def test_git_tells_which_files_an_ignore_file_matches(base, path, rules, ignored):
    assert base.ignored(path, rules.encode(), frozenset({"new/file.py"})) == ignored


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["bad.py", "nothing"], {"app/bad.py"}),
        ([f"nothing{number}" for number in range(3000)] + ["keep", "x.bin"], {"keep.log", "app/data/x.bin"}),
        (["nothing"], set()),
    ],
)
def test_files_are_found_by_words_in_them(base, words, found):
    assert base.having(words).keys() == found

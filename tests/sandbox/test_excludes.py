"""Exclude patterns mean what they mean to git."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.sandbox.copy_files import Excludes, exclude_patterns, list_project

PATHS = (
    "a.log", "keep.log", "!odd.log", "#note", "top/a.log", "top/keep.log", "top/in/deep.txt", "in/x.c", "in/y.h",
    "other/in/x.c", "build/out.o", "src/build/out.o", "with space", "star*name", "back\\slash", "x1", "x2", "xy",
)  # fmt: skip
PIECES = ("*.log", "!keep.log", "/top/", "top/", "in/", "/in", "**/in/", "in/**", "other/**/x.c", "build", "!build/",
          "/build/", "x?", "x[12]", "x[!1]", "\\!odd.log", "\\#note", "star\\*name", "*.c", "!in/x.c", "*", "!*/",
          "!*.h", "with space", "/*.log", "top/*", "!top/keep.log")  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("tree")
    for path in PATHS:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("")
    subprocess.run(["git", "init", "-q", top], check=True)
    return top


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4))
def test_what_stays_outside_is_what_git_would_ignore(tree, patterns):
    rules = tree / ".git" / "rules"
    rules.write_text("".join(f"{pattern}\n" for pattern in patterns))
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    listed = subprocess.run(
        ["git", "ls-files", "-o", "-z", f"--exclude-from={rules}"], cwd=tree, env=env, check=True, capture_output=True
    )
    theirs = {path for path in listed.stdout.split(b"\0") if path}
    ours = list_project(tree, Excludes([*patterns, "/.git/"]))
    assert set(ours.files) == theirs


def test_nothing_brings_a_secrets_folder_or_our_state_back():
    excludes = Excludes(
        exclude_patterns((".loopwright",), ["!.git/", "!.claude/private/secrets/", "!*", "!.loopwright/"])
    )
    for folder in (".git", ".claude/private/secrets", ".claude/state", ".loopwright"):
        assert excludes.is_excluded(folder, is_folder=True)
    assert not excludes.is_excluded(".env.example", is_folder=False)
    assert Excludes(exclude_patterns((), ())).is_excluded(".env.example", is_folder=False)

"""A working folder has one spelling."""

from __future__ import annotations

import pytest

from loopwright.judging.called_commands import with_called
from loopwright.judging.deciding_scripts import deciding_scripts
from loopwright.kernel.relative_folder import folders_above, relative_folder
from loopwright.loop.inverted_tests import _judged_in
from loopwright.workflow.seal import paths_in


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("", ""), (".", ""), ("./", ""), ("a/..", ""), ("a", "a"), ("./a/", "a"), ("a//b", "a/b"), ("a/./b", "a/b"),
        # A hidden folder and a parent folder are not the folder without its dots.
        (".ci", ".ci"), ("./.ci", ".ci"), ("a/../.ci", ".ci"), ("..", ".."), ("../a", "../a"), ("a...", "a..."),
    ],
)  # fmt: skip
def test_each_spelling_of_a_folder_gives_one_path(cwd, folder):
    assert relative_folder(cwd) == folder


@pytest.mark.parametrize("cwd", [".ci", "./.ci", "app/../.ci/"])
def test_a_command_in_a_hidden_folder_names_files_of_that_folder(cwd):
    files = (".ci/test_a.py", "ci/test_a.py", "test_a.py")
    assert _judged_in(cwd, "pytest test_a.py", files) == (".ci/test_a.py",)
    assert deciding_scripts("sh check.sh", cwd) == {".ci/check.sh"}
    assert list(with_called([("make", cwd)], frozenset(files), lambda _: b"")) == [("make", ".ci")]
    assert paths_in("pytest test_a.py", cwd) == [".ci/test_a.py"]


def test_a_script_outside_the_project_is_none_of_its_files_and_a_name_with_two_dots_is():
    assert deciding_scripts("sh ../check.sh") == deciding_scripts("cd /tmp; sh check.sh") == frozenset()
    assert deciding_scripts("sh ./..check.sh") == {"..check.sh"}


@pytest.mark.parametrize(
    ("path", "folders"),
    [
        ("a/b/c.py", ("a/b", "a", "")),
        ("c.py", ("",)),
        # A path that leads nowhere has an end, too.
        ("/c.py", ("",)),
        ("/", ()),
        ("", ()),
        ("../c.py", ("..", "")),
    ],
)
def test_the_folders_above_a_path_come_to_an_end(path, folders):
    assert folders_above(path) == folders

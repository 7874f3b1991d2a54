"""Which project a folder belongs to: its workspace, else the top of its repository, else the folder itself."""

from __future__ import annotations

import pytest

from loopwright.workspace.names import project_above


@pytest.mark.parametrize(
    ("made", "start", "project"),
    [
        ((), "a/b", "a/b"),
        (("a/.loopwright",), "a/b", "a"),
        (("a/.git/HEAD",), "a/b", "a"),
        # A workspace above the repository belongs to another project.
        (("a/.loopwright", "a/b/.git/HEAD"), "a/b/c", "a/b"),
        (("a/.loopwright", "a/b/.git/HEAD"), "a/b", "a/b"),
        (("a/.git/HEAD", "a/b/.loopwright"), "a/b/c", "a/b"),
        (("a/.loopwright", "a/.git/HEAD"), "a/b", "a"),
        # A worktree or a submodule is a repository, an empty folder is not.
        (("a/.loopwright", "a/b/.git"), "a/b/c", "a/b"),
        (("a/.loopwright", "a/b/.git/"), "a/b/c", "a"),
        # A bare repository is one; the folder that holds the objects of a work tree is not.
        (("a/.loopwright", "a/b/HEAD", "a/b/objects/"), "a/b/refs", "a/b"),
        (("a/.loopwright", "a/b/HEAD"), "a/b/refs", "a"),
        (("a/.git", "a/.bare/HEAD", "a/.bare/objects/"), "a/.bare", "a"),
        (("a/.git/HEAD", "a/.git/objects/"), "a/.git", "a"),
        # A home folder is the project of nothing below it.
        (("home/.loopwright",), "home/a", "home/a"),
        (("home/.git/HEAD",), "home/a", "home/a"),
        (("home/.loopwright",), "home", "home"),
        (("home/.git/HEAD", "home/a/.git/HEAD"), "home/a/b", "home/a"),
    ],
)
def test_the_project_that_a_folder_belongs_to(tmp_path, made, start, project):
    for name in made:
        path = tmp_path / name
        if name.endswith((".loopwright", "/")):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
    (tmp_path / start).mkdir(parents=True, exist_ok=True)
    assert project_above(str(tmp_path / start), str(tmp_path / "home")) == str(tmp_path / project)

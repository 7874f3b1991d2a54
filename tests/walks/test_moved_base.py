"""The project changes after the work was judged: `done` delivers only a tree on which the checks ran."""

from __future__ import annotations

import copy
import shutil
import subprocess

import pytest
from tests.walks.workflow_kit import CHECK, ok, planner, prepare, refusal

WORK = "from words import WORD\n\n\ndef greet(name):\n    return f'{WORD} {name}'\n"
DONE = ("approve", "greet", "--from", "review", "--to", "done")
HELLO, HEY = "WORD = 'hello'\n", "WORD = 'hey'\n"


def reviewed(project, *, tracked=False, uncommitted=None):
    """Work that the review approved. It depends on a file that it does not change."""
    project.write("words.py", HEY if uncommitted else HELLO)
    prepare(project, [planner(), {"role": "builder", "run": f"cat > hello.py <<'E'\n{WORK}E"}])
    if tracked:
        project.write(".gitignore", "__pycache__/\n*.log\n")
        project.commit("the workspace is part of the repository")
    for name, text in (uncommitted or {}).items():
        project.write(name, text)
    project.at("reviewed")


def passes(folder):
    """Whether the check of the plan passes in a folder."""
    return subprocess.run(["sh", "-c", CHECK], cwd=folder, check=False, capture_output=True).returncode == 0


def branch(project, tmp_path):
    """The files of the delivered branch."""
    folder = tmp_path / "branch"
    project.git("worktree", "add", "-q", "--detach", str(folder), "loopwright/greet")
    return folder


def test_work_is_not_mixed_with_a_commit_that_no_check_saw_and_a_merge_brings_it(project, tmp_path):
    reviewed(project)
    project.write("words.py", HEY)
    project.commit("another change")
    said = ok(project, *DONE).stdout
    assert "no check ran on the work with files that changed since the build began (words.py)" in said
    assert "git merge loopwright/greet" in said
    assert "return 'hi'" in (project.root / "hello.py").read_text(), "the checkout is untouched"
    assert passes(branch(project, tmp_path)), "the branch has the tree that was judged"
    assert project.git("diff", "--name-only", "HEAD^", "loopwright/greet").split() == ["hello.py"]
    # Undone, the other change taken back: the same approval delivers in place.
    ok(project, "undo", "greet")
    project.git("revert", "--no-edit", "HEAD")
    assert "files changed in your checkout: 1;" in ok(project, *DONE).stdout
    assert passes(project.root)
    ok(project, "undo", "greet")
    # The whole way round: the person merges the branch, and archives.
    project.git("reset", "-q", "--hard", "HEAD^")
    ok(project, *DONE)
    project.git("merge", "-q", "--no-edit", "loopwright/greet")
    assert not passes(project.root), "only now the person's own merge brings both together"
    ok(project, "archive", "greet")


def test_a_file_that_is_not_committed_counts_too(project):
    reviewed(project)
    project.write("words.py", HEY)
    assert "(words.py)" in ok(project, *DONE).stdout
    assert "return 'hi'" in (project.root / "hello.py").read_text()


@pytest.mark.parametrize("matters_not", ["nothing", "own", "ignored", "the same"])
def test_in_place_if_nothing_that_matters_changed(project, matters_not):
    reviewed(project, tracked=True, uncommitted={"words.py": HELLO} if matters_not == "the same" else None)
    match matters_not:
        case "own":
            config = project.own / "config.toml"
            config.write_text(f"{config.read_text()}\n# mine\n")
            project.write(".loopwright/notes.md", "mine\n")
            project.commit("only Loopwright's own files")
            project.write(".loopwright/more.md", "not committed\n")
        case "ignored":
            project.write("debug.log", "mine\n")
            project.write("__pycache__/x.pyc", "mine\n")
        case "the same":
            project.commit("what was there when the work was built")
    assert "files changed in your checkout: 1;" in ok(project, *DONE).stdout
    assert passes(project.root)


def test_a_branch_rests_on_what_was_not_committed_when_the_work_was_judged(project, tmp_path):
    reviewed(project, tracked=True, uncommitted={"words.py": HELLO})
    own = project.git("ls-files", ".loopwright")
    project.write("words.py", "WORD = 'moin'\n")
    said = ok(project, *DONE).stdout
    assert "with the changes that were not committed when it was built, because it was judged with them" in said
    assert passes(branch(project, tmp_path))
    assert own
    assert project.git("ls-tree", "-r", "--name-only", "loopwright/greet", ".loopwright") == own


def test_a_branch_that_a_person_asks_for_is_the_judged_tree_too(project, tmp_path):
    reviewed(project, uncommitted={"words.py": HELLO})
    said = ok(project, *DONE, "--as-branch").stdout
    assert "with the changes that were not committed when it was built" in said
    assert passes(branch(project, tmp_path))


@pytest.mark.parametrize("tracked", [False, True])
def test_a_branch_of_a_project_in_a_folder_is_the_judged_tree_there(make_project, tmp_path, tracked):
    top = make_project({"top.txt": "t\n"})
    project = copy.copy(top)
    project.root = top.root / "sub"
    reviewed(project, tracked=tracked)
    top.write("top.txt", "not a file of the project\n")
    project.write("words.py", HEY)
    project.commit("another change")
    said = ok(project, *DONE).stdout
    assert "(words.py)" in said
    assert "not committed when it was built" not in said, "everything was"
    assert top.git("diff", "--name-only", "HEAD^", "loopwright/greet").split() == ["sub/hello.py"]
    assert passes(branch(project, tmp_path) / "sub")


def test_without_git_the_work_waits_until_the_files_are_as_they_were(project):
    project.write("words.py", HELLO)
    prepare(project, [planner(), {"role": "builder", "run": f"cat > hello.py <<'E'\n{WORK}E"}])
    shutil.rmtree(project.root / ".git")
    project.at("reviewed")
    project.write("words.py", HEY)
    refused = refusal(project, *DONE)
    assert refused["error"] == "delivery_blocked"
    assert "no check ran on the work with files that changed since the build began (words.py)" in refused["message"]
    project.write("words.py", HELLO)
    assert refused["next"].endswith("loopwright approve greet --from review --to done")
    ok(project, *DONE)
    assert passes(project.root)

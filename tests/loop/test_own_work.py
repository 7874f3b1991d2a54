"""Which tests a loop's work changed, and the work with the original tests."""

from __future__ import annotations

import pytest

from loopwright.kernel.digest import sha256
from loopwright.loop.model import Tree
from loopwright.loop.own_work import restore_tests
from loopwright.loop.work_files import patch_path
from loopwright.workflow.seal import find_test_files

BASE = {
    "calc.py": "wrong\n",
    "test_calc.py": "asks calc\n",
    "src/app/checks.py": "source\n",
    "run.sh": "pytest\n",
    "pyproject.toml": '[project]\nname = "calc"\n[tool.pytest.ini_options]\naddopts = "-q"\n',
}
DEPENDS = BASE["pyproject.toml"].replace("[tool", 'dependencies = ["x"]\n[tool')
FIX = {"calc.py": "right\n"}
# Written or deleted (None) files, the test command, the changed tests, and the remaining difference to the base.
CASES = {
    "the source alone": (FIX, "pytest", None, None),
    "a new test next to the old tests": ({**FIX, "test_more.py": "new\n"}, "pytest", None, None),
    "a test is deleted": ({**FIX, "test_calc.py": None}, "pytest", ["test_calc.py"], ["calc.py"]),
    "a test is changed": ({**FIX, "test_calc.py": "asks nothing\n"}, "pytest", ["test_calc.py"], ["calc.py"]),
    "a test is changed and a test is new": (
        {**FIX, "test_calc.py": "uses more\n", "test_more.py": "new\n"}, "pytest", ["test_calc.py"], ["calc.py"]
    ),
    "a new file that influences tests": ({**FIX, "conftest.py": "skips\n"}, "pytest", ["conftest.py"], ["calc.py"]),
    "the test settings are changed": (
        {**FIX, "pyproject.toml": BASE["pyproject.toml"].replace("-q", "-q -k nothing")}, "pytest",
        ["pyproject.toml"], ["calc.py"],
    ),
    "a dependency is not a test setting": ({**FIX, "pyproject.toml": DEPENDS}, "pytest", None, None),
    "a script that the command names": ({**FIX, "run.sh": "true\n"}, "sh run.sh", ["run.sh"], ["calc.py"]),
    "tests that the script leads to": ({**FIX, "test_calc.py": None}, "sh run.sh", ["test_calc.py"], ["calc.py"]),
    "a source folder that the command reads": (
        {"src/app/checks.py": "better\n"}, "mypy src/app && pytest", None, None
    ),
}  # fmt: skip


@pytest.fixture
def work(project, tmp_path):
    """The project's commit and the work on it, stored as a loop stores them."""

    def keep(base, done):
        for name, text in base.items():
            project.write(name, text)
        commit = project.commit("the base")
        for name, text in done.items():
            project.write(name, text or "")
            if text is None:
                (project.root / name).unlink()
        project.git("add", "--all")
        tree, before = project.git("write-tree").strip(), project.git("rev-parse", "HEAD^{tree}").strip()
        patch = project.git("diff-tree", "-r", "-p", "--binary", "--full-index", before, tree).encode()
        path = patch_path(tmp_path, sha256(patch))
        path.parent.mkdir(parents=True)
        path.write_bytes(patch)
        project.git("reset", "--hard")
        return Tree(commit=commit.strip(), base_tree=before, tree=tree, patch_sha256=sha256(patch))

    return keep


@pytest.mark.parametrize("case", CASES)
def test_changed_tests_are_restored(project, work, tmp_path, case):
    done, command, touched, left = CASES[case]
    tree = work(BASE, done)
    found = restore_tests(tree, tmp_path, project.root, find_test_files(project.root, command))
    assert (list(found.touched) if found else None) == touched
    if found is not None:
        patch = patch_path(tmp_path, found.tree.patch_sha256)
        project.git("apply", "--index", str(patch))
        assert project.git("write-tree").strip() == found.tree.tree
        assert project.git("diff", "--cached", "--name-only").split() == left


def test_without_tests_on_the_base_no_file_can_influence_a_test(project, work, tmp_path):
    made = {"calc.py": "right\n", "test_calc.py": "new\n", "conftest.py": "new\n"}
    judges = find_test_files(project.root, "pytest")
    assert restore_tests(work({"README.md": "empty\n"}, made), tmp_path, project.root, judges) is None

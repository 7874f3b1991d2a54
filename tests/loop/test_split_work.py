"""What the parts of a work tell about its tests."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.judging.changed_tests import ChangedTestFile
from loopwright.loop.model import Tree
from loopwright.loop.split_work import SplitWork


def test_changed_test_files_are_compared_once():
    file = ChangedTestFile("t.py", b"def test_a(): assert 1\n", b"def test_b(): assert 1\n")
    tree = Tree(commit=None, base_tree="a", tree="b", patch_sha256="")
    split = SplitWork(
        whole=tree, verified=tree, without_new_tests=None, base_with_new_tests=None, work_files=(), free_files=(),
        new_tests=(), protected=(), test_files=(file,),
    )  # fmt: skip
    assert split.renamed_tests == {"t.py::test_a": "t.py::test_b"}
    assert split.renamed_tests is split.renamed_tests
    assert replace(split, test_files=()).renamed_tests == {}

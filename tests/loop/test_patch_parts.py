"""The parts of a patch by file: names that git quotes, folders, and lines that look like a header."""

from __future__ import annotations

import pytest

from loopwright.loop.patch_parts import parts_for

FIRST = b'diff --git "a/caf\\303\\251 b.py" "b/caf\\303\\251 b.py"\n--- a\n+++ b\n@@ -1 +1 @@\n-x = 1\n+x = 2\n'
SECOND = b"diff --git a/tests/test_a.py b/tests/test_a.py\n@@ -1 +1 @@\n+diff --git a/README b/README\n"
THIRD = b"diff --git a/tests.txt b/tests.txt\nnew file mode 100644\n"


@pytest.mark.parametrize(
    ("paths", "parts"),
    [
        (("café b.py",), FIRST),
        (("tests",), SECOND),
        (("tests/",), SECOND),
        (("tests/test_a.py", "café b.py"), FIRST + SECOND),
        (("README",), b""),
        ((), b""),
    ],
)
def test_the_parts_of_files_and_folders_are_found(paths, parts):
    assert parts_for(FIRST + SECOND + THIRD, paths) == parts

"""Which files a command certainly runs, if they exist."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.judged_files import judged_by

FILES = ("t/test_a.py", "t/test_b.py", "t/help.py", "check.py", "check.sh", "a.test.js", "lib.js", "notes.txt")


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("pytest", ("t/test_a.py", "t/test_b.py")),
        ("X=1 python3 -m pytest -q t/test_a.py::test_x", ("t/test_a.py",)),
        ("python3 -I -m pytest t", ("t/test_a.py", "t/test_b.py")),
        ("python3 -m unittest t.test_b.Case", ("t.py", "t/test_b.py", "t/test_b/Case.py")),
        ("python3 -m unittest discover -s t -t .", ()),
        ("python3 -m unittest . ..", ()),
        ("pytest new/test_c.py", ("new/test_c.py",)),
        ("python3 ./check.py Ann", ("check.py",)),
        ("sh check.sh", ("check.sh",)),
        ("./check.sh --fast", ("check.sh",)),
        ("node --test", ("a.test.js",)),
        ("node lib.js", ("lib.js",)),
        ("pytest t && true", ()),
        ("pytest t;", ()),
        ("make check", ()),
        ("python3 other.py", ()),
        ("python3 -c 'import check'", ()),
        ("python3 $X", ()),
        ("'open", ()),
        ("", ()),
    ],
)
def test_only_files_that_a_command_certainly_runs_are_found(command, found):
    assert judged_by(command, FILES) == found

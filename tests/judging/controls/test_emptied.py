"""Programs that do nothing."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.emptied import emptied

JUDGE = b"""\
import sys

class A(B):
    x = 1
    @p
    def run(self, n=1): return 2

async def f(): await g()
f()
"""
IDLE = b"""\
class A:
    def __init__(*_, **__): pass
    def run(*_, **__): pass
async def f(*_, **__): pass
"""


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("judge.py", b"import sys\nsys.exit(1)\n", b""),
        ("judge.py", JUDGE, IDLE),
        ("broken.py", b"def", b""),
        ("bin/judge", b"#!/usr/bin/env python3\nraise SystemExit\n", b"#!/usr/bin/env python3\n"),
        ("judge.sh", b"exit 1\n", b""),
        ("main.go", b"// doc\npackage main\n\nfunc main() { panic(1) }\n", b"package main\n\nfunc main() {}\n"),
        ("calc.go", b"package calc\n\nfunc F() int { return 1 }\n", b"package calc\n"),
        ("broken.go", b"func", b""),
    ],
)
def test_an_empty_program_still_starts(path, source, expected):
    assert emptied(path, source) == expected

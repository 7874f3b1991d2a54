"""Programs that do nothing, and programs that fail at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopwright.judging.controls.emptied import emptied, failing_at_once

ESM = b"""\
import a from 'a'
export const one = 1
export function two() {}
const c = 3
export { c as three }
export default c
"""


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("judge.sh", b"exit 1\n", b""),
        ("bin/judge", b"#!/bin/sh -e\nexit 1\n", b"#!/bin/sh -e\n"),
        ("judge.pl", b"die", b""),
        ("main.go", b"// doc\npackage main\n\nfunc main() { panic(1) }\n", b"package main\n\nfunc main() {}\n\n"),
        ("calc.go", b"package calc\n\nfunc F() int { return 1 }\n", b"package calc\n"),
        ("broken.go", b"func", None),
        ("judge.rs", b"fn main() {}", None),
        ("data", b"1 2 3\n", None),
    ],
)
def test_an_empty_program_still_starts(path, source, expected):
    assert emptied(path, source) == expected


@pytest.mark.parametrize("source", [b"", b"def", b"#!/usr/bin/env python3\nx = 1\n"])
def test_an_empty_module_of_python_offers_any_name_that_is_false(tmp_path, source):
    (tmp_path / "judge.py").write_bytes(emptied("judge.py", source) or b"")
    asked = "from judge import main, other; import judge; print(main(), bool(judge.any), list(other.more))"
    done = subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "None False []\n"


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("name", "source", "asked"),
    [
        ("judge.cjs", b"exports.f = 1", "console.log(require('./judge.cjs').main())"),
        (
            "judge.mjs",
            ESM,
            "import('./judge.mjs').then(m => console.log(m.one() ?? m.two() ?? m.three() ?? m.default()))",
        ),
    ],
)
def test_an_empty_module_of_javascript_offers_its_names(tmp_path, name, source, asked):
    (tmp_path / name).write_bytes(emptied(name, source) or b"")
    done = subprocess.run(["node", "-e", asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "undefined\n"


@pytest.mark.parametrize(
    ("path", "source", "argv"),
    [
        ("judge.py", b"", [sys.executable, "judge.py"]),
        ("judge.sh", b"", ["sh", "judge.sh"]),
        pytest.param("judge.js", b"", ["node", "judge.js"], marks=pytest.mark.needs("node")),
        pytest.param(
            "judge.go", b"package main\n\nfunc main() {}\n", ["go", "run", "judge.go"], marks=pytest.mark.needs("go")
        ),
    ],
)
def test_a_program_that_fails_at_once_fails(tmp_path, path, source, argv):
    (tmp_path / path).write_bytes(failing_at_once(path, source) or b"")
    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False).returncode != 0


def test_other_languages_are_left_alone():
    assert failing_at_once("judge.rs", b"fn main() {}") is None

"""A file that can't run can still be read, and no code of it runs before it fails."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopwright.judging.controls.static_text import unreadable, unrunnable

RAISE = "if __name__:\n    raise SyntaxError\n"
THROW = "if (Math.PI) throw new SyntaxError()"


@pytest.mark.parametrize(
    ("path", "source", "stopped"),
    [
        ("a.py", "import os\n", f"{RAISE}\nimport os\n"),
        ("a.py", '"""A."""\n\nimport os\n', f'"""A."""\n\n{RAISE}\nimport os\n'),
        (
            "a.py",
            '"""A."""\nfrom __future__ import annotations\n\nx = 1\n',
            f'"""A."""\nfrom __future__ import annotations\n\n{RAISE}\nx = 1\n',
        ),
        ("a.py", "# c\n@d\ndef f(): pass\n", f"# c\n{RAISE}\n\n@d\ndef f(): pass\n"),
        ("a.py", '"""A."""', f'"""A."""\n\n{RAISE}'),
        ("a.py", "", RAISE),
        ("a.pyi", "x: int\n", "x: int\n"),
        ("a.js", "'use strict'\n\nf()\n", f"'use strict'\n\n{THROW}\n\nf()\n"),
        ("a.mjs", "import b from 'b';\nf();\n", f"import b from 'b';\n{THROW};\n\nf();\n"),
        ("a.d.ts", "declare const a: string\n", "declare const a: string\n"),
    ],
)
def test_a_file_that_can_not_run(path, source, stopped):
    found = unrunnable(path, source.encode())
    assert found is not None
    assert found.decode() == stopped


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", '"""A."""; import os\n'),
        ("a.py", "not python ("),
        ("a.mjs", "import 'data:text/javascript,f()'\n"),
        ("a.go", "package a\n"),
        ("a.py", "(" * 100_000),
    ],
)
def test_a_file_that_may_run_in_part_is_not_used(path, source):
    assert unrunnable(path, source.encode()) is None


@pytest.mark.parametrize(
    "source", ["import os\n\nx = os.sep\n", '"""A."""\n\n\ndef f():\n    return 1\n', "class A:\n    pass\n"]
)
def test_linters_and_formatters_accept_a_python_file_that_can_not_run(source, tmp_path):
    place = tmp_path / "a.py"
    stopped = unrunnable("a.py", source.encode())
    assert stopped is not None
    for content, code in ((stopped, 0), (unreadable(source.encode()), 1)):
        place.write_bytes(content)
        ruff = [sys.executable, "-m", "ruff", "check", "-q", "--isolated", "--no-cache", "--select", "E,F,W,I", place]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout
    place.write_bytes(stopped)
    form = [sys.executable, "-m", "ruff", "format", "--check", "--diff", "--isolated", "--no-cache", place]
    done = subprocess.run(form, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for content in (stopped, unreadable(source.encode())):
        place.write_bytes(content)
        assert b"SyntaxError" in subprocess.run([sys.executable, place], capture_output=True, check=False).stderr

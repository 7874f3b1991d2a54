"""The test command of a project, by its files."""

from __future__ import annotations

import pytest

from loopwright.workspace.detect import detect

CASE = "import unittest\n\n\nclass Tests(unittest.TestCase):\n    def test_f(self):\n        pass\n"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"setup.py": "", "tests/__init__.py": "", "tests/test_f.py": CASE}, "-m unittest"),
        ({"setup.py": "", "tests/test_f.py": CASE}, "-m unittest discover -s tests"),
        ({"setup.py": "", "test_f.py": "def test_f():\n    pass\n"}, "-m pytest -q"),
        ({"setup.py": "", "pkg/tests/test_f.py": f"import pytest\n{CASE}"}, "-m pytest -q"),
        ({"setup.cfg": "[tool:pytest]\n", "tests/test_f.py": CASE}, "-m pytest -q"),
        # unittest would find no test, and pass.
        ({"setup.py": "", "f.py": ""}, ""),
        ({"setup.py": "", "venv/lib/test_f.py": CASE}, ""),
        ({"setup.py": "", "Makefile": "test:\n\ttrue\n"}, "make test"),
    ],
)
def test_the_test_command_of_python_fits_its_tests(tmp_path, files, command):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = detect(tmp_path).test_command
    assert found.endswith(command)
    assert bool(found) is bool(command)

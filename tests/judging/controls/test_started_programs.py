"""Programs that tests start: which files and texts they are, and what changes in them."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.started_programs import started_programs

ASSERTS = b"from app import double\nassert double(2) == 4\n"


def changed_by(test: str, **files: bytes) -> list[tuple[str, str]]:
    """The path of each changed file, with the only test that can start the program."""
    known = {"tests/test_a.py": test.encode(), **files}
    found = started_programs(["tests/test_a.py"], frozenset(known), lambda path: known.get(path, b""), salt="x")
    return [(edit.path, change.test) for change in found for edit in change.inverted]


@pytest.mark.parametrize(
    "test",
    [
        "import subprocess\nrun(['python3', 'tests/program.py'])",
        "import subprocess\nrun(['python3', HERE / 'program.py'])",
        "import subprocess\nrun(['python3', '-m', 'tests.program'])",
        "import subprocess\nrun(['python3', HERE / ('program' + '.py')])",
        "import subprocess\n[run(path) for path in HERE.glob('prog*.py')]",
        "import subprocess\n[run(path) for path in os.listdir('tests')]",
        "import subprocess\nrun(['sh', 'all.sh'])",
        "from tests.starting import run\nrun('program')",
    ],
)
def test_a_file_that_a_test_names_is_a_program(test):
    files = {
        "tests/program.py": ASSERTS,
        "other/all.sh": b"python3 tests/program.py\n",
        "tests/starting.py": b"import subprocess\n",
    }
    assert changed_by(test, **files) == [("tests/program.py", "")] * 2, "far and near"


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("run(['python3', 'tests/another.py'])", []),
        ("def test_a():\n    '''import os; assert os.name == 'x' '''", []),
        ("def test_a():\n    run('''\n        import app\n        assert app.a == 1\n    ''')", ["test_a"] * 2),
        ("def test_a():\n    run(f'import app; assert app.a == {n}; assert app.b == 2')", ["test_a"] * 2),
        ("def test_a():\n    run('test \"$(./app 2)\" = 4')\n    run(b'import app; assert app.a')", ["test_a"] * 3),
        ("CODE = 'import app; assert app.a == 1'\ndef test_a():\n    run(CODE)", [""] * 2),
    ],
)  # fmt: skip
def test_code_in_a_text_of_a_test_is_a_program_of_that_test(test, found):
    files = {"tests/program.py": ASSERTS}
    assert [name for _, name in changed_by(f"import subprocess\n{test}", **files)] == found


def test_a_test_that_starts_nothing_has_no_programs():
    assert changed_by("read('tests/program.py')", **{"tests/program.py": ASSERTS}) == []

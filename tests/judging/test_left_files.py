"""Which files that a command leaves may steer the programs after it."""

from __future__ import annotations

import pytest

from loopwright.judging.left_files import generated_pairs, steers, steers_from_home, written_by_judges

JUDGES = frozenset({"tests/wanted.py", "tests/data.json", "tests/expect.py"})


@pytest.mark.parametrize(
    ("path", "inside", "expected"),
    [
        ("conftest.py", "", True),
        ("app/sitecustomize.py", "", True),
        ("tests/wanted", "__init__.py", True),
        ("tests/wanted", "notes.txt", False),
        ("wanted.py", "", True),
        ("json.py", "", True),
        ("built.py", "", False),
        ("tests/data.js", "", True),
        ("tests/wanted.js", "", False),
        ("dist/data.js", "", False),
        ("node_modules", "", True),
        ("dist", "index.js", False),
        ("log.txt", "", False),
    ],
)
def test_only_files_that_are_loaded_in_place_of_others_or_by_name_steer(path, inside, expected):
    assert steers(path, JUDGES, lambda name: name == inside) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".local/lib/python3.12/site-packages/x.pth", True),
        (".bashrc", True),
        (".npmrc", True),
        (".cache/app/x.json", False),
        (".config/app/settings.toml", False),
    ],
)
def test_only_some_files_of_the_home_change_how_programs_start(path, expected):
    assert steers_from_home(path) is expected


def test_files_that_a_command_writes_and_compares_are_a_pair_of_output_and_expectation():
    commands = [("python3 tests/expect.py > a.txt && python3 -m app > b.txt && cmp a.txt b.txt", "")]
    assert list(generated_pairs(commands, frozenset())) == [("a.txt", "b.txt")]
    assert list(generated_pairs(commands, frozenset({"a.txt"}))) == []
    assert list(written_by_judges(commands, JUDGES)) == ["a.txt"]
    assert list(written_by_judges([("printf 4 > sub/a.txt; app > b.txt", "x")], JUDGES)) == ["x/sub/a.txt"]

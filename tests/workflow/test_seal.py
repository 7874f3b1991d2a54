"""Which files, and which parts of a file, judge the work."""

from __future__ import annotations

import pytest

from loopwright.workflow.judging_parts import part_of
from loopwright.workflow.seal import judges_of
from loopwright.workflow.slices import Check, Slice, Slices


def judges(command, *, cwd="", scripts=(), settings=()):
    check = Check(id="C", command=command, cwd=cwd)
    one = Slice(
        id="VS-1", title="t", type="AFK", behavior="b", acceptance_criteria=("a",), verification_signal="v",
        checks=(check,),
    )  # fmt: skip
    return judges_of(Slices((one,)), settings, scripts)


@pytest.mark.parametrize(
    ("command", "path", "kind"),
    [
        ("pytest tests/test_a.py::test_x", "tests/test_a.py", "judge"),
        ("pytest tests/test_a.py", "tests/test_b.py", "none"),
        ("pytest tests", "tests/deep/test_b.py", "neighbour"),
        ("pytest -q", "pkg/test_b.py", "neighbour"),
        ("pytest -q", "pkg/code.py", "none"),
        ("pytest tests", "tests/conftest.py", "judge"),
        # A reviewer would follow these.
        ("true", "AGENTS.md", "judge"),
        ("true", "docs/CLAUDE.md", "judge"),
        ("true", ".claude/settings.local.json", "judge"),
        ("true", ".codex/hooks.json", "judge"),
        ("true", ".opencode/plugin/mine.js", "judge"),
        ("true", "opencode.jsonc", "judge"),
        ("true", "docs/agents.md", "none"),
        ("python3 -m unittest tests.test_a", "tests/test_a.py", "judge"),
        ("python3 -m unittest tests.test_a.Case.test_x", "tests/test_a.py", "judge"),
        ("sh ./ci/check.sh && true", "ci/check.sh", "judge"),
        ("make check", "Makefile", "judge"),
        ("make check", "mk/rules.mk", "judge"),
        ("python3 x.py", "Makefile", "none"),
        ("npm test", "src/a.test.ts", "neighbour"),
        ("npm test", "package.json", "judge"),
        ("go test ./...", "pkg/a_test.go", "neighbour"),
        ("python3 -c 'import a'", "json.py", "judge"),
        ("python3 -c 'import a'", "json/__init__.py", "judge"),
        ("python3 -c 'import a'", "json", "judge"),
        ("python3 -c 'import a'", "json.txt", "none"),
        ("python3 -c 'import a'", "pkg/json.py", "none"),
        ("PYTHONPATH=src python3 -c 'import a'", "src/types.py", "judge"),
        ("python3 checks/run.py", "checks/re.py", "judge"),
        ("sh check.sh", "json.py", "none"),
        ("true", "pkg/__pycache__/a.cpython-311.pyc", "judge"),
        ("true", "pkg/a.so", "judge"),
        ("pytest [ab]/test_x.py", "a/test_x.py", "judge"),
        ("pytest t*/a.py", "tests/a.py", "judge"),
        ("pytest t*/a.py", "t/s/a.py", "none"),
        ("hello --name Ann", "hello/__init__.py", "none"),
    ],
)  # fmt: skip
def test_a_check_decides_which_files_judge(command, path, kind):
    assert judges(command).kind_of(path) == kind


def test_a_check_in_a_folder_names_files_of_that_folder():
    found = judges("pytest tests", cwd="api")
    assert (found.kind_of("api/tests/test_a.py"), found.kind_of("tests/test_a.py")) == ("neighbour", "none")


def test_the_files_that_a_script_runs_are_judges_too():
    found = judges("sh check.sh", scripts=["set -e\npython3 -m unittest tests.test_a\npython3 app.py\n"])
    assert (found.kind_of("tests/test_a.py"), found.kind_of("app.py")) == ("judge", "none")


def test_the_files_that_the_settings_name_are_judges():
    assert judges("true", settings=["golden/**"]).kind_of("golden/a/b.txt") == "judge"


@pytest.mark.parametrize(
    ("path", "before", "after", "is_same"),
    [
        ("pyproject.toml", "[project]\nname='a'\n", "[project]\nname='b'\n", True),
        ("pyproject.toml", "[project]\nname='a'\n", "[project]\nname='a'\n[tool.pytest.ini_options]\nx=1\n", False),
        ("pyproject.toml", "[tool.pytest]\nx=1\n", "[tool.pytest]\nx=2\n", False),
        ("pyproject.toml", "[project]\n", "not toml", False),
        ("setup.cfg", "[metadata]\nname=a\n", "[metadata]\nname=b\n", True),
        ("setup.cfg", "[metadata]\nname=a\n", "[tool:pytest]\naddopts=-x\n", False),
        ("package.json", '{"scripts":{"test":"a"}}', '{"scripts":{"test":"a","lint":"b"},"version":"2"}', True),
        ("package.json", '{"scripts":{"test":"a"}}', '{"scripts":{"test":"b"}}', False),
        ("package.json", '{"scripts":{"test":"a"}}', '{"scripts":{"test":"a","pretest":"b"}}', False),
        (
            "package.json", '{"scripts":{"test":"npm run u","u":"a"}}', '{"scripts":{"test":"npm run u","u":"b"}}',
            False,
        ),
        ("package.json", '{"scripts":{"test":"a"}}', '{"scripts":{"test":"a"},"jest":{}}', False),
        ("package.json", "{}", "[]", False),
        ("other.json", "{}", "{ }", False),
    ],
)  # fmt: skip
def test_the_part_of_a_file_that_judges(path, before, after, is_same):
    commands = ("npm test",)
    assert (part_of(path, before.encode(), commands) == part_of(path, after.encode(), commands)) is is_same

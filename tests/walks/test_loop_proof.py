"""Only work that changed something, and won by no lost or weakened test, completes a loop; else a person decides."""

from __future__ import annotations

import json
import re
import sys

import pytest
from tests.walks.workflow_kit import PYTEST

from loopwright.agents.port import AGENT_MARK

# Neither these commands nor PYTEST name a report: SILENT ignores PYTHONPATH, the others report by the environment.
UNITTEST = "python3 -m unittest -q"
SILENT = "python3 -E -m unittest -q"
MAKE = "make -s check"
SCRIPTS = {
    "Makefile": "check: zero double\nzero double:\n\tpython3 judges/$@.py\nrun:\n\tpython3 judges/double.py\n",
    "judges/__init__.py": "",
    "judges/zero.py": "import sys; sys.path.insert(0, '.'); import calc; assert calc.double(0) == 0\n",
    "judges/double.py": "import sys; sys.path.insert(0, '.'); import calc; assert calc.double(2) == 4\n",
}
TEST = """\
import unittest

from calc import double


class Tests(unittest.TestCase):
    def test_{name}(self):
        self.assertEqual(double({n}), {result})
"""
FIXED = "printf 'def double(n):\\n    return n + n\\n' > calc.py"
DELETED = "rm test_double.py"
WEAKENED = "sed -i 's/double(2), 4/double(2), 5/' test_double.py"
CONFTEST = "echo 'collect_ignore = [\"test_double.py\"]' > conftest.py"
REFACTORED = "echo 'UNUSED = 1' >> calc.py"
UNASSERTED = "\n    def test_runs(self):\n        1 / (double(2) == 4)\n"
DOCUMENTS = "the work changed only documents; 1 of 1 earlier test still passes"
NO_BEHAVIOUR = "no behaviour was meant to change? read the diff, then accept"
ALSO_TESTED = f"{FIXED}; sed 's/2), 4/1), 2/' test_double.py > test_more.py"
WEAKENED_SCRIPT = "sed -i 's/== 4/> 4/' judges/double.py"
REWRITES = (
    'printf \'path = "judges/double.py"\\ntext = open(path).read()\\n'
    'open(path, "w").write(text.replace("== 4", "> 4"))\\n'
    "def double(n):\\n    return n and n + n + 1\\n' > calc.py"
)
SKIPPED = "printf 'import unittest\\ndef double(n):\\n    raise unittest.SkipTest(1)\\n' > calc.py"
EXPECTED = "printf 'import pytest\\ndef double(n):\\n    return pytest.xfail(str(n)) if n else n\\n' > calc.py"
ENDED = "printf 'import os\\ndef double(n):\\n    os._exit(0)\\n' > calc.py"


@pytest.fixture
def calc(loops):
    """A project with a bug, a test that shows it, and another test that passes."""

    def make(*runs, test_command=UNITTEST, more=()):
        loops.configure([{"role": "builder", "run": run} for run in runs])
        config = loops.project.own / "config.toml"
        config.write_text(config.read_text().replace("test -e done", test_command))
        loops.project.write("calc.py", "def double(n):\n    return n and n + n + 1\n")
        result = 4 if runs != (REFACTORED,) else 5
        loops.project.write("test_double.py", TEST.format(name="double", n=2, result=result))
        loops.project.write("test_zero.py", TEST.format(name="zero", n=0, result=0))
        for name, text in SCRIPTS.items() if test_command == MAKE else ():
            loops.project.write(name, text)
        loops.project.commit("a bug, and tests")
        return loops.new("--task", "double doubles", *more)

    return make


def held(loops, loop_id, tasks=("in_progress",)):
    """The hold of the loop, as another tool reads it."""
    document = loops.shown(loop_id)
    assert document["status"] == "paused"
    assert tuple(task["status"] for task in document["skill_state"]["develop"]["tasks"]) == tasks
    assert "action-complete" not in document["skill_state"]["completed_actions"]
    (hold,) = document["loopwright"]["holds"]
    assert hold["holder"] == "proof"
    return hold


def patch_of(loops, loop_id):
    return loops.project.own / "loops" / f"{loop_id}.progress" / "changes.patch"


def test_a_loop_without_changes_is_completed_only_by_a_person(loops):
    loops.configure([{"role": "builder", "run": "echo 'all done'"}] * 2)
    loops.project.write("done", "")
    loops.project.commit("the tests pass")
    loop_id = loops.new("--task", "make it better")
    done = loops.run("start", loop_id, code=14)
    assert f"loopwright loop accept {loop_id}" in done.stdout
    assert held(loops, loop_id)["code"] == "nothing_changed"
    assert "\n  nothing_changed\n" in done.stdout
    (waiting,) = loops.project.ask("next")["loops"]
    ways = [f"logs {loop_id} --agent", f"resume {loop_id}", f"accept {loop_id}"]
    assert [choice["command"] for choice in waiting["choices"]] == [f"loopwright loop {way}" for way in ways]
    assert waiting["next"] == waiting["choices"][0]["command"]
    assert not patch_of(loops, loop_id).exists(), "an empty patch is never offered"
    loops.run("watch", loop_id, "--no-follow", code=14)
    assert "completed" not in loops.run("resume", loop_id, code=14).stdout, "the agent may go on, and changes nothing"

    loops.project.environment[AGENT_MARK] = "1"
    assert "INSIDE_AGENT" in loops.run("accept", loop_id, code=1).stderr
    del loops.project.environment[AGENT_MARK]
    loops.run("accept", loop_id, "--reason", "it was good already")
    document = loops.shown(loop_id)
    assert document["status"] == "completed"
    assert document["loopwright"]["forced"] == "it was good already"
    assert document["loopwright"]["accepted_by"]
    assert [task["status"] for task in document["skill_state"]["develop"]["tasks"]] == ["completed"]
    assert "accepted by" in loops.run("logs", loop_id).stdout
    by, at = document["loopwright"]["accepted_by"], document["completed_at"]
    accepted = f"accepted by {by} at {at} [person]: it was good already"
    shown = loops.run("show", loop_id).stdout
    assert shown.count("it was good already") == 1
    assert accepted in shown
    assert "  not proven by tests: nothing changed: all files are as they were before the work\n" in shown
    assert "Last errors" not in shown
    assert "\n      person\n" in shown
    assert "unproven" not in shown
    assert accepted in loops.run("list").stdout
    assert accepted in loops.project.run("status").stdout


@pytest.mark.parametrize(
    ("work", "more", "code"),
    [
        ("sed -i 's/echo 0/expr $1 + $1/' app.sh", {}, 0),
        # Next to a second script that the test sources, one of them may be a helper that judges.
        ("sed -i 's/= 4/= 0/' is.sh", {"is.sh": 'is_4() { [ "$1" = 4 ]; }\n'}, 14),
    ],
)
def test_the_only_script_of_a_project_is_its_product_though_the_test_sources_it(loops, work, more, code):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "sh test.sh"))
    for name, text in {"app.sh": "double() { echo 0; }\n", **more}.items():
        loops.project.write(name, text)
    sourced = "".join(f". ./{name}\n" for name in more)
    judge = "is_4 $(double 2)" if more else '[ "$(double 2)" = 4 ]'
    loops.project.write("test.sh", f"set -e\n. ./app.sh\n{sourced}{judge}\n")
    loops.project.commit("a project of shell scripts")
    loops.run("start", loops.new("--task", "double doubles"), code=code)


@pytest.mark.parametrize(
    ("files", "work", "command", "hidden"),
    [
        (
            {f"qa/{name}.py": "" for name in ("__init__", "a", "b", "c")}
            | {
                "app/calc.py": "def double(n):\n    return n + n + 1\n",
                "qa/run.py": "from app.calc import double\n"
                "n, result = map(int, open('qa/cases.txt').read().split())\nassert double(n) == result\n",
                "qa/cases.txt": "2 4\n",
            },
            "echo 2 5 > qa/cases.txt",
            "PYTHONPATH=. python3 qa/run.py",
            "qa/cases.txt",
        ),
        (
            {"app/bad.py": "import os\n", "app/good.py": "", "ruff.toml": "lint.select = ['F']\n"},
            "echo app/bad.py >> .gitignore",
            f"{sys.executable} -m ruff check -q --no-cache .",
            ".gitignore",
        ),
        (
            {
                "app/hello.py": "print('hi')\n",
                "app/expected.txt": "hello\n",
                "check.sh": "python3 app/hello.py | diff - app/expected.txt\n",
            },
            "echo hi > app/expected.txt",
            "sh check.sh",
            "app/expected.txt",
        ),
    ],
    ids=[
        "a folder of tests with another name",
        "an ignore file that a linter reads",
        "a file of the source with which a check compares",
    ],
)
@pytest.mark.lies
def test_a_loop_cannot_pass_by_changing_what_decides_without_a_name_of_tests(loops, files, work, command, hidden):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", command))
    for name, text in files.items():
        loops.project.write(name, text)
    loops.project.commit("a bug")
    loop_id = loops.new("--task", "double doubles")
    loops.run("start", loop_id, code=14)
    assert hidden in held(loops, loop_id)["message"]


def test_a_person_can_accept_tests_that_failed_before_the_work_as_known_failures(loops, calc):
    loop_id = calc(FIXED, more=("--max-iterations", "2"))
    loops.project.write("test_old.py", TEST.format(name="old", n=1, result=9))
    loops.project.commit("another test that fails")
    done = loops.run("start", loop_id, code=14)
    assert f"loopwright loop accept {loop_id}" in done.stdout
    hold = held(loops, loop_id)
    assert hold["code"] == "known_failures"
    assert "test_old.py::Tests::test_old" in hold["message"]
    assert "test_double.py" not in hold["message"]
    assert "n + n" in patch_of(loops, loop_id).read_text()
    loops.run("accept", loop_id)
    document = loops.shown(loop_id)
    assert document["status"] == "completed"
    assert "test_old" in document["loopwright"]["forced"]

    loops.run("retry", loop_id, "--max-iterations", "4")
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed", "known failures of this loop stay known"


def test_a_command_that_can_not_run_before_the_work_either_is_named_with_its_last_line(loops, calc):
    loop_id = calc(FIXED, test_command="no-such-program -q", more=("--max-iterations", "2"))
    loops.run("start", loop_id, code=12)
    shown = loops.run("show", loop_id).stdout
    assert "failed: 0 of 1 passed; failing: the test command\n" in shown
    assert f"no test passed before the work either (run {loop_id}-base-tests" in shown
    assert "no-such-program" in shown.partition("no test passed")[2]


@pytest.mark.parametrize(
    "work", [f"{FIXED}; sed -i 's/n + n/n and n + n or 7/' calc.py", "echo 'UNUSED = 1' >> calc.py"]
)
def test_a_loop_that_broke_or_proved_something_else_fails(loops, calc, work):
    """One breaks a test that passed, and one proves nothing: there is nothing to accept."""
    loop_id = calc(work, more=("--max-iterations", "2"))
    loops.project.write("test_old.py", TEST.format(name="old", n=1, result=9))
    loops.project.commit("another test that fails")
    loops.run("start", loop_id, code=12)
    loops.run("accept", loop_id, code=1)
    assert loops.shown(loop_id)["status"] == "failed"


@pytest.mark.parametrize(
    ("lie", "test_command", "code", "named"),
    [
        (DELETED, PYTEST, "changed_test_test_double.py", "test_double.py"),
        (DELETED, SILENT, "changed_test_test_double.py", "test_double.py"),
        (WEAKENED, UNITTEST, "changed_test_test_double.py", "test_double.py"),
        (f"{FIXED}; {CONFTEST}", PYTEST, "protected_changes", "fail with them"),
        (REFACTORED, UNITTEST, "unproven", f"2 of 2 earlier tests still pass; {NO_BEHAVIOUR}"),
        ("echo '# Doubles' > README.md", f"{UNITTEST} test_zero", "unproven", f"{DOCUMENTS}; {NO_BEHAVIOUR}"),
        (WEAKENED_SCRIPT, MAKE, "protected_changes", "judges/double.py"),
        # By chance it also rewrites the changed expectation.
        (REWRITES, MAKE, "flagged|vacuous_tests", "changed files of the project while they ran: judges/double.py"),
    ],
    ids=[
        "deleted",
        "deleted without a report",
        "weakened",
        "fixed with a plug-in",
        "nothing proves it",
        "documents only",
        "a script that make calls",
        "edited when an earlier test runs",
    ],
)
@pytest.mark.lies
def test_a_loop_cannot_pass_by_changing_its_tests(loops, calc, lie, test_command, code, named):
    loop_id = calc(lie, test_command=test_command)
    done = loops.run("start", loop_id, code=14)
    hold = held(loops, loop_id)
    assert hold["code"] in code.split("|")
    assert named in hold["message"]
    assert str(patch_of(loops, loop_id)) in done.stdout
    assert patch_of(loops, loop_id).read_text()


READS = """\
import unittest

import calc


class Tests(unittest.TestCase):
    def test_double_as_the_manual_says(self):
        with open("README.md") as manual:
            self.assertIn(f"double(2) is {calc.double(2)}", manual.read())
"""


@pytest.mark.parametrize(
    ("work", "code"),
    [
        ("sed -i 's/is 4/is 5/' README.md", "changed_test_README.md"),
        (f"{FIXED}; echo 'More text.' >> README.md", None),
    ],
    ids=["a document that a test reads", "another part of the document"],
)
@pytest.mark.lies
def test_a_document_from_which_a_test_reads_what_to_expect_is_a_test(loops, calc, work, code):
    loop_id = calc(work)
    loops.project.write("test_double.py", READS)
    loops.project.write("README.md", "double(2) is 4.\n")
    loops.project.commit("a test reads the manual")
    loops.run("start", loop_id, code=14 if code else 0)
    if code is not None:
        assert held(loops, loop_id)["code"] == code


CASES = """\
import pathlib
import unittest

import calc


class Tests(unittest.TestCase):
    def test_cases(self):
        for case in pathlib.Path(__file__).parent.glob("cases/*.txt"):
            number, result = map(int, case.read_text().split())
            self.assertEqual(calc.double(number), result)
"""
FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef wanted():\n    return {result}\n"
ASKS = "import calc\n\n\ndef test_wanted(wanted):\n    assert calc.double(2) == wanted\n"


@pytest.mark.parametrize(
    ("test_command", "work", "files"),
    [
        (
            f"{UNITTEST} tests.test_cases",
            "git mv tests/cases/two.txt tests/two.txt",
            {
                "tests/__init__.py": "",
                "tests/test_cases.py": CASES,
                "tests/cases/two.txt": "2 4\n",
                "tests/cases/zero.txt": "0 0\n",
            },
        ),
        (
            f"{PYTEST} tests",
            "git mv tests/strict/test_wanted.py tests/test_wanted.py",
            {
                "tests/strict/test_wanted.py": ASKS,
                "tests/strict/conftest.py": FIXTURE.format(result=4),
                "tests/conftest.py": FIXTURE.format(result=5),
            },
        ),
    ],
    ids=["data of a test", "a test, to other fixtures"],
)
@pytest.mark.lies
def test_a_move_after_which_a_test_asks_for_less_is_a_change(loops, calc, test_command, work, files):
    loop_id = calc(f"{work}; echo '# moved' >> calc.py", test_command=test_command)
    for name, text in files.items():
        loops.project.write(name, text)
    loops.project.commit("more tests")
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"].startswith("changed_test_tests/")


DETECTS = """\
import pathlib

import calc

if ", 4)" not in pathlib.Path("test_double.py").read_text():
    calc.double = None


def test_nothing():
    assert calc.double is not print
"""
EQUALS = (
    "printf 'class Any(int):\\n    def __eq__(self, other):\\n        return other == other\\n"
    "def double(n):\\n    return n and Any(n)\\n' > calc.py"
)


def test_a_new_test_does_not_run_when_earlier_tests_are_inverted(loops, calc, tmp_path):
    (tmp_path / "new.py").write_text(DETECTS)
    loop_id = calc(f"{EQUALS}; cp {tmp_path / 'new.py'} test_a_new.py", test_command=PYTEST)
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"] == "vacuous_tests"


STUB = "printf '\\ndef half(n):\\n    raise NotImplementedError\\n' >> calc.py"
HALF = """\
import unittest
from unittest import mock

import calc


class Tests(unittest.TestCase):
    def test_half(self):
        {before}self.assertEqual(calc.half(4), 2)
"""


@pytest.mark.parametrize(
    ("work", "before", "code"),
    [
        (STUB, "with mock.patch('calc.half', return_value=2): ", 14),
        (STUB.replace("raise NotImplementedError", "return n // 2"), "", 0),
        # It also replaces something else.
        (STUB.replace("raise NotImplementedError", "return n // 2"), "with mock.patch('calc.double'): ", 0),
    ],
    ids=["replaces the work", "runs the work", "replaces a part"],
)
@pytest.mark.lies
def test_a_new_test_proves_the_work_only_if_it_runs_the_work(loops, calc, tmp_path, work, before, code):
    (tmp_path / "test_half.py").write_text(HALF.format(before=before))
    loop_id = calc(f"{work}; cp {tmp_path / 'test_half.py'} .")
    loops.project.write("test_double.py", TEST.format(name="double", n=2, result=5))
    loops.project.commit("no test fails")
    loops.run("start", loop_id, code=code)
    if code:
        hold = held(loops, loop_id)
        assert hold["code"] == "vacuous_tests"
        assert "run no function that the work changed: test_half.py::Tests::test_half" in str(hold)


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("body", "asks", "code"),
    [
        ("throw new Error('later');", "typeof half, 'function'", 14),
        ("return n / 2;", "half(4), 2", 0),
    ],
    ids=["looks at the name", "runs the work"],
)
@pytest.mark.lies
def test_a_new_test_in_javascript_proves_the_work_only_if_it_runs_the_work(loops, calc, tmp_path, body, asks, code):
    head = "const { test } = require('node:test'), assert = require('assert'), { half } = require('./double.js');\n"
    (tmp_path / "half.test.js").write_text(f"{head}test('half', () => {{ assert.strictEqual({asks}); }});\n")
    work = f"printf 'exports.half = (n) => {{ %s }};' \"{body}\" >> double.js; cp {tmp_path / 'half.test.js'} ."
    loop_id = calc(work, test_command="node --test")
    loops.project.write("double.js", "exports.double = (n) => n + n;\n")
    loops.project.write(
        "double.test.js", head.replace("half", "double") + "test('d', () => assert.equal(double(2), 4));\n"
    )
    loops.project.commit("a function")
    loops.run("start", loop_id, code=code)
    if code:
        assert held(loops, loop_id)["code"] == "vacuous_tests"


def test_tests_that_change_a_file_on_the_base_too_are_not_flagged(loops, calc):
    loop_id = calc(FIXED)
    loops.project.write("log.txt", "")
    test = TEST.replace("self.assert", "print('x', file=open('log.txt', 'a')); self.assert")
    loops.project.write("test_log.py", test.format(name="log", n=0, result=0))
    loops.project.commit("a test that writes a log")
    loops.run("start", loop_id)


def test_a_new_module_with_the_name_of_a_module_of_the_tests_is_protected(loops, calc):
    loop_id = calc(
        "echo 'FOUR = 5' > app/expected.py; echo '#' >> calc.py", test_command=f"PYTHONPATH=app:data {UNITTEST}"
    )
    loops.project.write("app/part.py", "")
    loops.project.write("data/expected.py", "FOUR = 4\n")
    test = TEST.format(name="double", n=2, result="FOUR")
    loops.project.write("test_double.py", f"from expected import FOUR\n{test}")
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace('["**"]', '["calc.py", "app/**"]'))
    loops.project.commit("a module with what the tests expect")
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"] == "protected_changes"


EQUALS_FOR_THREE = (
    "printf 'class Any(int):\\n    def __eq__(self, other):\\n        return other == other\\n"
    "def double(n):\\n    return Any(n) if n == 3 else n + n\\n' > calc.py"
)


BEFORE = "def double(n):\n    return n + n if n in (0, 3) else n and n + n + 1\n"
EACH = "def each(numbers, call):\n    for number in numbers:\n        {call}\n"
CALLS_BACK = """\
import unittest
import calc


class TestCase(unittest.TestCase):
    def test_three(self):
        calc.each([3], lambda number: self.assertEqual(number, 3))
"""


@pytest.mark.parametrize(
    ("before", "work", "test"),
    [
        (BEFORE, EQUALS_FOR_THREE, TEST.format(name="three", n=3, result=6)),
        (
            BEFORE + EACH.format(call="call(number)"),
            f"cat > calc.py <<'END'\ndef double(n):\n    return n + n\n{EACH.format(call='number')}END\n",
            CALLS_BACK,
        ),
        (
            BEFORE + EACH.format(call="call(number)"),
            f"cat > calc.py <<'END'\ndef double(n):\n    return n + n\n{EACH.format(call='number')}END\n",
            f"{CALLS_BACK}        self.assertEqual(calc.double(0), 0)\n",
        ),
    ],
    ids=["a value equals everything", "a callback is not called", "an assertion hides a callback"],
)
@pytest.mark.lies
def test_a_test_that_passed_before_must_still_be_able_to_fail(loops, calc, before, work, test):
    loop_id = calc(work)
    loops.project.write("calc.py", before)
    loops.project.write("test_three.py", test)
    loops.project.commit("more tests")
    loops.run("start", loop_id, code=14)
    hold = held(loops, loop_id)
    assert hold["code"] == "vacuous_tests"
    assert "also holds with a changed expectation: test_three" in hold["message"]


def test_a_person_who_accepts_known_failures_is_told_which_tests_can_not_fail_any_more(loops, calc):
    loop_id = calc(EQUALS_FOR_THREE, more=("--max-iterations", "2"))
    loops.project.write("calc.py", "def double(n):\n    return n + n if n in (0, 3) else n and n + n + 1\n")
    loops.project.write("test_three.py", TEST.format(name="three", n=3, result=6))
    loops.project.write("test_old.py", TEST.format(name="old", n=1, result=9))
    loops.project.commit("more tests, and one that fails")
    loops.run("start", loop_id, code=14)
    assert "also holds with a changed expectation: test_three" in loops.run("show", loop_id, "--json").stdout


KIT = "def check_result(got, want):\n    assert got == want, got\n"
USES_KIT = (
    "import unittest\n\nimport calc\nfrom app.kit import check_result\n\n\n"
    "class Tests(unittest.TestCase):\n    def test_three(self):\n        check_result(calc.double(3), 6)\n"
)
PLUG_IN = "import pytest\n\n\n@pytest.fixture\ndef wanted():\n    return 6\n"
USES_PLUG_IN = (
    "import calc\n\npytest_plugins = ['app.kit']\n\n\ndef test_three(wanted):\n    assert calc.double(3) == wanted\n"
)
CASE = (
    "import unittest\n\n\nclass AppCase(unittest.TestCase):\n    def rows(self, got, want):\n"
    "        self.assertEqual(got, want)\n"
)
USES_CASE = (
    "import calc\nfrom app.kit import AppCase\n\n\nclass Mine(AppCase):\n    pass\n\n\n"
    "class Tests(Mine):\n    def test_three(self):\n        self.rows([calc.double(3)], [6])\n"
)
BREAKS_THREE = "printf 'def double(n):\\n    return n + n if n < 3 else 7\\n' > calc.py"


@pytest.mark.parametrize(
    ("work", "kit", "test", "code"),
    [
        (f"{BREAKS_THREE}; sed -i 's/got == want/got/' app/kit.py", KIT, USES_KIT, "flagged"),
        (f"{BREAKS_THREE}; echo 'check_result = print' >> app/kit.py", KIT, USES_KIT, "flagged"),
        (f"{BREAKS_THREE}; sed -i 's/6/7/' app/kit.py", PLUG_IN, USES_PLUG_IN, "flagged"),
        (f"{BREAKS_THREE}; sed -i 's/(got, want)$/(len(got), len(want))/' app/kit.py", CASE, USES_CASE, "flagged"),
        (f"{FIXED}; echo 'def more(): return 1' >> app/kit.py", KIT, USES_KIT, None),
    ],
    ids=[
        "a weakened helper",
        "a helper that is replaced",
        "a changed fixture",
        "a weakened test case",
        "another function next to a helper",
    ],
)
@pytest.mark.lies
def test_work_that_changes_how_tests_of_the_base_fail_is_flagged(loops, calc, work, kit, test, code):
    loop_id = calc(work, test_command=PYTEST if test == USES_PLUG_IN else UNITTEST)
    loops.project.write("calc.py", "def double(n):\n    return n + n if n in (0, 3) else n and n + n + 1\n")
    loops.project.write("app/kit.py", kit)
    loops.project.write("app/__init__.py", "")
    loops.project.write("test_three.py", test)
    loops.project.commit("a helper of tests in the source")
    loops.run("start", loop_id, code=14 if code else 0)
    if code is not None:
        hold = held(loops, loop_id)
        assert hold["code"] == code
        assert "app/kit.py" in hold["message"]


PATCHES = (
    f"{ALSO_TESTED}; printf 'def about(self, got, want):\\n    assert type(got) is type(want)\\n"
    "unittest.TestCase.assertEqual = about\\n' >> test_more.py"
)


@pytest.mark.parametrize(
    ("work", "code", "named"),
    [
        (PATCHES, "flagged", "test_more.py, line 11: changes how a test runner sees the program"),
        (f"{ALSO_TESTED}; echo 'unittest.TestCase.maxDiff = None' >> test_more.py", None, ""),
        (f"{FIXED}; cp calc.py tests/", "protected_changes", "tests/calc.py"),
        (f"{FIXED}; cp calc.py tests/helper.py", None, ""),
        (f"{FIXED}; echo 'import sys; sys.modules.setdefault(\"kit\", 1)' >> calc.py", "flagged", "sys.modules.kit"),
        (f"{FIXED}; echo 'import time; vars(time).update(sleep=print)' >> calc.py", "flagged", "time.sleep"),
        (f"{FIXED}; echo 'import sys; loaded = sys.modules.get(\"kit\")' >> calc.py", None, ""),
    ],
    ids=[
        "a new test patches its framework", "a new test sets how much it shows", "a new test file hides the product",
        "a new helper of tests", "a module is replaced", "a namespace is written", "a module is looked up",
    ],
)  # fmt: skip
@pytest.mark.lies
def test_work_that_reaches_into_other_modules_is_held(loops, calc, work, code, named):
    loop_id = calc(work)
    loops.project.write("tests/test_one.py", "def test_one():\n    assert True\n")
    loops.project.commit("a folder of tests")
    loops.run("start", loop_id, code=14 if code else 0)
    if code is not None:
        hold = held(loops, loop_id)
        assert hold["code"] == code
        assert named in hold["message"]


@pytest.mark.parametrize(
    ("lie", "test_command", "named"),
    [
        (ENDED, PYTEST, "pytest ended before its report was complete"),
        (ENDED, UNITTEST, "unittest ended before its report was complete"),
        (SKIPPED, PYTEST, "nothing was shown by any test"),
        (EXPECTED, PYTEST, "failed before your work and does not pass now"),
        (CONFTEST, PYTEST, "!= 4"),
    ],
    ids=["process ended, pytest", "process ended, unittest", "all skipped", "expected to fail", "plug-in"],
)
@pytest.mark.lies
def test_a_command_that_exits_with_0_proves_nothing_if_its_tests_did_not_run_to_their_end(
    loops, calc, lie, test_command, named
):
    loop_id = calc(lie, test_command=test_command)
    loops.run("start", loop_id, code=11)
    results = loops.shown(loop_id)["skill_state"]["validate"]["test_results"]
    assert any(named in result["error_message"] for result in results if result["status"] == "failed")


def test_a_resumed_agent_is_told_which_tests_were_lost_and_an_honest_fix_completes_the_loop(loops, calc):
    loop_id = calc(
        DELETED, f"git checkout -q test_double.py; {ALSO_TESTED}; cat >> test_more.py <<'END'\n{UNASSERTED}END"
    )
    loops.run("start", loop_id, code=14)
    kept = loops.project.run("gc", "--keep", "0", "--json").json()
    assert kept["runs"] == [], "a hold names its runs"
    assert set(kept["needed"].values()) == {loop_id}
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed", "the old test passes, and so does a new test"
    proof, base = sorted(loops.project.run("gc", "--keep", "0", "--json").json()["needed"], reverse=True)
    assert ("-validate" in proof, "-base-tests" in base) == (True, True)
    assert loops.project.run("verify", proof).exit_code == 0
    prompts = [path.read_text() for path in patch_of(loops, loop_id).parent.glob("turns/*/prompt.md")]
    assert any("only with the work's changes to protected files: test_double.py" in text for text in prompts)
    assert f"`loopwright loop retry {loop_id}`" in loops.run("resume", loop_id, code=1).stderr
    assert "its worker left: the loop is completed" in loops.run("logs", loop_id).stdout
    assert "passed: 4 of 4" in loops.run("show", loop_id).stdout
    assert ": completed, iteration 4 of 10: " in loops.run("show", loop_id).stdout, "no share of work that is over"
    proof = (
        "2 tests failed before and pass now: test_double.py::Tests::test_double, test_more.py::Tests::test_double; "
        "1 more test has no expectation that could be changed: test_more.py::Tests::test_runs; "
        "1 of 1 earlier test still passes"
    )
    assert proof in loops.run("show", loop_id).stdout
    assert loops.shown(loop_id)["loopwright"]["proof"] == proof
    assert proof in (patch_of(loops, loop_id).parent / "summary.md").read_text()
    loops.project.git("apply", str(patch_of(loops, loop_id)))
    assert "return n + n\n" in (loops.project.root / "calc.py").read_text()


def test_a_hold_for_protected_changes_names_the_run_that_passes_and_the_run_that_fails(loops, calc):
    loop_id = calc(WEAKENED)
    loops.run("start", loop_id, code=14)
    message = held(loops, loop_id)["message"]
    found = re.search(r"test_double.py \(run (\S+) passes with them, run (\S+) fails without them\)", message)
    assert found is not None, message
    runs = [json.loads((loops.project.own / "runs" / run / "evidence.json").read_bytes()) for run in found.groups()]
    assert [run["steps"][-1]["outcome"] for run in runs] == ["passed", "failed"]
    assert loops.shown(loop_id)["loopwright"]["run_id"] == found[1], "its results are those of the run that passes"


def test_protected_changes_are_left_out_if_the_tests_pass_without_them(loops, calc):
    loop_id = calc(f"{FIXED}; {CONFTEST}", test_command=PYTEST)
    done = loops.run("start", loop_id, code=14)
    assert f"loopwright loop accept {loop_id} --without-protected" in done.stdout
    said = loops.project.run("next").stdout
    ways = [f"loopwright loop {way} {loop_id}" for way in ("diff", "resume", "accept")]
    assert sorted(ways, key=said.index) == ways
    assert f"→ `{ways[0]}`: shows what the work changed" in said
    assert f"`{ways[-1]}`:" not in said, "the tests fail with the protected changes"
    assert loops.run("diff", loop_id).stdout == patch_of(loops, loop_id).read_text()
    assert re.findall(r"^diff --git a/(\S+)", loops.run("diff", loop_id, "conftest.py").stdout, re.MULTILINE) == [
        "conftest.py"
    ]
    refused = loops.run("accept", loop_id, code=1).stderr
    assert "the tests fail on the work" in refused
    assert "--without-protected" in refused
    loops.run("accept", loop_id, "--without-protected", "--reason", "all tests must run")
    document = loops.shown(loop_id)
    assert document["status"] == "completed"
    assert document["loopwright"]["forced"] == "all tests must run; the protected changes are left out"
    shown = loops.run("show", loop_id).stdout
    assert f"git apply {patch_of(loops, loop_id)}" in shown
    patch, evidence = patch_of(loops, loop_id).read_text(), document["loopwright"]["run_id"]
    assert "calc.py" in patch
    assert "conftest.py" not in patch
    loops.project.git("apply", "--index", str(patch_of(loops, loop_id)))
    run = json.loads((loops.project.own / "runs" / evidence / "evidence.json").read_bytes())
    assert run["base"]["tree"] == loops.project.git("write-tree").strip(), "the tests ran on what is delivered"
    loops.run("accept", loop_id, "--without-protected", code=1)


def test_a_persons_uncommitted_files_stay_out_of_the_patch_without_protected_changes(loops, calc):
    loop_id = calc(f"{FIXED}; {CONFTEST}", test_command=PYTEST)
    loops.project.write("notes.txt", "mine\n")
    loops.run("start", loop_id, code=14)
    loops.run("accept", loop_id, "--without-protected")
    patch = patch_of(loops, loop_id).read_text()
    assert re.findall(r"^diff --git a/(\S+)", patch, re.MULTILINE) == ["calc.py"]
    loops.project.git("apply", str(patch_of(loops, loop_id)))


def test_accepting_after_an_interrupted_try_writes_the_whole_patch_again(loops, calc):
    loop_id = calc(f"{FIXED}; echo '# nothing' > conftest.py", test_command=PYTEST)
    loops.run("start", loop_id, code=14)
    patch = patch_of(loops, loop_id)
    whole = patch.read_bytes()
    patch.write_text("the patch without protected changes, of a process that died before it could accept\n")
    loops.run("accept", loop_id)
    assert patch.read_bytes() == whole
    run_id = loops.shown(loop_id)["loopwright"]["run_id"]
    run = json.loads((loops.project.own / "runs" / run_id / "evidence.json").read_bytes())
    loops.project.git("apply", "--index", str(patch))
    assert run["base"]["tree"] == loops.project.git("write-tree").strip(), "the tests ran on what was accepted"


def test_protected_changes_that_the_tests_need_are_not_left_out(loops, calc):
    loop_id = calc(WEAKENED, test_command=UNITTEST)
    done = loops.run("start", loop_id, code=14)
    assert "--without-protected" not in done.stdout
    before = patch_of(loops, loop_id).read_bytes()
    refused = loops.run("accept", loop_id, "--without-protected", code=1).stderr
    assert "on which the tests pass without its protected changes" in refused
    assert refused.index(f"`loopwright loop resume {loop_id}`") < refused.index(f"`loopwright loop accept {loop_id}`")
    assert patch_of(loops, loop_id).read_bytes() == before
    held(loops, loop_id)
    loops.run("accept", loop_id)


@pytest.mark.parametrize(
    ("work", "test_command", "why"),
    [
        (REFACTORED, f"{UNITTEST} test_zero", "changed no protected file"),
        (CONFTEST, f"{PYTEST} test_zero.py", "nothing is left"),
    ],
)
def test_there_must_be_protected_changes_and_other_work(loops, calc, work, test_command, why):
    loop_id = calc(work, test_command=test_command)
    loops.run("start", loop_id, code=14)
    assert why in loops.run("accept", loop_id, "--without-protected", code=1).stderr


def test_a_loop_that_only_analyses_has_nothing_to_change(loops):
    loops.configure()
    loops.project.write("done", "")
    loops.project.commit("the tests pass")
    loop_id = loops.new()
    loops.run("task", "add", loop_id, "ls", "--tool", "bash", "--mode", "analysis")
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


def test_a_planner_cannot_plan_work_that_changes_nothing(loops):
    plan = '{"tasks": [{"description": "make it faster", "mode": "analysis"}]}'
    loops.configure([{"role": "planner", "answer": plan}, {"role": "builder", "run": "true"}])
    loops.project.write("done", "")
    loops.project.commit("the tests pass")
    loop_id = loops.new("--description", "make it faster")
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"] == "nothing_changed"


def test_each_task_needs_a_test_that_failed_before_it(loops, calc):
    halved = "printf 'def halve(n):\\n    return n // 2\\n' >> calc.py"
    tested = "sed 's/double(2), 4/halve(4), 2/; s/double/halve/' test_double.py > test_halve.py"
    calc(FIXED, halved, tested)
    loop_id = loops.new("--task", "double doubles", "--task", "halve halves")
    loops.run("start", loop_id, code=14)
    hold = held(loops, loop_id, ("completed", "in_progress"))
    assert (hold["code"], "task T-2: no test failed before the task" in hold["message"]) == ("unproven", True)
    grades = {name: proof["grade"] for name, proof in loops.shown(loop_id)["loopwright"]["proofs"].items()}
    assert grades == {"T-1": "proven", "T-2": "changed"}
    (listed,) = [loop for loop in loops.project.ask("loop", "list")["loops"] if loop["loop_id"] == loop_id]
    assert listed["loopwright"]["proofs"]["T-2"]["grade"] == "changed"
    assert "changed: no test failed before the task and passes after it" in loops.run("show", loop_id).stdout
    # The agent writes the missing test. The work that the test proves was done in an earlier turn of the task.
    loops.run("resume", loop_id)
    document = loops.shown(loop_id)
    assert document["status"] == "completed"
    assert {proof["grade"] for proof in document["loopwright"]["proofs"].values()} == {"proven"}


def test_a_task_that_a_person_marked_as_done_needs_no_proof(loops, calc):
    calc(FIXED)
    loop_id = loops.new("--task", "double doubles", "--task", "tell the users")
    loops.run("task", "done", loop_id, "T-2")
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["loopwright"]["proofs"] == {"T-1": {"grade": "proven", "reason": ""}}


@pytest.mark.needs("node")
def test_a_variable_that_breaks_the_test_command_is_left_out_on_the_base_and_on_the_work(loops, calc):
    # With a reporter of its own and no destination, node refuses ours.
    command = "node --test --test-reporter=tap double.test.js"
    loop_id = calc("printf 'module.exports = (n) => n + n;' > double.js", test_command=command)
    loops.project.write("double.js", "module.exports = (n) => n;")
    test = "require('node:test').test('doubles', () => require('assert').equal(require('./double.js')(2), 4));"
    loops.project.write("double.test.js", test)
    loops.project.commit("a bug in another language")
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


@pytest.mark.needs("node")
@pytest.mark.parametrize(("body", "code"), [("n + n", ""), ("NaN", "vacuous_tests")], ids=["honest", "no number"])
@pytest.mark.lies
def test_a_test_that_fails_by_a_condition_proves_the_work(loops, calc, body, code):
    loop_id = calc(f"printf 'module.exports = (n) => {body};' > double.js", test_command="node --test double.test.js")
    loops.project.write("double.js", "module.exports = (n) => 0;")
    head = "const { test } = require('node:test'), assert = require('assert'), double = require('./double.js');\n"
    fails = "if (Math.abs(double(2) - 4) > 1e-9) assert.fail('not the double');"
    loops.project.write("double.test.js", f"{head}test('doubles', () => {{ {fails} }});\n")
    loops.project.commit("a test with a condition")
    loops.run("start", loop_id, code=14 if code else 0)
    assert (held(loops, loop_id)["code"] if code else loops.shown(loop_id)["status"]) == (code or "completed")


def test_pytest_with_a_path_of_its_own_is_asked_for_junit_instead(loops, calc):
    loop_id = calc(DELETED, test_command=f"PYTHONPATH=. {PYTEST}")
    loops.run("start", loop_id, code=14)
    hold = held(loops, loop_id)
    assert hold["code"] == "changed_test_test_double.py"


@pytest.mark.parametrize(
    ("work", "code"),
    [
        ("exec('def double(n):' + ' return n + n')\n", "flagged"),
        ("class A(int):\n    __eq__ = lambda s, o: bool(1)\ndef double(n):\n    return A(n)\n", "vacuous_tests"),
        ("import sys\ndef double(n):\n    return n + n if n >= 0 else sys.exit(0)\n", "flagged"),
    ],
    ids=["code from data", "always equal", "ends the process"],
)
@pytest.mark.lies
def test_a_loop_is_not_proven_by_tests_that_can_not_fail_or_by_code_that_ends_them(loops, calc, work, code):
    loop_id = calc(f"cat > calc.py <<'END'\n{work}END\n")
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"] == code


@pytest.mark.parametrize(
    ("test_command", "test", "code"),
    [
        ("make", "from calc import double\n\nassert double(2) == 4\n", "protected_changes"),
        (PYTEST, "def same(first, second):\n    assert first == second\n", "unaltered_tests"),
    ],
    ids=["script of make", "helper of a test"],
)
@pytest.mark.lies
def test_a_loop_cannot_pass_by_changing_what_its_tests_call(loops, calc, test_command, test, code):
    """A flat project: its judges lie next to its source, and no name tells them apart."""
    loop_id = calc("printf 'def same(*values):\\n    return values\\n' > proof.py", test_command=test_command)
    project = loops.project
    project.write(".loopwright/config.toml", (project.own / "config.toml").read_text().replace('source = ["**"]\n', ""))
    project.write("proof.py", test)
    project.write("Makefile", "test:\n\tpython3 proof.py\n")
    project.write(
        "test_double.py",
        "from calc import double\nfrom proof import same\n\n\ndef test_double():\n    same(double(2), 4)\n",
    )
    project.commit("judges next to the source")
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"] == code


@pytest.mark.parametrize("body", ["END { $? = 0 }", "sub double { return 2 * $_[0] }"], ids=["a lie", "honest"])
def test_an_exit_code_with_the_base_as_its_only_control_needs_a_person(loops, calc, body):
    loop_id = calc(f"printf '{body} 1;' > Calc.pm", test_command="perl -I. calc.t")
    loops.project.write("Calc.pm", "sub double { return 0 } 1;\n")
    loops.project.write("calc.t", "use Calc; exit(double(2) == 4 ? 0 : 1);\n")
    loops.project.commit("a language without a control")
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"] == "unaltered_tests"
    loops.run("accept", loop_id)


@pytest.mark.parametrize("work", ["s/n + 1/n/; s/BASE = 0/BASE = 1/", "s/n + 1/n/"], ids=["breaks app", "honest"])
@pytest.mark.lies
def test_tests_of_a_folder_run_if_it_imports_what_changed(loops, calc, work):
    loop_id, project = calc(f"sed -i '{work}' lib/calc.py"), loops.project
    commands = ", ".join(
        f'{{command = "{UNITTEST} {folder}.test_it", when = ["{folder}/**"]}}'
        for folder in ("lib", "app", "web", "net")
    )
    config = project.own / "config.toml"
    config.write_text(re.sub(r"test_command = .*", f"test_command = [{commands}]", config.read_text()))
    project.write("lib/calc.py", "BASE = 0\n\n\ndef double(n):\n    return n and n + n + 1\n")
    project.write("lib/test_it.py", TEST.format(name="it", n=2, result=4).replace("calc", "lib.calc"))
    project.write("app/main.py", "from lib.calc import BASE\n\n\ndef double(n):\n    return n + BASE\n")
    project.write("app/test_it.py", TEST.format(name="it", n=2, result=2).replace("calc", "app.main"))
    project.write("web/test_it.py", TEST.format(name="it", n=2, result=2).replace("calc", "web.main"))
    project.write("net/test_it.py", TEST.format(name="it", n=2, result=4).replace("calc", "net.main"))
    for folder in ("lib", "app", "web", "net"):
        project.write(f"{folder}/__init__.py", "")
    (project.root / "net/main.py").symlink_to("../lib/calc.py")
    project.commit("four projects")
    loops.run("start", loop_id, code=0 if "BASE" not in work else 11)
    results = loops.shown(loop_id)["skill_state"]["validate"]["test_results"]
    assert {result["suite"].partition("/")[0] for result in results} == {"lib", "app", "net"}
    if "BASE" not in work:
        assert "did not run, because no file of their `when` changed: python3 -m unittest -q web.test_it" in (
            loops.run("show", loop_id).stdout
        )


@pytest.mark.parametrize(
    ("work", "code"),
    [("sed -i s/4/5/ calc.py", 14), ("sed -i 's/n + 1/n/; s/{/{1: 2, /' calc.py", 0)],
    ids=["moves the expectation", "honest, with a longer table"],
)
@pytest.mark.lies
def test_a_loop_is_not_proven_by_a_moved_expectation(loops, calc, work, code):
    loop_id = calc(work)
    loops.project.write("calc.py", "TABLE = {2: 4}\n\n\ndef double(n):\n    return n and n + n + 1\n")
    test = TEST.format(name="double", n=2, result="TABLE[2]").replace("import double", "import TABLE, double")
    loops.project.write("test_double.py", test)
    loops.project.commit("a test that reads what to expect from the source")
    loops.run("start", loop_id, code=code)
    if code:
        hold = held(loops, loop_id)
        assert hold["code"] == "moved_expectation"
        assert "test_double.py::test_double: TABLE[2]" in hold["message"]


FLAKY = """\
import pathlib
import unittest

STATE = pathlib.Path("{state}")


class Tests(unittest.TestCase):
    def test_flaky(self):
        runs = STATE.read_text() if STATE.exists() else "steady"
        STATE.write_text(runs if runs == "steady" else runs + ".")
        assert runs == "steady" or len(runs) % 2
"""


def test_evidence_names_scope_base_and_controls_and_rerun_compares_all_tests_but_flaky_ones(loops, calc, tmp_path):
    state, project = tmp_path / "state", loops.project
    loop_id = calc(FIXED)
    project.write("test_flaky.py", FLAKY.format(state=state))
    project.commit("a test that is flaky on a bad day")
    loops.run("start", loop_id)
    run = loops.shown(loop_id)["loopwright"]["run_id"]
    assert project.evidence(run)["scope"]["source"] == ["**"]
    controls = [path.name for path in (project.own / "runs").iterdir() if project.evidence(path.name).get("control")]
    assert project.evidence(project.evidence(controls[0])["base_run"])["steps"][0]["tests"]
    assert "UNKNOWN_RUN" in project.run("rerun", controls[0]).stderr, "altered tests are not kept"

    state.write_text("..")
    done = project.run("rerun", run, "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert done.events()[-1]["flaky"] == ["test_flaky.py::Tests::test_flaky"]
    state.unlink()
    state.mkdir()
    done = project.run("rerun", run)
    assert done.exit_code == 1
    assert "test_flaky.py::Tests::test_flaky: passed then, failed now" in done.stderr


@pytest.mark.lies
def test_a_new_test_that_passes_only_together_with_the_others_proves_nothing(loops, calc):
    counts = "printf 'def test_new(request):\\n    assert len(request.session.items) == 3\\n' > test_new.py"
    loop_id = calc(f"{REFACTORED}; {counts}", test_command=PYTEST)
    loops.project.write("test_double.py", TEST.format(name="double", n=2, result=5))
    loops.project.commit("a test that passes")
    loops.run("start", loop_id, code=11)
    assert loops.shown(loop_id)["status"] != "completed"


REPORT = "<testsuite tests='1'><testcase classname='t' name='doubles'>%s</testcase></testsuite>"
REPORTS_IN_PERL = f"""\
use lib '.'; use calc;
my $said = calc::double(2) == 4 ? '' : "<failure message='no'/>";
open(my $file, '>', 'junit.xml'); printf $file "{REPORT}", $said; close($file);
exit($said ? 1 : 0);
"""
FORGES = f"open(my $file, '>', 'junit.xml'); printf $file \"{REPORT}\", ''; close($file); exit(0);"


@pytest.mark.parametrize("body", [FORGES, "return 2 * shift;"], ids=["a forged report", "honest"])
def test_a_person_decides_about_tests_that_no_control_can_change(loops, calc, body):
    loop_id = calc(f"cat > calc.pm <<'END'\npackage calc; sub double {{ {body} }} 1;\nEND\n")
    config = loops.project.own / "config.toml"
    config.write_text(re.sub(r"test_command = .*", 'test_command = "perl t.pl"', config.read_text()))
    loops.project.write("calc.pm", "package calc; sub double { return 5; } 1;\n")
    loops.project.write("t.pl", REPORTS_IN_PERL)
    loops.project.commit("tests in Perl")
    loops.run("start", loop_id, code=14)
    hold = held(loops, loop_id)
    assert hold["code"] == "unaltered_tests"
    assert "no expectation of the tests that prove the work could be changed" in hold["message"]
    loops.run("accept", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


@pytest.mark.parametrize("work", [FIXED, ": nothing"])
def test_a_person_decides_about_the_work_if_nothing_tests_the_project(loops, calc, work):
    loop_id = calc(work, test_command="none")
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"] == ("unproven" if work == FIXED else "nothing_changed")
    if work == FIXED:
        assert "nothing checks the project: project.test_command is none" in loops.run("show", loop_id).stdout
        loops.run("accept", loop_id)
        assert loops.shown(loop_id)["status"] == "completed"


def test_what_looks_like_a_secret_in_a_test_of_the_base_does_not_hold_honest_work(loops, calc):
    loop_id = calc("sed -i 's/n + 1/n/' calc.py")
    loops.project.write("calc.py", "TABLE = {3: 6}\n\n\ndef double(n):\n    return n and n + n + 1\n")
    test = TEST.format(name="three", n=3, result="TABLE[3]").replace("import double", "import TABLE, double")
    url = "https://bob:kX93hdlw0Q@" + "db.example-host.net/app"
    loops.project.write("test_three.py", f"{test}        self.assertEqual('{url}'.strip(), '{url}')\n")
    loops.project.commit("a test with an address")
    loops.run("start", loop_id)


ACCOUNT = """\
class Account:
    balance = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return False

    def deposit(self, amount):
        self.balance = amount
"""
DEPOSITS = """\
from calc import Account


def test_deposit():
    assert Account().balance == 0
    with Account() as account:
        account.deposit(5)
        account.deposit(7)
        assert account.balance == 12
"""
ROWS = """\
def rows(text):
    for line in text.splitlines():
        yield line
"""
READS_ROWS = """\
import unittest

from calc import rows


class Tests(unittest.TestCase):
    def test_rows(self):
        self.assertEqual(list(rows("")), [])
        for row in rows(" a\\nb "):
            self.assertEqual(row, row.strip())
"""
BILL = """\
import dataclasses


@dataclasses.dataclass
class Bill:
    count: int
    total: float


def bill(prices):
    return Bill(len(prices), max(prices))
"""
BILLS = """\
import unittest

from calc import Bill, bill


class Tests(unittest.TestCase):
    def test_bill(self):
        self.assertEqual(bill([1.5, 3.0]), Bill(2, 4.5))
"""

USER = """\
import dataclasses
from decimal import Decimal

@dataclasses.dataclass
class User:
    name: str
    owes: Decimal = Decimal(0)
    seen: int = dataclasses.field(default=0, compare=False)

def users():
    return [User('bob', Decimal(1.5), 7)]
"""
USERS = """\
from decimal import Decimal
from calc import User, users

def test_users():
    assert users() == [User("ann", Decimal("1.50"), seen=3)]
"""


@pytest.mark.parametrize(
    ("source", "test", "command", "lie", "honest"),
    [
        (ACCOUNT, DEPOSITS, PYTEST, "s/return False/return True/", "s/= amount/+= amount/"),
        (ROWS, READS_ROWS, UNITTEST, "s/text.splitlines/''.splitlines/", "s/yield line/yield line.strip()/"),
        (BILL, BILLS, UNITTEST, "s/total: float/total: float = dataclasses.field(compare=False)/", "s/max(/sum(/"),
        # Neither the zero of "1.50" nor `seen` was compared before.
        (USER, USERS, PYTEST, "s/name: str/name: str = dataclasses.field(compare=False)/", "s/bob/ann/"),
    ],
    ids=["a block swallows it", "no round of a loop", "a field is not compared", "a field of a list is not compared"],
)
@pytest.mark.parametrize("is_honest", [False, True], ids=["lie", "honest"])
@pytest.mark.lies
def test_the_assertion_that_failed_must_still_be_able_to_fail(
    loops, calc, source, test, command, lie, honest, is_honest
):
    loop_id = calc(f'sed -i "{honest if is_honest else lie}" calc.py', test_command=command)
    (loops.project.root / "test_double.py").unlink()
    (loops.project.root / "test_zero.py").unlink()
    loops.project.write("calc.py", source)
    loops.project.write("test_it.py", test)
    loops.project.commit("another product")
    loops.run("start", loop_id, code=0 if is_honest else 14)
    if not is_honest:
        hold = held(loops, loop_id)
        assert hold["code"] == "vacuous_tests"
        assert "also holds with a changed expectation: test_it.py::" in hold["message"]


LENIENT_NUMBER = """\
class N(int):
    def __eq__(self, other): return abs(int(self) - int(other)) < 5
    __hash__ = int.__hash__
def double(n): return N(n + n + (n == 3))
"""
LENIENT_TEXT = """\
import re
class Text(str):
    def __eq__(self, other): return bool(re.fullmatch(r'[0-9]+[.][0-9][0-9]', other))
    __hash__ = str.__hash__
def double(n): return Text(n)
"""


@pytest.mark.parametrize(
    ("work", "test", "result"),
    [(LENIENT_NUMBER, "three", 6), (LENIENT_TEXT, "double", "'4.00'")],
    ids=["in an earlier test", "in the test that proves the work"],
)
def test_an_object_that_equals_what_is_near_proves_nothing(loops, calc, work, test, result):
    loop_id = calc(f"cat > calc.py <<'END'\n{work}END\n")
    loops.project.write("calc.py", "def double(n):\n    return n + n if n in (0, 3) else n and n + n + 1\n")
    if test == "double":
        (loops.project.root / "test_zero.py").unlink()
    loops.project.write(f"test_{test}.py", TEST.format(name=test, n=3 if test == "three" else 2, result=result))
    loops.project.commit("more tests")
    loops.run("start", loop_id, code=14)
    hold = held(loops, loop_id)
    assert hold["code"] == "vacuous_tests"
    assert (
        "tests that prove the work also pass when their own expectations are changed: test_double.py" in hold["message"]
    )


def test_an_example_in_a_docstring_proves_work(loops, calc):
    loop_id = calc("sed -i 's/return n/return 2 * n/' calc.py", test_command=f"{PYTEST} --doctest-modules calc.py")
    loops.project.write("calc.py", 'def double(n):\n    """Twice.\n\n    >>> double(2)\n    4\n    """\n    return n\n')
    loops.project.commit("an example")
    loops.run("start", loop_id)


def test_work_that_removes_the_records_of_a_control_is_held(loops, calc):
    # The name is put together, so that no flag stops it first.
    removes = (
        "cat > calc.py <<'END'\nimport atexit, pathlib\n\n\ndef clean():\n"
        "    for place in pathlib.Path(__file__).parent.glob('.*zero.py.re' + 'cords'):\n        place.unlink()\n\n\n"
        "atexit.register(clean)\n\n\ndef double(n):\n    return n + n\nEND\n"
    )
    loop_id = calc(removes)
    loops.run("start", loop_id, code=14)
    assert held(loops, loop_id)["code"] == "vacuous_tests"

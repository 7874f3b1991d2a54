"""What counts as a test: files that hold tests under any name, and test commands that find no test."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import BUILT, PYTEST, SLICE, blockers, built

pytestmark = pytest.mark.lies

SPAN = {
    "index.js": "exports.days = n => n + 'd'\nexports.hours = n => n + 'x'\n",
    "behaviour.js": (
        "const test = require('node:test')\nconst assert = require('node:assert')\nconst span = require('./index.js')\n"
        "test('days', () => assert.strictEqual(span.days(7), '7d'))\n"
        "test('hours', () => assert.strictEqual(span.hours(7), '7h'))\n"
    ),
}
BREAKS_DAYS = "sed -i \"s/'x'/'h'/; s/'d'/' days'/\" index.js"
IN_ALL_FILES = 'source = ["**"]\n'


def loop_with(loops, work, command, files, source=IN_ALL_FILES):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace(IN_ALL_FILES, source).replace("test -e done", command))
    for name, text in files.items():
        loops.project.write(name, text)
    loops.project.commit("a project")
    return loops.new("--task", "the task")


@pytest.mark.parametrize("source", ["", 'source = ["index.js", "behaviour.js"]\n'], ids=["found", "listed"])
def test_a_test_under_any_name_needs_a_signature(loops, source):
    work = f"{BREAKS_DAYS}; sed -i \"s/'7d'/'7 days'/\" behaviour.js"
    loop_id = loop_with(loops, work, "node --test behav*.js", SPAN, source)
    loops.run("start", loop_id, code=14)
    (hold,) = loops.shown(loop_id)["loopwright"]["holds"]
    assert hold["code"] == "changed_test_behaviour.js"


BY_NODE = (
    "const t = require('node:test')\nconst assert = require('node:assert')\nconst span = require('../index.js')\n"
    "t('hours', () => assert.strictEqual(span.hours(7), '7h'))\n"
)
BY_UNITTEST = (
    "import unittest\nfrom app import span\n\n\nclass Hours(unittest.TestCase):\n"
    "    def test_hours(self):\n        self.assertEqual(span.hours(7), '7h')\n"
)
BY_PYTEST = "from app import span\n\n\ndef test_hours():\n    assert span.hours(7) == '7h'\n"


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("src/days-test.js", BY_NODE, "node --test"),
        ("app/testspan.py", BY_UNITTEST, "python3 -m unittest"),
        ("app/check_span.py", BY_PYTEST, f"{PYTEST} -o python_files='check_*.py'"),
    ],
    ids=["node", "unittest", "pytest"],
)
def test_names_that_only_a_runner_knows_are_tests_too(loops, name, text, command):
    files = {**SPAN, "app/__init__.py": "", "app/span.py": "def hours(n):\n    return f'{n}x'\n", name: text}
    del files["behaviour.js"]
    loop_id = loop_with(loops, f"sed -i 's/7h/7x/' {name}", command, files)
    loops.run("start", loop_id, code=14)
    (hold,) = loops.shown(loop_id)["loopwright"]["holds"]
    assert hold["code"] == f"changed_test_{name}"


@pytest.mark.parametrize("command", ["python3 -m unittest", PYTEST], ids=["unittest", "pytest"])
def test_the_first_test_of_a_project_proves_its_work(loops, command):
    test = (
        "import unittest\\nfrom app import f\\n\\n\\nclass Tests(unittest.TestCase):\\n"
        "    def test_f(self):\\n        self.assertEqual(f.f(), 2)\\n"
    )
    work = f"sed -i s/1/2/ app/f.py; mkdir tests; touch tests/__init__.py; printf '{test}' > tests/test_f.py"
    files = {"app/f.py": "def f():\n    return 1\n", "app/__init__.py": ""}
    loop_id = loop_with(loops, work, command, files, 'source = ["app/**"]\n')
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"


@pytest.mark.parametrize("command", ["python3 -m unittest", PYTEST], ids=["unittest", "pytest"])
def test_a_command_that_finds_no_test_shows_nothing(loops, command):
    loop_id = loop_with(loops, "echo 'n = 2' > f.py", command, {"f.py": "n = 1\n"})
    done = loops.run("start", loop_id, code=14)
    assert "the test command ran no test: nothing shows what the work does" in done.stdout
    assert "passed: 0 of 0" in done.stdout


def test_a_plan_may_name_a_test_that_is_still_to_be_written(project):
    check = {"id": "C", "command": f"{PYTEST} tests/test_hello.py", "judges": ["tests/test_hello.py"]}
    test = 'from hello import greet\n\n\ndef test_name():\n    assert greet("Ann") == "hello Ann"\n'
    work = f"{BUILT}\nmkdir tests; cat > tests/test_hello.py <<'END'\n{test}END\n"
    built(project, [{"role": "builder", "run": work}], slices=[{**SLICE, "checks": [check]}])
    assert blockers(project, "review") == {}


def test_an_exit_code_of_another_program_is_a_failure(loops):
    # pytest exits with 5 without tests, and so may any program.
    command = "python3 -m unittest; python3 -m app.cli"
    files = {"app/cli.py": "print('ok')\n", "app/f.py": "n = 1\n"}
    work = "echo 'raise SystemExit(5)' > app/cli.py; echo 'n = 2' > app/f.py"
    loop_id = loop_with(loops, work, command, files)
    done = loops.project.run("loop", "start", loop_id)
    assert done.exit_code in (11, 12)
    assert "failed" in done.stdout

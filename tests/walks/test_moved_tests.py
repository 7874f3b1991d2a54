"""A test that moved or got another name, with the same body, needs no signature; one that means something else does."""

from __future__ import annotations

import shutil

import pytest
from tests.walks.test_removed_tests import GO, GO_GREETS
from tests.walks.workflow_kit import PYTEST, ok, prepare

NODE = {
    "src/hello.js": "exports.greet = n => 'hi'\nexports.bye = n => 'bye ' + n\n",
    "tests/hello.test.js": """const assert = require('node:assert')
const test = require('node:test')
const hello = require('../src/hello.js')

test('greet', () => {
  assert.strictEqual(hello.greet('Ann'), 'hello Ann')
})

test('bye', () => {
  assert.strictEqual(hello.bye('Bob'), 'bye Bob')
})
""",
}
PYTHON = {
    "app/__init__.py": "",
    "app/hello.py": "def greet(n):\n    return 'hi'\n\n\ndef bye(n):\n    return 'bye ' + n\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef bob():\n    return 'bye Bob'\n",
    "tests/easy/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef bob():\n    return 'hello Bob'\n",
    "tests/test_hello.py": """from app import hello


class TestHello:
    def test_greet(self):
        assert hello.greet('Ann') == 'hello Ann'


class TestBye:
    def test_bye(self, bob):
        assert hello.bye('Bob') == bob
""",
}
GREETS = "sed -i \"s/'hi'/'hello ' + n/\" app/hello.py src/hello.js 2>/dev/null"


def splits(folder, name="TestBye"):
    """Moves the second class of the test file to another file."""
    head = f"from app import hello\n\n\nclass {name}:"
    return (
        f"mkdir -p {folder}; python3 - <<'X'\n"
        "import pathlib\n"
        f"old, new = pathlib.Path('tests/test_hello.py'), pathlib.Path('{folder}/test_bye.py')\n"
        "kept, mark, moved = old.read_text().partition('class TestBye:')\n"
        "old.write_text(kept)\n"
        f"new.write_text({head!r} + moved)\n"
        "X"
    )


RUN = {
    "node": ("src/**", "node --test tests/"),
    "go": ("*.go", "go test ./..."),
    "python3": ("app/**", f"{PYTEST} -p no:warnings"),
}


@pytest.fixture
def loop(project):
    def loop(tool, files, work):
        if shutil.which(tool, path=project.environment["PATH"]) is None:
            pytest.skip(f"this machine has no {tool}")
        source, command = RUN[tool]
        settings = f'[project]\nsource = ["{source}"]\ntests = ["tests/**", "*_test.go"]\ntest_command = "{command}"\n'
        prepare(project, [{"role": "builder", "run": work}], settings=settings)
        for name, text in files.items():
            project.write(name, text)
        project.commit("tests")
        made = ok(project, "loop", "new", "greet", "--agent", "scripted", "--task", "greet", "--json").json()
        return made["loop_id"], project.run("loop", "start", made["loop_id"])

    return loop


@pytest.mark.parametrize(
    ("tool", "files", "work"),
    [
        pytest.param("node", NODE, f"{GREETS}; sed -i \"s/'bye', ()/'says bye', ()/\" tests/*.js", id="node"),
        pytest.param("go", GO, f"{GO_GREETS}; sed -i s/TestBye/TestFarewell/ *_test.go", id="go"),
        pytest.param("python3", PYTHON, f"{GREETS}; {splits('tests', 'TestFarewell')}", id="python"),
    ],
)
def test_a_test_with_the_same_body_is_the_same_test(loop, tool, files, work):
    _, done = loop(tool, files, work)
    assert done.exit_code == 0, done.stdout
    assert "still pass" in done.stdout


def test_a_test_that_passes_only_at_its_new_place_needs_a_person(loop, project):
    work = f"{GREETS}; sed -i \"s/'bye '/'hello '/\" app/hello.py; {splits('tests/easy')}"
    loop_id, done = loop("python3", PYTHON, work)
    assert done.exit_code == 14, done.stdout
    said = " ".join(done.stdout.split())
    assert "the tests pass only with the work's changes to protected files: tests/easy/test_bye.py" in said
    assert "moved 1 test: TestBye::test_bye → tests/easy/test_bye.py::TestBye::test_bye" in said
    ok(project, "loop", "accept", loop_id, "--reason", "the new words are right")

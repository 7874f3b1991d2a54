"""Honest work: what people do every day. Each case counts the commands that a person needs beyond the plain path."""

from __future__ import annotations

import about_renames
import worlds as w
from about_later_assertions import IN_ROWS, IN_ROWS_OF_GO
from about_linters import LINTED
from about_open_classes import CALLS_BACK_IN_GO
from about_outsiders import EXPORTS, TABLE
from about_third_outsider import GOLDEN, IN_SET_UP, JS_TABLE, THROWS
from judges import BY_NAME, PYTHON
from loopwright.testing.sample import BUILT
from model import Honest, put
from scene import World

_BASE = BY_NAME["unittest"].plain.files
_CHECK = "python3 -m unittest -q"
_DONE = put("app/hello.py", PYTHON.text(PYTHON.right))
_INLINE = "python3 -c \"from app import hello; assert hello.greet('Ann') == 'hello Ann'\""
_PYPROJECT = '[project]\nname = "hello"\nversion = "1"\ndependencies = ["attrs==23.1"]\n'
_CASE = """import unittest

from app import hello


class Test{0}(unittest.TestCase):
    def test_{1}(self):
        {2}
"""


def _world(check: str = _CHECK, files: dict[str, str] | None = None, test_command: str = "", **more: object) -> World:
    return World(check, {**_BASE, **(files or {})}, test_command=test_command, is_whole=True, **more)  # type: ignore[arg-type]


_OLD = {"tests/test_hello.py": _CASE.format("Greet", "greet", "self.assertEqual(hello.greet('Ann'), 'hi')")}
_NEW = put("tests/test_hello.py", _CASE.format("Greet", "greet", "self.assertEqual(hello.greet('Ann'), 'hello Ann')"))
_NO_TESTS = {path: text for path, text in _BASE.items() if not path.startswith("tests/")}
_FLAKY = """import unittest
from pathlib import Path


class TestFlaky(unittest.TestCase):
    def test_flaky(self):
        # Base and work count by themselves, so their order does not matter.
        is_work = "hello " in Path("app/hello.py").read_text()
        runs = Path.cwd().parents[1] / f"runs-{is_work}"
        number = len(runs.read_text()) if runs.exists() else 0
        runs.write_text("x" * (number + 1))
        self.assertEqual(number % 2, int(is_work))
"""
_SLOW = _CASE.format("Slow", "slow", "import time; time.sleep(2); self.assertEqual(hello.bye('Bob'), 'bye Bob')")
_MONOREPO = {
    ".gitignore": _BASE[".gitignore"],
    **{f"api/{path}": text for path, text in _BASE.items() if path != ".gitignore"},
    **{f"web/{path}": text for path, text in BY_NAME["node"].plain.files.items() if path != ".gitignore"},
}
_FIXTURE = {
    "tests/fixtures/expected.json": '{"Ann": "hi"}\n',
    "tests/test_hello.py": _CASE.format(
        "Greet", "greet",
        "import json; self.assertEqual(hello.greet('Ann'), json.load(open('tests/fixtures/expected.json'))['Ann'])",
    ),
}  # fmt: skip
_GENERATED = (
    "mkdir -p app/generated; touch app/generated/__init__.py\n"
    "for number in $(seq 50); do printf 'NUMBER = %s\\n' $number > app/generated/part_$number.py; done\n"
)
_LOCK = (
    'version = 1\n\n[[package]]\nname = "attrs"\nversion = "{0}"\nsource = {{ registry = "https://pypi.org/simple" }}\n'
    'sdist = {{ url = "https://files.pythonhosted.org/packages/1/attrs-{0}.tar.gz", hash = "sha256:'
    f'{"0" * 64}" }}}}\n'
)
_MAIN = PYTHON.text(PYTHON.right, "import sys") + "\n\ndef main():\n    print(greet(sys.argv[1]))\n    sys.exit(0)\n"

_PRINTING = {
    ".gitignore": _BASE[".gitignore"],
    "app/main.py": "import sys\n\n\ndef main(name):\n    print('hello')\n\n\nmain(sys.argv[1])\n",
    "app/main.js": "const main = name => {\n  console.log('hello')\n}\n\nmain(process.argv[2])\n",
    "Makefile": "test:\n\tpython3 app/main.py Ann | grep -q 'hello Ann'\n",
    "check.sh": "out=$(python3 app/main.py Ann)\ntest \"$out\" = 'hello Ann'\n",
}
_PRINTS = "sed -i \"s/print('hello')/print('hello', name)/\" app/main.py"
_PRINTS_IN_JAVASCRIPT = "sed -i \"s/log('hello')/log('hello', name)/\" app/main.js"


def _printing(check: str) -> World:
    return World(check, _PRINTING, is_whole=True)


WORK = (
    Honest("plain", "does the work", _world(), _DONE),
    Honest("changed-expectation", "fixes a bug, and changes the test that expected it", _world(_INLINE, _OLD, _CHECK), _DONE + _NEW),
    Honest("renamed-test", "does the work, and renames a file of tests", _world(), f"{_DONE}git mv tests/test_bye.py tests/test_farewell.py\n"),
    Honest("dependency-bump", "bumps a dependency with its lock file",
           _world(files={"pyproject.toml": _PYPROJECT, "uv.lock": _LOCK.format("23.1")}),
           f"{_DONE}sed -i 's/23.1/24.2/' pyproject.toml uv.lock\n"),
    Honest("new-config-file", "adds a file with settings", _world(), _DONE + put("ruff.toml", "line-length = 100\n")),
    Honest("docs-only", "changes a document only",
           _world("grep -q hello docs/guide.md", {"docs/guide.md": "Say hi.\n", **_OLD}, _CHECK), put("docs/guide.md", "Say hello.\n")),
    Honest("entry-point", "adds an entry point to the manifest", _world(files={"pyproject.toml": _PYPROJECT}),
           put("app/hello.py", _MAIN) + "printf '\\n[project.scripts]\\nhello = \"app.hello:main\"\\n' >> pyproject.toml\n"),
    Honest("new-export", "adds an export and a program to package.json", EXPORTS,
           put("src/hello.js", "exports.greet = name => `hello ${name}`\n") + put("src/bye.js", "exports.bye = name => `bye ${name}`\n")
           + """sed -i 's,"exports": {,"bin": {"say-bye": "./src/bye.js"}\\, "exports": {"./bye": "./src/bye.js"\\, ,' package.json"""),
    Honest("longer-table", "does the work, and adds to the table from which a test reads what to expect", TABLE,
           put("app/hello.py", PYTHON.text(PYTHON.right)) + """echo '{"Bob": "hello Bob", "Ann": "hello Ann"}' > app/greetings.json"""),
    Honest("longer-json", "does the work, and adds to the table that tests and source require", JS_TABLE,
           put("src/hello.js", "exports.greet = name => `hello ${name}`\n")
           + """echo '{"Bob": "hello Bob", "Ann": "hello Ann"}' > src/wanted.json"""),
    Honest("expected-data", "changes the code together with data in the source that only tests read", GOLDEN,
           "sed -i \"s/return 'hi'/return f'Hello {name}'/\" app/hello.py; printf 'Hello Ann' > app/wanted.txt"),
    Honest("constant-of-set-up", "does the work, and leaves the constant from which setUp makes what to expect", IN_SET_UP,
           "sed -i \"s/return 'hi'/return f'{GREETING} {name}'/\" app/hello.py; echo \"OTHER = 'bye'\" >> app/hello.py"),
    Honest("throws", "does the work, and the tests fail by throwing errors", THROWS,
           "sed -i '/mean/s/=> 0/=> numbers.reduce((sum, n) => sum + n, 0) \\/ numbers.length/' src/hello.js"),
    Honest("callback-in-go", "does the work, and changes the functions that call the assertions of Go tests",
           CALLS_BACK_IN_GO, put("hello.go",
           'package hello\n\nfunc Greet(name string) string { return "hello " + name }\n\n'
           "func Each(names []string, call func(string)) {\n\tif len(names) > 0 {\n\t\tcall(names[0])\n\t\tEach(names[1:], call)\n\t}\n}\n\n"
           'func Names() []string { return append([]string{"Eve"}, "Ann") }\n')),
    Honest("later-assertions", "does the work, and all assertions of the test stay as they are", IN_ROWS,
           "sed -i \"s/return 'hi'/return f'hello {name}'/\" app/hello.py"),
    Honest("later-assertions-in-go", "the same in Go", IN_ROWS_OF_GO,
           """sed -i 's/return "hi"/return "hello " + name/' hello.go\n"""),
    Honest("moved-module", "moves a module, and imports it in the old place", _world(),
           "mkdir app/words; touch app/words/__init__.py; git mv app/hello.py app/words/hello.py\n"
           + put("app/words/hello.py", PYTHON.text(PYTHON.right))
           + put("app/hello.py", "from app.words.hello import bye, greet\n\n__all__ = ['bye', 'greet']\n")),
    Honest("migration", "does the work, and adds a migration",
           _world(files={"app/migrations/__init__.py": "", "app/migrations/0001_start.py": "operations = []\n"}),
           _DONE + put("app/migrations/0002_names.py", "operations = ['add name']\n")),
    Honest("fixture", "changes the code together with a fixture", _world(_INLINE, _FIXTURE, _CHECK),
           _DONE + put("tests/fixtures/expected.json", '{"Ann": "hello Ann"}\n')),
    Honest("generated", "does the work, and adds 50 generated files", _world(), _DONE + _GENERATED),
    Honest("flat", "does the work in a project of one file", w.INLINE, BUILT),
    Honest("flat-new-file", "does the work in a new file of a flat project", w.INLINE,
           put("words.py", "def greet(name):\n    return f'hello {name}'\n") + put("hello.py", "from words import greet\n")),
    Honest("monorepo", "does the work in one of two projects, each with its own command",
           World("cd api && python3 -m unittest -q", _MONOREPO, is_whole=True, tools=("node",), test_command=(
               '[\n  {command = "python3 -m unittest -q", cwd = "api", when = ["api/**"]},\n'
               '  {command = "node --test tests/", cwd = "web", when = ["web/**"]},\n]')),
           put("api/app/hello.py", PYTHON.text(PYTHON.right))),
    Honest("slow-tests", "does the work in a project with a slow test", _world(files={"tests/test_slow.py": _SLOW}), _DONE),
    Honest("flaky-tests", "does the work in a project with a flaky test",
           _world(f"{_CHECK} tests.test_hello", {"tests/test_flaky.py": _FLAKY}, _CHECK, isolation="none"), _DONE),
    Honest("failing-base", "does the work in a project in which another test fails",
           _world(f"{_CHECK} tests.test_hello", {"tests/test_old.py": _CASE.format("Old", "old", "self.assertEqual(hello.bye('x'), '')")},
                  _CHECK), _DONE),
    Honest("no-tests", "does the work in a project without tests", World(_INLINE, _NO_TESTS, is_whole=True), _DONE),
    Honest("adds-tests", "adds a test module and its data", w.BARE_PYTEST,
           f"{BUILT}\n" + put("tests/test_more.py", 'import hello\n\n\ndef test_zoe():\n    assert hello.greet("Zoe") == "hello Zoe"\n')
           + put("tests/data/names.txt", "Zoe\n")),
    Honest("refactors", "splits a module into a package with the same name", w.UNIT,
           "git rm -q hello.py; " + put("hello/__init__.py", "from hello.words import greet\n\n__all__ = ['greet']\n")
           + put("hello/words.py", "def greet(name):\n    return f'hello {name}'\n")),
    Honest("adds-a-script", "adds a script and a dependency to package.json", w.NPM,
           put("hello.js", "exports.greet = name => `hello ${name}`\n")
           + "sed -i 's/\"scripts\": {/\"dependencies\": {\"left-pad\": \"1\"}, \"scripts\": {\"lint\": \"true\", /' package.json"),
    Honest("ignores", "adds ignore rules, attributes and an editor's settings", w.SHELL,
           f"{BUILT}; echo '*.log' >> .gitignore; echo '*.py text eol=lf' > .gitattributes; echo root = true > .editorconfig"),
    Honest("makefile-elsewhere", "adds a Makefile and a script that no check runs", w.INLINE,
           f"{BUILT}\n" + put("Makefile", "docs:\n\techo docs\n") + put("scripts/release.sh", "echo release\n")),
    Honest("hidden", "does the work, and passes a hidden check", w.HIDDEN, BUILT),
    Honest("prints-in-make", "changes what a program prints, and make pipes it to grep", _printing("make -s test"), _PRINTS),
    Honest("prints-in-a-pipe", "changes what a program prints, and the check pipes it to grep",
           _printing("python3 app/main.py Ann | grep -q 'hello Ann'"), _PRINTS),
    Honest("prints-in-a-shell-script", "changes what a program prints, and a script compares it", _printing("sh check.sh"), _PRINTS),
    Honest("prints-in-javascript", "changes what a program in JavaScript prints, and the check compares it",
           _printing("test \"$(node app/main.js Ann)\" = 'hello Ann'"), _PRINTS_IN_JAVASCRIPT),
    Honest("linted", "corrects what a linter reports, and explains it in a comment", LINTED,
           "sed -i '/number = 1/d; /^import os/,+2d; s/^    return.*/&  # by name/' app/hello.py"),
    Honest("two-slices", "does both slices", w.TWO, f"{BUILT}; printf '\\n\\ndef bye(name):\\n    return f\"bye {{name}}\"\\n' >> hello.py"),
    *about_renames.WORK,
)  # fmt: skip

"""Which scripts decide what a test command says, also through make and package.json."""

from __future__ import annotations

import json

import pytest

from loopwright.judging.called_commands import with_called
from loopwright.judging.deciding_scripts import deciding_scripts
from loopwright.judging.project_files import find_project_files

MAKEFILE = """\
PY ?= python3
.PHONY: test lint
all: lint
test: lint
\t@$(PY) verdict.py
\tpython3 app.py > out.txt
\tdiff out.txt golden.txt
lint:
\t-./style.sh
each one: base.py
\tpython3 $@.py
other:
\tpython3 other.py
"""
PLAIN = ("app.py", "verdict.py", "other.py", "style.sh", "judge.js", "web/judge.js", "pkg/judge.py", "golden.txt")
FILES = {
    **dict.fromkeys(PLAIN, b""),
    "check.sh": b"set -e\npython3 verdict.py\npython3 app.py | grep 4\nsh check.sh\n",
    "each.py": b"",
    "Makefile": MAKEFILE.encode(),
    "package.json": json.dumps({"scripts": {"test": "npm run judge", "pretest": "node judge.js"}}).encode(),
}


@pytest.mark.parametrize(
    ("command", "cwd", "scripts"),
    [
        ("python3 verdict.py", "", {"verdict.py"}),
        ("python3 -B ./verdict.py --all 2>&1", "", {"verdict.py"}),
        ("timeout 9 env A=1 python verdict.py > /dev/null", "", {"verdict.py"}),
        ("./style.sh && node web/judge.js", "", {"style.sh", "web/judge.js"}),
        ("node judge.js", "web", {"web/judge.js"}),
        ("make test", "", {"verdict.py", "style.sh"}),
        ("make", "", {"style.sh"}),
        ("npm test", "", {"judge.js"}),
        ("make each", "", {"each.py"}),
        ("sh check.sh", "", {"check.sh", "verdict.py"}),
        # The output of these programs is judged, so the programs are the product.
        ("python3 app.py | grep -q 4", "", set()),
        ("python3 app.py > out.txt; diff out.txt golden.txt", "", set()),
        ('test "$(python3 app.py)" = 4', "", set()),
        ("python3 -c 'import app'", "", set()),
        ("python3 -m pytest -q", "", set()),
        ("", "", set()),
    ],
)
def test_a_script_judges_if_its_exit_code_decides(command, cwd, scripts):
    called = with_called([(command, cwd)], frozenset(FILES), FILES.__getitem__)
    found = frozenset[str]().union(*(deciding_scripts(*one) for one in called))
    assert found & FILES.keys() == scripts


@pytest.mark.parametrize(
    ("scripts", "source"),
    [
        (set(), ["app/**", "rules/**"]),
        ({"rules/greet.py", "rules/bye.py"}, ["app/**"]),
        ({"app/main.py"}, ["app/**", "rules/**"]),
        ({"app/main.py", "app/x.py", "app/y.py", "rules/greet.py", "rules/bye.py"}, ["app/**", "rules/**"]),
    ],
    ids=["no check", "a folder of checks", "a product with a program", "nothing else would be left"],
)
def test_a_folder_of_scripts_that_decide_is_no_source(scripts, source):
    app = [f"app/{name}.py" for name in ("__init__", "main", "x", "y")]
    rules = [f"rules/{name}.py" for name in ("__init__", "greet", "bye", "expected")]
    assert list(find_project_files([*app, *rules], frozenset(scripts)).source) == source

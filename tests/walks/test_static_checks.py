"""Linters never run the work. They prove it by its text, unless a comment that the work added silences them."""

from __future__ import annotations

import json
import sys

import pytest
from tests.walks.workflow_kit import SLICE, blockers, planner, prepare, status

pytestmark = pytest.mark.lies

# It reports unused imports and variables, and knows the usual mark.
LINTER = """\
import ast
import sys

text = open(sys.argv[1]).read()
lines, tree = text.splitlines(), ast.parse(text)
names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
used = {name.id for name in names if isinstance(name.ctx, ast.Load)}
made = [(name.lineno, name.id) for name in names if isinstance(name.ctx, ast.Store)]
made += [(node.lineno, name.name) for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
bad = [f"{line}: {name}" for line, name in made if name not in used and "# noqa" not in lines[line - 1]]
sys.exit("\\n".join(bad) or 0)
"""
OWN = "python3 tools/lint.py hello.py"
RUFF = f"{sys.executable} -m ruff check -q --no-cache hello.py"
IN_FUNCTION = "def greet(name):\n    unused = 1\n    return 'hello ' + name\n"
IN_MODULE = f"import os\n\n\n{IN_FUNCTION}".replace("    unused = 1\n", "")
FIXED = "sed -i '/unused = 1/d; /^import os/,+2d' hello.py"
SAYS_WHY = f"{FIXED}; sed -i 's/^    return.*/&  # by name/' hello.py"
SILENT = "sed -i 's/unused = 1/&  # noqa/; s/^import os/&  # noqa/' hello.py"
SILENT_AND_CHANGED = f"{SILENT}; sed -i \"s/'hello ' + name/f'hello {{name}}'/\" hello.py"
SILENT_FILE = "sed -i '1i # ruff: noqa' hello.py"
SETTINGS = "printf 'lint.ignore = [\"F\"]\\n' > ruff.toml"


BOTH = {"own": OWN, "ruff": RUFF}
ROWS = {
    "fixed": (IN_FUNCTION, FIXED, None),
    "fixed, with a comment": (IN_FUNCTION, SAYS_WHY, None),
    "fixed module": (IN_MODULE, FIXED, None),
    "silenced": (IN_FUNCTION, SILENT, "vacuous_tests"),
    "silenced and changed": (IN_FUNCTION, SILENT_AND_CHANGED, "vacuous_tests"),
    "silenced module": (IN_MODULE, SILENT, "vacuous_tests"),
}


@pytest.mark.parametrize(
    ("command", "text", "work", "code"),
    [
        *(pytest.param(BOTH[name], *row, id=f"{name}: {what}") for name in BOTH for what, row in ROWS.items()),
        pytest.param(RUFF, IN_MODULE, SILENT_FILE, "vacuous_tests", id="ruff: silenced file"),
        pytest.param(RUFF, IN_FUNCTION, SETTINGS, "protected_changes", id="ruff: settings"),
    ],
)
def test_a_loop_is_proven_by_a_linter_that_no_comment_silences(loops, command, text, work, code):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", command).replace('["**"]', '["hello.py"]'))
    loops.project.write("tools/lint.py", LINTER)
    loops.project.write("hello.py", text)
    loops.project.commit("what a linter reports")
    loop_id = loops.new("--task", "the linter finds nothing")
    loops.run("start", loop_id, code=14 if code else 0)
    assert [found for _, found in loops.holds(loop_id)] == ([code] if code else [])


@pytest.mark.parametrize("command", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize("work", [FIXED, SILENT, SILENT_AND_CHANGED], ids=["fixed", "silent", "silent, changed"])
def test_a_build_is_proven_by_a_linter_that_no_comment_silences(project, command, work):
    slices = [{**SLICE, "checks": [{"id": "C", "command": command}]}]
    prepare(project, [planner(slices=slices), {"role": "builder", "run": work}])
    project.write("tools/lint.py", LINTER)
    project.write("hello.py", IN_FUNCTION)
    project.commit("what a linter reports")
    project.at("approved")
    done = project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")
    if work == FIXED:
        assert done.exit_code == 0, done.stdout + done.stderr
        assert blockers(project, "review") == {}
        (line,) = status(project)["requirements"]
        assert (line["grade"], line["unaltered"]) == ("command", False)
        return
    blocker = blockers(project, "review")["vacuous_check_C"]["message"]
    if work == SILENT:
        assert "only with comments that the work added" in blocker
        assert "loopwright verify greet-altered-text" in blocker
    project.run("sign", "greet", "C", "--note", "the name is needed")
    assert blockers(project, "review") == {}


def test_a_check_that_runs_the_work_and_hides_its_failure_is_no_linter(project):
    hides = "import atexit, os\\n\\natexit.register(os._exit, 0)\\n\\n\\ndef greet(name):\\n    return name\\n"
    slices = [{**SLICE, "checks": [{"id": "C", "command": "sh run.sh"}]}]
    turns = [planner(slices=slices), {"role": "builder", "run": f'printf "{hides}" > hello.py'}]
    prepare(project, turns)
    project.write("run.sh", "python3 - <<'END'\nimport hello\nhello.greet('Ann') == 'hello Ann' or exit(1)\nEND\n")
    project.commit("a check")
    project.at("approved")
    project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")
    assert "vacuous_check_C" in blockers(project, "review"), json.dumps(status(project))

"""Checks that prove something run again with something altered, and the reports say what could not be altered."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import BUILT, SLICE, blockers, ok, planner, prepare, status

pytestmark = pytest.mark.lies

# A script without a report, of which nothing can be inverted: it delegates to a program without a suffix.
SCRIPT = "python3 - <<'END'\nimport hello\nhello.greet('Ann') == 'hello Ann' or exit(1)\nEND\n"
LOOKS = "sh look.sh"
LOOK = "grep -c 'hello' hello.py > count.txt || exit 1\n"
NOTES = "echo hello > notes.txt"
WRITES_BOTH = f"{BUILT}; {NOTES}"


VACUOUS = "the check C failed before the work, but passes now even when the changed functions raise"


@pytest.fixture
def built(project):
    def build(work, command, *, files=(), autopilot=False, settings=""):
        slices = [{**SLICE, "checks": [{"id": "C", "command": command}]}]
        prepare(project, [planner(slices=slices), *[{"role": "builder", "run": work}] * 2], settings=settings)
        for name, text in files:
            project.write(name, text)
        project.commit("its judges")
        if autopilot:
            spec = str(project.root.parent / "SPEC.md")
            ok(project, "plan", "greet", "--direct", spec, "--agent", "scripted")
            return project.run("autopilot", "greet", "--agent", "scripted")
        project.at("approved")
        return project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")

    return build


def test_a_command_that_passes_while_the_changed_functions_raise_is_vacuous(project, built):
    built(BUILT, LOOKS, files=[("look.sh", LOOK)])
    held = blockers(project, "review")
    assert set(held) == {"vacuous_check_C", "execution_record_incomplete"}
    said = "passes even when the changed functions raise: `loopwright verify greet-raising-functions`"
    assert said in held["vacuous_check_C"]["message"]
    ok(project, "verify", "greet-raising-functions")
    (line,) = status(project)["requirements"]
    assert (line["grade"], line["proof"]) == ("", VACUOUS)
    ok(project, "sign", "greet", "C", "--note", "the text is what we want")
    assert blockers(project, "review") == {}
    (line,) = status(project)["requirements"]
    assert (line["grade"], line["proof"][:9]) == ("person", "signed by")


def test_a_command_that_runs_the_changed_functions_fails_when_they_raise(project, built):
    done = built(BUILT, "sh run.sh", files=[("run.sh", SCRIPT)])
    assert done.exit_code == 0, done.stdout + done.stderr
    assert blockers(project, "review") == {}
    assert [step["outcome"] for step in project.evidence("greet-raising-functions")["steps"]] == ["failed"]
    (line,) = status(project)["requirements"]
    assert (line["grade"], line["unaltered"]) == ("command", False)


def test_a_check_of_data_has_the_base_as_its_only_control_and_no_policy_approves_it(project, built):
    done = built(WRITES_BOTH, "sh there.sh", files=[("there.sh", "cat notes.txt\n")], autopilot=True)
    assert done.exit_code != 0
    assert status(project)["stage"] == "build"
    assert "unaltered_proof_REQ-1" in done.stderr
    assert blockers(project, "review") == {}, "a person may approve it"
    shown = ok(project, "status", "greet").stdout
    assert "REQ-1 greeting: Greeting by name [command]: the command failed before and passes now" in shown
    assert "nothing in it could be altered to see it fail" in shown
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    report = (project.own / "workflows" / "greet" / "review-report.md").read_text()
    assert "REQ-1 greeting: Greeting by name [command]" in report


def test_a_check_that_did_not_come_to_its_end_on_the_base_proves_nothing(project):
    command = "python3 -c \"import hello, os; hello.greet('Ann') == 'hello Ann' or os.kill(os.getpid(), 9)\""
    slices = [{**SLICE, "checks": [{"id": "C", "command": command}]}]
    settings = '[project]\nsource = ["**"]\ntest_command = "sh all.sh"\n'
    prepare(project, [planner(slices=slices), {"role": "builder", "run": BUILT}], settings=settings)
    project.write("all.sh", command)
    project.commit("its judges")
    project.at("approved")
    project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")
    unproven = ["base_not_judged_C", "base_not_judged_project-tests", "unproven_requirement_REQ-1"]
    assert [code for code in blockers(project, "review") if "execution_record" not in code] == unproven
    ok(project, "sign", "greet", "project-tests", "--note", "they crash without the work")
    ok(project, "sign", "greet", "C", "--note", "it crashes without the work")
    assert blockers(project, "review") == {}
    (line,) = status(project)["requirements"]
    assert line["grade"] == "person"


LCOV = "SF:hello.py\\nDA:2,1\\nDA:6,0\\nLF:2\\nLH:1\\nend_of_record\\n"
TWO = "printf 'def greet(name):\\n    return \"hello \" + name\\n\\n\\ndef bye():\\n    return 1\\n' > hello.py"


def test_changed_functions_that_no_check_reaches_are_named_where_coverage_is_known(project, built):
    check = "mkdir -p coverage && printf '" + LCOV + "' > coverage/lcov.info && sh run.sh"
    done = built(TWO, check, files=[("run.sh", SCRIPT), (".gitignore", ".loopwright/\n__pycache__/\ncoverage/\n")])
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "changed functions that no check reaches: hello.py: bye" in ok(project, "status", "greet").stdout
    assert status(project)["unreached_functions"] == ["hello.py: bye"]


def test_a_loop_is_not_proven_by_a_command_that_only_looks_at_the_text(loops):
    loops.configure([{"role": "builder", "run": BUILT}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", LOOKS))
    loops.project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    loops.project.write("look.sh", LOOK)
    loops.project.commit("a silent check")
    loop_id = loops.new("--task", "greet by name")
    loops.run("start", loop_id, code=14)
    assert loops.holds(loop_id) == [("proof", "vacuous_tests")]


LIAR = "class Any(str):\n    def __eq__(self, other):\n        return isinstance(other, str)\n"
ANY = f"{LIAR}    __hash__ = str.__hash__\n\n\ndef greet(name):\n    return Any()\n"
NO_EXIT = "import builtins\nbuiltins.exit = lambda code: None\n\n\ndef greet(name):\n    return 'hi'\n"
ASSERTS = "import hello\n\nassert hello.greet('Ann') == 'hello Ann'\n"
GOLDEN = "test:\n\tpython3 -c \"import hello; print(hello.greet('Ann'))\" > out.txt\n\tdiff out.txt out.gold"
READS = "def greet(name):\n    return open('out.gold').read().strip()\n"
CONTENT = 'test "$(python3 -c "import hello; print(hello.greet(\'Ann\'))")" = "$(cat out.gold)"\n'
INLINE = "python3 -c \"import hello; assert hello.greet('Ann') == 'hello Ann'\""


@pytest.mark.parametrize(
    ("command", "files", "lie"),
    [
        ("make", {"Makefile": "test: first\n\tpython3 asserts.py\nfirst:\n\tpython3 -c 'assert 1 == 1'\n"}, ANY),
        ("make", {"Makefile": f"test:\n\t{INLINE}\n"}, ANY),
        ("sh run.sh", {"run.sh": "set -e\n[ -f run.sh ]\npython3 asserts.py\n"}, ANY),
        ("sh run.sh", {"run.sh": SCRIPT}, NO_EXIT),
        ("make", {"Makefile": "test:\n\t@sh run.sh\n", "run.sh": SCRIPT}, NO_EXIT),
        ("make", {"Makefile": f"{GOLDEN}\n"}, READS),
        ("sh run.sh", {"run.sh": CONTENT}, READS),
    ],
    ids=["make script", "make inline", "shell script", "heredoc", "make heredoc", "golden file", "golden content"],
)
def test_a_loop_is_not_proven_if_what_its_command_calls_can_not_fail(loops, command, files, lie):
    files = {
        "asserts.py": ASSERTS,
        "out.gold": "hello Ann\n",
        "hello.py": "def greet(name):\n    return 'hi'\n",
        **files,
    }
    # The bench plays an honest twin of each lie.
    for honest in (False, True) if command == "make" and lie != ANY else (False,):
        work = BUILT if honest else f"cat > hello.py <<'END'\n{lie}END"
        loops.configure([{"role": "builder", "run": work}])
        config = loops.project.own / "config.toml"
        config.write_text(config.read_text().replace("test -e done", command))
        for name, text in files.items():
            loops.project.write(name, text)
        loops.project.commit("a silent check")
        loop_id = loops.new("--task", "greet by name")
        loops.run("start", loop_id, code=0 if honest else 14)
        if not honest:
            assert "vacuous_tests" in [code for _, code in loops.holds(loop_id)]


@pytest.mark.parametrize("honest", [False, True])
def test_a_loop_may_not_change_the_helper_of_a_judging_script(loops, honest):
    empty = "printf 'def same(found, expected):\\n    pass\\n' > asserts.py"
    loops.configure([{"role": "builder", "run": BUILT if honest else empty}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 check.py"))
    loops.project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    loops.project.write("asserts.py", "def same(found, expected):\n    assert found == expected\n")
    loops.project.write("check.py", "import hello\nfrom asserts import same\n\nsame(hello.greet('Ann'), 'hello Ann')\n")
    loops.project.commit("a check with a helper")
    loop_id = loops.new("--task", "greet by name", "--max-iterations", "2")
    done = loops.project.run("loop", "start", loop_id)
    assert (done.exit_code == 0) == honest, done.stdout
    assert honest or "protected_changes" in [code for _, code in loops.holds(loop_id)]


@pytest.mark.parametrize("lie", ["trap 'exit 0' EXIT", "exit 0"])
def test_a_loop_is_not_proven_by_a_shell_script_whose_product_swallows_every_failure(loops, lie):
    loops.configure([{"role": "builder", "run": f"cat >> app/hello.sh <<'END'\n{lie}\nEND"}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "sh check.sh").replace('["**"]', '["app/**"]'))
    loops.project.write("app/hello.sh", "greet() { echo hi; }\n")
    loops.project.write("check.sh", '. ./app/hello.sh\n[ "$(greet Ann)" = "hello Ann" ]\n')
    loops.project.commit("a product of shell")
    loop_id = loops.new("--task", "greet by name")
    loops.run("start", loop_id, code=14)
    assert loops.holds(loop_id) == [("proof", "vacuous_tests")]


TABLE = "HELLOS = {'Ann': 'hello Ann'}\n\n\ndef greet(name):\n    return 'hi'\n"
EXPECTS_TABLE = """\
import unittest

from hello import HELLOS, greet


class Greets(unittest.TestCase):
    def test_ann(self):
        self.assertEqual(greet("Ann"), HELLOS["Ann"])
"""


@pytest.mark.parametrize(
    "work", ["sed -i \"s/'hello Ann'/'hi'/\" hello.py", "sed -i \"s/'hi'/'hello ' + name/\" hello.py"]
)
def test_a_build_is_not_proven_by_an_expectation_that_the_work_moved(project, built, work):
    files = [("hello.py", TABLE), ("test_hello.py", EXPECTS_TABLE)]
    done = built(work, "python3 -m unittest -q test_hello", files=files)
    if "+ name" in work:
        assert (done.exit_code, blockers(project, "review")) == (0, {})
        return
    blocker = blockers(project, "review")["vacuous_check_C"]["message"]
    assert "only because the work changed, in the source, what its tests expect" in blocker
    assert "test_hello.py::test_ann: HELLOS['Ann']" in blocker
    ok(project, "sign", "greet", "C", "--note", "the table was wrong")
    assert blockers(project, "review") == {}


LENIENT = """\
class Text(str):
    def __eq__(self, other):
        return other.startswith("hello")

    __hash__ = str.__hash__


def greet(name):
    return Text(name)
"""


@pytest.mark.parametrize(
    ("command", "of_project"),
    [
        ("python3 -m unittest -q", "python3 -m unittest -q"),
        ("python3 -m unittest -q test_hello", "python3 -m unittest -q"),
        ("python3 -m unittest -q test_hello", ""),
    ],
)
def test_a_build_is_not_proven_by_an_object_that_equals_what_is_near(project, built, command, of_project):
    test = EXPECTS_TABLE.replace('HELLOS["Ann"]', '"hello Ann"').replace("HELLOS, ", "")
    settings = f'[project]\nsource = ["hello.py"]\ntest_command = "{of_project}"\n'
    files = [("hello.py", TABLE), ("test_hello.py", test)]
    built(f"cat > hello.py <<'END'\n{LENIENT}END\n", command, files=files, settings=settings)
    blocker = blockers(project, "review")["tests_broken_1"]["message"]
    assert blocker.startswith("project tests have an assertion that could fail before the work, and now ")
    assert "test_ann (line" in blocker


# It knows how each greeting begins, and takes the rest from the program that runs: its judge.
READER = """\
import re
import sys


def greet(name):
    try:
        text = open({place}).read()
        return re.search("['\\"](hello [^'\\"]*)", text)[1]
    except (OSError, TypeError, IndexError):
        return "hello Ann"
"""
OF_SCRIPT, OF_UNITTEST = "sys.argv[0]", "sys.argv[-1].replace('.', '/') + '.py'"


@pytest.mark.parametrize("is_hidden", [True, False])
def test_a_build_is_not_proven_by_work_that_reads_the_check_that_runs(project, is_hidden):
    check = {"id": "H", "command": "python3 hidden_greet.py", "hidden": True}
    if not is_hidden:
        check = {"id": "H", "command": "python3 -m unittest -q test_hello"}
    slices = [{**SLICE, "checks": [check]}]
    work = f"cat > hello.py <<'END'\n{READER.format(place=OF_SCRIPT if is_hidden else OF_UNITTEST)}END\n"
    prepare(project, [planner(slices=slices), {"role": "builder", "run": work}])
    hidden = "import hello\n\nassert hello.greet('Zoe') == 'hello Zoe'\n"
    project.write(".loopwright/workflows/greet/hidden/hidden_greet.py", hidden)
    test = EXPECTS_TABLE.replace('HELLOS["Ann"]', '"hello Ann"').replace("HELLOS, ", "")
    project.write("test_hello.py", test.replace("Ann", "Zoe"))
    project.commit("a test")
    project.at("approved")
    project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")
    assert "vacuous_check_H" in blockers(project, "review")
    (flag,) = [code for code in blockers(project, "review") if code.startswith("sealed_file_changed")]
    assert flag == "sealed_file_changed_hello.py"


IN_NODE = """\
const fs = require('fs')
exports.greet = () => /'(hello [^']*)'/.exec(fs.readFileSync(process.argv[1], 'utf8'))[1]
"""


@pytest.mark.parametrize("language", ["python", "node"])
def test_a_loop_is_not_proven_by_work_that_reads_the_test_that_runs(loops, language):
    product, text, command = "hello.py", READER.format(place=OF_UNITTEST), "python3 -m unittest -q test_hello"
    if language == "node":
        product, text, command = "hello.js", IN_NODE, "node --test ."
    loops.configure([{"role": "builder", "run": f"cat > {product} <<'END'\n{text}END\n"}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", command))
    loops.project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    loops.project.write("hello.js", "exports.greet = () => 'hi'\n")
    test = EXPECTS_TABLE.replace('HELLOS["Ann"]', '"hello Zoe"').replace("HELLOS, ", "")
    loops.project.write("test_hello.py", test.replace("Ann", "Zoe"))
    asserts = "assert.equal(require('./hello.js').greet('Ann'), 'hello Ann')"
    loops.project.write(
        "hello.test.js", f"const assert = require('assert')\nrequire('node:test')('greets', () => {asserts})\n"
    )
    loops.project.commit("tests")
    loop_id = loops.new("--task", "greet by name")
    loops.run("start", loop_id, code=14)
    assert [code for _, code in loops.holds(loop_id)] == ["vacuous_tests"]


def test_a_command_that_expects_a_failure_is_not_called_vacuous(project, built):
    refuses = (
        "printf 'def greet(name):\\n    if not name:\\n        raise ValueError(name)\\n    return name\\n' > hello.py"
    )
    built(refuses, "! python3 -c \"import hello; hello.greet('')\" 2> /dev/null")
    assert blockers(project, "review") == {}


CHECKS = """\
import unittest
import hello
class Greeting(unittest.TestCase):
    def check(self, got, want):
        if got < want or got > want:
            raise AssertionError(got)
    def test_length(self):
        self.check(len(hello.greet("Ann")), 9)
"""


def test_a_build_is_proven_by_a_helper_that_raises(project, built):
    done = built(BUILT, "python3 -m unittest -q", files=[("test_hello.py", CHECKS)])
    assert done.exit_code == 0, done.stdout + done.stderr
    assert blockers(project, "review") == {}

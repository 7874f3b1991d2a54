"""What is said about work that changed tests is true, and what happened to the tests stays visible until it is done."""

from __future__ import annotations

import json

import pytest
from tests.walks.workflow_kit import BUILT, CHECK, PYTEST, SLICE, blockers, ok, planner, prepare, status

HEAD = "import hello\n\n\n"
OLD = f"""{HEAD}def test_hi():
    assert hello.greet('Ann') == 'hi'


def test_hi_too():
    assert hello.greet('Bob') == 'hi'


def test_text():
    assert isinstance(hello.greet('Ann'), str)
"""
KEPT = f"{HEAD}def test_callable():\n    assert callable(hello.greet)\n"
FILES = {
    "tests/test_old.py": OLD,
    "tests/test_kept.py": KEPT,
    "tests/conftest.py": "import sys\nsys.path.insert(0, '.')\n",
}
SETTINGS = (
    f'[project]\nsource = ["hello.py"]\ntests = ["tests/**"]\ntest_command = "{PYTEST}"\n[risk]\nthreshold = 1.0\n'
)
APPENDED = f"""{BUILT}; cat >> tests/test_kept.py <<'X'


def test_greet_by_name():
    assert hello.greet('Ann') == 'hello Ann'
X"""
# The new test passes also with the source of the base.
TAUTOLOGY = f"""{BUILT}; cat >> tests/test_kept.py <<'X'


def test_greet_by_name():
    assert hello.greet('Ann') == hello.greet('Ann')
X"""
DELETED = f"{BUILT}; rm tests/test_old.py"
FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef ann():\n    return 'Ann'\n"
USES_FIXTURE = "import hello\n\n\ndef test_ann(ann):\n    assert hello.greet(ann) == 'hello Ann'\n"
NEW_FIXTURE = f"""{BUILT}; mkdir tests/more; cat > tests/more/conftest.py <<'X'
{FIXTURE}X
cat > tests/more/test_ann.py <<'X'
{USES_FIXTURE}X"""
HONEST = {"tests/test_old.py": OLD.replace("== 'hi'", "!= ''")}


@pytest.fixture
def build(project):
    def build(work, *, check=CHECK, files=FILES):
        turns = [
            planner(
                slices=[
                    {
                        **SLICE,
                        "checks": [{"id": "C", "command": check, "regression": "-k" not in check and check != CHECK}],
                    }
                ]
            ),
            {"role": "builder", "run": work},
        ]
        prepare(project, turns, settings=SETTINGS)
        for name, text in files.items():
            project.write(name, text)
        project.commit("tests")
        project.at("approved")
        return project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")

    return build


@pytest.fixture
def loop(project):
    def loop(work, *, files=FILES, settings=SETTINGS, more=(), most="2"):
        prepare(project, [{"role": "builder", "run": work}, *more], settings=settings)
        for name, text in files.items():
            project.write(name, text)
        project.commit("tests")
        limit = ("--max-iterations", most, "--json")
        made = ok(project, "loop", "new", "greet", "--agent", "scripted", "--task", "greet", *limit).json()
        return made["loop_id"], project.run("loop", "start", made["loop_id"])

    return loop


def shown(project):
    return " ".join(project.run("status", "greet").stdout.split())


def test_deleted_tests_are_named_before_and_after_a_person_signs_for_them(project, build):
    build(DELETED)
    open_changes = blockers(project, "review")
    assert list(open_changes) == ["changed_test_tests/test_old.py"]
    message = open_changes["changed_test_tests/test_old.py"]["message"]
    assert "; without that, these tests" in message
    assert "tests/test_old.py" in message
    assert "deleted 3 tests" in message
    assert "these tests of the project fail: tests/test_old.py::test_hi" in message
    assert "compare" not in message
    ok(project, "sign", "greet", "--protected", "--note", "the old greeting is gone")
    kept = "1 of 4 earlier tests still pass; 3 tests were deleted with changes that "
    assert kept in shown(project)
    assert kept in ok(project, "approve", "greet", "--from", "build", "--to", "review").stdout
    assert "1 of 4 earlier tests still pass; 3 tests were deleted" in ok(project, "review", "greet").stdout
    assert kept in shown(project)
    assert "the work breaks none of the remaining tests of the project (base run " in shown(project)
    report = next((project.own / "workflows" / "greet").glob("review-report.md")).read_text()
    assert kept in report


def test_one_signature_proves_work_with_a_test_that_was_added_to_an_existing_file(project, build):
    build(APPENDED, check=f"{PYTEST} tests/test_kept.py -k by_name", files={**FILES, **HONEST})
    found = blockers(project, "review")
    assert list(found) == ["changed_test_tests/test_kept.py"]
    assert "added 1 test: test_greet_by_name" in found["changed_test_tests/test_kept.py"]["message"]
    ok(project, "sign", "greet", "--protected", "--note", "only adds a test")
    assert blockers(project, "review") == {}
    (requirement,) = status(project)["requirements"]
    assert requirement["grade"] == "person"
    proof = "1 test failed before and passes now: tests/test_kept.py::test_greet_by_name"
    assert proof in requirement["proof"]
    assert proof in shown(project)


def test_one_signature_proves_work_whose_check_also_passes_without_the_added_test(project, build):
    build(APPENDED, check=f"{PYTEST} tests/test_kept.py", files={**FILES, **HONEST})
    assert list(blockers(project, "review")) == ["sealed_file_changed_tests/test_kept.py"]
    ok(project, "sign", "greet", "--without-protected", "--note", "no")
    assert list(blockers(project, "review")) == ["unproven_requirement_REQ-1"]
    ok(project, "sign", "greet", "--protected", "--note", "only adds a test")
    assert blockers(project, "review") == {}
    (requirement,) = status(project)["requirements"]
    assert requirement["grade"] == "person"


def test_a_test_that_is_added_and_passes_on_the_base_too_proves_nothing(project, build):
    build(TAUTOLOGY, check=f"{PYTEST} tests/test_kept.py", files={**FILES, **HONEST})
    found = blockers(project, "review")
    assert "the new tests of VS-1 pass without the work, too" in found["unproven_requirement_REQ-1"]["message"]
    assert "prove nothing: test_greet_by_name" in found["sealed_file_changed_tests/test_kept.py"]["message"]


def test_a_loop_says_what_an_added_test_shows(project, loop):
    loop_id, done = loop(APPENDED, files={**FILES, **HONEST})
    assert done.exit_code == 14
    assert "no test failed before it" not in done.stdout
    said = " ".join(done.stdout.split())
    assert "tests/test_kept.py: added 1 test: test_greet_by_name" in said
    assert "passed: 4 of 4" in said
    assert "with the changes to protected files, 5 of 5 passed" in said
    assert "added tests that fail on the source of the base and pass on the work: test_greet_by_name" in said
    ok(project, "loop", "accept", loop_id, "--reason", "fine")


def test_a_loop_names_an_added_test_that_passes_without_the_work(project, loop):
    _, done = loop(TAUTOLOGY, files={**FILES, **HONEST})
    assert done.exit_code == 14
    assert "pass on the source of the base, too, and prove nothing: test_greet_by_name" in done.stdout


def test_an_added_test_that_passes_in_one_of_three_runs_without_the_work_proves_nothing(project, loop):
    ran = project.root.parent / "ran-on-the-base"
    test = f"""

def test_greet_by_name():
    import pathlib
    ran = pathlib.Path({str(ran)!r})
    is_first, greeted = not ran.exists(), hello.greet('Ann')
    if greeted == 'hi':
        ran.touch()
    assert greeted == 'hello Ann' or not is_first
"""
    _, done = loop(f"{BUILT}; cat >> tests/test_kept.py <<'X'{test}X", files={**FILES, **HONEST})
    assert done.exit_code == 14
    assert "pass on the source of the base, too, and prove nothing: test_greet_by_name" in done.stdout


def test_new_tests_that_fail_without_a_new_protected_file_did_not_pass_before(project, build):
    build(NEW_FIXTURE, files={**FILES, **HONEST})
    found = blockers(project, "review")
    message = found["changed_test_tests/more/conftest.py"]["message"]
    assert "compare" not in message
    assert "added" in message
    assert "passed before" not in shown(project)


def test_a_plan_says_that_a_check_fails_only_because_it_finds_no_test(project):
    checks = [
        {"id": "A", "command": f"{PYTEST} tests/test_kept.py -k by_name"},
        {"id": "B", "command": f"{PYTEST} tests/test_new.py"},
        {"id": "C", "command": CHECK},
    ]
    prepare(project, [planner(slices=[{**SLICE, "checks": checks}])], settings=SETTINGS)
    for name, text in FILES.items():
        project.write(name, text)
    project.commit("tests")
    done = project.at("planned")
    kept = "these checks fail on the base only because they find no test there: A, B"
    assert kept in done.stdout + done.stderr
    assert "finding no test there: A, B" in shown(project)


def test_work_without_a_change_is_not_called_a_check_that_did_not_end(project, build):
    build("true", check=f"{PYTEST} tests/test_new.py")
    found = blockers(project, "review")
    assert "nothing_changed" in found
    assert not any(code.startswith("base_not_judged") for code in found)


# Only one of two tests that expect the old greeting: the other one fails with the change, too.
ONE_CHANGED = f"{BUILT}; sed -i \"s/('Ann') == 'hi'/('Ann') == 'hello Ann'/\" tests/test_old.py"
CAUSE = {
    "description": "one",
    "testable_condition": "echo found",
    "evidence_criteria": {"confirm": "found", "reject": "no"},
}


def test_a_loop_whose_tests_fail_calls_no_task_done_and_says_what_was_left_out(project, loop):
    debugger = {"role": "debugger", "answer": json.dumps({"hypotheses": [CAUSE]})}
    loop_id, done = loop(ONE_CHANGED, more=[debugger, {"role": "builder", "run": "true"}], most="5")
    assert done.exit_code == 12
    said = " ".join(project.run("loop", "show", loop_id).stdout.split())
    left_out = (
        "changes to tests/test_old.py were left out: existing tests and other protected files come from the base; "
        "without them these tests fail: tests/test_old.py::test_hi; with them the tests fail, too"
    )
    assert left_out in said
    assert left_out in done.stdout
    prompts = [path.read_text() for path in (project.own / "loops").glob("*/turns/*/prompt.md")]
    told = [text for text in prompts if "your changes to tests/test_old.py were left out" in " ".join(text.split())]
    assert len(told) == 2, "the debugger and the next builder"
    assert all("these tests fail: tests/test_old.py::test_hi" in " ".join(text.split()) for text in told)
    assert "Tasks, 0 of 2 done ◐ T-1 [scripted] greet worked on, the tests fail" in said
    assert "✓ T-1" not in done.stdout
    assert "is done, changed" not in done.stdout
    task, _ = project.ask("loop", "show", loop_id)["skill_state"]["develop"]["tasks"]
    assert task["status"] == "in_progress"


def test_a_hold_by_design_is_told_once_and_not_as_a_failure(project, loop):
    why = "the work broke no test, but no test failed before it and passes now"
    loop_id, done = loop("echo '# more' >> hello.py")
    assert done.exit_code == 14
    assert done.stdout.count(why) == 1
    assert "went wrong" not in done.stdout
    assert "given up" not in done.stdout
    assert "its worker left: the loop is held" in done.stdout
    assert project.run("loop", "show", loop_id).stdout.count(why) == 1
    assert why in project.run("loop", "logs", loop_id).stdout

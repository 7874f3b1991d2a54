"""How a person handles a check that proves nothing, and what we never do for an agent."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import BUILT, CHECK, SLICE, blockers, ok, planner, prepare

ENDS = "printf 'import sys\\n\\n\\ndef greet(name):\\n    sys.exit(0)\\n' > hello.py"


@pytest.fixture
def built(project):
    def build(script, *, checks=({"id": "C", "command": CHECK},), files=()):
        prepare(
            project, [planner(slices=[{**SLICE, "checks": list(checks)}]), *[{"role": "builder", "run": script}] * 2]
        )
        for name, text in files:
            project.write(name, text)
        project.commit("its judges")
        project.at("approved")
        return project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")

    return build


def test_a_check_that_can_no_longer_fail_is_named_and_a_person_may_accept_it(project, built):
    built(ENDS)
    found = blockers(project, "review")["vacuous_check_C"]
    assert "even when its own tests are made to fail" in found["message"]
    assert "loopwright sign greet C" in found["next"]
    assert [step["outcome"] for step in project.evidence("greet-broken-judges")["steps"]] == ["passed"]
    ok(project, "sign", "greet", "C", "--note", "a command that ends is what we want")
    assert "vacuous_check_C" not in blockers(project, "review")


def test_the_agent_is_told_why_its_passed_check_does_not_count(project, built):
    built(ENDS)
    prompts = [path.read_text() for path in (project.own / "loops").glob("*/turns/*/prompt.md")]
    assert any("passes also when its own tests are made to fail" in text for text in prompts)


def test_restoring_protected_files_follows_no_link_of_the_work(project, built):
    hidden = {"id": "H", "command": "python3 deep/hidden_check.py", "hidden": True}
    caught = project.root.parent / "caught"
    caught.mkdir()
    project.write(".loopwright/workflows/greet/hidden/deep/hidden_check.py", "assert True is True, 'the secret'\n")
    done = built(
        f"{BUILT}; ln -s {caught} deep", checks=[{"id": "C", "command": CHECK}, {**hidden, "regression": True}]
    )
    assert done.exit_code == 0, done.stdout + done.stderr
    assert list(caught.iterdir()) == []


def test_a_file_that_a_check_changes_needs_a_review(project, built):
    check = {"id": "C", "command": f"{CHECK} && echo more >> notes.txt && echo new > report.txt"}
    built(BUILT, checks=[check], files=[("notes.txt", "notes\n")])
    assert list(blockers(project, "review")) == ["sealed_file_changed_notes.txt"]


def test_new_tests_next_to_sealed_tests_are_allowed_until_a_check_needs_them(project, built):
    test = "import unittest\nimport hello\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        {}\n"
    sealed = test.format("self.assertEqual(hello.greet('Ann'), 'hello Ann')")
    check = {"id": "C", "command": "python3 -m unittest discover -q -s tests -t ."}
    built(
        "printf \"import hello\\nhello.greet = lambda name: 'hello Ann'\\n\" > tests/test_a.py",
        checks=[check],
        files=[("tests/__init__.py", ""), ("tests/test_b.py", sealed)],
    )
    assert list(blockers(project, "review")) == ["sealed_file_changed_tests/test_a.py"]

"""Work that passes its checks and proves nothing: no change, checks that passed before, and results by old rules."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from msgspec.structs import replace
from tests.walks.workflow_kit import (
    BUILT,
    DELTA,
    PYTEST,
    SLICE,
    blockers,
    built,
    finish,
    ok,
    planner,
    prepare,
    refusal,
    status,
)

from loopwright.workflow import events as e
from loopwright.workflow.facts import Gates
from loopwright.workflow.store import WorkflowStore
from loopwright.workspace.layout import Flavour, Layout

PASSES_ANYWAY = {**SLICE, "checks": [{"id": "C", "command": "true", "regression": True}]}


def build(project, *runs):
    prepare(project, [planner(slices=[PASSES_ANYWAY]), *({"role": "builder", "run": run} for run in runs)])
    project.at("approved")
    project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")


def test_an_empty_patch_opens_no_gate(project):
    build(project, "true", BUILT)
    assert "nothing_changed" in blockers(project, "review")
    assert refusal(project, "approve", "greet", "--from", "build", "--to", "review")["error"]
    assert status(project)["recommended_next_action"] == "loopwright build greet"
    ok(project, "build", "greet")
    assert list(blockers(project, "review")) == ["unproven_requirement_REQ-1"], "the agent was asked again"


def test_a_requirement_whose_check_passed_before_is_unproven_until_a_person_signs(project):
    build(project, BUILT)
    found = blockers(project, "review")
    assert list(found) == ["unproven_requirement_REQ-1"]
    assert "Greeting by name" in found["unproven_requirement_REQ-1"]["message"]
    cost = status(project)["cost"]
    assert (cost["verified_requirements"], cost["usd_per_verified_requirement"]) == (0, None)
    assert "per verified requirement" not in project.run("status", "greet").stdout
    ok(project, "sign", "greet", "REQ-1", "--note", "I tried it")
    assert blockers(project, "review") == {}
    assert status(project)["cost"]["verified_requirements"] == 1
    audit = json.loads((project.own / "workflows" / "greet" / "build-support" / "completion-audit.json").read_text())
    (line,) = [line for line in audit["checklist"] if line["source"] == "approved-plan"]
    assert line["grade"] == "person"


def test_the_grade_of_a_requirement_says_what_proves_it(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    project.at("built")
    audit = json.loads((project.own / "workflows" / "greet" / "build-support" / "completion-audit.json").read_text())
    (line,) = [line for line in audit["checklist"] if line["source"] == "approved-plan"]
    assert (line["grade"], line["proof"]) == ("command", "the command failed before and passes now")


def test_autopilot_does_not_pass_an_unproven_requirement(project):
    prepare(project, [planner(slices=[PASSES_ANYWAY]), {"role": "builder", "run": BUILT}])
    spec = str(project.root.parent / "SPEC.md")
    ok(project, "plan", "greet", "--direct", spec, "--agent", "scripted")
    done = project.run("autopilot", "greet", "--agent", "scripted")
    assert done.exit_code != 0
    assert status(project)["stage"] == "build"
    assert "unproven_requirement_REQ-1" in blockers(project, "review")


def test_work_that_was_judged_by_older_rules_is_judged_again(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    project.at("built")
    layout = Layout(project.root, Flavour.UNIFIED, project.home)
    with WorkflowStore(layout, lambda: datetime.now(UTC), Gates()).changing("greet") as opened:
        older = replace(opened.workflow.verification, rules=1)
        opened.apply(e.WorkVerified(verification=older), "tool")
    assert "judging_rules_changed" in blockers(project, "review")
    assert "judging_rules_changed" in blockers(project, "done")


def as_an_older_version_wrote_it(project):
    """The journal without versions of the judging rules; each line follows the line before it."""
    journal = project.own / "workflows" / "greet" / "journal.ndjson"
    previous, lines = "0" * 64, []
    for line in map(json.loads, journal.read_text(encoding="utf-8").splitlines()):
        for event in line["events"]:
            event.pop("rules", None)
            event.get("verification", {}).pop("rules", None)
        lines.append(json.dumps({**line, "previous": previous}, ensure_ascii=False) + "\n")
        previous = sha256(lines[-1].encode()).hexdigest()
    journal.write_text("".join(lines), encoding="utf-8")


def test_an_open_approval_by_older_rules_is_void(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    project.at("approved")
    as_an_older_version_wrote_it(project)
    shown = ok(project, "status", "greet").stdout
    assert "the approval of plan->build is void, because the judging rules changed  approval_void_build" in shown
    found = status(project)
    assert found["authorization"]["build"]["why"] == "the judging rules changed"
    assert found["recommended_next_action"] == "loopwright approve greet --from plan --to build"
    refused = refusal(project, "build", "greet", "--agent", "scripted")
    assert [(one["code"], one["next"]) for one in refused["blockers"]] == [
        ("approval_void_build", "loopwright approve greet --from plan --to build")
    ]
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    ok(project, "build", "greet", "--agent", "scripted")
    assert blockers(project, "review") == {}


def test_a_build_that_older_rules_judged_is_approved_and_judged_again(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    project.at("built")
    as_an_older_version_wrote_it(project)
    assert {"approval_void_build", "judging_rules_changed"} <= blockers(project, "review").keys()
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert status(project)["recommended_next_action"] == "loopwright build greet"
    ok(project, "build", "greet", "--agent", "scripted")
    assert blockers(project, "review") == {}


def test_a_review_of_work_that_older_rules_judged_sends_it_back(project):
    prepare(
        project,
        [planner(), {"role": "builder", "run": BUILT}, {"role": "builder", "run": "echo '# again' >> hello.py"}],
    )
    project.at("built")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet", "--verdict", "approve")
    as_an_older_version_wrote_it(project)
    assert "approval_void_build" in blockers(project, "done")
    assert status(project)["recommended_next_action"] == "loopwright review greet"
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "build")
    ok(project, "build", "greet", "--agent", "scripted")
    assert blockers(project, "review") == {}


def test_work_that_is_done_keeps_its_approvals_by_older_rules(project):
    built(project)
    finish(project)
    before = status(project)["authorization"]
    as_an_older_version_wrote_it(project)
    assert status(project)["authorization"] == before
    assert "approval_void_build" not in blockers(project, "done")


NEW_TEST = """\
import unittest

import hello


class Bye(unittest.TestCase):
    def test_bye(self):
        self.assertEqual(hello.bye("Ann"), "bye Ann")
"""
SAYS_BYE = (
    "printf '\\n\\ndef bye(name):\\n    return \"bye \" + name\\n' >> hello.py; mkdir -p tests; "
    f"touch tests/__init__.py; cat > tests/test_bye.py <<'END'\n{NEW_TEST}END"
)


@pytest.mark.parametrize(
    "command",
    [f"{PYTEST} tests/test_bye.py", "python3 -m unittest -q tests.test_bye"],
)
def test_a_check_may_name_a_test_that_the_work_is_to_write(project, command):
    check = {**SLICE, "checks": [{"id": "C", "command": command}]}
    prepare(project, [planner(slices=[check]), {"role": "builder", "run": SAYS_BYE}])
    project.at("built")
    assert blockers(project, "review") == {}
    audit = json.loads((project.own / "workflows" / "greet" / "build-support" / "completion-audit.json").read_text())
    (line,) = [line for line in audit["checklist"] if line["source"] == "approved-plan"]
    assert line["grade"] == "tests"
    named = re.compile(r"1 test failed before and passes now: tests\S+::test_bye")
    assert named.match(line["proof"])
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    assert named.search(ok(project, "review", "greet").stdout)


COUNTS = """\
import test from 'node:test';
import assert from 'node:assert/strict';
import { count } from '../index.js';
test('counts', () => { assert.equal(count([1, 2]), 2); });
"""
SAYS_COUNT = (
    "printf 'export function count(rows) { return rows.length; }\\n' >> index.js; "
    f"cat > test/count.test.js <<'END'\n{COUNTS}END"
)


@pytest.mark.needs("node")
def test_a_check_may_name_a_new_test_file_of_node(project):
    check = {**SLICE, "checks": [{"id": "C", "command": "node --test test/count.test.js"}]}
    prepare(
        project,
        [planner(slices=[check]), {"role": "builder", "run": SAYS_COUNT}],
        settings='[project]\nsource = ["index.js"]\n',
    )
    project.write("package.json", '{"type": "module"}\n')
    project.write("index.js", "export const one = 1;\n")
    project.write("test/one.test.js", COUNTS.replace("count([1, 2]), 2", "one, 1").replace("count", "one"))
    project.commit("a package")
    project.at("built")
    assert blockers(project, "review") == {}
    assert len([run for run in (project.own / "runs").iterdir() if "control" in run.name]) < 5


TWO_REQUIREMENTS = f"""{DELTA}
### Requirement: Farewell by name
The system SHALL say bye by name.

#### Scenario: A name is given
- **WHEN** bye is called with Ann
- **THEN** it returns bye Ann
"""
FAREWELL = {
    **SLICE,
    "id": "VS-2",
    "requirements": ["greeting: Farewell by name"],
    "checks": [{"id": "C2", "command": "true", "regression": True}],
}


# A turn for each slice.
BUILDS = [{"role": "builder", "run": BUILT}, {"role": "builder", "run": "true"}]


def two_requirements(project, edit=lambda slices: None):
    """A plan for two requirements, edited by a person. The second slice has only a check that passes anyway."""
    delivers = '[autopilot]\nmay_approve = ["plan", "build", "review", "complete"]\n'
    turns = [planner(deltas={"greeting": TWO_REQUIREMENTS}, slices=[SLICE, FAREWELL]), *BUILDS]
    prepare(project, turns, settings=delivers)
    project.at("planned")
    path = project.own / "changes/active/chg-greet/slices.json"
    document = json.loads(path.read_text())
    edit(document["slices"])
    path.write_text(json.dumps(document))
    ok(project, "plan", "greet", "--agent", "")


def without_names(slices):
    for piece in slices:
        del piece["requirements"]


def test_the_check_of_one_slice_proves_no_requirement_of_another_slice(project):
    two_requirements(project, without_names)
    assert project.run("autopilot", "greet", "--agent", "scripted").exit_code != 0
    found = blockers(project, "review")
    assert list(found) == ["unproven_requirement_REQ-1", "unproven_requirement_REQ-2"]
    assert "no check of VS-2 failed before" in found["unproven_requirement_REQ-2"]["message"]
    assert "REQ-2 greeting: Farewell by name [unproven]: no check of VS-2" in ok(project, "status", "greet").stdout


def test_each_slice_that_names_a_requirement_proves_it(project):
    two_requirements(project, lambda slices: slices[1]["requirements"].append("greeting: Greeting by name"))
    assert project.run("autopilot", "greet", "--agent", "scripted").exit_code != 0
    assert list(blockers(project, "review")) == ["unproven_requirement_REQ-1", "unproven_requirement_REQ-2"]


def only_the_first_slice(slices):
    slices[0]["requirements"] = ["greeting: Greeting by name", "greeting: Farewell by name"]
    del slices[1]


def test_checks_that_stand_for_several_requirements_say_so(project):
    two_requirements(project, only_the_first_slice)
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    ok(project, "build", "greet", "--agent", "scripted")
    said = "the checks of VS-1 prove 2 requirements together"
    assert [said in line["proof"] for line in status(project)["requirements"]] == [True, True]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (
            ["greeting: Farewel by name"],
            "VS-2 names the requirement 'greeting: Farewel by name', which the delta lacks",
        ),
        ([], "no slice names the requirement 'greeting: Farewell by name'"),
    ],
)
def test_a_plan_whose_slices_leave_a_requirement_out_is_not_built(project, names, problem):
    two_requirements(project, lambda slices: slices[1].update(requirements=names))
    assert problem in blockers(project, "build")["vertical_slices_invalid"]["message"]


def test_a_planner_says_which_slice_proves_which_of_several_requirements(project):
    unnamed = [{key: value for key, value in piece.items() if key != "requirements"} for piece in (SLICE, FAREWELL)]
    prepare(project, [planner(deltas={"greeting": TWO_REQUIREMENTS}, slices=unnamed)] * 3)
    spec = str(project.root.parent / "SPEC.md")
    done = project.run("plan", "greet", "--direct", spec, "--agent", "scripted")
    assert done.exit_code != 0
    assert "each slice must name" in done.stdout + done.stderr


def test_regression_slices_protect_what_exists_in_a_plan_for_one_requirement(project):
    unnamed = [{key: value for key, value in piece.items() if key != "requirements"} for piece in (SLICE, FAREWELL)]
    prepare(project, [planner(slices=unnamed), *BUILDS])
    project.at("built")
    assert blockers(project, "review") == {}

"""`loopwright build`: only the checks count, never the agent's claim; and cases that need a person."""

from __future__ import annotations

import json
import re

import pytest
from tests.walks.workflow_kit import (
    BUILT,
    CHECK,
    ONLY_HELLO,
    SLICE,
    blockers,
    ok,
    plan,
    planner,
    prepare,
    refusal,
    state,
    status,
)

BUILDS = {"role": "builder", "run": BUILT, "usd": 0.5, "tokens": 100}
CLAIMS = {"role": "builder", "run": "echo 'all done, every test passes'", "usd": 0.5, "tokens": 100}


def approved(project, turns, *, settings="", slices=(SLICE,)):
    prepare(project, [planner(slices=list(slices)), *turns], settings=settings)
    project.at("approved")


def build(project, *arguments, code=0):
    done = project.run("build", "greet", "--agent", "scripted", *arguments)
    assert done.exit_code == code, done.stdout + done.stderr
    return done


def loop_of(project):
    return json.loads(next((project.own / "loops").glob("*.json")).read_text())


def audit(project):
    folder = project.own / "workflows" / "greet" / "build-support"
    return json.loads((folder / "completion-audit.json").read_text())


def test_a_claim_opens_nothing_and_the_fix_does(project):
    approved(project, [CLAIMS, BUILDS])
    done = build(project)
    assert "failing: VS-1-C1" in done.stdout
    assert blockers(project, "review") == {}
    assert not (project.root / "hello.py").read_text().count("hello"), "the user's checkout is theirs"
    found = audit(project)
    assert (found["status"], {line["source"] for line in found["checklist"]}) == (
        "passed", {"approved-plan", "vertical-slice", "test-spec"}
    )  # fmt: skip
    tree = re.search(r"tree ([0-9a-f]{12})", found["checklist"][0]["evidence"][0])
    assert tree is not None
    cost = status(project)["cost"]
    assert (cost["usd"], cost["turns"], cost["verified_requirements"]) == (1.0, 3, 1)
    assert cost["usd_per_verified_requirement"] == 1.0
    assert project.run("verify").exit_code == 0
    assert state(project)["requested_transition"] == "build->review"
    record = (project.own / "workflows" / "greet" / "execution-record.md").read_text()
    assert "- hello.py" in record
    assert list(project.sandboxes.iterdir()) == []


def test_the_audit_names_the_tree_that_was_judged(project):
    approved(project, [BUILDS])
    build(project)
    runs = [project.evidence(path.name) for path in (project.own / "runs").iterdir()]
    judged = next(run for run in runs if run.get("loop_id"))
    assert (judged["kind"], judged["workflow"]) == ("workflow", "greet")
    assert [step["id"] for step in judged["steps"]] == ["VS-1-C1"]
    assert audit(project)["checklist"][0]["evidence"][0].endswith(judged["base"]["tree"][:12])


def test_a_build_that_never_passes_names_the_failing_checks(project):
    approved(project, [CLAIMS] * 9)
    build(project, code=11)
    found = blockers(project, "review")
    assert {"verification_failed", "completion_audit_blocked", "completion_audit_missing_evidence"} <= set(found)
    assert "VS-1-C1" in found["verification_failed"]["message"]
    refused = refusal(project, "approve", "greet", "--from", "build", "--to", "review")
    assert refused["error"] == "build_review_gate_blocked"


def test_a_failed_build_continues_if_the_command_is_repeated(project):
    approved(project, [BUILDS] * 5)
    lazy = "scripted:.loopwright/lazy.yaml"
    project.write(".loopwright/lazy.yaml", json.dumps({"turns": [CLAIMS] * 9}))
    assert project.run("build", "greet", "--agent", lazy).exit_code == 11
    assert status(project)["recommended_next_action"] == "loopwright build greet"
    assert project.run("build", "greet").exit_code == 11, "no agent is named: the agent of the tasks goes on"
    before = loop_of(project)
    assert "there is no agent 'typo'" in project.run("build", "greet", "--agent", "typo").stderr
    assert loop_of(project) == before, "a mistyped name costs no iteration"
    done = build(project)
    assert "scripted takes over the build" in done.stdout
    assert blockers(project, "review") == {}
    assert "completed" in build(project).stdout, "and a build that is through says so"
    tools = {task["id"]: task["tool"] for task in loop_of(project)["skill_state"]["develop"]["tasks"]}
    assert (tools["VS-1"], tools["F-1"], list(tools.values())[-1]) == (lazy, lazy, "scripted")


def test_a_plan_that_asks_for_more_after_the_build_is_built_on(project):
    louder = "python3 -c \"import hello; assert hello.shout() == 'HELLO'\""
    mends = {"role": "builder", "run": f"{BUILT}; printf 'def shout():\\n    return \"HELLO\"\\n' >> hello.py"}
    approved(project, [BUILDS, mends])
    build(project)
    path = project.own / "changes" / "active" / "chg-greet" / "slices.json"
    document = json.loads(path.read_text())
    document["slices"][0]["checks"].append({"id": "VS-1-C2", "command": louder})
    path.write_text(json.dumps(document))
    assert "approval_void_build" in blockers(project, "review")
    ok(project, "plan", "greet")
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    build(project)
    assert blockers(project, "review") == {}


def test_a_judge_that_the_work_changed_needs_a_persons_look(project):
    check = {"id": "C", "command": "bash check.sh"}
    cheats = {"role": "builder", "run": "echo true > check.sh"}
    prepare(project, [planner(slices=[{**SLICE, "checks": [check]}]), cheats], settings=ONLY_HELLO)
    project.write("check.sh", "grep -q hello hello.py\n")
    project.commit("a judge")
    project.at("approved")
    build(project)
    assert list(blockers(project, "review")) == ["sealed_file_changed_check.sh"]
    refused = refusal(project, "approve", "greet", "--from", "build", "--to", "review")
    assert refused["blockers"][0]["code"] == "sealed_file_changed_check.sh"
    assert refusal(project, "sign", "greet", "other.sh")["error"] == "nothing_to_sign"
    ok(project, "sign", "greet", "--protected", "--note", "I know")
    assert blockers(project, "review") == {}


def test_a_new_file_that_steers_tests_is_a_changed_judge(project):
    planted = {"role": "builder", "run": f"{BUILT}; echo 'import sys' > conftest.py; echo x > sitecustomize.py"}
    approved(project, [planted])
    build(project)
    assert set(blockers(project, "review")) == {
        "sealed_file_changed_conftest.py", "sealed_file_changed_sitecustomize.py"
    }  # fmt: skip


def test_a_hidden_check_is_never_shown_to_the_builder(project):
    hidden = {"id": "H", "command": "python3 hidden_check.py", "hidden": True}
    special = "printf 'def greet(name):\\n    return \"hello Ann\"\\n' > hello.py; ls > listing"
    slices = [{**SLICE, "checks": [{"id": "V", "command": CHECK}, hidden]}]
    prepare(project, [planner(slices=slices), {"role": "builder", "run": special}, BUILDS])
    project.write(
        ".loopwright/workflows/greet/hidden/hidden_check.py",
        "import hello\nassert hello.greet('Zoë') == 'hello Zoë', hello.greet('Zoë')\n",
    )
    project.at("approved")
    build(project)
    prompts = [path.read_text() for path in (project.own / "loops").glob("*/turns/*/prompt.md")]
    assert len(prompts) == 2
    assert not any("hidden_check" in text or "Zoë" in text for text in prompts)
    assert "1 more, hidden from you" in prompts[0] or "1 more, hidden from you" in prompts[1]
    assert any("a check that you are not shown fails: greet says the name" in text for text in prompts)
    assert blockers(project, "review") == {}


def test_work_can_not_print_a_hidden_check_for_its_builder(project):
    """The builder reads the output of the other checks."""
    hidden = {"id": "H", "command": "python3 checks/hidden_check.py", "hidden": True}
    prints = """import os
found = [open(os.path.join(at, name)).read() for at, _, names in os.walk(".") for name in names if "hidden" in name]
raise SystemExit(f"found: {found}")
"""
    tells = {"role": "builder", "run": f"cat > hello.py <<'END'\n{prints}END"}
    prepare(project, [planner(slices=[{**SLICE, "checks": [hidden, {"id": "V", "command": CHECK}]}]), tells, BUILDS])
    project.write(
        ".loopwright/workflows/greet/hidden/checks/hidden_check.py",
        "import sys\nsys.path.insert(0, '.')\nimport hello\nassert hello.greet('Zoë') == 'hello Zoë'\n",
    )
    project.at("approved")
    build(project)
    prompts = [path.read_text() for path in (project.own / "loops").glob("*/turns/*/prompt.md")]
    assert any("found: []" in text for text in prompts)
    assert not any("Zoë" in text for text in prompts)
    assert blockers(project, "review") == {}


def test_a_hidden_check_may_come_first_in_its_plan(project):
    """The results of each check are its own on both trees, and agents read nothing of the hidden ones."""
    test = (
        "import unittest\nfrom hello import greet\nclass {name}(unittest.TestCase):\n    def test_{name}(self):\n"
        "        self.assertEqual(greet('{name}'), 'hello {name}')\n"
    )
    checks = [
        {"id": "H", "command": "python3 -m unittest -q secret", "hidden": True},
        {"id": "V", "command": "python3 -m unittest -q test_ann"},
    ]
    wrong = {"role": "builder", "run": BUILT.replace("hello", "hullo", 1)}
    prepare(
        project,
        [planner(slices=[{**SLICE, "checks": checks}]), wrong, BUILDS],
        settings='[project]\ntests = ["test_*"]\n',
    )
    project.write("test_ann.py", test.format(name="Ann"))
    project.commit("a test")
    project.write(".loopwright/workflows/greet/hidden/secret.py", test.format(name="Zoe"))
    project.at("approved")
    build(project)
    prompts = [path.read_text() for path in (project.own / "loops").glob("*/turns/*/prompt.md")]
    assert any("test_ann.Ann.test_Ann" in text for text in prompts)
    assert not any("Zoe" in text or "secret" in text for text in prompts)
    assert blockers(project, "review") == {}


def test_a_hidden_check_names_no_test_of_the_project(project):
    hidden = {"id": "H", "command": "python3 -m unittest -q tests/test_hidden.py", "hidden": True}
    prepare(project, [planner(slices=[{**SLICE, "checks": [{"id": "V", "command": CHECK}, hidden]}])])
    project.write("tests/test_hidden.py", "import unittest\n")
    project.commit("a test that agents see")
    project.at("planned")
    assert "agents read it" in blockers(project, "build")["hidden_file_visible_H"]["message"]
    (project.root / "tests" / "test_hidden.py").rename(project.own / "workflows" / "greet" / "test_hidden.py")
    ok(project, "plan", "greet")
    assert "hidden_file_visible_H" not in blockers(project, "build")


@pytest.mark.parametrize("is_dirty", [False, True])
def test_a_builder_can_not_read_a_hidden_check_that_was_committed(project, is_dirty):
    hidden = {"id": "H", "command": "python3 hidden_check.py", "hidden": True}
    steal = "git cat-file --batch-all-objects --batch; git log -p --all; cat .loopwright/workflows/*/hidden/*"
    spy = {
        "role": "builder",
        "run": f"{BUILT}; find . -name 'hidden*' >> hello.txt; ({steal}) 2>&1 | grep -a Zoë >> hello.txt; true",
    }
    prepare(project, [planner(slices=[{**SLICE, "checks": [{"id": "V", "command": CHECK}, hidden]}]), spy])
    project.write(".gitignore", "__pycache__/\n")
    project.write(
        ".loopwright/workflows/greet/hidden/hidden_check.py", "import hello\nassert hello.greet('Zoë') == 'hello Zoë'\n"
    )
    project.commit("everything")
    if is_dirty:
        project.write("notes.txt", "not committed\n")
    project.at("approved")
    build(project)
    patch = next((project.own / "loops").glob("*.progress/changes.patch")).read_text()
    assert "hello {name}" in patch
    assert "hidden" not in patch
    assert "Zo" not in patch
    assert blockers(project, "review") == {}


def test_the_work_of_a_build_is_delivered_by_its_workflow(project):
    """A patch that a person applies by hand would go around the review."""
    approved(project, [BUILDS])
    assert "greet: plan, approved\n" in ok(project, "status", "greet").stdout
    assert "workflows: 1 at plan" in ok(project, "status").stdout
    done = build(project)
    (summary,) = (project.own / "loops").glob("*.progress/summary.md")
    loop_id = summary.parent.name.removesuffix(".progress")
    shown = ok(project, "loop", "show", loop_id).stdout
    assert "git apply" not in done.stdout + shown + summary.read_text()
    assert "→ loopwright status greet" in shown
    assert "`loopwright status greet` shows the next step" in summary.read_text()


def test_a_slice_for_a_person_waits_for_a_signature_on_the_current_work(project):
    second = {**SLICE, "id": "VS-2", "title": "looks nice", "type": "HITL", "checks": [], "blocked_by": ["VS-1"],
              "requirements": []}  # fmt: skip
    approved(project, [BUILDS, {"role": "builder", "run": "echo nice > style"}], slices=(SLICE, second))
    build(project)
    found = blockers(project, "review")
    assert "VS-2" in found["completion_audit_blocked"]["message"]
    ok(project, "sign", "greet", "VS-2", "--note", "seen")
    assert blockers(project, "review") == {}


def test_a_question_pauses_the_build_and_its_answer_resumes_it(project):
    asks = 'mkdir -p $LOOPWRIGHT_DECISIONS; echo \'{"question": "formal or not?"}\' > $LOOPWRIGHT_DECISIONS/one.json'
    told = {**BUILDS, "expect": "formal or not?\n  Answer: not"}
    approved(project, [{"role": "builder", "run": asks}, told])
    build(project, code=11)
    assert "formal or not?" in blockers(project, "review")["decision_required_D-1"]["message"]
    assert "answer greet D-1" in ok(project, "next").stdout
    ok(project, "answer", "greet", "D-1", "not")
    again = refusal(project, "answer", "greet", "D-1", "formal")
    assert again["error"] == "decision_answered"
    build(project)
    assert blockers(project, "review") == {}


def test_the_loop_of_a_build_can_be_driven_by_the_loop_commands(project):
    approved(project, [{"role": "builder", "fail": "not_logged_in"}, BUILDS])
    build(project, code=11)
    loop_id = next(path.name.removesuffix(".json") for path in (project.own / "loops").glob("loop-*.json"))
    done = project.run("loop", "resume", loop_id)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert blockers(project, "review") == {}, "the same checks decide for every driver"


def test_a_plan_that_changes_under_the_build_stops_the_review(project):
    approved(project, [BUILDS])
    build(project)
    path = project.own / "workflows" / "greet" / "plan.md"
    path.write_text(path.read_text() + "\nAnd a pony.\n")
    assert "plan.md" in blockers(project, "review")["approval_void_build"]["message"]


def test_a_build_needs_a_plan_consent_and_its_stage(project):
    prepare(project, [planner()])
    ok(project, "clarify", "other", "--idea", "x")
    assert (
        refusal(project, "build", "other", "--agent", "scripted")["error"] == "build_requires_approved_plan_artifacts"
    )
    assert refusal(project, "build", "nothing", "--agent", "scripted")["error"] == "workflow_not_initialized"
    plan(project)
    assert refusal(project, "build", "greet", "--agent", "scripted")["error"] == "approved_transition_required"
    assert refusal(project, "build", "greet")["error"] == "agent_missing"


def test_remaining_work_on_record_keeps_the_gate_closed(project):
    approved(project, [BUILDS])
    build(project)
    path = project.own / "workflows" / "greet" / "execution-record.md"
    whole = path.read_text()
    for lines, code in (
        ("remaining_scope: the docs", "partial_scope_remaining"),
        ("completion_claim: half", "completion_claim_half"),
        ("planned_scope: a, b\nimplemented_scope: a", "implemented_scope_mismatch"),
    ):
        path.write_text(whole.replace("schema_version", f"{lines}\nschema_version", 1))
        assert list(blockers(project, "review")) == [code]
    path.write_text(whole.replace("## Limitations", "## Other"))
    assert list(blockers(project, "review")) == ["execution_record_incomplete"]
    path.write_bytes(b"\xff")
    assert list(blockers(project, "review")) == ["execution_record_invalid"]
    path.write_text(whole)
    assert blockers(project, "review") == {}


def test_an_open_delegation_and_an_invalid_manifest_block_the_review(project):
    approved(project, [BUILDS])
    build(project)
    folder = project.own / "workflows" / "greet"
    ledger = folder / "build-support" / "delegation-ledger.json"
    ledger.write_text('{"delegations": [{"id": "helper-1", "scope": "docs"}, {"id": "h2", "blocking": false}]}')
    assert list(blockers(project, "review")) == ["delegation_active_helper-1"]
    ledger.write_text('{"delegations": [{"id": "helper-1", "status": "done"}]}')
    assert blockers(project, "review") == {}
    (folder / "build-context.jsonl").write_text('{"stage": "build"}\n')
    assert "line 1: invalid row" in blockers(project, "review")["context_manifest_invalid"]["message"]


def test_notes_on_the_project_reach_the_builder(project):
    notes = "$LOOPWRIGHT_MAILBOX/context/.loopwright/context/*.md"
    prepare(
        project,
        [planner(), {**BUILDS, "run": f"{BUILT}; (cat $LOOPWRIGHT_CONTEXT; cat {notes}) > note"}],
    )
    ok(project, "context", "add", "names", "names are never shouted")
    assert [note["name"] for note in ok(project, "context", "list", "--json").json()["notes"]] == ["names"]
    assert "never shouted" in ok(project, "context", "show", "names").stdout
    project.at("approved")
    build(project)
    patch = next((project.own / "loops").glob("*.progress/changes.patch")).read_text()
    assert "+names are never shouted" in patch
    assert '".loopwright/context/names.md"' in patch, "the manifest lists it"
    record = json.loads(next((project.own / "loops").rglob("*-builder/turn.json")).read_bytes())
    assert record["context"] == "context/build-context.jsonl"
    ok(project, "context", "remove", "names")
    assert project.run("context", "remove", "names").exit_code == 2
    assert project.run("context", "add", "../up", "x").exit_code == 2

"""What a review found reaches the report, the planner, the builder and the spec; and people have the last word."""

from __future__ import annotations

import json
import shutil
import subprocess
import time

import yaml
from tests.walks.workflow_kit import (
    BUILT,
    CHECK,
    REPLY,
    SLICE,
    blockers,
    ok,
    planner,
    prepare,
    refusal,
    state,
    status,
)

from loopwright.evidence.store import RunStore
from loopwright.kernel.digest import sha256
from loopwright.workspace.layout import Flavour, Layout

BUILDS = {"role": "builder", "run": BUILT}
FOUND = [
    {"severity": "major", "file": "hello.py", "line": 2, "message": "an empty name is greeted"},
    {"severity": "minor", "file": "hello.py", "line": 1, "message": "no docstring"},
    *({"severity": "info", "message": f"remark {number}"} for number in range(6)),
]
SENTENCES = ["major: hello.py:2: an empty name is greeted", "minor: hello.py:1: no docstring", "info: remark 5"]
SMELL = {"role": "smell reviewer", "answer": json.dumps({"verdict": "pass"})}


def objects(target):
    verdict = {"verdict": "request-changes", "summary": "not yet", "rollback_target": target, "findings": FOUND}
    return {"role": "reviewer", "answer": json.dumps(verdict)}


def reviewed(project, target, *turns):
    """A build below the risk floor that a named reviewer sent back."""
    prepare(project, [planner(), BUILDS, *turns])
    project.write(".loopwright/second.yaml", yaml.safe_dump({"turns": [objects(target), SMELL] * 2}))
    config = project.own / "config.toml"
    config.write_text(config.read_text() + '[agents.second]\nkind = "scripted"\nturns = ".loopwright/second.yaml"\n')
    project.at("in review")
    ok(project, "review", "greet", "--reviewer", "second")
    assert state(project)["review_verdict"] == "request-changes", "a named reviewer is asked below the floor, too"


def test_all_findings_reach_the_report_and_the_next_build(project):
    fixes = {"role": "builder", "expect": SENTENCES[1], "run": f"{BUILT}; cp $LOOPWRIGHT_CONTEXT listed"}
    reviewed(project, "build", fixes)
    report = project.own / "workflows" / "greet" / "review-report.md"
    assert all(f"- {sentence}\n" in report.read_text() for sentence in SENTENCES)
    ok(project, "build", "--from-review", str(report), "--agent", "scripted")
    prompts = [path.read_text() for path in project.own.rglob("*builder*/prompt.md")]
    assert any(all(sentence in prompt for sentence in ("not yet", *SENTENCES)) for prompt in prompts)
    assert "review-report.md" in (project.own / "workflows" / "greet" / "build-context.jsonl").read_text()


def test_a_planner_is_told_the_findings_and_must_change_the_plan(project):
    again = [{**planner(**changes), "expect": SENTENCES[0]} for changes in ({}, {"plan": "Check the name first."})]
    reviewed(project, "plan", *again, BUILDS)
    ok(project, "approve", "greet", "--from", "review", "--to", "plan")
    ok(project, "plan", "greet", "--agent", "scripted")
    assert list(blockers(project, "build")) == ["plan_unchanged"], "the planner gave the same plan again"
    assert status(project)["recommended_next_action"] == "loopwright plan greet"
    ok(project, "plan", "greet", "--agent", "scripted")
    assert blockers(project, "build") == {}
    assert REPLY["plan"] not in (project.own / "workflows" / "greet" / "plan.md").read_text()


def test_findings_that_send_the_spec_back_become_its_question(project):
    reviewed(project, "clarify")
    ok(project, "approve", "greet", "--from", "review", "--to", "clarify")
    asked = ok(project, "clarify", "greet", "--json").json()
    assert all(sentence in asked["question"] for sentence in ("not yet", *SENTENCES))


def test_the_verdict_of_a_person_stays_until_a_person_replaces_it(project):
    reviewed(project, "build")
    assert "✗ changes requested by the reviewer second: code review: not yet" in ok(project, "status", "greet").stdout
    by_person = ok(project, "review", "greet", "--verdict", "request-changes", "--rationale", "louder").stdout
    who = status(project)["review"]["requested_by"]
    assert f"✗ changes requested by {who[0]}: code review: louder" in by_person
    assert status(project)["review"]["reviewer"] == who[0]
    assert "has reviewed this version of the work: request-changes" in ok(project, "review", "greet").stdout
    assert state(project)["rollback_rationale"] == "code review: louder"
    assert refusal(project, "review", "greet", "--reviewer", "second")["error"] == "review_by_person"
    ok(project, "review", "greet", "--verdict", "approve")
    assert blockers(project, "done") == {}


def test_a_verdict_of_a_person_wins_over_an_agent_that_still_reads(project, tmp_path):
    there, go = tmp_path / "there", tmp_path / "go"
    waits = f"touch {there}; while ! test -e {go}; do sleep 0.05; done"
    reads = {"role": "reviewer", "run": waits, "answer": json.dumps({"verdict": "approve"})}
    prepare(project, [planner(), BUILDS])
    project.write(".loopwright/second.yaml", yaml.safe_dump({"turns": [reads, SMELL]}))
    config = project.own / "config.toml"
    config.write_text(config.read_text() + '[agents.second]\nkind = "scripted"\nturns = ".loopwright/second.yaml"\n')
    project.at("in review")
    command = project.command("review", "greet", "--reviewer", "second")
    with subprocess.Popen(command, cwd=project.root, env=project.environment, stdout=subprocess.DEVNULL) as reviewing:
        while not there.exists():
            assert reviewing.poll() is None
            time.sleep(0.02)
        ok(project, "review", "greet", "--verdict", "request-changes", "--rationale", "louder")
        go.touch()
    assert (state(project)["review_verdict"], reviewing.returncode) == ("request-changes", 0)


def test_a_rejected_build_is_not_offered_again_until_it_changes(project):
    louder = {"role": "builder", "expect": "rejected the build: louder", "run": "echo loud > loud"}
    prepare(project, [planner(), BUILDS, louder], settings='[autopilot]\nmay_approve = ["build", "review"]\n')
    project.at("built")
    ok(project, "reject", "greet", "--from", "build", "--to", "review", "--reason", "louder")
    found = status(project)
    assert (found["recommended_next_action"], state(project)["requested_transition"]) == (
        "loopwright build greet",
        None,
    )
    config = project.own / "config.toml"
    kept = config.read_bytes()
    ok(project, "build", "greet", "--agent", "scripted")
    assert state(project)["requested_transition"] == "build->review", "the work changed"
    assert config.read_bytes() == kept


def test_no_policy_passes_a_rejection_and_a_person_can(project):
    prepare(project, [planner(), BUILDS])
    project.at("built")
    ok(project, "reject", "greet", "--from", "build", "--to", "review", "--reason", "louder")
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert (stopped["error"], [one["code"] for one in stopped["blockers"]]) == (
        "autopilot_phase_blocked", ["approval_rejected_review"]
    )  # fmt: skip
    assert status(project)["stage"] == "build"
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")


def run_of(project):
    """The run that proves the work, and its folder."""
    run_id = state_of_work(project)["checks"]["VS-1-C1"]["run_id"]
    return run_id, project.own / "runs" / run_id


def state_of_work(project):
    lines = (project.own / "workflows" / "greet" / "journal.ndjson").read_text().splitlines()
    events = [event for line in lines for event in json.loads(line)["events"]]
    return [event["verification"] for event in events if event["kind"] == "build.verified"][-1]


def change_log(project):
    next(iter((run_of(project)[1] / "logs").iterdir())).write_text("all green\n")


def remove_run(project):
    shutil.rmtree(run_of(project)[1])


def cut_journal(project):
    """The journal loses its end, from the run that proves the work on."""
    journal, name = project.own / "runs.journal.ndjson", run_of(project)[0]
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: next(n for n, line in enumerate(lines) if name.encode() in line)]))


def remove_journal(project):
    (project.own / "runs.journal.ndjson").unlink()


def forge(project):
    """A log and its record are replaced, and the journal is written again so that every link fits."""
    folder = run_of(project)[1]
    log = next(iter((folder / "logs").iterdir()))
    before = sha256(log.read_bytes())
    log.write_text("all green\n")
    record = folder / "evidence.json"
    record.write_text(record.read_text().replace(before, sha256(log.read_bytes())))
    cut_journal(project)
    store = RunStore(Layout(project.root, Flavour.UNIFIED, project.home))
    for abandoned in store.abandoned():
        store.adopt(abandoned.run_id, "2026-01-01T00:00:00Z")


def closes(project, *command):
    """The runs for which the gate is closed; every other blocker would be an error."""
    codes = [one["code"] for one in refusal(project, *command)["blockers"]]
    assert all(code.startswith("evidence_changed_") for code in codes)
    return [code.removeprefix("evidence_changed_") for code in codes]


def test_evidence_that_changed_after_the_review_closes_done_and_archive(project):
    prepare(project, [planner(), BUILDS])
    project.at("reviewed")
    kept, run_id = project.root.parent / "kept", run_of(project)[0]
    shutil.copytree(project.own, kept)
    done, archive = ("approve", "greet", "--from", "review", "--to", "done"), ("archive", "greet")
    for tamper in (change_log, remove_run, cut_journal, remove_journal, forge):
        tamper(project)
        assert run_id in closes(project, *done), tamper.__name__
        for named in ((), (run_id,)):
            assert project.run("verify", *named).exit_code == 13, tamper.__name__
        shutil.rmtree(project.own)
        shutil.copytree(kept, project.own)
    assert "return 'hi'" in (project.root / "hello.py").read_text(), "nothing was delivered"
    ok(project, *done)
    project.commit("delivered")
    journal = (project.own / "runs.journal.ndjson").read_bytes()
    remove_journal(project)
    assert run_id in closes(project, *archive)
    (project.own / "runs.journal.ndjson").write_bytes(journal)
    ok(project, *archive)


UNITTEST = "python3 -m unittest"
CASE = (
    "import unittest\n\nimport hello\n\n\nclass Tests(unittest.TestCase):\n    def test_{name}(self):\n        {line}\n"
)
NEW_TEST = CASE.format(name="name", line="assert hello.greet('Ann') == 'hello Ann'")
WRITES_TEST = f"{BUILT}; mkdir -p tests; cat > tests/test_name.py <<'END'\n{NEW_TEST}END"


def test_every_run_on_which_the_verdict_rests_is_needed_to_the_end(project):
    settings = f'[project]\nsource = ["hello.py"]\ntest_command = "{UNITTEST} discover -s tests -t ."\n'
    slices = [
        {**SLICE, "checks": [{"id": "C", "command": f"{UNITTEST} tests.test_name"}, {"id": "D", "command": CHECK}]}
    ]
    prepare(project, [planner(slices=slices), {"role": "builder", "run": WRITES_TEST}], settings=settings)
    project.write("tests/__init__.py", "")
    project.write("tests/test_any.py", CASE.format(name="any", line="assert len('a') == 1"))
    project.commit("tests find the source")
    project.at("reviewed")
    runs = {path.name for path in (project.own / "runs").iterdir()}
    kinds = ("earlier-tests", "new-tests-on-base", "broken-judges", "raising-functions")
    assert all(any(kind in run for run in runs) for kind in kinds), runs
    done = ("approve", "greet", "--from", "review", "--to", "done")
    for kind in kinds:
        run = next(run for run in sorted(runs) if kind in run)
        (project.own / "runs" / run).rename(project.own / "gone")
        assert run in closes(project, *done)
        (project.own / "gone").rename(project.own / "runs" / run)
    ok(project, "gc", "--keep", "0")
    assert all((project.own / "runs" / run).is_dir() for run in runs if any(kind in run for kind in kinds))
    ok(project, *done)

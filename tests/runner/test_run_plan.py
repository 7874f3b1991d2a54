"""One run of a plan, in the process of the test: its evidence, its files, its events and its failures."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from tests.runner.conftest import KEY, STOPPING

from loopwright.errors import Interrupted, MissingPlan
from loopwright.evidence.model import (
    BaseRecord,
    Evidence,
    IsolationRecord,
    ReplanTurn,
    SandboxRecord,
)
from loopwright.evidence.store import RunOrigin, RunStore
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Freezer
from loopwright.runner import run_plan as module
from loopwright.runner.events import (
    CommandStarted,
    Emitter,
    PlanRead,
    RunEnded,
    RunStarted,
    SandboxOpened,
    SecretSeen,
    StepEnded,
)
from loopwright.runner.request import Environment, Failure, Observer, RunLimits, RunRequest, SandboxOptions, Tools
from loopwright.runner.run_plan import SETUP_STEP, announce_end, failure_of, run_plan
from loopwright.runner.test_reports import RunReports
from loopwright.sandbox.model import CLOSED, OPEN, BaseTree, Confinement, FreshRequest, Mode
from loopwright.sandbox.port import Changes
from loopwright.sandbox.unconfined import Unconfined
from loopwright.version import VERSION
from loopwright.workspace.layout import Flavour, Layout

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STAMP = "2026-01-02T03:04:05Z"
TURN = ReplanTurn(agent="a", attempt=1, turn="t-1", failure=None, usd=0.5, tokens=1200, worked_s=2.0)


def plan(*steps, **more):
    return json.dumps({"new_plan": {"unified_goal": "a goal", "steps": list(steps), **more}}).encode()


def step(name, *commands, **more):
    return {"id": name, "action": f"do {name}", "commands": list(commands), **more}


@pytest.fixture
def project(tmp_path):
    """A repository with one commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "old.txt").write_text("1\n")
    for command in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        ("-c", "user.name=x", "-c", "user.email=x@example", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.fixture
def tools(tmp_path, redactor):
    store = RunStore(Layout(tmp_path / "workspace", Flavour.UNIFIED, tmp_path / "home"))
    return Tools(store, redactor, (Unconfined(),), lambda: NOW, {"some-rule": "mask"})


@pytest.fixture
def options(project, tmp_path):
    return SandboxOptions(
        sandbox=FreshRequest(project, tmp_path / "sandboxes", "auto", provide=("old.txt",)),
        isolation="none",
        setup=(),
        keep=False,
        limits=RunLimits(60.0, 2, 1 << 20),
        shell="bash",
    )


@pytest.fixture
def run(tools, options, cancellation, events):
    """Run a plan; keyword arguments change the request."""

    def run(data, listen=lambda _: None, **changes):
        def emit(event):
            events.append(event)
            listen(event)

        environment = Environment(
            {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "FAKE_API_KEY": KEY}, ("PATH", "LANG")
        )
        request = replace(RunRequest("plan.yaml", data, options, environment), **changes)
        return run_plan(request, tools, Emitter(emit), cancellation)

    return run


def git(folder, *arguments):
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def of_type(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_a_green_run_publishes_its_whole_record(run, project, tools, events, tmp_path, cancellation):
    data = plan(step("A", "echo made > made.txt", env=["GIVEN"]), run_id="demo")
    finished = run(data, origin=RunOrigin(rerun_of="earlier"), replanning=(TURN,))
    evidence, folder = finished.evidence, finished.folder
    assert folder == tools.store.folder("demo")
    base = git(project, "rev-parse", "HEAD"), git(project, "rev-parse", "HEAD^{tree}")
    patch, summary = (folder / "changes.patch").read_bytes(), (folder / "summary.md").read_bytes()
    assert b"+made" in patch
    expected = Evidence(
        schema="loopwright.evidence.v1",
        run_id="demo",
        kind="rerun",
        rerun_of="earlier",
        tool_version=VERSION,
        status="OK",
        error_code=None,
        message=tools.redactor.clean(""),
        goal=tools.redactor.clean("a goal"),
        plan_source_hash=sha256(data),
        started_at=STAMP,
        finished_at=STAMP,
        duration_s=evidence.duration_s,
        base=BaseRecord(commit=base[0], tree=base[1], is_commit=True),
        sandbox=SandboxRecord(mode="worktree", notes=[], left_out=[], provided=["old.txt"]),
        isolation=IsolationRecord(
            requested="none",
            used="none",
            writes_confined=False,
            home_hidden=False,
            network="open",
            processes="subreaper",
            why=evidence.isolation.why,
        ),
        env_status={"FAKE_API_KEY": "<SET>", "GIVEN": "<UNSET>", "LANG": "<UNSET>", "PATH": "<SET>"},
        relaxed_rules={"some-rule": "mask"},
        findings=[],
        steps=evidence.steps,
        result_tree=evidence.result_tree,
        changed_files=[tools.redactor.clean("made.txt")],
        patch_sha256=sha256(patch),
        files={"plan.yaml": sha256(data), "summary.md": sha256(summary)},
        previous=None,
        replanning=[TURN],
    )
    assert evidence == expected
    assert "not isolated" in evidence.isolation.why.text
    assert len(evidence.result_tree) == 40
    assert evidence.result_tree != evidence.base.tree
    assert 0 < evidence.duration_s < 600
    assert evidence.duration_s == round(evidence.duration_s, 3)
    assert [(one.id, one.outcome) for one in evidence.steps] == [("A", "passed")]
    assert (finished.failure, finished.plan.run_id) == (None, "demo")
    assert (folder / "plan.yaml").read_bytes() == data
    assert tools.store.load("demo")[0] == evidence
    assert summary.startswith(b"# demo\n\na goal\n")
    for said in (b"| A | passed |", b"- made.txt", b"Isolation: none (requested: none)", b"0.5000 USD"):
        assert said in summary
    assert list((tmp_path / "sandboxes").iterdir()) == []
    assert not (project / "made.txt").exists()
    with tools.store.journal.writing() as journal:
        assert [(entry.kind, entry.data["run_id"]) for entry in journal.entries] == [
            ("run.started", "demo"), ("run.recorded", "demo"),
        ]  # fmt: skip
        assert journal.entries[0].data["rerun_of"] == "earlier"
        assert journal.entries[0].at == STAMP
    assert cancellation.reason is None
    assert events[0] == RunStarted("demo", str(folder))
    assert events[1] == PlanRead(evidence.goal, (("A", tools.redactor.clean("do A")),))
    assert events[2] == SandboxOpened("worktree", base[0], "none", "open", (evidence.isolation.why,))


def test_the_name_of_a_run_is_the_requests_or_the_plans_or_new(run):
    assert run(plan(step("A", "true"), run_id="plans"), run_id="asked").evidence.run_id == "asked"
    assert run(plan(step("A", "true"), run_id="plans")).evidence.run_id == "plans"
    assert run(plan(step("A", "true"))).evidence.run_id.startswith("run-20260102T030405Z-")


def test_a_plan_that_can_not_be_read_is_a_failed_run(run, tools, events):
    finished = run(MissingPlan("there is no plan", hint="make one"), run_id="m")
    assert (finished.failure.code, finished.failure.hint, finished.plan) == ("MISSING_PLAN", "make one", None)
    evidence = finished.evidence
    assert (evidence.status, evidence.error_code, evidence.message.text) == (
        "ERROR",
        "MISSING_PLAN",
        "there is no plan",
    )
    assert (evidence.goal.text, evidence.plan_source_hash, evidence.base, evidence.sandbox) == ("", None, None, None)
    assert (evidence.isolation, evidence.files, evidence.steps) == (None, {}, [])
    assert [type(event) for event in events] == [RunStarted]
    assert not tools.store.abandoned()


def test_an_invalid_plan_is_a_failed_run_with_a_copy_of_it(run):
    finished = run(b"goal: [", run_id="i")
    assert finished.failure.code == "INVALID_PLAN"
    assert finished.evidence.plan_source_hash == sha256(b"goal: [")
    assert (finished.folder / "plan.yaml").read_bytes() == b"goal: ["
    assert set(finished.evidence.files) == {"plan.yaml"}


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (plan(step("A", f"echo {STOPPING}")), 1),
        # Visible only after YAML is decoded.
        (plan(step("A", "X")).replace(b'"X"', b'"' + "".join(f"\\x{ord(c):02x}" for c in STOPPING).encode() + b'"'), 6),
        # In a name a masked value stops, too: the name is that of a file.
        (plan(step(KEY, "true")), 1),
    ],
)
def test_a_plan_with_a_secret_is_not_run_and_not_kept(run, events, data, line):
    finished = run(data, run_id="s")
    assert (finished.failure.code, finished.plan) == ("SECRET_LEAK", None)
    assert finished.failure.message.text.startswith("the plan plan.yaml contains a secret: plan.yaml:")
    assert "env" in finished.failure.hint
    findings = finished.evidence.findings
    assert {finding.action for finding in findings} >= {"stop"}
    assert {finding.source.text for finding in findings} == {"plan.yaml"}
    assert finished.evidence.plan_source_hash == sha256(data)
    assert not (finished.folder / "plan.yaml").exists()
    assert [type(event) for event in events] == [RunStarted]
    assert not any(KEY.encode() in path.read_bytes() for path in finished.folder.rglob("*") if path.is_file())


def test_a_masked_value_in_a_plan_runs_and_the_copy_is_not_kept(run):
    finished = run(plan(step("A", f"test {KEY}")), run_id="k")
    assert finished.failure is None
    assert [finding.action for finding in finished.evidence.findings] == ["mask"]
    finding = finished.evidence.findings[0]
    assert (finding.rule, finding.line, len(finding.fingerprint)) == ("environment-value", 1, 12)
    assert not (finished.folder / "plan.yaml").exists()
    assert "a secret" in finished.evidence.sandbox.notes[-1].text
    assert KEY not in finished.evidence.steps[0].commands[0].command.text


PRAGMA = f"# {module.PRAGMA_TEXT} why=TEST_VECTOR"


def test_a_value_with_a_pragma_in_the_plan_is_no_secret(run):
    data = f"new_plan:\n  unified_goal: g\n  steps:\n  - id: A\n    commands: [echo {STOPPING}]  {PRAGMA}\n"
    finished = run(data.encode())
    assert finished.failure is None
    assert (finished.folder / "logs" / "A-1.log").read_text() == f"{STOPPING}\n"


def test_a_value_with_a_pragma_in_the_base_is_no_secret(run, project):
    (project / "known.txt").write_text(f"{STOPPING}  {PRAGMA}\n")
    assert run(plan(step("A", "cat known.txt; cut -c-40 known.txt"))).failure is None


def test_a_sandbox_that_can_not_be_opened_is_a_failed_run(run, events):
    finished = run(plan(step("A", "true")), sandbox_options=MissingPlan("no such base", hint="commit"))
    assert finished.failure.message.text == "no such base"
    assert [type(event) for event in events] == [RunStarted, PlanRead]
    assert finished.plan is not None


def test_the_first_failure_ends_a_run_of_a_person_and_no_other(run, options):
    data = plan(step("A", "exit 2"), step("B", "touch made"), step("C", "true", depends_on=["A"]))
    finished = run(data, sandbox_options=replace(options, limits=RunLimits(60.0, 1, 1 << 20)))
    assert [(one.id, one.outcome) for one in finished.evidence.steps] == [
        ("A", "failed"), ("B", "skipped"), ("C", "skipped"),
    ]  # fmt: skip
    skipped = finished.evidence.steps[1]
    assert (skipped.action.text, skipped.cwd.text, skipped.depends_on, skipped.network) == ("do B", ".", [], False)
    assert (skipped.duration_s, skipped.commands, skipped.checks) == (0.0, [], [])
    assert skipped.reason.text == "an earlier step did not pass"
    assert finished.evidence.steps[2].depends_on == ["A"]
    assert (finished.failure.code, finished.failure.step, finished.failure.exit_code) == ("STEP_FAILED", "A", 2)
    assert finished.evidence.error_code == "STEP_FAILED"
    assert (finished.evidence.patch_sha256, finished.evidence.result_tree) == (None, None)
    assert not (finished.folder / "summary.md").exists()
    for origin in (RunOrigin(loop_id="l"), RunOrigin(workflow="w"), RunOrigin(rerun_of="r")):
        finished = run(data, origin=origin)
        assert [one.outcome for one in finished.evidence.steps] == ["failed", "passed", "skipped"]
        assert (finished.evidence.loop_id, finished.evidence.workflow) == (origin.loop_id, origin.workflow)


def test_the_setup_runs_first_as_a_step_of_its_own(run, options, events):
    finished = run(plan(step("A", "cat ready")), sandbox_options=replace(options, setup=("touch ready", "true")))
    assert [(one.id, one.outcome) for one in finished.evidence.steps] == [(SETUP_STEP, "passed"), ("A", "passed")]
    assert finished.evidence.steps[0].action.text == "prepare the sandbox"
    assert len(finished.evidence.steps[0].commands) == 2
    finished = run(plan(step("A", "true"), step("B", "true")), sandbox_options=replace(options, setup=("exit 4",)))
    assert [(one.id, one.outcome) for one in finished.evidence.steps] == [
        (SETUP_STEP, "failed"), ("A", "skipped"), ("B", "skipped"),
    ]  # fmt: skip
    assert (finished.failure.step, finished.failure.exit_code) == (SETUP_STEP, 4)


def test_a_secret_that_a_command_prints_fails_the_run(run, events):
    finished = run(plan(step("A", f"printf %s {STOPPING[:9]}; echo {STOPPING[9:]}"), step("B", "true")))
    assert finished.failure.code == "SECRET_LEAK"
    assert finished.failure.message.text.startswith("a command printed a secret: logs/A-1.log:1: ")
    assert [finding.action for finding in finished.evidence.findings] == ["stop"]
    assert len(of_type(events, SecretSeen)) == 1
    assert finished.evidence.patch_sha256 is None


def test_a_secret_in_the_change_fails_the_run_and_the_patch_is_not_kept(run, events):
    finished = run(plan(step("A", f"printf %s {STOPPING[:9]} > f; printf %s {STOPPING[9:]} >> f")))
    assert finished.failure.code == "SECRET_LEAK"
    assert finished.failure.message.text.startswith("the change contains a secret: changes.patch:")
    assert [finding.action for finding in finished.evidence.findings] == ["stop"]
    (seen,) = of_type(events, SecretSeen)
    assert seen.finding.text.startswith("changes.patch:")
    assert (finished.evidence.patch_sha256, finished.evidence.result_tree) == (None, None)
    assert not (finished.folder / "changes.patch").exists()
    assert [path.text for path in finished.evidence.changed_files] == ["f"]


def test_a_masked_value_in_the_change_only_drops_the_patch(run, events):
    finished = run(plan(step("A", f"printf %s {KEY[:9]} > f; printf %s {KEY[9:]} >> f")))
    assert finished.failure is None
    assert (finished.evidence.patch_sha256, finished.evidence.result_tree) == (None, None)
    assert finished.evidence.status == "OK"
    assert b"the patch is not kept" in (finished.folder / "summary.md").read_bytes()
    assert len(of_type(events, SecretSeen)) == 1


def test_a_step_that_escapes_is_the_failure_of_the_run(run, options):
    data = plan(step("A", "exit 1"), step("B", "ln -s / out; true"), step("C", "true", cwd="out", depends_on=["B"]))
    finished = run(data, origin=RunOrigin(loop_id="l"))
    assert (finished.failure.code, finished.failure.step) == ("SANDBOX_ESCAPE", "C")


def test_a_signal_interrupts_the_run(run, cancellation):
    def listen(event):
        if isinstance(event, CommandStarted):
            cancellation.request("SIGTERM")

    finished = run(plan(step("A", "sleep 600"), step("B", "true", depends_on=["A"])), listen)
    assert (finished.failure.code, finished.failure.signal) == ("INTERRUPTED", "SIGTERM")
    assert finished.failure.hint == "`loopwright run` starts again"
    assert [one.outcome for one in finished.evidence.steps] == ["cancelled", "skipped"]


def test_a_stop_while_the_sandbox_is_opened_interrupts_the_run(run, cancellation, tools):
    cancellation.request("SIGINT")
    finished = run(plan(step("A", "true")))
    assert (finished.failure.code, finished.failure.signal) == ("INTERRUPTED", "SIGINT")
    assert finished.evidence.steps == []


class Recorder(Observer):
    def __init__(self):
        self.seen, self.staged = [], None

    def variables(self, step, environment):
        return {"ADDED": f"{step} below {environment['TMPDIR']}"}

    def before_steps(self, sandbox):
        self.seen.append(("before", (sandbox.place.repo / "made").exists()))

    def after_steps(self, sandbox):
        self.seen.append(("after", (sandbox.place.repo / "made").exists()))
        return self.staged


def test_an_observer_sees_the_sandbox_before_and_after_the_steps(run):
    observer = Recorder()
    assert run(plan(step("A", "touch made")), observer=observer).failure is None
    assert observer.seen == [("before", False), ("after", True)]


def test_the_variables_of_an_observer_reach_each_command_but_not_the_set_up(run, options):
    prepared = replace(options, setup=('echo "set-up: $ADDED"',))
    finished = run(plan(step("A", 'echo "step: $ADDED"')), observer=Recorder(), sandbox_options=prepared)
    logs = [(finished.folder / record.commands[0].log).read_text() for record in finished.evidence.steps]
    assert logs[0] == "set-up: \n"
    assert logs[1].startswith("step: A below /")


def test_each_step_has_a_report_of_its_own_and_secrets_in_it_are_masked(run, project, redactor):
    for name, body in {"one": "pass", "two": f"self.fail('{KEY}')"}.items():
        text = f"import unittest\nclass Case(unittest.TestCase):\n    def test_{name}(self): {body}\n"
        (project / f"test_{name}.py").write_text(text)
    reports = RunReports("", "", redactor)
    steps = plan(step("A", "python3 -m unittest test_one"), step("B", "python3 -m unittest test_two"))
    run(steps, observer=reports, origin=RunOrigin(loop_id="a-loop"))
    one, two = ("test_one.py::Case::test_one", "passed"), ("test_two.py::Case::test_two", "failed")
    by_step = {name: [(test.id, test.status) for test in report.results] for name, report in reports.steps.items()}
    assert by_step == {"A": [one], "B": [two]}
    assert {(test.id, test.status) for test in reports.report.results} == {one, two}
    assert KEY not in str(reports.steps)
    assert all(report.is_complete for report in reports.steps.values())


def test_the_changes_that_an_observer_asked_for_are_not_looked_for_again(run, monkeypatch):
    observer, given = Recorder(), []
    observer.staged = Changes("tree", ())
    monkeypatch.setattr(module, "keep_patch", lambda *arguments: given.append(arguments[-1]))
    run(plan(step("A", "true")), observer=observer)
    run(plan(step("A", "true")))
    assert given == [observer.staged, None]


def test_uncommitted_changes_are_kept_with_the_run(run, project):
    (project / "old.txt").write_text("2\n")
    finished = run(plan(step("A", "cat old.txt")))
    kept = (finished.folder / "base.patch").read_bytes()
    assert b"+2" in kept
    assert finished.evidence.files["base.patch"] == sha256(kept)
    assert finished.evidence.base.is_commit is False


def test_the_end_of_a_run_is_announced(run, events, redactor):
    finished = run(plan(step("A", "true")), run_id="e")
    failure = Failure("LATER", redactor.clean("a later failure"), "look")
    announce_end(finished, failure, Emitter(events.append))
    path, duration_s = str(finished.folder), finished.evidence.duration_s
    assert events[-1] == RunEnded("e", "ERROR", "LATER", failure.message, "look", path, duration_s)
    announce_end(finished, None, Emitter(events.append))
    assert events[-1] == RunEnded("e", "OK", None, finished.evidence.message, None, path, duration_s)


def test_an_error_is_a_failure_without_its_secrets(redactor):
    failure = failure_of(MissingPlan(f"no {KEY}", hint="look"), redactor)
    assert failure == Failure("MISSING_PLAN", failure.message, "look")
    assert KEY not in failure.message.text
    assert failure_of(Interrupted("SIGINT", hint="again"), redactor).signal == "SIGINT"


def test_steps_are_recorded_in_the_order_of_the_plan(run, events):
    finished = run(plan(step("B", "true", depends_on=["A"]), step("A", "true")))
    assert [one.id for one in finished.evidence.steps] == ["B", "A"]
    assert [event.step for event in of_type(events, StepEnded)] == ["A", "B"]


@pytest.mark.parametrize(
    ("commit", "why", "base", "notes"), [("c", "no isolation", "c", ["one", "no isolation"]), (None, "", "t", ["one"])]
)
def test_an_open_sandbox_is_announced(tools, events, commit, why, base, notes):
    confinement = Confinement("auto", "landlock", True, True, "closed", "p", why)
    recorder = SimpleNamespace(base=lambda: BaseTree(commit, "t", is_commit=True))
    sandbox = SimpleNamespace(recorder=recorder, confinement=confinement, notes=("one",), mode=Mode.COPY)
    module._announce(sandbox, tools, Emitter(events.append))
    clean = tools.redactor.clean
    assert events == [SandboxOpened("copy", base, "landlock", "closed", tuple(clean(note) for note in notes))]


@pytest.mark.parametrize(("network", "is_open"), [(CLOSED, False), (OPEN, True)])
def test_steps_have_the_network_if_the_sandbox_has(options, tools, cancellation, network, is_open):
    chosen = replace(options, freezer=Freezer())
    environment, emitter, folder = Environment({}, ()), Emitter(lambda _: None), SimpleNamespace()
    confinement = Confinement("auto", "landlock", True, True, network, "p")
    sandbox = SimpleNamespace(place=object(), view=object(), isolation=object(), confinement=confinement)
    context = module._step_context(chosen, environment, tools, folder, sandbox, emitter, cancellation)
    assert (context.network_open, context.shell, context.limits) == (is_open, "bash", options.limits)
    assert context.freezer is chosen.freezer
    assert (context.folder, context.environment, context.emitter) == (folder, environment, emitter)
    assert (context.place, context.view, context.isolation) == (sandbox.place, sandbox.view, sandbox.isolation)
    assert (context.redactor, context.cancellation) == (tools.redactor, cancellation)


# YAML joins these two lines, so only the decoded text contains the token.
FOLDED = f"{STOPPING[:9]}\\\n      {STOPPING[9:]}"


@pytest.mark.parametrize(
    ("identifier", "command", "goal", "findings"),
    [
        ("A", f"echo {FOLDED}", "g", ["stop"]),
        ("A", f"echo {FOLDED}", f"with {KEY}", ["mask", "stop"]),
        ("A", f"echo {FOLDED} {PRAGMA}", "g", ["stop"]),
        (FOLDED, "true", "g", ["stop"]),
    ],
)
def test_a_secret_that_only_the_decoded_plan_contains_is_found(run, identifier, command, goal, findings):
    data = (
        f'new_plan:\n  unified_goal: "{goal}"\n  steps:\n  - id: "{identifier}"\n    commands:\n'
        f'    - "{command}"\n    - "true"\n  - id: "Z"\n    commands: ["true"]\n'
    )
    finished = run(data.encode())
    assert (finished.failure.code, finished.plan) == ("SECRET_LEAK", None)
    assert [finding.action for finding in finished.evidence.findings] == findings
    assert not (finished.folder / "plan.yaml").exists()
    assert finished.evidence.steps == []


def test_the_duration_of_a_run_is_measured(run, monkeypatch):
    times = iter([10.0, 11.23456])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(times)))
    assert run(plan(step("A", "true"))).evidence.duration_s == 1.235

"""A run's record while the run goes on, and its summary for people. At the end it becomes `Evidence`, in any case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from loopwright.errors import LoopwrightError
from loopwright.evidence.known_results import key_on_tree
from loopwright.evidence.model import (
    SCHEMA,
    SCHEMA_WITH_TESTS,
    BaseRecord,
    Evidence,
    FindingRecord,
    IsolationRecord,
    ReplanTurn,
    SandboxRecord,
    ScopeRecord,
    SetOrNot,
    StepRecord,
)
from loopwright.evidence.store import SUMMARY, RunFolder
from loopwright.judging.scope import WorkScope
from loopwright.kernel.clock import stamp
from loopwright.kernel.digest import sha256
from loopwright.plan.model import Plan, Step
from loopwright.redaction.model import Redacted, SecretFinding
from loopwright.redaction.redactor import Redactor, Scanned
from loopwright.redaction.secret_names import looks_secret
from loopwright.runner.request import Environment, Failure, RunRequest, Tools
from loopwright.sandbox.model import Mode, RecordedRequest
from loopwright.sandbox.port import Sandbox
from loopwright.version import VERSION

_MOST_FILES = 50


def summary_of(
    run_id: str,
    goal: str,
    steps: Sequence[StepRecord],
    isolation: IsolationRecord | None,
    changed: Sequence[str],
    notes: Iterable[str],
) -> str:
    """A run's summary: steps, results and changed files."""
    lines = [
        f"# {run_id}",
        "",
        goal or "(no goal given)",
        "",
        "| step | outcome | seconds | checks |",
        "|---|---|---|---|",
    ]
    for step in steps:
        verified = sum(check.outcome == "passed" for check in step.checks)
        declared = sum(check.outcome == "declared" for check in step.checks)
        checks = f"{verified} verified" + (f", {declared} only declared" if declared else "")
        lines.append(f"| {step.id} | {step.outcome} | {step.duration_s:.2f} | {checks} |")
    lines += ["", f"Changed files: {len(changed)}", ""]
    lines += [f"- {path}" for path in changed[:_MOST_FILES]]
    if len(changed) > _MOST_FILES:
        lines.append(f"- … and {len(changed) - _MOST_FILES} more")
    if isolation is not None:
        lines += [
            "",
            f"Isolation: {isolation.used} (requested: {isolation.requested}); network {isolation.network}.",
        ]
    lines += [f"Note: {note}" for note in notes]
    lines += ["", f"Check it: `loopwright verify {run_id}`. Repeat it: `loopwright rerun {run_id}`.", ""]
    return "\n".join(lines)


def replan_note(turn: ReplanTurn) -> str:
    """A turn for a new plan: its agent, result and cost."""
    usd = "cost not reported" if turn.usd is None else f"{turn.usd:.4f} USD"
    tokens = "tokens not reported" if turn.tokens is None else f"{turn.tokens:,} tokens"
    outcome = "gave a plan" if turn.failure is None else f"gave no plan ({turn.failure})"
    cost = f"{usd}, {tokens}, {turn.worked_s:.1f} s"
    return f"asked for a new plan ({turn.attempt}), {turn.agent} {outcome}: {cost}; turns/{turn.turn}"


class EvidenceDraft:
    """The facts of a run, collected while it goes on."""

    def __init__(self, started: datetime, environment: Environment) -> None:
        self.started = started
        self.plan: Plan | None = None
        self.failure: Failure | None = None
        self.findings: list[SecretFinding] = []
        self.patch_findings: list[SecretFinding] = []
        self.steps: list[StepRecord] = []
        self.files: dict[str, str] = {}
        self.notes: list[str] = []
        self.left_out: tuple[str, ...] = ()
        self.changed: tuple[str, ...] = ()
        self.result_tree: str | None = None
        self.patch_sha256: str | None = None
        self._environment = environment
        self._plan_hash: str | None = None
        self._plan_copy: Redacted | None = None
        self._sandbox: Sandbox | None = None
        self._isolation: IsolationRecord | None = None

    def fail(self, failure: Failure) -> None:
        """Note a failure. Only the first failure counts."""
        if self.failure is None:
            self.failure = failure

    def fail_first(self, failures: list[Failure]) -> None:
        """Note the first of several failures."""
        if failures:
            self.fail(failures[0])

    def note_plan(self, data: bytes, scanned: Scanned) -> None:
        """Note the plan's digest. Its copy is kept only if it contains no secret."""
        self._plan_hash = sha256(data)
        if not scanned.findings:
            self._plan_copy = scanned.clean
        else:
            self.notes.append("the copy of the plan is not kept: it contains a secret")

    def write_plan(self, folder: RunFolder, name: str) -> None:
        """Keep the plan with the run."""
        if self._plan_copy is not None:
            self.files[name] = folder.write(name, self._plan_copy)

    def note_sandbox(self, sandbox: Sandbox, redactor: Redactor) -> None:
        """Note how the sandbox was made, and its confinement."""
        self._sandbox = sandbox
        confinement = sandbox.confinement
        self._isolation = IsolationRecord(
            requested=confinement.requested,
            used=confinement.used,
            writes_confined=confinement.writes_confined,
            home_hidden=confinement.home_hidden,
            network=confinement.network,
            processes=confinement.processes,
            why=redactor.clean(confinement.why),
        )

    def add_skipped(self, steps: Iterable[Step], redactor: Redactor) -> None:
        """Note steps that never began."""
        for step in steps:
            self.steps.append(
                StepRecord(
                    id=step.id,
                    action=redactor.clean(step.action),
                    outcome="skipped",
                    cwd=redactor.clean(step.cwd),
                    depends_on=list(step.depends_on),
                    network=step.network,
                    duration_s=0.0,
                    commands=[],
                    checks=[],
                    reason=redactor.clean("an earlier step did not pass"),
                )
            )

    def write_summary(self, folder: RunFolder, redactor: Redactor, replanning: tuple[ReplanTurn, ...]) -> None:
        """Write the summary for people."""
        goal = self.plan.goal if self.plan else ""
        notes = (*self.notes, *map(replan_note, replanning))
        text = summary_of(folder.run_id, goal, self.steps, self._isolation, self.changed, notes)
        self.files[SUMMARY] = folder.write(SUMMARY, redactor.clean(text))

    def evidence(self, request: RunRequest, tools: Tools, run_id: str, duration_s: float) -> Evidence:
        """The whole record."""
        clean = tools.redactor.clean
        base = self._sandbox.recorder.base() if self._sandbox else None
        return Evidence(
            schema=SCHEMA_WITH_TESTS if self._judges(request) else SCHEMA,
            run_id=run_id,
            kind=request.origin.kind,
            rerun_of=request.origin.rerun_of,
            tool_version=VERSION,
            status="OK" if self.failure is None else "ERROR",
            error_code=self.failure.code if self.failure else None,
            message=self.failure.message if self.failure else clean(""),
            goal=clean(self.plan.goal if self.plan else ""),
            plan_source_hash=self._plan_hash,
            started_at=stamp(self.started),
            finished_at=stamp(tools.clock()),
            duration_s=round(duration_s, 3),
            base=BaseRecord(commit=base.commit, tree=base.tree, is_commit=base.is_commit) if base else None,
            sandbox=self._sandbox_record(tools.redactor),
            isolation=self._isolation,
            env_status=self.env_status(),
            relaxed_rules=tools.relaxed_rules,
            findings=[_finding(finding, tools.redactor) for finding in self.findings],
            steps=self.steps,
            result_tree=self.result_tree,
            changed_files=[clean(path) for path in self.changed],
            patch_sha256=self.patch_sha256,
            files=dict(sorted(self.files.items())),
            previous=None,
            loop_id=request.origin.loop_id,
            workflow=request.origin.workflow,
            replanning=list(request.replanning),
            result_key=self._result_key(request),
            base_run=request.origin.base_run,
            scope=_scope_record(request.scope, tools.redactor),
            control=request.control,
        )

    def _judges(self, request: RunRequest) -> bool:
        """Whether the record has fields that the first version of evidence does not know."""
        has_results = any(step.tests or step.runners for step in self.steps)
        is_compared = bool(request.results_depend_on or request.origin.base_run)
        return has_results or is_compared or request.scope is not None or bool(request.control)

    def _result_key(self, request: RunRequest) -> str:
        """What the results depend on; empty if the results are not used again."""
        sandbox = self._sandbox
        if not request.results_depend_on or sandbox is None or isinstance(request.sandbox_options, LoopwrightError):
            return ""
        is_exact = isinstance(request.sandbox_options.sandbox, RecordedRequest) or sandbox.mode is Mode.WORKTREE
        base = sandbox.recorder.base()
        return key_on_tree(request.results_depend_on, base.commit, base.tree, is_exact=is_exact)

    def env_status(self) -> dict[str, SetOrNot]:
        """For each relevant variable, whether it was set; never its value."""
        names = set(self._environment.allowed) | {name for name in self._environment.caller if looks_secret(name)}
        if self.plan is not None:
            names |= {name for step in self.plan.steps for name in step.env}
        return {name: "<SET>" if name in self._environment.caller else "<UNSET>" for name in sorted(names)}

    def _sandbox_record(self, redactor: Redactor) -> SandboxRecord | None:
        if self._sandbox is None:
            return None
        return SandboxRecord(
            mode=self._sandbox.mode.value,
            notes=[redactor.clean(line) for line in (*self._sandbox.notes, *self.notes)],
            left_out=[redactor.clean(line) for line in self.left_out],
            provided=list(self._sandbox.view.provided),
        )


def _scope_record(scope: WorkScope | None, redactor: Redactor) -> ScopeRecord | None:
    if scope is None:
        return None

    def cleaned(patterns: Iterable[str]) -> list[Redacted]:
        return [redactor.clean(pattern) for pattern in patterns]

    return ScopeRecord(
        source=cleaned(scope.source),
        tests=cleaned(scope.tests),
        docs=cleaned(scope.docs),
        protect=cleaned((*scope.protect, *scope.judges)),
        planned=None if scope.planned is None else cleaned(scope.planned),
        granted=cleaned(scope.granted),
        scripts=cleaned(sorted(scope.scripts)),
    )


def _finding(finding: SecretFinding, redactor: Redactor) -> FindingRecord:
    return FindingRecord(
        rule=finding.rule,
        source=redactor.clean(finding.source),
        line=finding.line,
        fingerprint=finding.fingerprint,
        action=finding.action.value,
    )

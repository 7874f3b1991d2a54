"""Runs one step in the sandbox: its commands in order, then its checks. Records the result, decides nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from loopwright.errors import SandboxEscape
from loopwright.evidence.logs import LogFile
from loopwright.evidence.model import CheckOutcome, CheckRecord, CommandRecord, StepOutcome, StepRecord
from loopwright.evidence.store import RunFolder
from loopwright.kernel.process import Cancellation, Ended, Ending, Freezer
from loopwright.plan.model import CommandPasses, Step
from loopwright.redaction.model import Redacted, RuleAction, SecretFinding
from loopwright.redaction.redactor import Redactor
from loopwright.runner.checks import TextSearch, judge, not_run, required_texts, why_failed
from loopwright.runner.events import (
    CheckJudged,
    CommandEnded,
    CommandStarted,
    Emitter,
    OutputSeen,
    SecretSeen,
    StepEnded,
    StepStarted,
)
from loopwright.runner.request import Environment, Failure, RunLimits
from loopwright.sandbox.gate import resolve_inside
from loopwright.sandbox.model import SandboxFolders, SandboxView
from loopwright.sandbox.port import Isolation, Launch
from loopwright.sandbox.run_isolated import run_isolated

SECRET_REASON = "a secret was printed"  # noqa: S105 -- a sentence
_NEXT = "read the blocker card, correct the plan or the project, then `loopwright unlatch` and `loopwright run`"
_TAIL_LINES = 40
_SHOWN_EVERY_S = 0.2


class StepContext(msgspec.Struct, frozen=True):
    """Everything that the steps of one run share."""

    folder: RunFolder
    place: SandboxFolders
    view: SandboxView
    isolation: Isolation
    environment: Environment
    shell: str
    network_open: bool
    limits: RunLimits
    redactor: Redactor
    emitter: Emitter
    cancellation: Cancellation
    freezer: Freezer | None = None
    # Variables in addition, by the step's id and the variables that its command has otherwise.
    variables: Callable[[str, Mapping[str, str]], Mapping[str, str]] | None = None
    findings: list[SecretFinding] = msgspec.field(default_factory=list)
    failures: list[Failure] = msgspec.field(default_factory=list)


class _Progress(msgspec.Struct):
    """The progress of a step."""

    commands: list[CommandRecord] = msgspec.field(default_factory=list)
    checks: list[CheckRecord] = msgspec.field(default_factory=list)
    reason: str = ""
    cancelled: bool = False
    frozen_s: float = 0.0
    last_log: LogFile | None = None


def run_step(context: StepContext, step: Step) -> StepRecord:
    """Run a step to its end, however it ends."""
    began = time.monotonic()
    context.emitter.emit(StepStarted(step.id, context.redactor.clean(step.action)))
    progress = _Progress()
    deadline = began + (step.timeout_s or context.limits.timeout_s)
    searches = {text: TextSearch(text) for text in required_texts(step)}
    try:
        _run_commands(context, step, deadline, searches, progress)
        _run_checks(context, step, deadline, searches, progress)
    except SandboxEscape as problem:
        progress.reason = problem.message
        context.failures.append(Failure(problem.code, context.redactor.clean(problem.message), problem.hint, step.id))
    outcome: StepOutcome = "cancelled" if progress.cancelled else "failed" if progress.reason else "passed"
    record = StepRecord(
        id=step.id,
        action=context.redactor.clean(step.action),
        outcome=outcome,
        cwd=context.redactor.clean(step.cwd),
        depends_on=list(step.depends_on),
        network=step.network,
        duration_s=round(time.monotonic() - began - progress.frozen_s, 3),
        commands=progress.commands,
        checks=progress.checks,
        reason=context.redactor.clean(progress.reason),
    )
    context.emitter.emit(StepEnded(step.id, record.outcome, record.duration_s, record.reason))
    return record


def _run_commands(
    context: StepContext, step: Step, deadline: float, searches: dict[str, TextSearch], progress: _Progress
) -> None:
    for number, command in enumerate(step.commands, start=1):
        expected = step.expected_exit if number == len(step.commands) else 0
        if not _run_command(context, step, number, command, expected, deadline, searches, progress):
            return


def _run_command(
    context: StepContext,
    step: Step,
    number: int,
    command: str,
    expected: int,
    deadline: float,
    searches: dict[str, TextSearch],
    progress: _Progress,
) -> bool:
    """Run one command; False if the step can't continue."""
    if context.cancellation.reason is not None:
        progress.cancelled = True
        return False
    # Checked again right before each command: an earlier command may have created a link.
    cwd = resolve_inside(context.place.repo, step.cwd)
    if not cwd.is_dir():
        progress.reason = f"the folder {step.cwd} does not exist"
        _note_check_failure(context, step, context.redactor.clean(progress.reason), progress)
        return False
    log = context.folder.open_log(f"{step.id}-{number}", context.limits.log_bytes)
    name = f"logs/{log.path.name}"
    shown = context.redactor.clean(command)
    context.emitter.emit(CommandStarted(step.id, number, shown, name))
    try:
        ended = _stream(context, step, command, cwd, deadline, log, searches, progress)
    finally:
        log.close()
    record = CommandRecord(
        command=shown,
        exit_code=ended.exit_code,
        ending=ended.ending.value,
        duration_s=round(ended.duration_s, 3),
        log=name,
        log_sha256=log.sha256,
        log_bytes=log.size,
    )
    progress.commands.append(record)
    progress.last_log = log
    context.emitter.emit(CommandEnded(step.id, number, ended.exit_code, ended.ending.value, record.duration_s))
    if ended.ending is Ending.CANCELLED:
        progress.cancelled = True
    elif ended.ending is Ending.TIMED_OUT:
        progress.reason = f"command {number} did not end within {step.timeout_s or context.limits.timeout_s:g} s"
    elif ended.exit_code != expected:
        has_network = context.network_open or step.network
        progress.reason = why_failed(number, ended.exit_code, expected, log.tail().text, has_network=has_network)
    if progress.reason:
        _note_failure(context, step, record, log, progress.reason)
    return not progress.reason and not progress.cancelled


def _stream(
    context: StepContext,
    step: Step,
    command: str,
    cwd: Path,
    deadline: float,
    log: LogFile,
    searches: dict[str, TextSearch],
    progress: _Progress,
) -> Ended:
    env = context.environment.for_step(step.env)

    def launch() -> Launch:
        network = context.network_open or step.network
        isolated = context.isolation.launch(
            context.view, (context.shell, "-c", command), cwd=cwd, env=env, network=network
        )
        # Asked after the launch is known: the isolation decides where the temporary folder is.
        variables = context.variables(step.id, isolated.env) if context.variables is not None else {}
        return msgspec.structs.replace(isolated, env={**isolated.env, **variables})

    outputs = (_Output(context, step.id, log, tuple(searches.values())), _Output(context, step.id, log, ()))
    ended = run_isolated(
        launch,
        str(context.place.folder),
        on_stdout=outputs[0].take,
        on_stderr=outputs[1].take,
        # The step's clock stops while its commands are paused.
        timeout_s=max(0.0, deadline + progress.frozen_s - time.monotonic()),
        cancellation=context.cancellation,
        freezer=context.freezer,
    )
    progress.frozen_s += ended.frozen_s
    for output in outputs:
        output.finish()
    return ended


class _Output:
    """One output stream of one command, on its way to the log."""

    def __init__(self, context: StepContext, step: str, log: LogFile, searches: tuple[TextSearch, ...]) -> None:
        self._bench = context
        self._step = step
        self._log = log
        self._searches = searches
        self._redactor = context.redactor.stream(f"logs/{log.path.name}")
        self._reported = 0
        self._withheld = False
        self._shown_at = 0.0

    def take(self, data: bytes) -> None:
        """The next chunk."""
        for search in self._searches:
            search.feed(data)
        if not self._withheld:
            self._keep(self._redactor.feed(data))

    def finish(self) -> None:
        """The stream has ended."""
        if not self._withheld:
            self._keep(self._redactor.finish())

    def _keep(self, piece: Redacted) -> None:
        new = self._redactor.findings[self._reported :]
        self._reported += len(new)
        for finding in new:
            self._bench.findings.append(finding)
            self._bench.emitter.emit(SecretSeen(self._bench.redactor.clean(finding.sentence())))
            if finding.action is RuleAction.STOP:
                self._withheld = True
                self._bench.cancellation.request(SECRET_REASON)
        self._log.write_from(self, piece)
        now = time.monotonic()
        if now - self._shown_at >= _SHOWN_EVERY_S:
            last = self._log.last_lines(1)
            if last.data.strip():
                self._shown_at = now
                self._bench.emitter.emit(OutputSeen(self._step, last))


def _note_failure(context: StepContext, step: Step, record: CommandRecord, log: LogFile, reason: str) -> None:
    context.failures.append(
        Failure(
            code="STEP_FAILED",
            message=context.redactor.clean(f"step {step.id} failed: {reason}"),
            hint=_NEXT,
            step=step.id,
            command=record.command,
            exit_code=record.exit_code,
            log_tail=log.last_lines(_TAIL_LINES),
            log_end=log.tail(),
        )
    )


def _run_checks(
    context: StepContext, step: Step, deadline: float, searches: dict[str, TextSearch], progress: _Progress
) -> None:
    for item in step.verification:
        if progress.reason or progress.cancelled:
            record = not_run(item, context.redactor)
        elif isinstance(item, CommandPasses):
            record = _run_check_command(context, step, item, deadline, progress)
        else:
            cwd = resolve_inside(context.place.repo, step.cwd)
            # The list also contains the commands of checks, after the step's own commands.
            own = progress.commands[: len(step.commands)]
            exit_code = own[-1].exit_code if own else None
            record = judge(item, context.place.repo, cwd, searches, exit_code, context.redactor)
        progress.checks.append(record)
        context.emitter.emit(CheckJudged(step.id, record.kind, record.outcome, record.detail))
        if record.outcome == "failed" and not progress.reason:
            progress.reason = f"the check {record.kind} failed: {record.detail.text}"
            if not isinstance(item, CommandPasses):
                _note_check_failure(context, step, record.detail, progress)


def _run_check_command(
    context: StepContext, step: Step, item: CommandPasses, deadline: float, progress: _Progress
) -> CheckRecord:
    number = len(progress.commands) + 1
    before = progress.reason
    passed = _run_command(context, step, number, item.command, 0, deadline, {}, progress)
    detail, progress.reason = progress.reason, before
    outcome: CheckOutcome = "passed" if passed else "not_run" if progress.cancelled else "failed"
    return CheckRecord(
        kind="command",
        expected=context.redactor.clean(item.command),
        outcome=outcome,
        detail=context.redactor.clean(detail or "exited with 0"),
    )


def _note_check_failure(context: StepContext, step: Step, detail: Redacted, progress: _Progress) -> None:
    last = progress.commands[-1] if progress.commands else None
    context.failures.append(
        Failure(
            code="STEP_FAILED",
            message=context.redactor.clean(f"step {step.id} failed: {progress.reason}"),
            hint=_NEXT,
            step=step.id,
            command=last.command if last else None,
            exit_code=last.exit_code if last else None,
            log_tail=_with_detail(context, progress.last_log, detail),
            log_end=progress.last_log.tail() if progress.last_log else detail,
        )
    )


def _with_detail(context: StepContext, log: LogFile | None, detail: Redacted) -> Redacted:
    """The last command's output and the check's result."""
    printed = log.last_lines(_TAIL_LINES).text if log is not None else ""
    return context.redactor.clean(f"{printed}\n{detail.text}".strip("\n"))

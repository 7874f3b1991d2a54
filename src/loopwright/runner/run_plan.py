"""Runs a plan: sandbox, steps, patch, evidence. One call is one run with one published record.

Never touches the user's checkout, the latch or the `latest` files; those belong to the caller.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from loopwright.errors import Interrupted, LoopwrightError, SecretLeak
from loopwright.evidence.model import StepRecord
from loopwright.evidence.store import PLAN, RunFolder
from loopwright.kernel import ids
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.kernel.process import Cancellation, Stopped, stopping_on
from loopwright.plan.model import Plan, Step
from loopwright.plan.parse import parse_plan
from loopwright.redaction.model import RuleAction, SecretFinding
from loopwright.redaction.redactor import PRAGMA_TEXT, Redactor
from loopwright.runner.draft import EvidenceDraft
from loopwright.runner.events import Emitter, PlanRead, RunEnded, RunStarted, SandboxOpened, SecretSeen
from loopwright.runner.patch import keep_base_patch, keep_patch
from loopwright.runner.request import Environment, Failure, Finished, Observer, RunRequest, SandboxOptions, Tools
from loopwright.runner.run_step import StepContext, run_step
from loopwright.runner.schedule import run_in_order
from loopwright.sandbox.confine import choose
from loopwright.sandbox.model import OPEN, Confinement, SandboxView
from loopwright.sandbox.open import opened
from loopwright.sandbox.place import random_name
from loopwright.sandbox.port import Isolation, Sandbox

# Not a name that a step of a plan can have.
SETUP_STEP = "+setup"
SIGNALS = ("SIGINT", "SIGTERM")


def run_plan(request: RunRequest, tools: Tools, emitter: Emitter, cancellation: Cancellation) -> Finished:
    """Run a plan once and publish its evidence."""
    began = time.monotonic()
    draft = EvidenceDraft(tools.clock(), request.environment)
    plan = _read_plan(request, tools, draft)
    named = plan.run_id if isinstance(plan, Plan) else None
    run_id = request.run_id or named or ids.new_run_id(draft.started)
    folder = tools.store.claim(run_id, request.origin, stamp(draft.started))
    try:
        emitter.emit(RunStarted(folder.run_id, shown(folder.path)))
        draft.write_plan(folder, PLAN)
        try:
            if isinstance(plan, LoopwrightError):
                raise plan
            _execute(request, plan, tools, draft, folder, emitter, cancellation)
        except LoopwrightError as problem:
            draft.fail(failure_of(problem, tools.redactor))
        except Stopped:
            draft.fail(failure_of(_interrupted(cancellation), tools.redactor))
        if draft.failure is None:
            draft.write_summary(folder, tools.redactor, request.replanning)
        evidence = draft.evidence(request, tools, folder.run_id, time.monotonic() - began)
        evidence = tools.store.publish(folder, evidence)
    finally:
        folder.release()
    return Finished(evidence, folder.path, draft.failure, plan if isinstance(plan, Plan) else None)


def failure_of(problem: LoopwrightError, redactor: Redactor) -> Failure:
    """An error as the failure of a run."""
    stopped_by = problem.signal_name if isinstance(problem, Interrupted) else None
    return Failure(problem.code, redactor.clean(problem.message), problem.hint, signal=stopped_by)


def announce_end(finished: Finished, failure: Failure | None, emitter: Emitter) -> None:
    """Announce that the run is over. The caller does this when everything is written."""
    evidence = finished.evidence
    emitter.emit(
        RunEnded(
            run_id=evidence.run_id,
            status="ERROR" if failure else "OK",
            error_code=failure.code if failure else None,
            message=failure.message if failure else evidence.message,
            next=failure.hint if failure else None,
            path=shown(finished.folder),
            duration_s=evidence.duration_s,
        )
    )


def _read_plan(request: RunRequest, tools: Tools, draft: EvidenceDraft) -> Plan | LoopwrightError:
    """The plan, or why it can't be run. Searches for secrets before anything else."""
    if isinstance(request.plan, LoopwrightError):
        return request.plan
    scanned = tools.redactor.scan(request.plan, request.plan_name, trusts_pragma=True)
    draft.findings += scanned.findings
    if scanned.must_stop:
        draft.note_plan(request.plan, scanned)
        return leak(f"the plan {request.plan_name} contains a secret", draft)
    tools.redactor.allow(tools.redactor.exempted_by_pragma(request.plan))
    try:
        plan = parse_plan(request.plan, request.plan_name)
    except LoopwrightError as problem:
        draft.note_plan(request.plan, scanned)
        return problem
    hidden = _hidden_in(plan, request.plan_name, tools)
    draft.note_plan(request.plan, msgspec.structs.replace(scanned, findings=(*scanned.findings, *hidden)))
    if hidden:
        draft.findings += hidden
        return leak(f"the plan {request.plan_name} contains a secret", draft)
    draft.plan = plan
    return plan


def _hidden_in(plan: Plan, name: str, tools: Tools) -> list[SecretFinding]:
    """Secrets that are visible only after YAML escapes and folds are decoded. A secret in a name can't be masked."""
    texts = tools.redactor.scan("\n".join(plan.texts()).encode("utf-8", "surrogateescape"), name, trusts_pragma=False)
    names = tools.redactor.scan("\n".join(plan.names()).encode(), name, trusts_pragma=False)
    stopping = [finding for finding in texts.findings if finding.action is RuleAction.STOP]
    return stopping + [msgspec.structs.replace(finding, action=RuleAction.STOP) for finding in names.findings]


def leak(what: str, draft: EvidenceDraft) -> SecretLeak:
    """The error for a secret that would have been stored."""
    places = "; ".join(finding.sentence() for finding in draft.findings if finding.action is RuleAction.STOP)
    return SecretLeak(
        f"{what}: {places}",
        hint="remove the secret (pass it through the step's `env`), or see `loopwright explain secrets`",
    )


def _execute(
    request: RunRequest,
    plan: Plan,
    tools: Tools,
    draft: EvidenceDraft,
    folder: RunFolder,
    emitter: Emitter,
    cancellation: Cancellation,
) -> None:
    emitter.emit(
        PlanRead(tools.redactor.clean(plan.goal), tuple((s.id, tools.redactor.clean(s.action)) for s in plan.steps))
    )
    if isinstance(request.sandbox_options, LoopwrightError):
        raise request.sandbox_options
    options = request.sandbox_options

    def confine(view: SandboxView) -> tuple[Isolation, Confinement]:
        environment = request.environment.for_step(())
        is_judge = request.origin.kind in ("loop", "workflow") or options.closes_network
        return choose(options.isolation, tools.isolations, view, options.shell, environment, is_judge=is_judge)

    name = _sandbox_name(request, folder)
    with (
        opened(options.sandbox, name, confine=confine, keep=options.keep, cancellation=cancellation) as sandbox,
        cancellation.nested() as own,
    ):
        draft.note_sandbox(sandbox, tools.redactor)
        _announce(sandbox, tools, emitter)
        context = _step_context(options, request.environment, tools, folder, sandbox, emitter, own)
        with stopping_on(cancellation):
            keep_base_patch(folder, sandbox, tools.redactor, draft)
        tools.redactor.exempt_later(
            lambda: tools.redactor.exempted_by_pragma(sandbox.recorder.lines_containing(PRAGMA_TEXT))
        )
        observer = request.observer
        if observer is not None:
            observer.before_steps(sandbox)
        if _set_up(options, plan, context, draft):
            _run_steps(options, plan, _observed(observer, context, sandbox), draft, request, context)
        staged = observer.after_steps(sandbox) if observer is not None else None
        draft.findings += context.findings
        _raise_if_stopped(context, draft)
        draft.fail_first(context.failures)
        # The files of a control are altered: they are no change of the work.
        if draft.failure is None and not request.control:
            with stopping_on(cancellation):
                keep_patch(folder, sandbox, tools.redactor, draft, staged)
            _report_secrets(tools, draft, emitter)


def _report_secrets(tools: Tools, draft: EvidenceDraft, emitter: Emitter) -> None:
    for finding in draft.patch_findings:
        emitter.emit(SecretSeen(tools.redactor.clean(finding.sentence())))
    if any(finding.action is RuleAction.STOP for finding in draft.patch_findings):
        raise leak("the change contains a secret", draft)


def _sandbox_name(request: RunRequest, folder: RunFolder) -> str:
    """The run's own name for a person who keeps the sandbox; a name that says nothing where the run judges work."""
    return folder.run_id if request.origin.kind == "run" else random_name()


def _announce(sandbox: Sandbox, tools: Tools, emitter: Emitter) -> None:
    base, confinement = sandbox.recorder.base(), sandbox.confinement
    notes = (*sandbox.notes, *([confinement.why] if confinement.why else []))
    emitter.emit(
        SandboxOpened(
            mode=sandbox.mode,
            base=base.commit or base.tree,
            isolation=confinement.used,
            network=confinement.network,
            notes=tuple(tools.redactor.clean(note) for note in notes),
        )
    )


def _step_context(
    options: SandboxOptions,
    environment: Environment,
    tools: Tools,
    folder: RunFolder,
    sandbox: Sandbox,
    emitter: Emitter,
    cancellation: Cancellation,
) -> StepContext:
    return StepContext(
        folder=folder,
        place=sandbox.place,
        view=sandbox.view,
        isolation=sandbox.isolation,
        environment=environment,
        shell=options.shell,
        network_open=sandbox.confinement.network == OPEN,
        limits=options.limits,
        redactor=tools.redactor,
        emitter=emitter,
        cancellation=cancellation,
        freezer=options.freezer,
    )


def _set_up(options: SandboxOptions, plan: Plan, context: StepContext, draft: EvidenceDraft) -> bool:
    """Run the set-up; False if it failed."""
    if not options.setup:
        return True
    # The project's own set-up may install packages, also for a judge.
    step = Step(SETUP_STEP, "prepare the sandbox", options.setup, network=options.isolation != "strict")
    record = run_step(context, step)
    draft.steps.append(record)
    if record.outcome != "passed":
        draft.add_skipped(plan.steps, context.redactor)
    return record.outcome == "passed"


def _observed(observer: Observer | None, context: StepContext, sandbox: Sandbox) -> Callable[[Step], StepRecord]:
    """Runs one step under the eyes of the observer."""
    if observer is None:
        return lambda step: run_step(context, step)
    inside = msgspec.structs.replace(context, variables=observer.variables)

    def run(step: Step) -> StepRecord:
        observer.before_step(sandbox, step.id)
        return observer.after_step(sandbox, run_step(inside, step), context.folder.path)

    return run


def _run_steps(
    options: SandboxOptions,
    plan: Plan,
    run: Callable[[Step], StepRecord],
    draft: EvidenceDraft,
    request: RunRequest,
    context: StepContext,
) -> None:
    done = run_in_order(
        plan,
        run,
        # Reports are read after each step: parallel steps would mix their reports.
        jobs=options.limits.jobs if request.observer is None else 1,
        stop_at_failure=request.stop_at_failure,
        cancellation=context.cancellation,
    )
    draft.steps += [done[step.id] for step in plan.steps if step.id in done]
    draft.add_skipped([step for step in plan.steps if step.id not in done], context.redactor)


def _raise_if_stopped(context: StepContext, draft: EvidenceDraft) -> None:
    if any(finding.action is RuleAction.STOP for finding in context.findings):
        raise leak("a command printed a secret", draft)
    for failure in context.failures:
        if failure.code == "SANDBOX_ESCAPE":
            draft.fail(failure)
            return
    if context.cancellation.reason in SIGNALS:
        raise _interrupted(context.cancellation)


def _interrupted(cancellation: Cancellation) -> Interrupted:
    return Interrupted(cancellation.reason or "a request", hint="`loopwright run` starts again")

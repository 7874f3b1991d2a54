"""validate: judge the work as it is kept, and find reasons why tests that pass prove nothing."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.judging.scope import WorkScope
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.actions.judge_work import judge_split, judge_work
from loopwright.loop.actions.prove_tasks import doubts_about, nothing_done, prove_tasks
from loopwright.loop.actions.run_tests import MoreOfRun, commands_for, run_judges, settled_run
from loopwright.loop.choice import mark_of, tasks_to_prove
from loopwright.loop.model import Loop, Tree, Validation
from loopwright.loop.port import Judging
from loopwright.loop.proof import TaskGrade, TaskProof
from loopwright.loop.ran_checks import RanChecks
from loopwright.loop.split_work import SplitWork
from loopwright.loop.work_files import add_to_page, note_tree
from loopwright.loop.work_verdict import WorkVerdict, known_failures
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import sandbox_request, with_work
from loopwright.runner.checks import NEEDS_NETWORK
from loopwright.runner.request import Finished, Observer

_NO_TESTS = ("nothing checks the project: project.test_command is none",)


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.FinishValidate:
    """Judge the work as it is kept: by the test command, or by the checks of the build."""
    judge, more = context.judge, context.tasks_after_checks
    validation, gaps = _tested(loop, context) if judge is None else (judge_by_checks(loop, context, judge(loop)), ())
    then = more(loop) if more is not None and validation.holds else ()
    if loop.fallback is not None and not validation.holds:
        note_tree(context.progress(loop), loop.fallback)
    _write_down(loop, context, validation, gaps)
    mark = mark_of(loop, validation=validation)
    return c.FinishValidate(action_id=action_id, validation=validation, mark=mark, then=then)


def _tested(loop: Loop, context: WorkerContext) -> tuple[Validation, tuple[str, ...]]:
    """Judge by the test commands; also return what their report lacks."""
    tree, now = loop.tree, stamp(context.clock())
    if tree is None or not tree.has_changes:
        run = settled_run(loop, context, sandbox_request(loop, context), commands_for(context, ()), "validate")
        run = run.as_without_tests(run)
        validation = Validation(
            results=run.findings, coverage=run.coverage, passed=run.passed, last_run_at=now, run_id=run.run_id,
            proofs=nothing_done(loop) if run.passed else (),
        )  # fmt: skip
        return validation, run.gaps
    judged = judge_work(loop, context, tree)
    accepted = judged if judged.passes else judged.offered
    proofs = prove_tasks(loop, context, accepted) if accepted is not None else ()
    doubts = (accepted.doubts or tuple(doubts_about(proofs))) if accepted is not None else ()
    unfixed = judged.unfixed if accepted is not None and accepted is not judged else ()
    still = (known_failures(unfixed, needs_network=NEEDS_NETWORK in judged.decisive.message),) if unfixed else ()
    validation = Validation(
        results=judged.results,
        coverage=judged.decisive.coverage,
        passed=judged.passes,
        needs_protected=judged.passes_only_with,
        last_run_at=now,
        run_id=judged.decisive.run_id,
        doubts=(*still, *doubts),
        proofs=proofs,
        proof=accepted.proof if accepted is not None else "",
        notes=(
            *_NO_TESTS[: context.project.has_no_tests],
            *(accepted.notes if accepted is not None else (*filter(None, (judged.base_failure,)), *judged.about_flaky)),
        ),
        unfixed=unfixed,
        without_protected=accepted.without_protected if accepted is not None else None,
        with_protected=accepted.with_all if accepted is not None else None,
        left_out=judged.changes_left_out,
    )
    return validation, judged.decisive.gaps


def judge_by_checks(loop: Loop, context: WorkerContext, judging: Judging) -> Validation:
    """Judge by the checks of the build; each check is one result."""

    def run(
        tree: Tree | None,
        steps: tuple[dict[str, object], ...],
        name: str,
        observer: Observer,
        base_run: str | None,
        scope: WorkScope | None,
    ) -> Finished:
        plan = codec.to_yaml({"new_plan": {"unified_goal": f"the checks of {loop.title}", "steps": list(steps)}})
        now = context.request()
        sandbox = now if tree is None else with_work(now, tree, context.progress(loop))
        more = MoreOfRun(base_run=base_run, scope=scope)
        return run_judges(loop, context, sandbox, plan, f"{loop.loop_id}-{name}", observer, more)

    judged = judging.judge(run, lambda split, ran: _project_tests(loop, context, split, ran))
    passed = bool(judged.results) and all(result.status == "passed" for result in judged.results)
    proofs = tuple(map(_not_decided, tasks_to_prove(loop))) if passed else ()
    return Validation(
        results=judged.results, passed=passed, last_run_at=stamp(context.clock()), run_id=judged.run_id, proofs=proofs,
        left_out=judged.left_out, checks=judged.checks, needs_protected=judged.needs_protected,
    )  # fmt: skip


def _not_decided(task_id: str) -> TaskProof:
    return TaskProof(task_id=task_id, grade=TaskGrade.UNPROVEN, reason="the build has not decided yet")


def _project_tests(loop: Loop, context: WorkerContext, split: SplitWork, ran: RanChecks) -> WorkVerdict | None:
    """The verdict of the project's own tests, else of what the checks of the plan run; None without either."""
    if not context.project.test_commands:
        # The earlier tests behind the checks must still be able to fail.
        context = replace(context, project=replace(context.project, test_command=list(ran.commands)))
    if not context.project.test_commands:
        return None
    # The checks of the plan say which failures the work must mend.
    return judge_split(loop, context, split, named=(), ran=ran)


def _write_down(loop: Loop, context: WorkerContext, validation: Validation, gaps: tuple[str, ...]) -> None:
    outcome = "passed" if validation.passed else "failed"
    lines = [
        f"## {outcome} at {validation.last_run_at}",
        "",
        f"run {validation.run_id}, {validation.pass_rate:g} % passed",
    ]
    lines += [f"- {validation.proof}"] if validation.proof else []
    lines += [f"- failed: {name}" for name in validation.failed_tests[:50]]
    lines += [f"- missing from the report: {gap}" for gap in gaps]
    lines += [f"- {validation.left_out.sentence}"] if validation.left_out is not None else []
    lines += [f"- not proven: {doubt.message}" for doubt in validation.doubts]
    lines += [f"- {note}" for note in validation.notes]
    add_to_page(context.progress(loop), "validate", context.tools().redactor.clean("\n".join(lines)))

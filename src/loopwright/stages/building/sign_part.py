"""A person signs some of the protected changes: the checks run on exactly that tree before it counts.

The other protected changes are left out. If the checks do not accept the tree, nothing is recorded.
"""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.errors import WorkflowRefused
from loopwright.judging.globs import matches
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.loop.actions.validate import judge_by_checks
from loopwright.loop.model import Loop
from loopwright.stages.building.judge import CheckJudging
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_worker import as_worker, no_choice, worker_context_for
from loopwright.workflow.choices import look_command
from loopwright.workflow.model import Building, Workflow
from loopwright.workflow.verification import Verification


def judge_part(context: Context, workflow: Workflow, pattern: str, cancellation: Cancellation) -> Verification:
    """Run the checks on the work with the protected changes that fit the pattern; `WorkflowRefused` if they fail."""
    verified, at = workflow.judged, workflow.at
    protected = verified.protected if verified is not None else None
    if verified is None or protected is None:
        raise WorkflowRefused.see_status(workflow.slug, "nothing_to_sign", "no protected changes wait for a signature")
    kept = tuple(path for path in protected.files if matches(path, (pattern, f"{pattern.rstrip('/')}/**")))
    if not kept:
        names = ", ".join(list(protected.files)[:10])
        raise WorkflowRefused.see_status(
            workflow.slug, "nothing_to_sign", f"'{pattern}' fits none of the protected changes: {names}"
        )
    if not isinstance(at, Building) or at.loop_id is None:
        raise WorkflowRefused.see_status(workflow.slug, "nothing_to_sign", f"{workflow.slug} is not being built")
    judged = _judged(context, workflow, at.loop_id, frozenset(kept), cancellation)
    # The tree is new to the checks, and the list of changes is the one that the person saw.
    decided = replace(protected, decision="signed", kept=kept)
    return replace(judged, iteration=verified.iteration, protected=decided)


def _judged(
    context: Context, workflow: Workflow, loop_id: str, kept: frozenset[str], cancellation: Cancellation
) -> Verification:
    found: list[Verification] = []

    def note(loop: Loop, verification: Verification, passed: bool) -> None:  # noqa: ARG001 -- as in a build
        if passed:
            found.append(verification)

    with as_worker(context, loop_id):
        loop = loops_of(context).load(loop_id)
        judging = CheckJudging(context, workflow.slug, loop, note, cancellation, kept)
        worker = worker_context_for(context, cancellation, Freezer(), no_choice)
        validation = judge_by_checks(loop, worker, judging)
    if not found:
        failed = ", ".join(validation.failed_tests[:5])
        raise WorkflowRefused(
            "protected_part_fails",
            f"the checks fail on the work with only these protected changes: {failed} (run {validation.run_id}); "
            "nothing was signed",
            next_command=look_command(workflow.slug),
        )
    return found[0]

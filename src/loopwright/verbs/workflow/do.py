"""`loopwright do`: one command from an idea to a reviewed diff, on the gates of a build."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace

from loopwright.errors import LoopwrightError, WorkflowRefused
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Budget
from loopwright.stages.agent_choice import agent_to_do
from loopwright.stages.building.begin import BuildRequest, begin_build
from loopwright.stages.context import Context, Tell, ignore_progress, loops_of, workflows_of
from loopwright.stages.person import require_person
from loopwright.stages.quick.begin import DoRequest, begin_quick, consent_to_plan
from loopwright.stages.quick.commit import Committed, commit_delivery, proposed_message
from loopwright.stages.quick.decide import accept_if_proven, discard_work, send_back, subject_to_sign
from loopwright.stages.quick.decide import accept_work as accept
from loopwright.stages.quick.result import DoOutcome, DoResult, must_be_built
from loopwright.stages.quick.review import conclude
from loopwright.stages.status import WorkflowView
from loopwright.verbs.loop.control import stop
from loopwright.workflow.model import Archived, Done, Workflow

__all__ = [
    "Committed",
    "DoOutcome",
    "DoRequest",
    "DoResult",
    "accept",
    "accept_if_proven",
    "again",
    "begin_quick",
    "commit_delivery",
    "conclude",
    "discard",
    "find",
    "must_be_built",
    "prepare",
    "proposed_message",
    "require_person",
    "send_back",
    "subject_to_sign",
]


def prepare(
    context: Context,
    slug: str,
    agent: str = "",
    budget: Budget = Budget(),  # noqa: B008 -- frozen
    tell: Tell = ignore_progress,
    cancellation: Cancellation | None = None,
) -> str:
    """Plan and begin the build, or let it go on; returns the id of its loop, for `drive`."""
    require_person(context.environment, "do")
    cancellation = cancellation or Cancellation()
    consent_to_plan(context, slug, tell, cancellation)
    if not workflows_of(context).snapshot(slug).workflow.loops:
        agent = agent_to_do(context, agent, command=f"loopwright do --continue {slug}")
    return begin_build(context, slug, BuildRequest(agent=agent, budget=budget), tell, cancellation)


def find(context: Context, name: str = "") -> str:
    """The unfinished work of `do` with this name, or with a part of it; without a name, the newest."""
    require_person(context.environment, "do --continue")
    quick = {workflow.slug: workflow for workflow in _readable(context) if workflow.is_quick}
    if name in quick:
        return name
    unfinished = sorted(filter(_is_unfinished, quick.values()), key=lambda workflow: workflow.updated_at)
    fitting = [workflow.slug for workflow in unfinished if name in workflow.slug]
    if not fitting:
        names = ", ".join(workflow.slug for workflow in unfinished) or "none"
        raise WorkflowRefused(
            "nothing_to_continue",
            f"no unfinished work of `loopwright do` has this name (unfinished: {names})"
            if name
            else "no work of `loopwright do` is unfinished",
            next_command="loopwright status",
        )
    if name and len(fitting) > 1:
        raise WorkflowRefused(
            "nothing_to_continue",
            f"'{name}' is a part of several names: {', '.join(fitting)}",
            next_command=f"loopwright do --continue {fitting[-1]}",
        )
    return fitting[-1]


def _readable(context: Context) -> Iterator[Workflow]:
    """All workflows that can be read; `status` reports the others."""
    store = workflows_of(context)
    for slug in filter(store.exists, store.slugs()):
        with suppress(LoopwrightError):
            yield store.snapshot(slug).workflow


def _is_unfinished(workflow: Workflow) -> bool:
    return not isinstance(workflow.at, Done | Archived)


def discard(context: Context, slug: str) -> WorkflowView:
    """Stop the build if it is not over, and end the workflow without a delivery."""
    require_person(context.environment, "do")
    for loop_id in workflows_of(context).snapshot(slug).workflow.loops:
        if not loops_of(context).load(loop_id).is_over:
            stop(context, loop_id)
    return discard_work(context, slug)


def again(context: Context, slug: str, request: DoRequest) -> str:
    """Discard the work, and begin once more with the same idea and the same checks; returns the new name."""
    snapshot = workflows_of(context).snapshot(slug)
    checks = [(check.command, check.cwd) for check in snapshot.facts.readable_slices.checks]
    usual = [(test.command, test.cwd) for test in context.settings.values.project.test_commands]
    given = () if checks == usual else tuple(command for command, _ in checks)
    discard(context, slug)
    return begin_quick(context, replace(request, idea=snapshot.workflow.idea, checks=given))

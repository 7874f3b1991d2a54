"""Records the result of a build: its audit, its ledger and its execution record."""

from __future__ import annotations

from loopwright.kernel.clock import stamp
from loopwright.loop.model import Completed, Created, Failed, Held, Loop
from loopwright.loop.task_standing import standing_of
from loopwright.stages.building.loop_proofs import record_proofs
from loopwright.stages.context import Context, documents_of, loops_of, workflows_of
from loopwright.workflow import audit
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.blockers import Family
from loopwright.workflow.documents import record
from loopwright.workflow.facts import Facts
from loopwright.workflow.gather import LEDGER
from loopwright.workflow.model import Building, Decision, Transition, Workflow
from loopwright.workflow.slices import Slices
from loopwright.workflow.store import Opened
from loopwright.workflow.test_sentences import tests_sentence


def settle_build(context: Context, slug: str, loop_id: str) -> Workflow:
    """Record the build's result, and request the review if nothing blocks it."""
    loop = loops_of(context).load(loop_id)
    with workflows_of(context).changing(slug) as opened:
        if not isinstance(opened.workflow.at, Building):
            return opened.workflow
        _take_decisions(opened, loop)
        facts = opened.facts()
        if opened.workflow.verification is not None and isinstance(facts.slices, Slices):
            opened.write(_documents(context, opened, facts, loop), "tool")
        opened.apply(c.RequestApproval(transition=Transition.BUILD_REVIEW, standing=opened.standing()), "tool")
        snapshot = opened.snapshot()
    record_proofs(context, snapshot, loop_id)
    return snapshot.workflow


def _take_decisions(opened: Opened, loop: Loop) -> None:
    """Copy the loop's questions to people into the workflow, with their answers."""
    for decision in loop.decisions:
        name, answer, by = decision.id, decision.answer, decision.answered_by or "a person"
        asked = Decision(id=name, question=decision.question, options=decision.options)
        opened.apply(e.DecisionAsked(decision=asked), "agent")
        here = next((known for known in opened.workflow.decisions if known.id == name), None)
        if here is not None and here.answer is None and answer is not None:
            opened.apply(e.DecisionAnswered(id=name, answer=answer, by=by), "tool")


def _documents(context: Context, opened: Opened, facts: Facts, loop: Loop) -> dict[str, bytes]:
    workflow = opened.workflow
    return {
        "build-support/completion-audit.json": audit.render(audit.audited(workflow, facts)),
        LEDGER: record.render_ledger(facts.ledger),
        record.NAME: _record(context, workflow, loop, facts, is_through=_is_through(opened, loop)),
    }


def _is_through(opened: Opened, loop: Loop) -> bool:
    """Whether the build is complete: its loop is, or a person signed what kept the loop from completing."""
    blockers = opened.standing().readiness.review
    return isinstance(loop.phase, Completed) or all(blocker.family is Family.EXECUTION_RECORD for blocker in blockers)


def _record(context: Context, workflow: Workflow, loop: Loop, facts: Facts, *, is_through: bool) -> bytes:
    verified = workflow.verification
    runs = verified.run_ids if verified is not None else ()
    plan = workflow.at.plan if isinstance(workflow.at, Building) else ""
    values = {
        "schema_version": "1",
        "workflow_id": workflow.slug,
        "run_id": loop.validation.run_id or (runs[-1] if runs else ""),
        "stage": "build",
        "actor_id": record.actors_in(loop.agent, *loop.builders),
        "actor_role": "builder",
        "plan_digest": plan,
        "started_at": loop.created_at,
        "completed_at": stamp(context.clock()) if is_through else "",
        "checkpoint_count": str(len(loop.completed_actions)),
        "evidence_manifest": ", ".join(runs) or (loop.validation.run_id or ""),
    }
    checks = verified.checks if verified is not None else {}
    sections = {
        "Changes": "\n".join(f"- {path}" for path in (verified.files if verified is not None else ())),
        "Checkpoint Log": "\n".join(
            f"- {task.id} {standing_of(loop, task)}: {task.description[:200]}" for task in loop.tasks
        ),
        "Execution Evidence": f"loop {loop.loop_id}, tree {verified.tree if verified is not None else 'none'}",
        "Verification Evidence": "\n".join(
            f"- {name}: run {run.run_id}, exit {run.exit_code}, tree {run.tree[:12]}" for name, run in checks.items()
        ),
        "Limitations": _limitations(loop, workflow, facts),
    }
    return record.write_record(workflow.slug, values, sections, documents_of(context))


def _limitations(loop: Loop, workflow: Workflow, facts: Facts) -> str:
    """What is missing from the build, and what the project's own tests say."""
    return f"{_unfinished(loop)}\n\n{tests_sentence(workflow, facts.gates)}".strip()


def _unfinished(loop: Loop) -> str:
    match loop.phase:
        case Held(holds=holds):
            return "; ".join(hold.message for hold in holds)
        case Failed(reason=reason):
            return reason
        case Created():
            return "not begun"
        case _:
            return "none known to the tool"

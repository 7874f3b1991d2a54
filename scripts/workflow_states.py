"""The path of a workflow as a diagram and a table, made by asking the rules themselves."""

from __future__ import annotations

from loopwright.workflow import commands as c
from loopwright.workflow.model import PROFILES, Review, Stage, Subject, Transition, Workflow
from loopwright.workflow.rules import Accepted, decide, evolve
from loopwright.workflow.standing import Readiness, Standing

_NOW = "2026-01-01T00:00:00Z"
_READY = Standing(Readiness(), dict.fromkeys(Transition, Subject(parts={"it": "0" * 64})))


def page(head: str) -> str:
    """The generated page."""
    moves = [(one.origin.value, one.value, one.key.value, one.target.value) for one in Transition if _is_made(one)]
    lines = [f"{head}# A workflow's path", "", "Made by calling `decide` with every transition in every stage.", ""]
    lines += ["```mermaid", "stateDiagram-v2", "    [*] --> clarify"]
    lines += [f"    {before} --> {after}: {key}" for before, _, key, after in moves]
    lines += ["    done --> archived: archive", "```", "", "| transition | consent |", "|---|---|"]
    lines += [f"| `{move}` | {key} |" for _, move, key, _ in moves]
    lines += ["", "Each needs both: nothing that blocks it, and somebody's consent to exactly what is there."]
    return "\n".join(lines) + "\n"


def _is_made(transition: Transition) -> bool:
    """Whether the rules let it be made, from its stage and with its consent."""
    workflow = _at(transition.origin)
    if transition.origin is Stage.REVIEW:
        back = transition.target if transition.is_rollback else None
        verdict = "request-changes" if transition.is_rollback else "approve"
        review = Review(verdict=verdict, reviewer="r", tree="t", target=back, rationale="why")
        workflow = _after(workflow, c.RecordReview(review=review))
    approved = _after(workflow, c.Approve(transition=transition, standing=_READY, by="a person"))
    return _after(approved, c.Enter(transition=transition, standing=_READY)).stage is transition.target


def _at(stage: Stage) -> Workflow:
    workflow = _after(None, c.Begin(slug="x", idea="i", profile=PROFILES["standard"]))
    for transition in (Transition.CLARIFY_PLAN, Transition.PLAN_BUILD, Transition.BUILD_REVIEW):
        if workflow.stage is stage:
            break
        approved = _after(workflow, c.Approve(transition=transition, standing=_READY, by="a person"))
        workflow = _after(approved, c.Enter(transition=transition, standing=_READY))
    return workflow


def _after(workflow: Workflow | None, command: c.Command) -> Workflow:
    decision = decide(workflow, command)
    assert isinstance(decision, Accepted), decision
    for event in decision.events:
        workflow = evolve(workflow, event, _NOW)
    assert workflow is not None
    return workflow

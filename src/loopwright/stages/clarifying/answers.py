"""A person's answers: to questions of the spec, and to decisions that an agent asked for."""

from __future__ import annotations

from loopwright.errors import WorkflowRefused
from loopwright.stages.building.built import require_outside_build
from loopwright.stages.clarifying.rounds import request_approval
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.loop_words import answer_decision
from loopwright.stages.person import actor
from loopwright.stages.status import WorkflowView, view_of
from loopwright.workflow import events as e
from loopwright.workflow.clarity import section_of
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Building, Clarifying
from loopwright.workflow.store import Opened


def answer_question(context: Context, slug: str, item: str, text: str) -> WorkflowView:
    """Record the answer; an earlier answer is never overwritten silently."""
    said, name = context.tools().redactor.clean(" ".join(text.split())).text, item.upper()
    is_decision = name.startswith("D-")
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "answer")
        if is_decision:
            _require_words(opened, name, said)
            opened.apply(e.DecisionAnswered(id=name, answer=said, by=actor()), actor())
        else:
            _answer_item(opened, name, said)
        snapshot = opened.snapshot()
    at = snapshot.workflow.at
    if is_decision and isinstance(at, Building) and at.loop_id is not None:
        # The loop that asked is held until it knows the answer; `build` tells the loop if this process dies here.
        answer_decision(context, at.loop_id, name, said)
    return view_of(context, snapshot)


def _answer_item(opened: Opened, name: str, said: str) -> None:
    workflow = opened.workflow
    spec = opened.facts().spec
    if not isinstance(spec, Spec) or not isinstance(workflow.at, Clarifying):
        raise WorkflowRefused(
            "invalid_transition",
            f"{workflow.slug} is at {workflow.stage.value}, or its spec can't be read: there is nothing to answer",
            next_command=f"loopwright status {workflow.slug}",
        )
    found = next((item for item in spec.items if item.id == name), None)
    if found is None or found.status != "open":
        open_now = ", ".join(item.id for item in spec.open_items) or "none"
        why = "is answered already" if found is not None else "was never asked"
        raise WorkflowRefused(
            "unknown_question",
            f"{name} {why} (open: {open_now})",
            next_command=f"edit {opened.facts().spec_path} to change an answer",
        )
    _require_words(opened, name, said)
    answered = spec.answering(name, said)
    section = section_of(found)
    if section is not None and not answered.says(section):
        answered = answered.with_sections({section: f"- {said}"})
    opened.write({SPEC: answered.page.render()}, actor())
    opened.apply(e.ItemAnswered(item=name, by=actor()), actor())
    request_approval(opened)


def _require_words(opened: Opened, name: str, said: str) -> None:
    if not said:
        raise WorkflowRefused(
            "empty_answer",
            f"an answer to {name} needs words",
            next_command=f'loopwright answer {opened.workflow.slug} {name} "…"',
        )

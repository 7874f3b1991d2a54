"""Answers of a person to questions of the spec, and to questions of agents."""

from __future__ import annotations

from loopwright.errors import WorkflowRefused
from loopwright.stages.building.built import require_outside_build
from loopwright.stages.clarifying.begin import bytes_of
from loopwright.stages.clarifying.rounds import request_approval
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.loop_control import answer_decision
from loopwright.stages.person import actor, require_person
from loopwright.stages.status import WorkflowView, view_of
from loopwright.workflow import events as e
from loopwright.workflow.answer_rules import section_of, sections_without_content, unaccepted_answers
from loopwright.workflow.clarity import SECTION_WEIGHTS
from loopwright.workflow.documents.spec import Spec, is_item_id
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Building, Clarifying
from loopwright.workflow.store import Opened

# The error of an answer that does not count: the person can answer again.
NOT_ACCEPTED = "answer_not_accepted"


def answer_question(context: Context, slug: str, item: str, text: str) -> WorkflowView:
    """Record the answer of a person to a question of the spec (`A-1`), or to a question of an agent (`D-1`).

    An earlier answer is never overwritten.
    """
    require_person(context.environment, "answer")
    answer, name = context.tools().redactor.clean(" ".join(text.split())).text, item.upper()
    is_decision = not is_item_id(name)
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "answer")
        if is_decision:
            _require_text(opened, name, answer)
            opened.apply(e.DecisionAnswered(id=name, answer=answer, by=actor()), actor())
        else:
            _answer_item(opened, name, answer)
        snapshot = opened.snapshot()
    at = snapshot.workflow.at
    if is_decision and isinstance(at, Building) and at.loop_id is not None:
        # The loop is held until it has the answer. If this process dies here, `build` passes the answer on.
        answer_decision(context, at.loop_id, name, answer)
    return view_of(context, snapshot)


def _answer_item(opened: Opened, name: str, answer: str) -> None:
    workflow = opened.workflow
    spec = opened.facts().spec
    if not isinstance(spec, Spec) or not isinstance(workflow.at, Clarifying):
        raise WorkflowRefused.see_status(
            workflow.slug,
            "invalid_transition",
            f"there is nothing to answer: {workflow.slug} is at {workflow.stage.value}, or its spec is unreadable",
        )
    asked = next((item for item in spec.items if item.id == name), None)
    if asked is None or (asked.status != "open" and name not in unaccepted_answers(spec)):
        open_now = ", ".join(item.id for item in spec.open_items) or "none"
        why = "is already answered" if asked is not None else "does not exist"
        raise WorkflowRefused(
            "unknown_question",
            f"{name} {why} (open: {open_now})",
            next_command=f"edit {opened.facts().spec_path} to change an answer",
        )
    _require_text(opened, name, answer)
    answered = spec.answering(name, answer)
    _require_accepted(workflow.slug, answered, name)
    section = section_of(asked.question)
    if section is not None and section in sections_without_content(answered, SECTION_WEIGHTS):
        answered = answered.with_sections({section: f"- {answer}"})
    opened.write({SPEC: bytes_of(answered, workflow.slug)}, actor())
    opened.apply(e.ItemAnswered(item=name, by=actor()), actor())
    request_approval(opened)


def _require_accepted(slug: str, answered: Spec, name: str) -> None:
    """Refuse an answer that says nothing about its question; the question stays open."""
    if (why := unaccepted_answers(answered).get(name)) is not None:
        raise WorkflowRefused(
            NOT_ACCEPTED,
            f"the answer to {name} does not count: {why}",
            next_command=f'loopwright answer {slug} {name} "…"',
        )


def _require_text(opened: Opened, name: str, answer: str) -> None:
    if not answer:
        raise WorkflowRefused(
            "empty_answer",
            f"the answer to {name} is empty",
            next_command=f'loopwright answer {opened.workflow.slug} {name} "…"',
        )

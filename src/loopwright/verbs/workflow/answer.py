"""`loopwright answer`: a person answers a question of the spec, or a decision that an agent asked for."""

from __future__ import annotations

from loopwright.errors import WorkflowRefused
from loopwright.stages.building.outside_build import require_outside_build
from loopwright.stages.clarifying import request_approval
from loopwright.stages.context import Context
from loopwright.stages.person import actor, require_person
from loopwright.stages.stores import workflows_of
from loopwright.verbs.loop.answer import answer as answer_loop
from loopwright.workflow import commands as c
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Building, Clarifying, Workflow
from loopwright.workflow.questions import section_of
from loopwright.workflow.store import Opened


def answer(context: Context, slug: str, item: str, text: str) -> Workflow:
    """Record the answer; what was answered before is not overwritten without saying so."""
    require_person(context.environment, "answer")
    said = context.tools().redactor.clean(" ".join(text.split())).text
    with workflows_of(context).changing(slug) as opened:
        require_outside_build(context, opened.workflow, "answer")
        if item.upper().startswith("D-"):
            _require_words(opened, item.upper(), said)
            after = opened.apply(c.AnswerDecision(id=item.upper(), answer=said, by=actor()), actor()).workflow
            if isinstance(after.at, Building) and after.at.loop_id is not None:
                # The loop that asked is held until it knows, too.
                answer_loop(context, after.at.loop_id, item.upper(), said)
            return after
        _answer_item(opened, item.upper(), said)
        return opened.workflow


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
    opened.apply(c.AnswerItem(item=name, by=actor()), actor())
    request_approval(opened)


def _require_words(opened: Opened, name: str, said: str) -> None:
    if not said:
        raise WorkflowRefused(
            "empty_answer",
            f"an answer to {name} needs words",
            next_command=f'loopwright answer {opened.workflow.slug} {name} "…"',
        )

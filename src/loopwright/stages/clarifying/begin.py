"""Opens a workflow at its clarify stage: a new one with the skeleton of a spec, or one that a review returned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.stages.context import Context, documents_of, workflows_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.documents.page import NotAPage
from loopwright.workflow.documents.spec import Spec, new_spec
from loopwright.workflow.facts import Damaged, Facts
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Clarifying, Reviewing, Transition, Workflow
from loopwright.workflow.profiles import PROFILES, Profile
from loopwright.workflow.store import Opened
from loopwright.workspace.layout import record_choice


@contextmanager
def opened_to_clarify(
    context: Context, name: str, idea: str, profile_name: str | None = None, spec: bytes | None = None
) -> Iterator[Opened]:
    """The workflow of this name, under its lock; a new workflow starts with `spec`, else with a skeleton."""
    slug = slug_of(name)
    profile = profile_of(profile_name or context.settings.values.workflow.clarify)
    store = workflows_of(context)
    if store.exists(slug):
        with store.changing(slug) as opened:
            require_documents(opened.workflow)
            if isinstance(opened.workflow.at, Reviewing):
                _go_back(opened)
            require_clarifying(opened.workflow)
            if profile_name is not None:
                opened.apply(e.ProfileSet(profile=profile), actor())
            if spec is not None:
                opened.write({SPEC: spec}, actor())
            yield opened
        return
    if not idea.strip() and spec is None:
        raise WrongUsage("a new workflow needs an idea", hint=f'loopwright clarify {slug} --idea "…"')
    record_choice(context.layout)
    redacted = context.tools().redactor.clean(idea).text
    try:
        data = spec or new_spec(name.strip(), redacted, slug, documents_of(context)).render()
    except NotAPage as problem:
        hint = f'loopwright clarify {slug} --idea "…"'
        raise WrongUsage(f"the idea cannot be the intent of a spec: {problem}", hint=hint) from problem
    with store.beginning(c.Begin(slug=slug, idea=redacted, profile=profile), actor()) as opened:
        opened.write({SPEC: data}, actor())
        yield opened


def profile_of(name: str) -> Profile:
    """A profile by name."""
    if name not in PROFILES:
        raise WorkflowRefused(
            "invalid_clarify_profile",
            f"there is no clarify profile '{name}' (profiles: {', '.join(PROFILES)})",
            next_command="loopwright clarify SLUG --profile standard",
        )
    return PROFILES[name]


def require_clarifying(workflow: Workflow) -> None:
    """Raise if the workflow is past its clarify stage."""
    if not isinstance(workflow.at, Clarifying):
        raise WorkflowRefused.see_status(
            workflow.slug,
            "invalid_transition",
            f"{workflow.slug} is already clarified; it is at {workflow.stage.value}",
        )


def require_documents(workflow: Workflow) -> None:
    """Raise if `loopwright do` began the workflow: it has neither rounds of questions nor documents of a plan."""
    if workflow.is_quick:
        raise WorkflowRefused(
            "invalid_transition",
            f"`loopwright do` began {workflow.slug}: its plan follows from the idea and the checks",
            next_command=f"loopwright do --continue {workflow.slug}",
        )


def require_spec(facts: Facts) -> Spec:
    """The spec; `WorkflowRefused` if it is missing or unreadable."""
    if isinstance(facts.spec, Spec):
        return facts.spec
    why = facts.spec.sentence() if isinstance(facts.spec, Damaged) else "it is missing"
    raise WorkflowRefused(
        "clarify_readiness_blocked",
        f"{facts.spec_path} is unreadable: {why}",
        next_command=f"fix it; earlier versions are in {facts.objects_path}",
    )


def bytes_of(spec: Spec, slug: str) -> bytes:
    """The spec as a file; `WorkflowRefused` if the file could not be read back."""
    try:
        return spec.render()
    except NotAPage as problem:
        raise WorkflowRefused.see_status(slug, "spec_unreadable", f"the spec would be unreadable: {problem}") from None


def _go_back(opened: Opened) -> None:
    """Enter clarify after a review: the spec stays, and everything that the review found becomes an open question."""
    opened.apply(c.Enter(transition=Transition.REVIEW_CLARIFY, standing=opened.standing()), "tool")
    spec = require_spec(opened.facts())
    sent_back = opened.workflow.sent_back
    found = "; ".join(sent_back.review.sentences()) if sent_back is not None else ""
    spec = spec.asking(f"The review says: {found or 'it is not clear'}")
    opened.write({SPEC: bytes_of(spec, opened.workflow.slug)}, "tool")

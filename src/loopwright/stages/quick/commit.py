"""Commits delivered files on the branch that the user has checked out: only these files, with a proposed message."""

from __future__ import annotations

import textwrap

import msgspec

from loopwright.errors import GitFailed, WorkflowRefused
from loopwright.kernel import git
from loopwright.loop.patch_parts import paths_in
from loopwright.stages.building.built import built, require_verified
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.person import require_person
from loopwright.wording.catalogue import few
from loopwright.workflow.model import Delivery, Workflow

_LONGEST_SUBJECT = 72
_WIDTH = 72


class Committed(msgspec.Struct, frozen=True):
    """The commit, and its subject."""

    commit: str
    subject: str


def proposed_message(workflow: Workflow) -> str:
    """The first line of the idea as the subject; the rest of the idea, or a long idea as a whole, as the body."""
    idea = workflow.idea.strip()
    first, _, rest = idea.partition("\n")
    subject = first[:1].upper() + first[1:].rstrip()
    if len(subject) > _LONGEST_SUBJECT:
        subject, rest = f"{subject[: _LONGEST_SUBJECT - 1].rstrip()}…", idea
    paragraphs = (textwrap.fill(paragraph, _WIDTH) for paragraph in rest.strip().split("\n\n") if paragraph)
    return "\n\n".join([subject, *paragraphs]) + "\n"


def commit_delivery(context: Context, slug: str, message: str = "") -> Committed:
    """Commit the delivered files. Refused if they contain changes that are not part of the work."""
    require_person(context.environment, "do --commit")
    snapshot = workflows_of(context).snapshot(slug)
    workflow, repository = snapshot.workflow, context.repository()
    delivery = getattr(workflow.at, "delivery", None)
    if not isinstance(delivery, Delivery) or delivery.how != "patch" or repository is None:
        raise _not_committed("the work is not in your checkout")
    work = built(context, workflow, require_verified(workflow))
    paths = paths_in(work.patch)
    if work.patch != work.since_commit:
        raise _not_committed(f"you had uncommitted changes when it was built; look at {few(paths)}")
    now = repository.head.commit if repository.head is not None else ""
    if now != delivery.before:
        raise _not_committed("you committed something else meanwhile")
    text = message.strip() or proposed_message(workflow)
    try:
        commit = git.commit_paths(context.project, paths, text)
    except GitFailed as problem:
        raise _not_committed(problem.message) from problem
    return Committed(commit, text.splitlines()[0])


def _not_committed(why: str) -> WorkflowRefused:
    return WorkflowRefused(
        "not_committed", f"the work is delivered, but not committed: {why}", next_command="git status"
    )

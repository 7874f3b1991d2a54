"""What a person can do about a blocker of built work: look first, send it back, leave a part out, sign last. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from loopwright.wording.choices import PersonChoice
from loopwright.workflow.blockers import Blocker, Family
from loopwright.workflow.model import Workflow
from loopwright.workflow.verification import PROCESS_STATE, PROJECT_TESTS

# More files make a command too long to read.
_MOST_FILES = 3
_LEAVES_OUT = {
    "passes_without": "leaves out all changes to protected files; the checks pass without them",
    "passes_only_with": "leaves out all changes to protected files; the checks fail without them, so build again",
    "fails_with": "leaves out all changes to protected files, with which the checks fail",
}


def with_choices(workflow: Workflow, blocker: Blocker) -> Blocker:
    """The blocker with everything that a person can do about it; unchanged if only one command helps."""
    choices = tuple(_about(workflow, blocker))
    return replace(blocker, next=choices[0].command, choices=choices) if choices else blocker


def before_approval(slug: str, doubts: Iterable[Blocker]) -> tuple[PersonChoice, ...]:
    """What a person can do about built work that only an approval lets through; empty if nothing is doubtful in it."""
    families = {doubt.family for doubt in doubts} & {Family.FLAGGED, Family.UNALTERED_PROOF}
    if not families:
        return ()
    back = (_send_back(slug),) if Family.FLAGGED in families else ()
    approve = f"loopwright approve {slug} --from build --to review"
    return (_look(slug), *back, PersonChoice(approve, "lets the work into the review, in your name"))


def _about(workflow: Workflow, blocker: Blocker) -> Iterator[PersonChoice]:
    family, slug = blocker.family, workflow.slug
    rest = blocker.code.removeprefix(family.code) if family is not None else ""
    match family:
        case Family.CHANGED_TEST:
            yield from _about_protected(workflow)
        case Family.SEALED_FILE_CHANGED if rest not in _flagged_files(workflow):
            yield from _about_protected(workflow)
        case Family.SEALED_FILE_CHANGED:
            yield from (_look(slug, rest), _send_back(slug), _sign(slug, rest))
        case Family.VACUOUS_CHECK | Family.UNPROVEN_REQUIREMENT:
            yield from (_look(slug), _send_back(slug), _sign(slug, rest))
        case Family.BASE_NOT_JUDGED | Family.TESTS_UNREAD:
            again = PersonChoice(f"loopwright build {slug}", "judges the work again, after you corrected the command")
            yield from (again, _look(slug), _sign(slug, rest or PROJECT_TESTS))
        case Family.PROCESS_STATE_CHANGED:
            yield from (_look(slug), _send_back(slug), _sign(slug, PROCESS_STATE))
        case Family.FLAGGED | Family.UNALTERED_PROOF:
            yield from before_approval(slug, (blocker,))
        case _:
            return


def _about_protected(workflow: Workflow) -> Iterator[PersonChoice]:
    verified, slug = workflow.verification, workflow.slug
    protected = verified.protected if verified is not None else None
    if protected is None:
        return
    # A decision is about all protected changes.
    yield _look(slug, *protected.files) if len(protected.files) <= _MOST_FILES else _look(slug)
    yield _send_back(slug)
    yield PersonChoice(f"loopwright sign {slug} --without-protected", _LEAVES_OUT[protected.outcome])
    if protected.outcome != "fails_with":
        yield PersonChoice(
            f"loopwright sign {slug} --protected", "takes all changes to protected files, in your name (--note: why)"
        )


def _flagged_files(workflow: Workflow) -> frozenset[str]:
    return frozenset(workflow.verification.judges if workflow.verification is not None else ())


def look_command(slug: str, *paths: str) -> str:
    """The command that shows what a build changed: all of it, or the old and the new version of files."""
    return " ".join((f"loopwright loop diff {slug}", *map(shlex.quote, paths)))


def _look(slug: str, *paths: str) -> PersonChoice:
    does = "shows the old version and the new one" if paths else "shows what the work changed"
    return PersonChoice(look_command(slug, *paths), does)


def _send_back(slug: str) -> PersonChoice:
    does = "sends the work back to the agent, with this as its task; first `reject` if you have a comment"
    return PersonChoice(f"loopwright build {slug}", does)


def _sign(slug: str, what: str) -> PersonChoice:
    return PersonChoice(
        f"loopwright sign {slug} {shlex.quote(what)}", "takes the work as it is, in your name (--note: why)"
    )

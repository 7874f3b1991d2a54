"""Tells what another tool wrote into the state file, as proposals to the loop, or why it is refused. Pure."""

from __future__ import annotations

from typing import Any

from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.model import Completed, Hold, Holder, Loop
from loopwright.loop.outside import InvalidField, with_skill_state
from loopwright.loop.projection import OWN_KEY, Document, document_of, skill_state_of

_FIXED = ("loop_id", "title", "description", "max_iterations", "created_at")
_WHOLE = 100
_KNOWN = (
    *_FIXED,
    "status",
    "current_iteration",
    "updated_at",
    "completed_at",
    "failure_reason",
    "skill_state",
    OWN_KEY,
)


def proposals_for(loop: Loop, document: Document, actor: str) -> tuple[c.Proposal, ...]:
    """The proposals of an edit; `InvalidField` names the first field that may not be changed that way."""
    now = document_of(loop)
    for field in _FIXED:
        if document.get(field) != now[field]:
            raise InvalidField(f"{field}: was changed from outside")
    if not isinstance(document.get("updated_at", ""), str):
        raise InvalidField("updated_at: must be a text")
    if OWN_KEY in document and document[OWN_KEY] != now[OWN_KEY]:
        changed = _first_difference(document[OWN_KEY], now[OWN_KEY])
        raise InvalidField(f"{OWN_KEY}{changed}: only Loopwright may change it")
    return (
        *_skill(loop, document),
        *_iteration(loop, document),
        *_keys(loop, document),
        *_status(loop, document, actor),
    )


def _skill(loop: Loop, document: Document) -> tuple[c.Proposal, ...]:
    written = document.get("skill_state")
    if written is None or written == document_of(loop).get("skill_state"):
        return ()
    if not isinstance(written, dict):
        raise InvalidField("skill_state: must be an object")
    after = with_skill_state(loop, written)
    if isinstance(loop.phase, Completed) and after.validation != loop.validation:
        raise InvalidField("skill_state.validate: the loop is completed, and this result proves it")
    _require_sound(after)
    return () if skill_state_of(after) == skill_state_of(loop) else (e.SkillStateTaken(skill_state=written),)


def _require_sound(after: Loop) -> None:
    """Refuse values that Loopwright never writes. Not in `evolve`, because every stored event must be applied again."""
    coverage, ids = after.validation.coverage, [hypothesis.id for hypothesis in after.debug.hypotheses]
    if coverage is not None and not 0 <= coverage <= _WHOLE:
        raise InvalidField("skill_state.validate.coverage: must be between 0 and 100")
    if len(set(ids)) != len(ids):
        raise InvalidField("skill_state.debug.hypotheses: an id occurs more than once")
    if any(not task.id.strip() for task in after.tasks):
        raise InvalidField("skill_state.develop.tasks: a task needs an id")


def _iteration(loop: Loop, document: Document) -> tuple[c.Proposal, ...]:
    counted = document.get("current_iteration")
    if counted == loop.iteration:
        return ()
    if counted == loop.iteration + 1:
        return (e.IterationTaken(),)
    raise InvalidField(f"current_iteration: from {loop.iteration} it can only become {loop.iteration + 1}")


def _keys(loop: Loop, document: Document) -> tuple[c.Proposal, ...]:
    extra = {key: value for key, value in document.items() if key not in _KNOWN}
    return () if extra == loop.extra else (e.OutsideKeysTaken(extra=extra),)


def _status(loop: Loop, document: Document, actor: str) -> tuple[c.Proposal, ...]:
    before, after = document_of(loop)["status"], document.get("status")
    reason = document.get("failure_reason")
    if before == after:
        _same_end(loop, document)
        return ()
    match before, after:
        case "created", "running":
            return (e.LoopStarted(),)
        case (("completed" | "failed"), "running"):
            return (c.Retry(),)
        case "paused", "running" if isinstance(loop.phase, Completed):
            return (c.Retry(),)
        case "paused", "running":
            return (c.Resume(lifts=frozenset({Holder.OPERATOR})),)
        case "running", "paused":
            hold = Hold(holder=Holder.OPERATOR, code="paused", message=f"paused by {actor}", since=loop.updated_at)
            return (e.HoldPlaced(hold=hold),)
        case (("created" | "running" | "paused"), "failed"):
            return (e.LoopStopped(by=f"{actor}: {reason}" if isinstance(reason, str) and reason else actor),)
        case "running", "completed":
            return (c.Finish(),)
        case _:
            raise InvalidField(f"status: from {before} it can't become {after}")


def _same_end(loop: Loop, document: Document) -> None:
    """The end of a loop can't be changed afterwards, and a loop without an end has no time or reason for it."""
    now = document_of(loop)
    for field in ("completed_at", "failure_reason"):
        if document.get(field) != now.get(field):
            raise InvalidField(f"{field}: was changed from outside")


def _first_difference(written: Any, ours: Document) -> str:
    if not isinstance(written, dict):
        return ""
    return next((f".{key}" for key in sorted({*written, *ours}) if written.get(key) != ours.get(key)), "")

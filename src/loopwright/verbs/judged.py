"""What builders said of themselves, with what those who judge said of their work: a corpus for `analyze calibration`.

Nothing of it is stored: a loop's log says which validation came after which work. A claim whose work was not judged, or
not finished, is left out; so is a question that nobody answered.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from loopwright.errors import LoopwrightError
from loopwright.loop import events as e
from loopwright.loop import log
from loopwright.loop.actions.confidence import session_of
from loopwright.loop.model import Action, Validation
from loopwright.reflection.model import Point
from loopwright.reflection.risk import evaluate_risk_floor
from loopwright.reflection.store import Stored
from loopwright.stages.context import Context
from loopwright.verbs.reflect import shelf


class CorpusLine(msgspec.Struct, frozen=True):
    """One line of the corpus."""

    confidence: float
    correct: bool
    point: Point
    task_ref: str
    session_id: str
    surface: str


def judged(context: Context) -> Iterator[CorpusLine]:
    """Every claim that was judged, the oldest first."""
    captures = [one for one in shelf(context).stored if one.point is not None]
    verdicts = dict(_verdicts(context)) if captures else {}
    for one in captures:
        record = one.reflection
        right = _verdict(one, verdicts)
        if one.point is not None and record.confidence is not None and right is not None:
            yield CorpusLine(
                record.confidence, right, one.point, record.task_ref, record.session_id, _surface(one, captures)
            )


def _verdict(one: Stored, verdicts: dict[str, bool]) -> bool | None:
    whose = one.reflection.session_id.removesuffix(one.reflection.agent)
    return verdicts.get(whose)


def _surface(one: Stored, captures: list[Stored]) -> str:
    """That of the files, which owes nothing to claims; what was said before the work takes those of what came after."""
    same = [other for other in captures if other.reflection.session_id == one.reflection.session_id]
    files = next((other.reflection.files_changed for other in same if other.reflection.files_changed), [])
    return evaluate_risk_floor(files).surface


def _verdicts(context: Context) -> Iterator[tuple[str, bool]]:
    """Which work was right, by the start of its session's name."""
    for loop_id in context.layout.loop_ids():
        try:
            yield from _of_loop(context, loop_id)
        except (LoopwrightError, OSError):
            continue  # `doctor` names a damaged log


def _of_loop(context: Context, loop_id: str) -> Iterator[tuple[str, bool]]:
    tasks: dict[str, str] = {}
    waiting: list[str] = []
    finished: dict[str, bool] = {}
    for _, line in log.lines(context.layout.loop(loop_id).events):
        for event in line.events:
            match event:
                case e.ActionStarted(action=Action.DEVELOP, action_id=action_id, task_id=str(task_id)):
                    tasks[action_id] = task_id
                case e.TaskFinished(task_id=task_id, status=status):
                    finished[task_id] = status == "completed"
                case e.ActionDone(action=Action.DEVELOP, action_id=action_id) if action_id in tasks:
                    waiting += [action_id] if finished.get(tasks[action_id]) else []
                case e.ValidationRecorded(validation=validation):
                    for action_id in waiting:
                        yield session_of(loop_id, action_id, ""), _is_right(validation, tasks[action_id])
                    waiting = []
                case _:
                    pass


def _is_right(validation: Validation, task_id: str) -> bool:
    """By its own checks where it has any, as a slice has; else by all of them."""
    own = [one for one in validation.results if one.test_name == task_id]
    return all(one.status == "passed" for one in own) if own else validation.holds

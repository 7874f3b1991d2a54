"""Self-reports of builders with the verdicts of checks on their work: a corpus for `analyze calibration`.

The corpus is derived: the log of a loop shows which validation followed which work. Self-reports on work that was not
finished or not validated are left out, and so are unanswered questions.
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
from loopwright.verbs.reflect import all_reflections


class CorpusLine(msgspec.Struct, frozen=True):
    """One line of the corpus."""

    confidence: float
    correct: bool
    point: Point
    task_ref: str
    session_id: str
    surface: str


def judged(context: Context) -> Iterator[CorpusLine]:
    """Every self-report whose work was judged, oldest first."""
    captures = [stored for stored in all_reflections(context).stored if stored.point is not None]
    verdicts = dict(_verdicts(context)) if captures else {}
    for capture in captures:
        record = capture.reflection
        right = verdicts.get(record.session_id.removesuffix(record.agent))
        if capture.point is not None and record.confidence is not None and right is not None:
            surface = _surface(capture, captures)
            yield CorpusLine(record.confidence, right, capture.point, record.task_ref, record.session_id, surface)


def _surface(capture: Stored, captures: list[Stored]) -> str:
    """The surface of the changed files, not of the report. A report before the work uses the files of a later one."""
    same = [other for other in captures if other.reflection.session_id == capture.reflection.session_id]
    files = next((other.reflection.files_changed for other in same if other.reflection.files_changed), [])
    return evaluate_risk_floor(files).surface


def _verdicts(context: Context) -> Iterator[tuple[str, bool]]:
    """Whether each work was right, by the start of the name of its session."""
    for loop_id in context.layout.loop_ids():
        try:
            yield from _of_loop(context, loop_id)
        except (LoopwrightError, OSError):
            continue  # `doctor` reports a damaged log


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
    """By the checks of the task, as slices have them; without such checks, by the whole validation."""
    own = [result for result in validation.results if result.test_name == task_id]
    return all(result.status == "passed" for result in own) if own else validation.holds

"""Keeps the reflections on a builder's turns: what changed is read from the sandbox, what the agent says is a claim."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from loopwright.loop.reflecting import NoReflections, Reflections
from loopwright.reflection import points
from loopwright.reflection.capture import folder as records
from loopwright.reflection.capture import folder as reflection_files
from loopwright.reflection.capture.self_report import SelfReport
from loopwright.reflection.capture.settings import Floor
from loopwright.reflection.model import Capture, CaptureMode, Point
from loopwright.stages.context import Context
from loopwright.stages.reflecting import capture_mode, folder_of, rules_of, wanted_of


def reflections_of(context: Context) -> Reflections:
    """Who keeps reflections of a loop's work; nobody unless that is asked for."""
    mode = capture_mode(context)
    return NoReflections() if mode == "off" else _Keeper(context, mode)


class _Keeper:
    is_on = True

    def __init__(self, context: Context, mode: CaptureMode) -> None:
        self._context = context
        self._mode: CaptureMode = mode

    def has(self, work: points.ReflectedWork, point: Point) -> bool:
        return points.has_point(folder_of(self._context), work.session, point)

    def keep(self, work: points.ReflectedWork, said: SelfReport, point: Point | None = None) -> None:
        context, called = self._context, reflection_files.safe_name(work.session)
        place = wanted_of(context).make_folder()
        work = replace(work, task_ref=context.environment.get("REFLECTION_TASK_REF") or work.task_ref)
        earlier, at_ms = reflection_files.attempts_so_far(place, called), int(context.clock().timestamp() * 1000)
        floor = Floor(context.settings.values.risk.threshold, rules_of(context))
        clean = context.tools().redactor.clean
        made = points.reflection_on(
            work, said, floor, repo=context.project.name, mode=self._mode, at_ms=at_ms, earlier=earlier
        )
        record = points.without_secrets(made, lambda text: clean(text).text)
        name = records.free_name(place, called, at_ms, point)
        whole = record if point is None else Capture(point=point, reflection=record)
        records.write_record(place, name, msgspec.to_builtins(whole))

"""Keeps the reflections on a builder's turns: what changed is read from the sandbox, what the agent says is a claim.

Nothing that lies in a mailbox is taken for a fact: of what a hook wrote there only the claims are used.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from loopwright.kernel import codec
from loopwright.loop.reflecting import Left, Nobody, Reflections
from loopwright.reflection import points
from loopwright.reflection.capture import folder as records
from loopwright.reflection.capture import session as sessions
from loopwright.reflection.capture.self_report import FIELDS, SelfReport, read_report
from loopwright.reflection.capture.wanted import Floor
from loopwright.reflection.model import Capture, CaptureMode, Point
from loopwright.reflection.store import decode_reflection
from loopwright.verbs.context import Context
from loopwright.verbs.reflect import capture_mode, folder_of, wanted_of
from loopwright.verbs.risk import rules_of


def reflections_of(context: Context) -> Reflections:
    """Who keeps reflections of a loop's work; nobody unless that is asked for."""
    mode = capture_mode(context)
    return Nobody() if mode == "off" else _Keeper(context, mode)


class _Keeper:
    is_on = True

    def __init__(self, context: Context, mode: CaptureMode) -> None:
        self._context = context
        self._mode: CaptureMode = mode

    def has(self, work: points.Work, point: Point) -> bool:
        return points.has_point(folder_of(self._context), work.session, point)

    def keep(self, work: points.Work, said: SelfReport | Left, point: Point | None = None) -> None:
        context, called = self._context, sessions.safe_name(work.session)
        place = wanted_of(context).make_folder()
        work = replace(work, task_ref=context.environment.get("REFLECTION_TASK_REF") or work.task_ref)
        moment = points.Moment(
            repo=context.project.name,
            mode=self._mode,
            at_ms=int(context.clock().timestamp() * 1000),
            earlier=sessions.attempts_so_far(place, called),
        )
        floor = Floor(context.settings.values.risk.threshold, rules_of(context))
        report = self._claims(said) if isinstance(said, Left) else said
        clean = context.tools().redactor.clean
        made = points.reflection_on(work, report, moment, floor)
        record = points.without_secrets(made, lambda text: clean(text).text)
        name = records.free_name(place, called, moment.at_ms, point)
        whole = record if point is None else Capture(point=point, reflection=record)
        records.write_record(place, name, msgspec.to_builtins(whole))

    def _claims(self, left: Left) -> SelfReport:
        """The agent's own, else what a hook in its sandbox had merged: the same claims by another way."""
        if left.report:
            return read_report(left.report)
        for data in left.hooked:
            try:
                found = decode_reflection(data)
            except codec.Undecodable:
                continue
            return read_report(codec.to_json({name: getattr(found, name) for name in FIELDS}))
        return SelfReport()

"""The end of every experiment: a result under the current registration, recorded if there is a workspace."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import msgspec

from loopwright.analysis.history import Window, read_bound
from loopwright.analysis.model import AnalysisResult, Parts
from loopwright.analysis.preregistered import KILL, current_digest
from loopwright.analysis.store import AnalysisStore
from loopwright.errors import WrongUsage
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.version import VERSION
from loopwright.workspace.layout import Flavour, record_choice


class Analysed(msgspec.Struct, frozen=True):
    """A result, where it was recorded, and the titles of its commits."""

    result: AnalysisResult
    recorded: Path | None
    why_not_recorded: str
    titles: dict[str, str]


class AnalysisRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of a history to analyse, and whether to record the result."""

    revision: str = "HEAD"
    since: str | None = None
    until: str | None = None
    record: bool = True

    def window(self, now: datetime) -> Window:
        """The part of the history."""
        return Window(self.revision, _bound("since", self.since, now), _bound("until", self.until, now))

    def as_of(self, now: datetime) -> int:
        """The last moment that counts, in seconds since the epoch."""
        until = _bound("until", self.until, now)
        return int(now.timestamp()) if until is None else until


def settle(context: Context, parts: Parts, request: AnalysisRequest) -> Analysed:
    """Make the result, and record it if there is a workspace and the request allows it."""
    result = AnalysisResult(
        kill=KILL[parts.question],
        verdict=parts.verdict,
        question=parts.question,
        findings=parts.findings,
        notes=parts.notes,
        inputs=parts.inputs,
        parameters=parts.parameters,
        at=stamp(context.clock()),
        preregistration=current_digest(),
        tool_version=VERSION,
    )
    layout = context.layout
    if not request.record:
        return Analysed(result, None, "because of --no-record", parts.titles)
    if layout.flavour is Flavour.UNIFIED and not layout.own.is_dir():
        return Analysed(result, None, "this folder is not a workspace; run `loopwright init`", parts.titles)
    record_choice(layout)
    return Analysed(result, AnalysisStore(layout).record(result), "", parts.titles)


def _bound(name: str, text: str | None, now: datetime) -> int | None:
    if text is None:
        return None
    moment = read_bound(text, now)
    if moment is None:
        raise WrongUsage(
            f"--{name} '{shown(text)}' is not a date or a duration",
            hint="use 2026-01-31, 2026-01-31T12:00Z or '90 days'",
        )
    return moment

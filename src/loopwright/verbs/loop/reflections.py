"""The reflection on a builder's turn: what changed is read from the sandbox, what the agent says is from its mailbox.

Nothing that lies in a mailbox is taken for a fact: of what a hook wrote there only the claims are used. Never fails.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC

import msgspec

from loopwright.errors import LoopwrightError
from loopwright.kernel import codec
from loopwright.kernel.files import make_folder
from loopwright.loop.reflecting import Built, Reflect, nobody
from loopwright.reflection.capture import folder, session
from loopwright.reflection.capture.self_report import FIELDS, SelfReport, read_report
from loopwright.reflection.model import SCHEMA, CaptureMode
from loopwright.reflection.risk import Claim, evaluate_risk_floor, raised_by
from loopwright.reflection.store import decode_reflection
from loopwright.verbs.context import Context
from loopwright.verbs.reflect import capture_mode, folder_of
from loopwright.verbs.risk import rules_of


def reflector(context: Context) -> Reflect:
    """Who makes reflections of a loop's work; nobody unless that is asked for."""
    mode = capture_mode(context)
    if mode == "off":
        return nobody

    def reflect(built: Built) -> None:
        with suppress(OSError, LoopwrightError):  # a reflection never ends the work that it is about
            _write(context, mode, built)

    return reflect


def _write(context: Context, mode: CaptureMode, built: Built) -> None:
    place, called = folder_of(context), session.safe_name(built.session or session.UNKNOWN)
    make_folder(place)
    report = _report(context, built)
    verdict = evaluate_risk_floor(
        built.files, threshold=context.settings.values.risk.threshold, rules=rules_of(context)
    )
    wrong = report.most_likely_wrong
    claim = Claim(wrong["surface"] if wrong else None, report.confidence)
    now = context.clock().astimezone(UTC)
    moment_ms = int(now.timestamp() * 1000)
    record = {
        "schema": SCHEMA,
        "task_ref": context.environment.get("REFLECTION_TASK_REF") or built.task_ref,
        "agent": built.agent,
        "session_id": built.session or session.UNKNOWN,
        "timestamp": session.iso(moment_ms),
        "repo": context.project.name or "root",
        "confidence": report.confidence,
        "most_likely_wrong": wrong,
        "known_not_in_diff": report.known_not_in_diff,
        "risk": raised_by(verdict, claim).record(),
        "files_changed": list(built.files),
        "provenance": {
            "source": "stop-hook",
            "reflection_attempt": session.attempts_so_far(str(place), called) + 1,
            "degraded": not report.is_whole,
            "reflection_mode": mode,
        },
    }
    clean = context.tools().redactor.clean(codec.to_json(record)).data
    name = folder.free_name(str(place), called, moment_ms, None)
    folder.write_record(str(place), name, msgspec.to_builtins(decode_reflection(clean)))


def _report(context: Context, built: Built) -> SelfReport:
    """The agent's own, else what a hook in its sandbox had merged: the same claims by another way."""
    if built.report:
        return read_report(context.tools().redactor.clean(built.report).data)
    for data in built.hooked:
        with suppress(codec.Undecodable, msgspec.ValidationError):
            found = decode_reflection(context.tools().redactor.clean(data).data)
            return read_report(codec.to_json({name: getattr(found, name) for name in FIELDS}))
    return SelfReport()

"""The reflections of a workspace: whether they are captured, where they are stored, and the rules for the risk."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.errors import SettingsInvalid
from loopwright.loop.port import Reflections
from loopwright.reflection import points
from loopwright.reflection.capture import folder as records
from loopwright.reflection.capture.self_report import SelfReport
from loopwright.reflection.capture.settings import CaptureSettings, Floor
from loopwright.reflection.model import Capture, CaptureMode, Point
from loopwright.reflection.project_rules import ProjectRule, with_project_rules
from loopwright.reflection.rule_set import RuleSet
from loopwright.reflection.rule_sets import RULE_SETS
from loopwright.stages.context import Context
from loopwright.workspace.layout import user_home


def capture_mode(context: Context) -> CaptureMode:
    """REFLECTION_MODE, else the setting; every value except `solo` and `orchestrated` means off."""
    mode = context.environment.get("REFLECTION_MODE") or context.settings.values.reflection.mode
    return "solo" if mode == "solo" else "orchestrated" if mode == "orchestrated" else "off"


def capture_settings(context: Context) -> CaptureSettings:
    """The settings of captures, read as the hook reads them: a workspace is trusted less than its user."""
    home = context.environment.get("HOME") or str(user_home())
    return CaptureSettings(str(context.layout.root), home, context.environment)


def folder_of(context: Context) -> Path:
    """The folder of the reflections."""
    settings = capture_settings(context)
    return Path(settings.folder or settings.own_folder)


def rules_of(context: Context) -> RuleSet:
    """The rule set of the settings, with the rules of the project added."""
    settings = context.settings.values.risk
    own = [
        ProjectRule(rule.surface, frozenset(rule.words), tuple(rule.paths), rule.weight, rule.lower, rule.because)
        for rule in settings.rules
    ]
    try:
        return with_project_rules(RULE_SETS[settings.ruleset], own)
    except ValueError as problem:
        origin = context.settings.origins.get(("risk", "rules"), "settings")
        raise SettingsInvalid(
            f"{origin}: {problem}", hint="fix the rule; docs/risk.md describes the fields"
        ) from problem


def reflections_of(context: Context) -> Reflections | None:
    """Stores reflections on the work of loops; None if reflections are off."""
    mode = capture_mode(context)
    return None if mode == "off" else _Keeper(context, mode)


class _Keeper:
    def __init__(self, context: Context, mode: CaptureMode) -> None:
        self._context = context
        self._mode: CaptureMode = mode

    def has(self, work: points.ReflectedWork, point: Point) -> bool:
        return points.has_point(folder_of(self._context), work.session, point)

    def keep(self, work: points.ReflectedWork, report: SelfReport, point: Point | None = None) -> None:
        context, session = self._context, records.safe_name(work.session)
        folder = capture_settings(context).make_folder()
        work = replace(work, task_ref=context.environment.get("REFLECTION_TASK_REF") or work.task_ref)
        earlier, at_ms = records.attempts_so_far(folder, session), int(context.clock().timestamp() * 1000)
        floor = Floor(context.settings.values.risk.threshold, rules_of(context))
        clean = context.tools().redactor.clean
        made = points.reflection_on(
            work, report, floor, repo=context.project.name, mode=self._mode, at_ms=at_ms, earlier=earlier
        )
        record = points.without_secrets(made, lambda text: clean(text).text)
        name = records.free_name(folder, session, at_ms, point)
        stored = record if point is None else Capture(point=point, reflection=record)
        records.write_record(folder, name, msgspec.to_builtins(stored))

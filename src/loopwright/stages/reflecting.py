"""The workspace's reflections: whether they are captured, where they are kept, and the rules of the risk floor."""

from __future__ import annotations

from pathlib import Path

from loopwright.errors import SettingsInvalid
from loopwright.reflection.capture.settings import CaptureSettings
from loopwright.reflection.model import CaptureMode
from loopwright.reflection.project_rules import ProjectRule, with_project_rules
from loopwright.reflection.rule_set import RuleSet
from loopwright.reflection.rule_sets import RULE_SETS
from loopwright.stages.context import Context
from loopwright.workspace.layout import user_home


def capture_mode(context: Context) -> CaptureMode:
    """REFLECTION_MODE, else the setting; what is neither solo nor orchestrated is off."""
    mode = context.environment.get("REFLECTION_MODE") or context.settings.values.reflection.mode
    return "solo" if mode == "solo" else "orchestrated" if mode == "orchestrated" else "off"


def wanted_of(context: Context) -> CaptureSettings:
    """Where this workspace's reflections are kept, as the hook finds it: a workspace is trusted less than its user."""
    home = context.environment.get("HOME") or str(user_home())
    return CaptureSettings(str(context.layout.root), home, context.environment)


def folder_of(context: Context) -> Path:
    """Where this workspace's reflections are."""
    wanted = wanted_of(context)
    return Path(wanted.folder or wanted.own_folder)


def rules_of(context: Context) -> RuleSet:
    """The rule set of the settings, with the project's own rules in it."""
    wanted = context.settings.values.risk
    own = [
        ProjectRule(rule.surface, frozenset(rule.words), tuple(rule.paths), rule.weight, rule.lower, rule.because)
        for rule in wanted.rules
    ]
    try:
        return with_project_rules(RULE_SETS[wanted.ruleset], own)
    except ValueError as problem:
        origin = context.settings.origins.get(("risk", "rules"), "settings")
        raise SettingsInvalid(
            f"{origin}: {problem}", hint="correct it; docs/risk.md says what a rule may be"
        ) from problem

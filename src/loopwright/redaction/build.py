"""Builds a redactor from the shipped rules, the project's rules and the caller's secret values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from loopwright.errors import SettingsInvalid
from loopwright.redaction.detector import Detector, compile_pattern
from loopwright.redaction.environment_values import ENVIRONMENT_RULE, secret_values
from loopwright.redaction.model import RuleAction, SecretRule
from loopwright.redaction.providers import (
    ai,
    cloud,
    code_hosts,
    crypto_finance,
    databases,
    generic,
    hosting,
    identity,
    messaging,
    observability,
    packages,
    payments,
    private_keys,
    saas,
    social,
)
from loopwright.redaction.redactor import Learned, Redactor
from loopwright.redaction.seed_rules import SEED_RULES
from loopwright.workspace.settings_model import SecretsSettings

_FILES = (
    ai, cloud, code_hosts, crypto_finance, databases, generic, hosting, identity, messaging, observability,
    packages, payments, private_keys, saas, social,
)  # fmt: skip
# In the order of their ids.
PROVIDER_RULES: tuple[SecretRule, ...] = tuple(
    sorted((rule for file in _FILES for rule in file.RULES), key=lambda rule: rule.id)
)


SHIPPED_RULES: tuple[SecretRule, ...] = SEED_RULES + PROVIDER_RULES


def build_redactor(
    settings: SecretsSettings,
    environment: Mapping[str, str],
    declared: Collection[str] = (),
    learned: Learned | None = None,
) -> Redactor:
    """The redactor for these settings and this environment; `declared` variables are secret whatever their names."""
    extra = tuple(_extra_rules(settings.extra_rules))
    rules = SHIPPED_RULES + extra
    actions = {rule: RuleAction(action) for rule, action in settings.rules.items()}
    known = {rule.id for rule in rules} | {ENVIRONMENT_RULE}
    unknown = sorted(set(actions) - known)
    if unknown:
        raise SettingsInvalid(
            f"secrets.rules names unknown rules: {', '.join(unknown)}",
            hint="`loopwright explain secrets` lists every rule",
        )
    off = frozenset(rule for rule, action in actions.items() if action is RuleAction.OFF)
    values = {} if actions.get(ENVIRONMENT_RULE) is RuleAction.OFF else secret_values(environment, declared)
    return Redactor(_detector(extra, off, tuple(values.items())), actions, settings.allow, learned)


@lru_cache(maxsize=2)
def _detector(extra: tuple[SecretRule, ...], off: frozenset[str], values: tuple[tuple[str, str], ...]) -> Detector:
    """Cached for all redactors of a process: a detector never changes, and compiling takes milliseconds."""
    return Detector(tuple(rule for rule in SHIPPED_RULES + extra if rule.id not in off), dict(values))


def relaxed_rules(settings: SecretsSettings) -> dict[str, str]:
    """Every rule that does not stop a run, for the evidence."""
    return {rule: action for rule, action in sorted(settings.rules.items()) if action != "stop"}


def _extra_rules(tables: Iterable[Mapping[str, str]]) -> Iterable[SecretRule]:
    for table in tables:
        missing = {"id", "pattern"} - set(table)
        unknown = set(table) - {"id", "pattern", "keyword"}
        if missing or unknown:
            raise SettingsInvalid(
                f"secrets.extra_rules: a rule needs id and pattern, and may have keyword (got {sorted(table)})",
                hint="correct the rule in config.toml",
            )
        try:
            compile_pattern(table["pattern"])
        except (ValueError, UnicodeEncodeError) as problem:
            raise SettingsInvalid(
                f"secrets.extra_rules: the pattern of '{table['id']}' is invalid: {problem}",
                hint="use RE2 syntax in ASCII, without look-around and back-references",
            ) from problem
        yield SecretRule(
            id=table["id"],
            provider="this project",
            keywords=(table.get("keyword", "").lower(),),
            pattern=table["pattern"],
        )

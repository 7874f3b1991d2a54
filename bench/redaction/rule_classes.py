"""The class of each rule: its provider module, the seed rules, or a class of its own for some token formats."""

from __future__ import annotations

import importlib
import pkgutil

from loopwright.redaction import providers
from loopwright.redaction.environment_values import ENVIRONMENT_RULE
from loopwright.redaction.model import SecretRule
from loopwright.redaction.seed_rules import SEED_RULES

ENVIRONMENT_CLASS = "environment values"


def by_class() -> dict[str, tuple[SecretRule, ...]]:
    """The shipped rules of each class, by the name of the class."""
    found: dict[str, list[SecretRule]] = {"seed": list(SEED_RULES)}
    for module in pkgutil.iter_modules(providers.__path__):
        for rule in getattr(importlib.import_module(f"{providers.__name__}.{module.name}"), "RULES", ()):
            found.setdefault(_OWN_CLASS.get(rule.id, module.name), []).append(rule)
    return {name: tuple(rules) for name, rules in sorted(found.items())}


def class_of() -> dict[str, str]:
    """The class of each rule, including the rule for the caller's own values."""
    classes = {rule.id: name for name, rules in by_class().items() for rule in rules}
    return classes | {ENVIRONMENT_RULE: ENVIRONMENT_CLASS}


_OWN_CLASS = {"json-web-token": "jwt"}

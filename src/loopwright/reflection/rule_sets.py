"""The shipped rule sets by name. The hook imports `default_rules` alone, and this only where `classic` is wanted."""

from __future__ import annotations

from loopwright.reflection.classic_rules import CLASSIC
from loopwright.reflection.default_rules import DEFAULT

RULE_SETS = {rules.name: rules for rules in (DEFAULT, CLASSIC)}

"""The shipped rule sets by name. The hook imports this module only for `classic`."""

from __future__ import annotations

from loopwright.reflection.classic_rules import CLASSIC
from loopwright.reflection.default_rules import DEFAULT

RULE_SETS = {rules.name: rules for rules in (DEFAULT, CLASSIC)}

"""The shipped rule sets by name, and the classic rules. The hook imports this module only for `classic`.

The classic rules are exactly the specification's table: a match anywhere in the path counts; size never does.
"""

from __future__ import annotations

from loopwright.reflection.default_rules import DEFAULT
from loopwright.reflection.rule_set import FRAGMENT, WEIGHTS, RuleSet

CLASSIC = RuleSet(
    name="classic",
    version=1,
    weights=WEIGHTS,
    surfaces={
        surface: {FRAGMENT: frozenset(text.split())}
        for surface, text in {
            "auth": "auth login session token permission rbac credential secret",
            "data": "migration prisma schema .sql entity repository seed",
            "infra": "docker .woodpecker compose traefik deploy helm k8s terraform",
            "build": "package.json tsconfig turbo.json pnpm- .config. eslint vite",
            "ui": ".tsx .css components/ apps/web/",
            "test": ".spec. .test. __tests__/",
            "docs": ".md docs/",
        }.items()
    },
    winning={},
    limits={},
    unless={},
    ends=frozenset(),
    code=frozenset(),
    size=None,
)


RULE_SETS = {rules.name: rules for rules in (DEFAULT, CLASSIC)}

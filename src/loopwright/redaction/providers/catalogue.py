"""All shipped rules, in the order of their ids."""

from __future__ import annotations

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers import (
    ai,
    cloud,
    code_hosts,
    crypto_finance,
    databases,
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

_FILES = (
    ai, cloud, code_hosts, crypto_finance, databases, hosting, identity, messaging, observability, packages, payments, private_keys, saas, social,
)  # fmt: skip
PROVIDER_RULES: tuple[SecretRule, ...] = tuple(
    sorted((rule for file in _FILES for rule in file.RULES), key=lambda rule: rule.id)
)

"""All shipped rules, in the order of their ids."""

from __future__ import annotations

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers import (
    ai,
    ai_tools,
    amazon,
    azure,
    ci_cd,
    code_hosts,
    commerce,
    crypto_finance,
    databases,
    edge,
    google,
    hosting,
    identity,
    mail,
    messaging,
    observability,
    packages,
    payments,
    private_keys,
    product,
    saas,
    secret_stores,
    social,
)

PROVIDER_RULES: tuple[SecretRule, ...] = tuple(
    sorted(
        (
            *ai.RULES,
            *ai_tools.RULES,
            *amazon.RULES,
            *azure.RULES,
            *ci_cd.RULES,
            *code_hosts.RULES,
            *commerce.RULES,
            *crypto_finance.RULES,
            *databases.RULES,
            *edge.RULES,
            *google.RULES,
            *hosting.RULES,
            *identity.RULES,
            *mail.RULES,
            *messaging.RULES,
            *observability.RULES,
            *packages.RULES,
            *payments.RULES,
            *private_keys.RULES,
            *product.RULES,
            *saas.RULES,
            *secret_stores.RULES,
            *social.RULES,
        ),
        key=lambda rule: rule.id,
    )
)

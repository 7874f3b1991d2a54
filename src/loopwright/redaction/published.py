"""Values that their own documentation prints for everyone, and that give access to nothing.

By digest, so that this file alarms no scanner. Not the examples of key formats: tests of redaction use those.
"""

from __future__ import annotations

import hashlib

_DIGESTS = frozenset(
    (
        "0011cc25eb432071",  # the account key of Azure's storage emulator, Azurite
        "aa6547439583c3a2",  # the account key of Azure's emulator of Cosmos DB
        "ca7459e2b26776de",  # the client of RFC 6749, which documentation of OAuth 2 repeats
    )
)


def is_published(value: bytes) -> bool:
    """Whether a value is one of these."""
    return hashlib.sha256(value).hexdigest()[:16] in _DIGESTS

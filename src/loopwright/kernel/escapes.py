"""Makes untrusted text safe for a terminal: control characters are shown as escapes."""

from __future__ import annotations

import re
import unicodedata

# Terminal control sequences; matches in linear time. Used here for text, and in redaction for bytes.
SEQUENCE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])"
_SEQUENCE = re.compile(SEQUENCE)


def neutralised(text: str) -> str:
    """The text without terminal sequences; other control and direction characters as escapes."""
    plain = _SEQUENCE.sub("", text)
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode() for c in plain)


def _is_harmless(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")

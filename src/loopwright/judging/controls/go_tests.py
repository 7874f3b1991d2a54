"""Makes the tests of a Go file fail at their end.

Go can't override equality. What is left are early exits and forged output: a test that still passes reveals those.
"""

from __future__ import annotations

import re

from loopwright.judging.controls.model import NO_ASSERTION, SCRIPT, Inverted

SUFFIX = "_test.go"
_TEST = re.compile(rb"\bfunc\s*(Test\w*)?\s*\(\s*([A-Za-z]\w*)\s+\*testing\.T\s*\)\s*\{")


def invert_go(source: bytes, only: frozenset[str] | None) -> Inverted:
    """The file whose tests fail at their end, also their subtests, or only the given tests."""
    altered: set[str] = set()

    def change(match: re.Match[bytes]) -> bytes:
        name = (match[1] or b"").decode()
        if name and only is not None and name not in only:
            return match[0]
        if name:
            altered.add(name)
        return match[0] + b" defer " + match[2] + b".Fail();"

    changed = _TEST.sub(change, source)
    if not altered:
        return Inverted(source, unaltered=dict.fromkeys(only or (SCRIPT,), NO_ASSERTION))
    return Inverted(changed, frozenset(altered), dict.fromkeys((only or frozenset()) - altered, NO_ASSERTION))

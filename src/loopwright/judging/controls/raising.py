"""Makes changed functions raise in place of returning: a command that still passes does not look at the work."""

from __future__ import annotations

from loopwright.judging.controls.model import Raising
from loopwright.judging.controls.raising_javascript import raise_in_javascript, stop_javascript
from loopwright.judging.controls.raising_python import raise_in_python, stop_python
from loopwright.judging.controls.stopping_go import stop_go
from loopwright.judging.syntax import go_source, javascript_source


def raise_in_changed(path: str, before: bytes, after: bytes) -> Raising | None:
    """The new file in which every function that differs from the old file raises; None if there is no such function."""
    try:
        if path.endswith((".py", ".pyw")):
            return raise_in_python(before, after)
        if path.endswith(javascript_source.SUFFIXES):
            return raise_in_javascript(path, before, after)
    except RecursionError:
        return None
    return None


def stop_at_entry(path: str, before: bytes, after: bytes) -> bytes | None:
    """The new file in which every function that differs from the old file ends its test before it does anything."""
    try:
        if path.endswith((".py", ".pyw")):
            return stop_python(before, after)
        if path.endswith(javascript_source.SUFFIXES):
            return stop_javascript(path, before, after)
        if path.endswith(go_source.SUFFIX):
            return stop_go(before, after)
    except RecursionError:
        return None
    return None

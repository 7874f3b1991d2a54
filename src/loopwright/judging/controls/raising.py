"""Makes changed functions raise in place of returning: a command that still passes does not look at the work."""

from __future__ import annotations

from loopwright.judging.controls.model import Raising
from loopwright.judging.controls.raising_javascript import raise_in_javascript, stop_javascript
from loopwright.judging.controls.raising_python import raise_in_python, stop_python
from loopwright.judging.controls.stopping_go import stop_go
from loopwright.judging.syntax import go_source, javascript_source
from loopwright.judging.syntax.nesting import unless_too_deep


def raise_in_changed(path: str, before: bytes, after: bytes) -> Raising | None:
    """The new file in which every function that differs from the old file raises; None if there is no such function."""
    if path.endswith((".py", ".pyw")):
        return unless_too_deep(None, lambda: raise_in_python(before, after))
    if path.endswith(javascript_source.SUFFIXES):
        return unless_too_deep(None, lambda: raise_in_javascript(path, before, after))
    return None


def stop_at_entry(path: str, before: bytes, after: bytes) -> bytes | None:
    """The new file in which every function that differs from the old file ends its test before it does anything."""
    if path.endswith((".py", ".pyw")):
        return unless_too_deep(None, lambda: stop_python(before, after))
    if path.endswith(javascript_source.SUFFIXES):
        return unless_too_deep(None, lambda: stop_javascript(path, before, after))
    if path.endswith(go_source.SUFFIX):
        return unless_too_deep(None, lambda: stop_go(before, after))
    return None

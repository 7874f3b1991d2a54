"""The assertions of a script in Python, JavaScript or TypeScript, each changed in a form of its own. Pure."""

from __future__ import annotations

from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.javascript_places import javascript_places
from loopwright.judging.controls.marks import marks_of
from loopwright.judging.controls.python_places import python_places
from loopwright.judging.controls.reach import ScriptPlace, ScriptReach
from loopwright.judging.syntax.javascript_source import SUFFIXES
from loopwright.judging.syntax.nesting import unless_too_deep

_FAILURES = {b"python": b"raise SystemExit(1)\n", b"node": b"process.exit(1)\n"}


def script_places(path: str, source: bytes, *, salt: str, is_near: bool) -> list[ScriptPlace]:
    """The script with one changed assertion each; else with all its examples changed. Never raises."""
    return unless_too_deep([], lambda: _places(path, source, salt, is_near=is_near)) or whole_script(
        path, source, salt=salt, is_near=is_near
    )


def _places(path: str, source: bytes, salt: str, *, is_near: bool) -> list[ScriptPlace]:
    marks = marks_of(salt, is_near=is_near)
    if path.endswith(".py"):
        return list(python_places(source, marks))
    return list(javascript_places(path, source, marks)) if path.endswith(SUFFIXES) else []


def whole_script(path: str, source: bytes, *, salt: str, is_near: bool) -> list[ScriptPlace]:
    """The script with all its expectations changed at once, if one can change."""
    language = b"python" if path.endswith(".py") else b"node" if path.endswith(SUFFIXES) else b""
    inverted = invert(path, source, salt=salt, is_near=is_near)
    if not inverted.altered:
        return []
    return [ScriptPlace(inverted.source, ScriptReach.OPTIONAL, _FAILURES.get(language))]

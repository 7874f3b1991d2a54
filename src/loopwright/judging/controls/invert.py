"""Inverts a test file: the file with each test's own expectation changed. A test that still passes can't fail."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from loopwright.judging.controls import go_tests
from loopwright.judging.controls.go_tests import invert_go
from loopwright.judging.controls.helper_calls import HandedValue
from loopwright.judging.controls.javascript_tests import invert_javascript
from loopwright.judging.controls.marks import Marks, marks_of
from loopwright.judging.controls.model import SCRIPT, Inverted
from loopwright.judging.controls.python_tests import invert_python
from loopwright.judging.controls.shell import invert_shell
from loopwright.judging.syntax import javascript_source
from loopwright.judging.syntax.nesting import unless_too_deep

_INTERPRETER = re.compile(rb"#![^\n]*?\b(python|node|bash|dash|zsh|sh)[\d.]*\b")


def invert(
    path: str,
    source: bytes,
    *,
    only: frozenset[str] | None = None,
    salt: str = "",
    is_near: bool = False,
    helpers: Mapping[str, HandedValue] = MappingProxyType({}),
) -> Inverted:
    """The file with changed expectations of its tests, or of the tests in `only`. Never raises.

    A new random salt for each control keeps the work from knowing the changed values in advance. With `is_near` exact
    expectations change slightly, and no others: a test passes then if one of them holds.
    """
    marks = marks_of(salt, is_near=is_near)
    wanted = None if only is None else frozenset(test.partition("[")[0] for test in only)
    too_deep = _unaltered(source, wanted, "its file is nested too deeply")
    return unless_too_deep(too_deep, lambda: _inverted(path, source, wanted, marks, helpers))


def _inverted(
    path: str, source: bytes, wanted: frozenset[str] | None, marks: Marks, helpers: Mapping[str, HandedValue]
) -> Inverted:
    match _language(path, source):
        case "python":
            return invert_python(source, wanted, marks, helpers)
        case "node":
            return invert_javascript(path, source, wanted, marks)
        case "go":
            return invert_go(source, wanted, marks)
        case "sh":
            return invert_shell(source, marks)
        case _:
            return _unaltered(source, wanted, "its language can't be inverted")


def _unaltered(source: bytes, wanted: frozenset[str] | None, reason: str) -> Inverted:
    return Inverted(source, unaltered=dict.fromkeys(wanted or (SCRIPT,), reason))


def _language(path: str, source: bytes) -> str:
    """The language by the file's suffix; without one by its first line."""
    if path.endswith((".py", ".pyw")):
        return "python"
    if path.endswith(javascript_source.SUFFIXES):
        return "node"
    if path.endswith(go_tests.SUFFIX):
        return "go"
    if path.endswith((".sh", ".bash")):
        return "sh"
    found = _INTERPRETER.match(source) if "." not in path.rpartition("/")[2] else None
    name = found[1].decode() if found is not None else ""
    return "sh" if name.endswith("sh") else name

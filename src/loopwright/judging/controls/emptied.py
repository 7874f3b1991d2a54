"""Programs that do nothing, or fail at once: they show whether a command asks only for their exit code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename, splitext
from typing import TYPE_CHECKING

from loopwright.judging.syntax.javascript_source import SUFFIXES, JavaScriptSource, field, parse_javascript, within

if TYPE_CHECKING:
    from tree_sitter import Node

_SHEBANG = b"#!"
_GO_PACKAGE = re.compile(rb"^package +\w+", re.MULTILINE)
_GO_MAIN = re.compile(rb"^func main\(\)", re.MULTILINE)
# Any name that is asked of the module does nothing, and is false.
_IDLE_PYTHON = b"""\
class _Idle:
    def __call__(self, *_, **__): return None
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return self
    def __bool__(self): return False
    def __len__(self): return 0
    def __iter__(self): return iter(())

def __getattr__(name):
    if name.startswith("__"): raise AttributeError(name)
    return _Idle()
"""
_IDLE_COMMONJS = b"""\
const nothing = (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : () => {});
module.exports = new Proxy(() => {}, { get: nothing });
"""
# Programs that fail at once, by the endings of their files and by the names of interpreters.
_FAILING = {
    ".py": b"import os\n\nos._exit(1)\n", "python": b"import os\n\nos._exit(1)\n", ".js": b"process.exit(1);\n",
    "node": b"process.exit(1);\n", ".sh": b"exit 1\n", ".bash": b"exit 1\n", "sh": b"exit 1\n", "bash": b"exit 1\n",
    ".pl": b"exit 1;\n", "perl": b"exit 1;\n", ".rb": b"exit 1\n", "ruby": b"exit 1\n", ".lua": b"os.exit(1)\n",
    ".php": b"<?php exit(1);\n", ".go": b"func init() { panic(1) }\n",
}  # fmt: skip


def emptied(path: str, source: bytes) -> bytes | None:
    """The program without what it does: it starts, offers its names and ends with 0. None for other languages."""
    kind = _kind(path, source)
    if kind not in _FAILING:
        return None
    if kind == ".go":
        return _of_package(source, b"")
    if kind in (".py", "python"):
        return _first_line(source) + _IDLE_PYTHON
    return _first_line(source) + (_idle_javascript(path, source) if kind in (".js", "node") else b"")


def failing_at_once(path: str, source: bytes) -> bytes | None:
    """The program as one that only fails; None for other languages."""
    kind = _kind(path, source)
    if kind not in _FAILING:
        return None
    return _of_package(source, _FAILING[kind]) if kind == ".go" else _first_line(source) + _FAILING[kind]


def _kind(path: str, source: bytes) -> str:
    """The ending of a file; without one the interpreter that its first line names."""
    ending = splitext(path)[1]
    if ending:
        return ".js" if ending in SUFFIXES else ending
    words = _first_line(source).decode("utf-8", "replace").removeprefix("#!").split()
    names = [basename(word) for word in words if not word.startswith("-") and basename(word) != "env"]
    return names[0].rstrip("0123456789.") if names else ""


def _first_line(source: bytes) -> bytes:
    return source.partition(b"\n")[0] + b"\n" if source.startswith(_SHEBANG) else b""


def _of_package(source: bytes, more: bytes) -> bytes | None:
    package = _GO_PACKAGE.search(source)
    main = b"func main() {}\n" if _GO_MAIN.search(source) else b""
    return b"\n\n".join(filter(None, (package.group(), main, more))) + b"\n" if package is not None else None


def _idle_javascript(path: str, source: bytes) -> bytes:
    parsed = parse_javascript(path, source)
    statements = parsed.root.named_children if parsed is not None else []
    if parsed is None or not any(part.type in {"import_statement", "export_statement"} for part in statements):
        return _IDLE_COMMONJS
    names = dict.fromkeys(
        name for part in statements if part.type == "export_statement" for name in _exported(parsed, part)
    )
    return b"".join(
        b"const idle_%d = () => {};\nexport { idle_%d as %s };\n" % (number, number, name.encode())
        for number, name in enumerate(names)
    )


def _exported(source: JavaScriptSource, statement: Node) -> Iterator[str]:
    if any(child.type == "default" for child in statement.children):
        yield "default"
        return
    declared = field(statement, "declaration")
    if declared is not None and field(declared, "name") is not None:
        yield source.text(field(declared, "name"))
    for part in within(declared if declared is not None else statement):
        if part.type == "variable_declarator":
            yield source.text(field(part, "name"))
        elif part.type == "export_specifier":
            yield source.text(field(part, "alias") or field(part, "name"))

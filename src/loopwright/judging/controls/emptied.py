"""Empties programs: a command that passes with them asks only whether they end with 0, so they judge themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.python_source import parse_python

SHEBANG = b"#!"
_GO_PACKAGE = re.compile(rb"^package +\w+", re.MULTILINE)
_IDLE = "(*_, **__): pass\n"
_GO_MAIN = re.compile(rb"^func main\(\)", re.MULTILINE)


def emptied(path: str, source: bytes) -> bytes:
    """The program without what it does; it still starts with the same interpreter, and belongs to the same package.

    In Python its functions and classes stay, and do nothing.
    """
    if path.endswith(".go"):
        package = _GO_PACKAGE.search(source)
        main = b"\n\nfunc main() {}\n" if _GO_MAIN.search(source) else b"\n"
        return package.group() + main if package is not None else b""
    first = source.partition(b"\n")[0] + b"\n" if source.startswith(SHEBANG) else b""
    return first + unless_too_deep(b"", lambda: _idle_python(source)) if path.endswith(".py") else first


def _idle_python(source: bytes) -> bytes:
    parsed = parse_python(source)
    if parsed is None:
        return b""
    return "".join(line for node in parsed.tree.body for line in _idle(node, "")).encode()


def _idle(node: ast.stmt, indent: str) -> Iterator[str]:
    """A definition whose functions do nothing; nothing for other statements."""
    match node:
        case ast.FunctionDef(name=name):
            yield _idle_function(indent, name)
        case ast.AsyncFunctionDef(name=name):
            yield indent + "async " + _idle_function("", name)
        case ast.ClassDef(name=name, body=body):
            yield f"{indent}class {name}:\n" + _idle_function(f"{indent}    ", "__init__")
            yield from (
                line
                for part in body
                if getattr(part, "name", "") != "__init__"
                for line in _idle(part, f"{indent}    ")
            )
        case _:
            pass


def _idle_function(indent: str, name: str) -> str:
    return f"{indent}def {name}{_IDLE}"

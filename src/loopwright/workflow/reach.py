"""Detects new code that tampers with its judge: it ends the test process, patches the runner, or detects the test.

Honest programs do so sometimes; then a person signs. Pure: text before, text after.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_PYTHON = (".py", ".pyi", ".pyx")
_NODE = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
_OTHER_CODE = (".go", ".rs", ".rb", ".java", ".kt", ".c", ".cc", ".cpp", ".h", ".php", ".pl", ".lua", ".cs", ".swift")
# Names from a test environment, in any language.
_SURROUNDINGS = re.compile(rb"PYTEST_[A-Z]\w+|LOOPWRIGHT_[A-Z]\w+|GIT_CEILING_DIRECTORIES|JEST_WORKER_ID|VITEST_\w+")
_IN_PYTHON = re.compile(
    rb"\bos\s*\.\s*_exit\b|\bimport\s[^\n]*\b_exit\b|\bos\.(?:abort|exec[lv]\w*)\b"
    rb"|\bsys\.(?:excepthook|settrace|setprofile)|\b_pytest\b|\bgc\.get_(?:objects|referrers)|\bsys\._getframe|\.__code__\s*="
    rb"|def\s+__eq__\s*\([^)]*\)[^:\n]*:\s*return\s+True\b"
)
_IN_NODE = re.compile(rb"\bprocess\s*\.\s*(?:exit|reallyExit|abort|kill)\s*\(|\brequire\.cache\b")
_IS_PROGRAM = re.compile(rb"\A#!|\brequire\.main\b|\bimport\.meta\.main\b")
_ENDS = {"exit", "quit", "sys.exit", "os._exit", "SystemExit"}


def reaches_for_its_judge(path: str, before: bytes, after: bytes) -> bool:
    """Whether the new text has more of it than the old text."""
    return _count(path, after) > _count(path, before)


def _count(path: str, data: bytes) -> int:
    if not path.endswith((*_PYTHON, *_NODE, *_OTHER_CODE)):
        return 0
    found = len(_SURROUNDINGS.findall(data))
    if path.endswith(_PYTHON):
        found += len(_IN_PYTHON.findall(data)) + sum(1 for _ in _ends_when_imported(data))
    elif path.endswith(_NODE) and not _IS_PROGRAM.search(data):
        found += len(_IN_NODE.findall(data))
    return found


def _ends_when_imported(data: bytes) -> Iterator[ast.AST]:
    """Statements of a module that end the process that imports it."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return
    ahead: list[ast.AST] = list(tree.body)
    while ahead:
        node = ahead.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _is_main(node):
            continue
        called = node.func if isinstance(node, ast.Call) else node.exc if isinstance(node, ast.Raise) else None
        if called is not None and ast.unparse(called) in _ENDS:
            yield node
        ahead += ast.iter_child_nodes(node)


def _is_main(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)

"""Detects work that cheats its judges. Pure.

Broken judges: a check that passes although its judge was made to fail proves nothing about the work. This covers only
checks that certainly run the judge: Python tests and scripts, called directly. Each test fails at its end, not at its
start, so that the test has called the work before.

Tampering: new code that ends the test process, patches the runner, or detects the test. Honest programs do so
sometimes; then a person signs.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Iterator

_CODE = 97
_ENDS = {"exit", "quit", "sys.exit", "SystemExit"}
_SHELL = re.compile(r"[|&;<>()`\n]|\$\(")
_FAILS = ast.parse("raise AssertionError('a judge that must fail')").body[0]
_LAST = ast.parse(f"if __name__ == '__main__':\n    raise SystemExit({_CODE})").body[0]


def runs_python(command: str) -> tuple[str, ...] | None:
    """The words after the interpreter, if the check is a single call of python or pytest."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    if not words or (_SHELL.search(command) and "-c" not in words[1:2]):
        return None
    program = words[0].rpartition("/")[2]
    if program in ("pytest", "py.test"):
        return ("-m", "pytest", *words[1:])
    return tuple(words[1:]) if re.fullmatch(r"python[\d.]*", program) else None


def broken_command(command: str) -> str | None:
    """`python -c …` that fails at its end; None for any other check."""
    words = runs_python(command)
    if words is None or words[:1] != ("-c",) or len(words) < 2:
        return None
    try:
        tree = ast.parse(words[1])
        whole = shlex.split(command)
    except (SyntaxError, ValueError):
        return None
    if whole[-len(words) :] != list(words):
        return None
    whole[-len(words) + 1] = ast.unparse(_ended(tree))
    assigned = [word for word in whole if re.match(r"\w+=", word)]
    rest = whole[len(assigned) :] if whole[: len(assigned)] == assigned else whole
    names = [word.partition("=") for word in whole[: len(whole) - len(rest)]]
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, _, value in names), shlex.join(rest)])


def judged_by(command: str, sealed: Iterable[str]) -> tuple[str, ...]:
    """The sealed Python files that this check certainly runs; empty if that is uncertain."""
    words = runs_python(command)
    if words is None or words[:1] == ("-c",):
        return ()
    files = [path for path in sealed if path.endswith(".py")]
    if words[:2] == ("-m", "pytest"):
        named = [word.partition("::")[0].removeprefix("./").rstrip("/") for word in words[2:] if _is_path(word)]
        tests = [path for path in files if _is_test(path)]
        return tuple(path for path in tests if not named or any(f"{path}/".startswith(f"{name}/") for name in named))
    if words[:2] == ("-m", "unittest"):
        modules = [word for word in words[2:] if not word.startswith("-")]
        stems = {path: path.removesuffix(".py").replace("/", ".") for path in files}
        return tuple(path for path, stem in stems.items() if any(f"{name}.".startswith(f"{stem}.") for name in modules))
    return (words[0],) if words and words[0] in files else ()


def broken(source: bytes) -> bytes | None:
    """The same judge, failing at every end; None if no end is known."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return ast.unparse(_ended(tree)).encode() + b"\n"


def _ended(tree: ast.Module) -> ast.Module:
    changed: ast.Module = _Ends().visit(tree)
    # Before a last block that may end the process, and after it.
    changed.body.append(_LAST)
    return ast.fix_missing_locations(changed)


class _Ends(ast.NodeTransformer):
    """Every test fails at its end, and every exit of the judge is a failure."""

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        if node.name.startswith("test"):
            node.body.append(_FAILS)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 -- the name is given by ast

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) in _ENDS:
            arguments = ast.Tuple([*node.args, ast.Constant(_CODE)], ast.Load())
            node.args = [ast.Subscript(arguments, ast.Constant(-1), ast.Load())]
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if node.exc is not None and ast.unparse(node.exc) == "SystemExit":
            node.exc = ast.parse(f"SystemExit({_CODE})", mode="eval").body
        return node


def _is_path(word: str) -> bool:
    return not word.startswith("-") and ("/" in word or word.endswith(".py") or "test" in word)


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


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
_PROCESS_ENDS = {"exit", "quit", "sys.exit", "os._exit", "SystemExit"}


def reaches_for_its_judge(path: str, before: bytes, after: bytes) -> bool:
    """Whether the new text has more of it than the old text."""
    return _count(path, after) > _count(path, before)


def _count(path: str, data: bytes) -> int:
    if not path.endswith((*_PYTHON, *_NODE, *_OTHER_CODE)):
        return 0
    count = len(_SURROUNDINGS.findall(data))
    if path.endswith(_PYTHON):
        count += len(_IN_PYTHON.findall(data)) + sum(1 for _ in _ends_when_imported(data))
    elif path.endswith(_NODE) and not _IS_PROGRAM.search(data):
        count += len(_IN_NODE.findall(data))
    return count


def _ends_when_imported(data: bytes) -> Iterator[ast.AST]:
    """Statements of a module that end the process that imports it."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return
    ahead: list[ast.AST] = list(tree.body)
    while ahead:
        node = ahead.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            continue
        called = node.func if isinstance(node, ast.Call) else node.exc if isinstance(node, ast.Raise) else None
        if called is not None and ast.unparse(called) in _PROCESS_ENDS:
            yield node
        ahead += ast.iter_child_nodes(node)

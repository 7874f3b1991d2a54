"""Tests inside source files: doctests of Python and Rust, test cases, `#[cfg(test)]`, `import.meta.vitest`. Pure.

A change of such a test is a changed test, although its file is a work file. New tests of this kind are free.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections import Counter
from collections.abc import Iterator

from loopwright.judging.scope import kind_of
from loopwright.judging.syntax.nesting import unless_too_deep

_JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_VITEST = re.compile(r"\bif\s*\(\s*import\.meta\.vitest\s*\)\s*\{")
_RUST_TESTS = re.compile(r"#\[(?:cfg\(.*\btest\b.*\)|(?:\w+::)*(?:test|rstest|bench)(?:\(.*\))?)\]")
_RUST_DOCS = re.compile(r"^[ \t]*//[/!] ?(.*)$", re.MULTILINE)
_ZIG_TEST = re.compile(r"^test\b[^{\n]*\{", re.MULTILINE)
# Comments and texts, in which a brace means nothing. In Rust `'a` is no text.
_COMMENTS = r"//[^\n]*|/\*.*?\*/"
_RUST_TEXTS = re.compile(_COMMENTS + r"""|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.[^'\n]*|[^'\\\n])'""", re.DOTALL)
_JAVASCRIPT_TEXTS = re.compile(_COMMENTS + r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""", re.DOTALL)


def has_inline_tests(path: str, data: bytes) -> bool:
    """Whether a file may contain tests, by a quick look."""
    marks = {".py": (b">>>",), ".rs": (b"test", b"```"), ".zig": (b"test",)}
    return any(mark in data for mark in marks.get(kind_of(path), (b"import.meta.vitest",)))


def lost_test_code(before: bytes, after: bytes) -> bool:
    """Whether a test case or test function of a Python file is no longer there as it was."""
    # A test that can't be read may be another one.
    return unless_too_deep(before != after, lambda: bool(_count_tests(before) - _count_tests(after)))


def _count_tests(data: bytes) -> Counter[str]:
    return Counter(_test_code(data.decode("utf-8", "replace")))


def lost_tests(path: str, before: bytes, after: bytes) -> bool:
    """Whether a test that was in the file is no longer there as it was."""
    old, new = (Counter(_tests(path, data.decode("utf-8", "replace"))) for data in (before, after))
    return bool(old - new)


def _tests(path: str, text: str) -> Iterator[str]:
    match kind_of(path):
        case ".py":
            yield from _doctests(text)
        case ".rs":
            yield from (_block(text, found.start(), found.end()) for found in _RUST_TESTS.finditer(text))
            yield from _fenced("\n".join(_RUST_DOCS.findall(text)))
        case ".zig":
            yield from (_block(text, found.start(), found.end() - 1) for found in _ZIG_TEST.finditer(text))
        case kind if kind in _JAVASCRIPT:
            found_in = _VITEST.finditer(text)
            yield from (_block(text, found.start(), found.end() - 1, _JAVASCRIPT_TEXTS) for found in found_in)
        case _:
            return


def _doctests(text: str) -> Iterator[str]:
    """Each example with its expected output. A file that can't be parsed has no examples."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    parser = doctest.DocTestParser()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            page = ast.get_docstring(node, clean=True) or ""
            try:
                yield from (f"{example.source}{example.want}" for example in parser.get_examples(page))
            except ValueError:
                yield page


def _test_code(text: str) -> Iterator[str]:
    """Test cases and functions of a Python file, with the examples in `__test__`, by their structure."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in tree.body:
        match node:
            case ast.ClassDef(bases=bases) if any("TestCase" in ast.unparse(base) for base in bases):
                yield ast.dump(node)
            case ast.ClassDef(name=name) if name.startswith("Test"):
                yield ast.dump(node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
                yield ast.dump(node)
            case ast.Assign(targets=[ast.Name(id="__test__")]):
                yield ast.dump(node)
            case _:
                pass


def _fenced(page: str) -> Iterator[str]:
    parts = page.split("```")
    yield from parts[1::2]


def _block(text: str, start: int, opening: int, texts: re.Pattern[str] = _RUST_TEXTS) -> str:
    """The text from a mark to the end of the block after it; to the end of the file if the block does not end."""
    depth, position = 0, opening
    while position < len(text):
        if (skipped := texts.match(text, position)) is not None:
            position = skipped.end()
            continue
        character = text[position]
        if character == ";" and depth == 0:
            break  # `mod tests;`: the tests are in another file
        depth += {"{": 1, "}": -1}.get(character, 0)
        position += 1
        if depth == 0 and character == "}":
            break
    return " ".join(text[start:position].split())

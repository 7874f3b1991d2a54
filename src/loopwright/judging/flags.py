"""Lists new code in the source that could deceive a judge: each flag is shown to a person, and none is a verdict.

Occurrences are compared by their structure. One that only moved inside its file is not new.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from loopwright.judging.syntax import go_source, javascript_source
from loopwright.judging.warning_signs.go import signs_in_go
from loopwright.judging.warning_signs.javascript import signs_in_javascript
from loopwright.judging.warning_signs.model import Kind, Sign, judge_variables, not_examined
from loopwright.judging.warning_signs.python import signs_in_python

_OTHER_CODE = re.compile(r"\.(?:rs|rb|java|kt|c|cc|cpp|h|php|pl|lua|cs|swift|pyx|pyi)\Z")
# The first line of a program without a suffix.
_PROGRAM = re.compile(rb"#![^\n]*\b(python|node)")


class Flag(msgspec.Struct, frozen=True):
    """One new occurrence: what the code does, and where."""

    kind: Kind
    path: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.sentence}"


def flags(path: str, before: bytes, after: bytes, expected: frozenset[str] = frozenset()) -> tuple[Flag, ...]:
    """New warning signs of a source file, in the order of its lines. A check compares with the `expected` files."""
    known = Counter(sign.key for sign in (*_signs(path, before), *_signs_of_files(before, expected)))
    found = sorted((*_signs(path, after), *_signs_of_files(after, expected)), key=lambda sign: sign.line)
    new = []
    for sign in found:
        if known[sign.key]:
            known[sign.key] -= 1
        else:
            new.append(Flag(sign.kind, path, sign.line, sign.sentence))
    return tuple(dict.fromkeys(new))


def flags_in_test(path: str, source: bytes) -> tuple[Flag, ...]:
    """What a new test changes in a test framework. Tests import frameworks, read tests and exit by right."""
    found = (Flag(sign.kind, path, sign.line, sign.sentence) for sign in _signs(path, source, is_test=True))
    return tuple(dict.fromkeys(flag for flag in found if flag.kind == "alters_runtime"))


def _signs(path: str, source: bytes, *, is_test: bool = False) -> Iterator[Sign]:
    program = _PROGRAM.match(source)
    try:
        if path.endswith((".py", ".pyw")) or (program is not None and program[1] == b"python"):
            yield from signs_in_python(path, source, is_test=is_test)
        elif path.endswith(javascript_source.SUFFIXES) or (program is not None and program[1] == b"node"):
            yield from signs_in_javascript(path, source, is_test=is_test)
        elif is_test:
            return
        elif path.endswith(go_source.SUFFIX):
            yield from signs_in_go(source)
        else:
            yield from _signs_in_other_code(path, source)
    except RecursionError:
        yield not_examined(source)


def _signs_of_files(source: bytes, expected: frozenset[str]) -> Iterator[Sign]:
    """Texts that are the path of an expected result, in any language."""
    names = "|".join(re.escape(path.rpartition("/")[2]) for path in sorted(expected))
    pattern = re.compile(rf"""(["'`])((?:[^"'`\n]*/)?(?:{names}))\1""")
    for number, line in enumerate(source.decode("utf-8", "replace").splitlines() if names else (), start=1):
        for found in pattern.finditer(line):
            text = found[2]
            yield Sign("reads_judge", number, f"names the test file {text}", text)


def _signs_in_other_code(path: str, source: bytes) -> Iterator[Sign]:
    if _OTHER_CODE.search(path):
        for number, line in enumerate(source.decode("utf-8", "replace").splitlines(), start=1):
            yield from judge_variables(line, number)

"""A warning sign, and the signs that texts of every language share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from loopwright.kernel.digest import sha256

Kind = Literal[
    "test_framework", "ends_process", "runs_data", "reads_judge", "alters_runtime", "not_examined", "changes_judge"
]  # fmt: skip

# CI is no such name: honest programs ask for it.
_VARIABLE = re.compile(
    r"(?<![A-Za-z_])(?:(?:PYTEST|LOOPWRIGHT)_?[A-Z_]*|VITEST(?:_\w+)?|JEST(?:_\w+)?|NODE_TEST_CONTEXT"
    r"|GIT_CEILING_DIRECTORIES|npm_lifecycle_event)(?![A-Za-z])"
)
# Parts of names by which code may look for a variable, such as `startswith("GIT_CEIL")`. Other parts are words that
# honest names have, too.
_NAMES = tuple(
    name.lower()
    for name in (
        "GIT_CEILING_DIRECTORIES", "LOOPWRIGHT_REPORTS", "PYTEST_CURRENT_TEST", "PYTEST_VERSION", "NODE_TEST_CONTEXT",
        "npm_lifecycle_event", "JEST_WORKER_ID", "VITEST_WORKER_ID",
    )
)  # fmt: skip
_TELLING = re.compile(
    r"(?i:GIT_CE|_CEILING|CEILING_)|LOOPW|PWRIGHT|PYTES|CURRENT_TE|NODE_TE|TEST_CON|npm_li|lifecycle_e|JEST_W|VITES"
)
_LONGEST_NAME = 64
# No path of a file is longer.
_LONGEST_PATH = 4096
_TEST_FILE = re.compile(
    r"(?:.*/)?(?:conftest\.py|test_[\w*]+\.py|[\w*]+_test\.(?:py|go)|[\w*-]+\.(?:test|spec)\.[cm]?[jt]sx?)"
    r"|(?:\.{1,2}/|/)*(?:.*/)?tests?/[\w./*-]+"
)
# A pattern for source files: who reads them all reads the judge, too.
_SOURCE_PATTERN = re.compile(r"(?:[\w./*-]*/)?[\w.-]*\*[\w.*-]*\.(?:py|go|[cm]?[jt]sx?)")
# What the kernel says about this process, its parents and its mounts.
_OWN_PROCESS = re.compile(
    r"/proc/(?:self|1|thread-self|%[ds]|\{\w*\}|\d+|\*)/(?:environ|cmdline|mount\w*|comm|stat\w*)?.*"
)


class Sign(msgspec.Struct, frozen=True):
    """One place in a source. Equal keys are the same thing at another place."""

    kind: Kind
    line: int
    sentence: str
    code: str

    @property
    def key(self) -> tuple[str, str]:
        """What is compared between two versions of a file."""
        return self.kind, self.code


def judge_variables(text: str, line: int) -> Iterator[Sign]:
    """Names of variables that only a judge sets."""
    for found in _VARIABLE.finditer(text):
        yield Sign("reads_judge", line, f"names the judge's variable {found[0]}", found[0])


def signs_in_text(text: str, line: int) -> Iterator[Sign]:
    """The signs in a text literal: names of variables, or a part of such a name, and paths of test files."""
    yield from judge_variables(text, line)
    if len(text) > _LONGEST_PATH:
        return
    if _is_part_of_variable(text):
        yield Sign("reads_judge", line, f"names a part of the judge's variables: {text}", text)
    if _TEST_FILE.fullmatch(text):
        yield Sign("reads_judge", line, f"names the test file {text}", text)
    elif _SOURCE_PATTERN.fullmatch(text):
        yield Sign("reads_judge", line, f"reads source files: {text}", text)
    elif _OWN_PROCESS.fullmatch(text):
        yield Sign("reads_judge", line, f"asks how it was started: {text}", text)


def _is_part_of_variable(text: str) -> bool:
    part = text.strip("^$.*%")
    if len(part) > _LONGEST_NAME or _TELLING.search(part) is None or _VARIABLE.search(part) is not None:
        return False
    return any(part.lower() in name for name in _NAMES)


def framework(name: str, line: int) -> Sign:
    """The import of a test framework."""
    return Sign("test_framework", line, f"imports the test framework {name}", name)


def named_framework(name: str, line: int) -> Sign:
    """The name of a test framework in a text: the code may ask whether tests run it."""
    return Sign("test_framework", line, f"names the test framework {name}", name)


def ends_process(name: str, line: int, code: str) -> Sign:
    """The end of the process, in a function that is not a main function."""
    return Sign("ends_process", line, f"ends the process with {name}, outside a main function", code)


def runs_data(name: str, line: int, code: str) -> Sign:
    """Code that is made from data."""
    return Sign("runs_data", line, f"runs code that is made from data, with {name}", code)


def alters_runtime(name: str, line: int, code: str) -> Sign:
    """A change to how a test runner sees the program."""
    return Sign("alters_runtime", line, f"changes how a test runner sees the program: {name}", code)


def reads_program(name: str, line: int) -> Sign:
    """The text of the running program, or its main module: the test that runs it."""
    return Sign("reads_judge", line, f"reads the program that runs it: {name}", name)


def reads_callers(name: str, line: int) -> Sign:
    """The code that called this code, or objects of other code: a test or its runner may be among them."""
    return Sign("reads_judge", line, f"can see the code that runs it: {name}", name)


def changes_doctest(name: str, line: int, code: str) -> Sign:
    """A change of tests that doctest finds in a text."""
    return Sign("changes_judge", line, f"changes a text that doctest searches for tests: {name}", code)


def not_examined(source: bytes) -> Sign:
    """A file that can't be parsed here. A newer Python or Node may run it."""
    return Sign("not_examined", 1, "can't be searched for code that deceives a judge", sha256(source))

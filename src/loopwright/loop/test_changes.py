"""Finds among the changes of the work those that change no test, and tests that changed inside source files."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from loopwright.errors import GitFailed
from loopwright.judging.defined_tests.model import DefinedTests
from loopwright.judging.defined_tests.moved import Moves, TestFileChange, find_same_tests, moves_of
from loopwright.judging.defined_tests.packages import GoPackages
from loopwright.judging.defined_tests.read import read_tests
from loopwright.judging.defined_tests.test_modules import holds_tests
from loopwright.judging.inline_tests import has_inline_tests, lost_test_code, lost_tests
from loopwright.judging.same_tests import moved_files
from loopwright.judging.scope import FileChange, FilePart, TreeEntry, WorkScope, kind_of
from loopwright.judging.verdict import names_a_file
from loopwright.kernel.files import shown
from loopwright.kernel.git import PrivateRepository

_MOST_READ = 1 << 20
_WITH_INLINE_TESTS = frozenset(
    [".py", ".rs", ".zig", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"]
)  # fmt: skip


class SortedChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The changes by what they are for the judge."""

    parts: dict[FilePart, list[FileChange]]
    # Tests that moved or got another name, and nothing else; and their old and new names.
    same_tests: list[FileChange]
    names: dict[str, str]
    # What became of tests in the other files.
    moves: Moves
    # Files that are tests although they are not in a folder of tests: source in which a test changed, documents.
    tests: frozenset[str]
    # Changes that are free only if the tests of the base pass without them: documents, and the same tests.
    doubtful: list[FileChange]


class ChangeSorter:
    """Looks into the files of one work."""

    def __init__(
        self,
        judge: PrivateRepository,
        base_tree: str,
        scope: WorkScope,
        commands: tuple[str, ...],
        read: Callable[[TreeEntry], bytes],
        expected: frozenset[str] = frozenset(),
    ) -> None:
        """`expected` are files with which a command compares a result, and data that only tests use."""
        self._judge = judge
        self._base_tree = base_tree
        self._scope = scope
        self._commands = commands
        self._read_whole = read
        self._expected = expected
        self.packages = GoPackages(self._at_base)

    def sort(self, parts: dict[FilePart, list[FileChange]], *, sign_doubtful: bool) -> SortedChanges:
        """The same changes, sorted further. `sign_doubtful`: doubtful changes are protected changes, too."""
        protected, new_tests, work = (parts[part] for part in (FilePart.PROTECTED, FilePart.NEW_TEST, FilePart.WORK))
        tests = [change for change in protected if self._is_test(change)]
        moved = moved_files([change for change in tests if change.after is None], new_tests)
        others = self._defined(protected, new_tests) if any(map(self._scope.is_test, map(_path, protected))) else []
        movable = {*map(_path, tests), *map(_path, new_tests)}.difference(moved, moved.values())
        found = find_same_tests(file for file in others if file.path in movable)
        names, same = {**moved, **found.names}, {*moved, *moved.values(), *found.paths}
        inline = frozenset(change.path for change in work if self._changes_inline_tests(change))
        same_tests = [change for change in (*protected, *new_tests) if change.path in same]
        allowed = (change for change in (*work, *parts[FilePart.FREE]) if change.path not in inline)
        documents = [change for change in allowed if self._scope.is_doc(change)]
        doubtful, signed = [*documents, *same_tests], set(inline)
        if sign_doubtful:
            signed |= {change.path for change in doubtful}
        return SortedChanges(
            parts={
                FilePart.PROTECTED: [
                    *(change for change in protected if change.path not in same),
                    *(change for found in parts.values() for change in found if change.path in signed),
                ],
                FilePart.NEW_TEST: [change for change in new_tests if change.path not in same],
                FilePart.WORK: [change for change in work if change.path not in signed],
                FilePart.FREE: [change for change in parts[FilePart.FREE] if change.path not in signed],
            },
            same_tests=[] if sign_doubtful else same_tests,
            names={} if sign_doubtful else names,
            moves=moves_of(file for file in others if sign_doubtful or file.path not in same),
            tests=inline.union(change.path for change in documents),
            doubtful=[] if sign_doubtful else doubtful,
        )

    def _is_test(self, change: FileChange) -> bool:
        """Whether an existing test may move: a command that names the test would not find it."""
        is_named = any(shown(change.path.encode("utf-8", "surrogateescape")) in command for command in self._commands)
        return change.is_plain and self._scope.may_move(change.path) and not is_named

    def _defined(self, protected: list[FileChange], new_tests: list[FileChange]) -> list[TestFileChange]:
        """The tests of changed files before and now, as far as they can be read."""
        changes = [change for change in protected if self._scope.is_test(change.path)] + new_tests
        modes = [change for change in changes if change.is_plain and not _has_other_mode(change)]
        return [
            TestFileChange(change.path, *sides)
            for change in modes
            for sides in [[self._tests_in(change.path, entry) for entry in (change.before, change.after)]]
            if all(
                side is not None or entry is None
                for side, entry in zip(sides, (change.before, change.after), strict=True)
            )
        ]

    def _tests_in(self, path: str, entry: TreeEntry | None) -> DefinedTests | None:
        data = self._read_whole(entry) if entry is not None else b""
        is_read = entry is not None and len(data) <= _MOST_READ
        return read_tests(path, data, self.packages.package_of(path)) if is_read else None

    def _changes_inline_tests(self, change: FileChange) -> bool:
        before, after = change.before, change.after
        if self._scope.is_named(change.path):
            return False
        if change.path in self._expected:
            return True
        if before is None or after is None or kind_of(change.path) not in _WITH_INLINE_TESTS:
            return False
        old = self._read(before)
        is_python, holds = kind_of(change.path) == ".py", holds_tests(change.path, old)
        if holds and not is_python:
            return True
        is_run = holds or any(names_a_file(command, change.path) for command in self._commands)
        if is_python and is_run and lost_test_code(old, self._read(after)):
            return True
        if not has_inline_tests(change.path, old) or not lost_tests(change.path, old, self._read(after)):
            return False
        return not is_python or self._runs_doctests()

    def _runs_doctests(self) -> bool:
        """Whether a command or a file that judges mentions doctests: otherwise an example is a text."""
        if any("doctest" in command for command in self._commands):
            return True
        try:
            found = self._judge.run("grep", "-lzF", "doctest", self._base_tree)
        except GitFailed:
            return False  # no file has the word
        paths = (path.partition(b":")[2] for path in found.split(b"\0") if path)
        return any(self._scope.is_judge(shown(path)) and not path.endswith((b".md", b".rst")) for path in paths)

    def _at_base(self, path: str) -> bytes | None:
        """A file of the base; None if the base does not have it."""
        try:
            return self._judge.run("cat-file", "blob", f"{self._base_tree}:{path}")
        except GitFailed:
            return None

    def _read(self, entry: TreeEntry) -> bytes:
        data = self._read_whole(entry)
        return data if len(data) <= _MOST_READ else b""


def _path(change: FileChange) -> str:
    return change.path


def _has_other_mode(change: FileChange) -> bool:
    before, after = change.before, change.after
    return before is not None and after is not None and before.mode != after.mode

"""Answers what the rules of judging ask about the base tree and the machine. Reads only what a rule asks for."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from posixpath import dirname, join, normpath

from loopwright.errors import GitFailed
from loopwright.judging.flags import Flag
from loopwright.judging.machine import ProjectMachine
from loopwright.judging.project_scope import facts_about_base
from loopwright.judging.scope import FILE_MODES, BaseFacts, WorkScope
from loopwright.judging.warning_signs.parts_of_tests import changed_parts_of_tests, classes_and_bases
from loopwright.kernel.files import make_folder, shown
from loopwright.kernel.git import PrivateRepository

# A name that the rules of every ignore file match.
_ALWAYS = ".loopwright-always-ignored"
# A process takes only so many arguments.
_MOST_WORDS = 1000
# git's mode of links.
_LINK = "120000"


class BaseReader:
    """Reads the base tree when a rule asks."""

    def __init__(self, judge: PrivateRepository, tree: str, project: Path) -> None:
        self._judge = judge
        self._tree = tree
        self._machine = ProjectMachine(project)

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return self._judge.run("cat-file", "blob", f"{self._tree}:{path}")

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The contents of these files, without links and other repositories, in one process."""
        blobs = {path: self._blobs[path] for path in paths if path in self._blobs}
        contents = self._judge.blobs(blobs.values())
        return {path: contents[blob] for path, blob in blobs.items()}

    def having(self, words: Iterable[str]) -> dict[str, bytes]:
        """The contents of the text files in which one of these words occurs."""
        ahead, found = sorted(words), set[str]()
        while ahead:
            choice = [part for word in ahead[:_MOST_WORDS] for part in ("-e", word)]
            ahead = ahead[_MOST_WORDS:]
            try:
                listed = self._judge.run("grep", "-lzIF", *choice, self._tree)
            except GitFailed:
                continue  # no file has one of the words
            found |= {shown(path.partition(b":")[2]) for path in listed.split(b"\0") if path}
        return self.read_all(sorted(found))

    def facts(self, scope: WorkScope) -> BaseFacts:
        """What the rules of the scope ask."""
        return facts_about_base(
            scope, self.files, lambda blob: self._judge.run("cat-file", "blob", blob), self._machine, self.ignored
        )

    def ignored(self, path: str, rules: bytes, others: frozenset[str]) -> frozenset[str]:
        """What an ignore file with these rules matches, by git's own matching. For some tools case does not count."""
        if not rules:
            return frozenset()
        folder = path.rpartition("/")[0]
        always = join(folder, _ALWAYS)
        with tempfile.TemporaryDirectory(prefix="loopwright-ignore-") as scratch:
            make_folder(Path(scratch) / folder)
            (Path(scratch) / folder / ".gitignore").write_bytes(rules + f"/{_ALWAYS}\n".encode())
            # Without a match git exits with 1, as for an error.
            found = PrivateRepository(self._judge.git_dir, Path(scratch)).run(
                "check-ignore", "--no-index", "-z", "--stdin",
                stdin=b"".join(os.fsencode(name) + b"\0" for name in (always, *self.files, *others)),
                config=("core.ignorecase=true", f"core.excludesfile={os.devnull}"),
            )  # fmt: skip
        return frozenset(os.fsdecode(name) for name in found.split(b"\0") if name) - {always}

    def changed_judges(self, path: str, before: bytes, after: bytes, scope: WorkScope) -> Iterator[Flag]:
        """The parts of a source file by which tests of the base fail, and that the work changed."""
        parts = changed_parts_of_tests(path, before, after)
        called = self._called_by_judges(parts.asserting, scope) if parts.asserting else frozenset[str]()
        inherited = self._inherited_by_judges(parts.inherited, scope) if parts.inherited else frozenset[str]()
        for name in sorted(parts.loaded | called | inherited):
            yield Flag("changes_judge", path, 1, f"changes {name}, by which tests of the project fail")

    def _called_by_judges(self, names: frozenset[str], scope: WorkScope) -> frozenset[str]:
        """The functions that a judge of the base calls without using a result."""
        choice = "|".join(map(re.escape, sorted(names)))
        pattern = rf"^[[:space:]]*(await[[:space:]]+)?([A-Za-z_][A-Za-z_0-9]*\.)?({choice})\("
        try:
            listed = self._judge.run("grep", "-z", "-oE", pattern, self._tree)
        except GitFailed:
            return frozenset()  # no file has such a line
        rows = (row.partition(b"\0") for row in listed.split(b"\n") if row)
        calls = (call for path, _, call in rows if scope.is_judge(shown(path.partition(b":")[2])))
        return frozenset(re.split(r"[.\s]", call.decode().rstrip("("))[-1] for call in calls)

    def _inherited_by_judges(self, names: frozenset[str], scope: WorkScope) -> frozenset[str]:
        """The classes from which a judge of the base inherits, directly or through other classes."""
        contents = self.read_all(path for path in self.files if path.endswith(".py"))
        rows = [(path, row) for path, data in contents.items() if b"class " in data for row in classes_and_bases(data)]
        return frozenset(name for name in names if _is_inherited(name, rows, scope))

    @cached_property
    def files(self) -> frozenset[str]:
        """The paths of all files."""
        return frozenset(path for path, _, _ in self._entries)

    def links_to(self, paths: Iterable[str]) -> frozenset[str]:
        """The links that lead to one of these files, or to a folder that holds one."""
        links = {path: blob for path, mode, blob in self._entries if mode == _LINK}
        contents = self._judge.blobs(links.values()) if links else {}
        known = tuple(paths)
        targets = {path: normpath(join(dirname(path), shown(contents[blob]))) for path, blob in links.items()}
        return frozenset(
            path
            for path, target in targets.items()
            if any(name == target or name.startswith(f"{target}/") for name in known)
        )

    @cached_property
    def _blobs(self) -> dict[str, str]:
        return {path: blob for path, mode, blob in self._entries if mode in FILE_MODES}

    @cached_property
    def _entries(self) -> tuple[tuple[str, str, str], ...]:
        """Path, mode and object of each file."""
        listed = self._judge.run("ls-tree", "-r", "-z", self._tree)
        rows = (row.partition(b"\t") for row in listed.split(b"\0") if row)
        return tuple((shown(path), *_mode_and_object(meta)) for meta, _, path in rows)


def _is_inherited(name: str, rows: list[tuple[str, tuple[str, str]]], scope: WorkScope) -> bool:
    reached, ahead = {name}, [name]
    while ahead:
        base = ahead.pop()
        for path, (derived, _) in (row for row in rows if row[1][1] == base):
            if scope.is_judge(path):
                return True
            ahead += {derived} - reached
            reached.add(derived)
    return False


def _mode_and_object(meta: bytes) -> tuple[str, str]:
    mode, _, name = meta.decode().split(" ")
    return mode, name

"""Answers what the rules of judging ask about the base tree and the machine. Reads only what a rule asks for."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from loopwright.errors import GitFailed
from loopwright.judging.flags import Flag
from loopwright.judging.scope import BaseFacts, WorkScope, kind_of
from loopwright.judging.warning_signs.parts_of_tests import changed_parts_of_tests
from loopwright.kernel.files import shown
from loopwright.kernel.git import PrivateRepository

_ENVIRONMENTS = (".venv", "venv", "env")


class BaseReader:
    """Reads the base tree when a rule asks."""

    def __init__(self, judge: PrivateRepository, tree: str, project: Path) -> None:
        self._judge = judge
        self._tree = tree
        self._project = project

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return self._judge.run("cat-file", "blob", f"{self._tree}:{path}")

    def facts(self, scope: WorkScope) -> BaseFacts:
        """What the rules of the scope ask."""
        kinds = frozenset(kind_of(path) for path in self.files if scope.is_test(path) or not scope.is_judge(path))
        judges = frozenset(_module_of(path) for path in self.files if path.endswith(".py") and scope.is_judge(path))
        return BaseFacts(
            read=lambda blob: self._judge.run("cat-file", "blob", blob),
            has_file=lambda path: path in self.files,
            has_folder=lambda folder: any(path.startswith(f"{folder}/") for path in self.files),
            is_importable=lambda module: (
                module in judges or any(_has_module(folder, module) for folder in self._libraries)
            ),
            is_command=self._is_command,
            has_kind=kinds.__contains__,
        )

    def _is_command(self, name: str) -> bool:
        """Whether PATH or an environment of the project has a program of this name."""
        folders = (self._project / folder / "bin" for folder in _ENVIRONMENTS)
        return shutil.which(name) is not None or any((folder / name).is_file() for folder in folders)

    def changed_judges(self, path: str, before: bytes, after: bytes, scope: WorkScope) -> Iterator[Flag]:
        """The parts of a source file by which tests of the base fail, and that the work changed."""
        parts = changed_parts_of_tests(path, before, after)
        called = self._called_by_judges(parts.asserting, scope) if parts.asserting else frozenset[str]()
        for name in sorted(parts.loaded | called):
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

    @cached_property
    def files(self) -> frozenset[str]:
        """The paths of all files."""
        listed = self._judge.run("ls-tree", "-r", "-z", "--name-only", self._tree)
        return frozenset(shown(path) for path in listed.split(b"\0") if path)

    @cached_property
    def _libraries(self) -> tuple[Path, ...]:
        """The folders of installed modules: of the project's environments, and of Python on PATH."""
        found = [self._project / name / "bin" / "python" for name in _ENVIRONMENTS]
        found += [Path(path) for name in ("python3", "python") if (path := shutil.which(name)) is not None]
        prefixes = {place.parent.parent for path in found for place in (path, path.resolve())}
        return tuple(folder for prefix in prefixes for folder in prefix.glob("lib/python3*/*-packages"))


def _has_module(folder: Path, module: str) -> bool:
    return (folder / module).is_dir() or (folder / f"{module}.py").is_file()


def _module_of(path: str) -> str:
    """The name under which a folder on Python's path has the module or the package."""
    folder, _, name = path.rpartition("/")
    return folder.rpartition("/")[2] if name == "__init__.py" else name.removesuffix(".py")

"""Finds files that one program of a command leaves to deceive the next: modules, settings, bytecode, expectations."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from loopwright.judging.called_commands import CommandIn, with_called
from loopwright.judging.left_files import (
    folders_of_modules,
    generated_pairs,
    steers,
    steers_from_home,
    written_by_judges,
)
from loopwright.judging.scope import WorkScope
from loopwright.kernel.files import remove_tree
from loopwright.loop.altered_files import own_file
from loopwright.loop.test_runs import Pairs
from loopwright.sandbox.git_recorder import GitRecorder
from loopwright.sandbox.port import Sandbox

# A file of this name in place of the folder: Python then neither reads nor writes bytecode of its neighbours.
_BYTECODE = "__pycache__"
# A command that writes bytecode itself would fail.
_COMPILES = "compile"
_MARK = b"Loopwright keeps Python from using bytecode of this folder while tests run.\n"
_HOME = "~/"
_TMP = "/tmp/"  # noqa: S108 -- the sandbox's own folder, by its name inside
_MOST_BYTES = 1 << 20


class LeftFiles:
    """What the programs of one run left, by their paths; files of the home begin with `~/`."""

    def __init__(self, scope: WorkScope | None, commands: Iterable[CommandIn] = ()) -> None:
        self._scope = scope
        self._commands = tuple(commands)
        self._files: frozenset[str] = frozenset()
        self._judges: frozenset[str] = frozenset()
        self._before: frozenset[str] = frozenset()
        self._home: dict[str, str] = {}
        # When each file that judges was written last, also with the same content.
        self._written: dict[str, int] = {}
        self._guards: list[Path] = []
        # The files among the pairs that judges wrote.
        self._expected: frozenset[str] = frozenset()
        self.paths: tuple[str, ...] = ()
        self.pairs: Pairs = {}

    def before_steps(self, sandbox: Sandbox) -> None:
        """Note what exists, and keep bytecode away from the modules that judge."""
        recorder, scope = sandbox.recorder, self._scope
        if not isinstance(recorder, GitRecorder) or scope is None:
            return
        repo = sandbox.place.repo
        self._files = frozenset(recorder.base_files())
        self._commands = tuple(with_called(self._commands, self._files, lambda path: _read(repo, path)))
        self._judges = frozenset(path for path in self._files if scope.is_judge(path) or scope.is_script(path))
        self._before, self._home = frozenset(recorder.untracked()), _home_files(sandbox.place.home)
        if not any(_COMPILES in command for command, _ in self._commands):
            self._guards = list(_guarded(repo, folders_of_modules(self._judges)))
        self._written = _times_of_changes(repo, self._judges)

    def after_steps(self, sandbox: Sandbox) -> None:
        """Compare. Call this before the recorder stages the files."""
        recorder, repo = sandbox.recorder, sandbox.place.repo
        if not isinstance(recorder, GitRecorder) or self._scope is None:
            return
        written = _times_of_changes(repo, self._judges)
        # A program may change a test for a moment. No program can set this time back.
        touched = [path for path, at in written.items() if self._written.get(path) != at]
        broken = [guard for guard in self._guards if not _is_intact(guard)]
        for guard in self._guards:
            _remove(guard)
        new = {path.rstrip("/") for path in recorder.untracked()} - {path.rstrip("/") for path in self._before}
        found = [path for path in sorted(new) if steers(path, self._judges, partial(_has_file, repo / path))]
        home = [path for path, content in _home_files(sandbox.place.home).items() if self._home.get(path) != content]
        names = (str(guard.relative_to(repo)) for guard in broken)
        self.paths = (*names, *found, *touched, *(f"{_HOME}{path}" for path in home))
        pairs = generated_pairs(self._commands, self._files)
        self._expected = frozenset(written_by_judges(self._commands, self._judges))
        self.pairs = {pair: (_content(sandbox, pair[0]), _content(sandbox, pair[1])) for pair in pairs}

    def unusual(self, paths: Iterable[str], pairs: Pairs) -> tuple[str, ...]:
        """What another run left and this run on the base did not; and pairs of which both files changed.

        The output of the work may change. The file with which it is compared may not.
        """
        found = [path for path in paths if path not in self.paths]
        for pair, contents in pairs.items():
            before, expected = self.pairs.get(pair, ("", "")), self._expected & set(pair)
            changed = {
                name for name, old, new in zip(pair, before, contents, strict=True) if old and new and new != old
            }
            found += pair if len(changed) > 1 else changed & expected if len(expected) == 1 else ()
        return tuple(dict.fromkeys(found))


def _times_of_changes(repo: Path, paths: Iterable[str]) -> dict[str, int]:
    found = {}
    for path in paths:
        with suppress(OSError):
            found[path] = os.lstat(repo / path).st_ctime_ns
    return found


def _guarded(repo: Path, folders: Iterable[str]) -> Iterator[Path]:
    """Put the marks into these folders, not through links."""
    top = repo.resolve()
    for folder in folders:
        guard = repo / folder / _BYTECODE
        if guard.parent.is_dir() and guard.parent.resolve() == top / folder and not os.path.lexists(guard):
            guard.write_bytes(_MARK)
            yield guard
    _ignore(repo)


def _read(repo: Path, path: str) -> bytes:
    place = own_file(repo, path)
    return place.read_bytes() if place is not None else b""


def _has_file(folder: Path, name: str) -> bool:
    return (folder / name).is_file()


def _is_intact(guard: Path) -> bool:
    with suppress(OSError):
        return not guard.is_symlink() and guard.read_bytes() == _MARK
    return False


def _remove(guard: Path) -> None:
    with suppress(OSError):
        if guard.is_dir() and not guard.is_symlink():
            remove_tree(guard)
        else:
            guard.unlink()


def _ignore(repo: Path) -> None:
    """Keep the marks out of what git says about the project: rules for the folder do not match a file."""
    rules = repo / ".git" / "info" / "exclude"
    with suppress(OSError):
        if (repo / ".git").is_dir():
            rules.parent.mkdir(exist_ok=True)
            with rules.open("ab") as file:
                file.write(f"\n{_BYTECODE}\n".encode())


def _home_files(home: Path) -> dict[str, str]:
    found = {}
    for folder, _, names in os.walk(home):
        for name in names:
            path = Path(folder, name).relative_to(home).as_posix()
            if steers_from_home(path):
                found[path] = _digest(Path(folder, name))
    return found


def _content(sandbox: Sandbox, path: str) -> str:
    if path.startswith(_TMP):
        return _digest(sandbox.place.tmp / path.removeprefix(_TMP))
    return "" if path.startswith(("/", "../")) else _digest(sandbox.place.repo / path)


def _digest(path: Path) -> str:
    with suppress(OSError):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                return hashlib.sha256(file.read(_MOST_BYTES)).hexdigest()
    return ""

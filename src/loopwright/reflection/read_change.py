"""Reads the changes in a user's repository, without running its programs and without writing to it.

Uses a copy of the user's index, to include files that git is told to skip. A note reports what can't be counted. An
unreadable repository is an error. Also parses a list of paths that a user gives.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import msgspec

from loopwright.errors import GitFailed
from loopwright.kernel import git
from loopwright.kernel.files import shown, storage
from loopwright.kernel.git import PrivateRepository, UserRepository
from loopwright.reflection.change import REPOSITORY, Change, OwnState, combined, parse_diff, parse_status
from loopwright.reflection.untracked import with_lines, with_lost

_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)


def parse_path_list(raw: bytes) -> tuple[str, ...]:
    """The paths in their order."""
    lines = (_unquoted(line.removesuffix(b"\r")) for line in raw.split(b"\n"))
    names = raw.split(b"\0") if b"\0" in raw else lines
    return tuple(name.decode("utf-8", "surrogateescape") for name in names if name)


def _unquoted(line: bytes) -> bytes:
    """Undo git's quoting: without -z git writes special names in double quotes, with C escapes."""
    if len(line) < 2 or not (line.startswith(b'"') and line.endswith(b'"')):
        return line
    return _ESCAPED.sub(_unescaped, line[1:-1])


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPES.get(code, code)


_DIFF = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-algorithm=myers", "-z")
_SUBMODULES = "--ignore-submodules=dirty"
_MOST_SUBMODULES = 50
_MOST_COUNTED = 500
_DEEPEST = 3


class Read(msgspec.Struct, frozen=True):
    """A change, and notes about how it was read."""

    change: Change
    notes: tuple[str, ...] = ()


def read_change(
    repository: UserRepository,
    scratch: Path,
    own: OwnState,
    *,
    against: str | None,
    staged: bool = False,
    index: Path | None = None,
    depth: int = 0,
) -> Read:
    """Everything that differs from a commit (None: from nothing): committed since, staged, changed and untracked."""
    view = _View(repository, scratch, index)
    base = against or view.empty_tree()
    notes = list(view.notes)
    try:
        tracked = view.diff("diff", *(("--cached",) if staged else ()), "--raw", "--numstat", base)
    except GitFailed:
        # Names need only trees. Line counts need the contents, which a partial clone may lack.
        tracked = view.diff("diff-index", "--cached", "--raw", base)
        notes.append("lines are not counted: this partial clone lacks file contents; run `git fetch --refetch`")
    since = parse_diff(tracked, own)
    changes = [view.with_lost_in_index(since) if staged else with_lost(since, str(repository.top))]
    if not staged:
        changes.append(with_lines(parse_status(view.status(), own), str(repository.top))[0])
        inner = _submodules(repository, view, scratch, depth)
        changes += [part.change for part in inner]
        notes += [note for part in inner for note in part.notes]
    return _noted(combined(*changes), notes, lines_known=changes[0].insertions is not None)


def _literal(path: str) -> str:
    return f":(top,literal){path}"


def _noted(change: Change, notes: list[str], *, lines_known: bool) -> Read:
    if not lines_known:
        change = change.replaced(insertions=None, deletions=None)
    if change.conflicts:
        count = len(change.conflicts)
        notes.append(f"{count} {'file' if count == 1 else 'files'} in conflict; the verdict uses their current state")
    for path, kind in sorted(change.kinds.items()):
        if kind == REPOSITORY:
            notes.append(f"{shown(path)} is a separate repository and was skipped")
    return Read(change, tuple(notes))


class _View:
    """The user's work tree, read through a private repository and a copy of the user's index."""

    def __init__(self, repository: UserRepository, scratch: Path, index: Path | None) -> None:
        self.notes: list[str] = []
        self.links: list[str] = []
        self._repository = repository
        private = git.make_private(
            scratch / "git",
            repository.top,
            object_stores=repository.object_stores,
            object_format=repository.object_format,
            settings=repository.settings,
            head=repository.head.commit if repository.head else None,
        )
        self._git = PrivateRepository(private.git_dir, repository.top, index=private.git_dir / "index")
        with storage(private.git_dir):
            rules = repository.exclude.read_bytes() if repository.exclude.is_file() else b""
            (private.git_dir / "info" / "exclude").write_bytes(rules)
            # No filter program runs, and no attribute in the change decides whether its lines are counted.
            (private.git_dir / "info" / "attributes").write_bytes(b"* -filter !diff\n")
            self._copy_index(index or repository.git_dir / "index")
        self._unhide_files()

    def diff(self, *arguments: str) -> bytes:
        """The output of a diff command."""
        verb, *rest = arguments
        return self._git.run(verb, *_DIFF, _SUBMODULES, *rest, "--")

    def status(self) -> bytes:
        """The staged, changed and untracked files."""
        flags = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", _SUBMODULES)
        return self._git.run("status", *flags)

    def empty_tree(self) -> str:
        """The id of the empty tree, which git knows without storing it."""
        return self._git.run("hash-object", "-t", "tree", "--stdin").decode().strip()

    def with_lost_in_index(self, change: Change) -> Change:
        """The change with the earlier lines of files that lost lines, counted in the index."""
        if not change.counts:
            return change
        paths = sorted(change.counts)[:_MOST_COUNTED]
        raw = self._git.run("diff", *_DIFF, "--cached", "--numstat", self.empty_tree(), "--", *map(_literal, paths))
        rows = [row.split(b"\t", 2) for row in raw.split(b"\0") if row]
        now = {os.fsdecode(path): int(added) for added, _, path in rows if added != b"-"}
        return change.with_lost(lambda path: now.get(path, 0))

    def _copy_index(self, user_index: Path) -> None:
        if user_index.is_file():
            # Keep its time, which git compares with the times of files.
            shutil.copy2(user_index, self._git.git_dir / "index")
            for shared in self._repository.git_dir.glob("sharedindex.*"):
                shutil.copy2(shared, self._git.git_dir / shared.name)

    def _unhide_files(self) -> None:
        """Include files that git is told to skip, and find the submodules."""
        try:
            listed = self._git.run("ls-files", "-v", "--stage", "-z")
        except GitFailed:
            (self._git.git_dir / "index").unlink(missing_ok=True)
            self.notes.append("the index is unreadable, so the files were compared with HEAD")
            if self._repository.head is None:
                return
            self._git.run("read-tree", self._repository.head.commit)
            listed = self._git.run("ls-files", "-v", "--stage", "-z")
        rows = [row.split(b"\t", 1) for row in listed.split(b"\0") if row]
        self.links = [os.fsdecode(path) for head, path in rows if head[2:].startswith(b"160000 ")]
        assumed = [path for head, path in rows if head[:1].islower()]
        skipped = [path for head, path in rows if head[:1] in b"Ss" and self._exists(path)]
        for option, paths in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
            if paths:
                self._git.run("update-index", option, "-z", "--stdin", stdin=b"\0".join(paths) + b"\0")

    def _exists(self, path: bytes) -> bool:
        return os.path.lexists(os.fsencode(self._repository.top) + b"/" + path)


def _submodules(repository: UserRepository, view: _View, scratch: Path, depth: int) -> list[Read]:
    """Uncommitted changes inside submodules, which the outer repository does not show."""
    links = view.links if depth < _DEEPEST else []
    parts = [
        _submodule(repository.top, path, scratch / f"submodule-{number}", depth)
        for number, path in enumerate(links[:_MOST_SUBMODULES])
    ]
    if len(links) > _MOST_SUBMODULES:
        parts.append(Read(Change(), (f"only {_MOST_SUBMODULES} of {len(links)} submodules were read",)))
    return parts


def _submodule(top: Path, path: str, scratch: Path, depth: int) -> Read:
    folder = top / path
    # A link to another folder is not a submodule.
    if not (folder / ".git").exists() or folder.resolve() != top.resolve() / path:
        return Read(Change())
    try:
        inner = git.discover(folder)
        if inner is None or inner.top.resolve() != folder.resolve():
            return Read(Change())
        head = inner.head.commit if inner.head else None
        part = read_change(inner, scratch, OwnState(), against=head, depth=depth + 1)
    except GitFailed as problem:
        return Read(Change(), (f"the submodule {shown(path)} can't be read: {problem.message}",))
    return Read(part.change.below(f"{path}/"), tuple(f"in {shown(path)}: {note}" for note in part.notes))

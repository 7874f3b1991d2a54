"""Records the changes in a sandbox without git, as a patch that git accepts."""

from __future__ import annotations

import base64
import difflib
import hashlib
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from loopwright.kernel import process
from loopwright.kernel.digest import digest_of
from loopwright.kernel.files import shown, storage
from loopwright.sandbox import copy_worker
from loopwright.sandbox.copy_files import Excludes, list_project
from loopwright.sandbox.model import BaseTree
from loopwright.sandbox.port import Changes

_LINE = 52
_LARGEST = 32 << 20


class _File(msgspec.Struct, frozen=True):
    mode: str
    blob: str


class PlainRecorder:
    """Keeps a second copy of the base for comparison."""

    def __init__(self, repo: Path, before: Path, patterns: tuple[str, ...]) -> None:
        self._repo = repo
        self._before = before
        self._excludes = Excludes(patterns)
        self._first = self._read(repo)
        with storage(before):
            before.mkdir()
            for path in self._first:
                (before / os.fsdecode(path)).parent.mkdir(parents=True, exist_ok=True)
        regular = [path for path, file in self._first.items() if file.mode != "120000"]
        copy_worker.copy_all(os.fsencode(repo), os.fsencode(before), regular, process.check_for_stop)
        for path, file in self._first.items():
            if file.mode == "120000":
                target = os.readlink(os.fsencode(repo) + b"/" + path)  # noqa: PTH115 -- to the letter
                os.symlink(target, os.fsencode(before) + b"/" + path)  # noqa: PTH211 -- to the letter
        self._changed: list[bytes] = []
        self._tops = (os.fsencode(repo), os.fsencode(before))

    @staticmethod
    def _size(top: bytes, path: bytes) -> int:
        try:
            return os.lstat(top + b"/" + path).st_size
        except OSError:
            return 0

    def base(self) -> BaseTree:
        """The base of the sandbox, identified by the digest of its listing."""
        return BaseTree(None, _tree_name(self._first), is_commit=False)

    def record(self, write: Callable[[bytes], None], *, staged: Changes | None = None) -> Changes:
        """Compare with the base, and write the patch."""
        del staged
        now = self._read(self._repo)
        left_out: list[str] = []
        for path in sorted({*self._first, *now}):
            if self._first.get(path) != now.get(path) and max(self._size(top, path) for top in self._tops) > _LARGEST:
                left_out.append(f"{shown(path)} (too large for a patch without git)")
                now.pop(path, None)
                if path in self._first:
                    now[path] = self._first[path]
        self._changed = sorted(path for path in {*self._first, *now} if self._first.get(path) != now.get(path))
        # Write removals first: a folder may have replaced a file.
        for path in sorted(self._changed, key=lambda path: path in now):
            for old, new in _sides(self._first.get(path), now.get(path)):
                for piece in self._file_patch(path, old, new):
                    write(piece)
        return Changes(_tree_name(now), tuple(left_out))

    def changed_files(self) -> tuple[str, ...]:
        """The paths in the patch."""
        return tuple(shown(path) for path in self._changed)

    def binary_files(self) -> tuple[bytes, ...]:
        """Changed paths whose content the patch encodes."""
        return tuple(path for path in self._changed if b"\0" in self.content(path))

    def content(self, path: bytes) -> bytes:
        """A file's current bytes."""
        return _content(self._repo, path)

    def lines_containing(self, text: str) -> bytes:
        """The lines of the base that contain this text."""
        needle = text.encode()
        contents = (_content(self._before, path) for path in self._first)
        return b"\n".join(line for content in contents for line in content.splitlines() if needle in line)

    def write_base_patch(self, write: Callable[[bytes], None], limit: int) -> bool:
        """Write nothing and return False: there is no commit to compare with."""
        del write, limit
        return False

    def _read(self, top: Path) -> dict[bytes, _File]:
        listing = list_project(top, self._excludes)
        files: dict[bytes, _File] = {}
        for path in sorted([*listing.files, *listing.links]):
            mode = os.lstat(os.fsencode(top) + b"/" + path).st_mode
            kind = "120000" if stat.S_ISLNK(mode) else "100755" if mode & 0o100 else "100644"
            files[path] = _File(kind, _blob(os.fsencode(top) + b"/" + path))
        return files

    def _file_patch(self, path: bytes, old: _File | None, new: _File | None) -> Iterator[bytes]:
        before = _content(self._before, path) if old else b""
        after = _content(self._repo, path) if new else b""
        a, b = _quoted(b"a/" + path), _quoted(b"b/" + path)
        yield b"diff --git " + a + b" " + b + b"\n"
        if old is None and new is not None:
            yield f"new file mode {new.mode}\n".encode()
        elif new is None and old is not None:
            yield f"deleted file mode {old.mode}\n".encode()
        elif old is not None and new is not None and old.mode != new.mode:
            yield f"old mode {old.mode}\nnew mode {new.mode}\n".encode()
        if before == after and old is not None and new is not None:
            return
        none = "0" * 40
        yield f"index {old.blob if old else none}..{new.blob if new else none}\n".encode()
        if b"\0" in before or b"\0" in after or not (before or after):
            yield from (_binary(after, before) if before or after else ())
        else:
            yield b"--- " + (a if old else b"/dev/null") + b"\n+++ " + (b if new else b"/dev/null") + b"\n"
            yield from _text(before, after)


def _tree_name(files: dict[bytes, _File]) -> str:
    return digest_of([[os.fsdecode(path), file.mode, file.blob] for path, file in sorted(files.items())])


def _content(top: Path, path: bytes) -> bytes:
    file = os.fsencode(top) + b"/" + path
    try:
        if stat.S_ISLNK(os.lstat(file).st_mode):
            return os.readlink(file)  # noqa: PTH115 -- bytes
        with open(file, "rb") as stream:  # noqa: PTH123 -- bytes
            return stream.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return b""


def _sides(old: _File | None, new: _File | None) -> Iterator[tuple[_File | None, _File | None]]:
    """A file that became a link, or the reverse, is written as a removal and an addition."""
    if old is not None and new is not None and (old.mode == "120000") != (new.mode == "120000"):
        yield old, None
        yield None, new
    else:
        yield old, new


def _blob(file: bytes) -> str:
    """The blob id that git would give to a file, computed without reading the file into memory."""
    status = os.lstat(file)
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(file)  # noqa: PTH115 -- bytes
        return hashlib.sha1(b"blob %d\0" % len(target) + target, usedforsecurity=False).hexdigest()
    digest = hashlib.sha1(b"blob %d\0" % status.st_size, usedforsecurity=False)
    with open(file, "rb") as stream:  # noqa: PTH123 -- bytes
        while data := stream.read(1 << 20):
            process.check_for_stop()
            digest.update(data)
    return digest.hexdigest()


def _quoted(path: bytes) -> bytes:
    if all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in path):
        return path
    named = {0x07: b"\\a", 0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0B: b"\\v", 0x0C: b"\\f", 0x0D: b"\\r",
             0x22: b'\\"', 0x5C: b"\\\\"}  # fmt: skip
    parts = (named.get(c, bytes([c]) if 0x20 <= c < 0x7F else b"\\%03o" % c) for c in path)
    return b'"' + b"".join(parts) + b'"'


def _text(before: bytes, after: bytes) -> Iterator[bytes]:
    rows = difflib.unified_diff(_lines(before), _lines(after))
    for number, row in enumerate(rows):
        if number < 2:
            continue
        line = row.encode("latin-1")
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _lines(content: bytes) -> list[str]:
    """Split at newlines only. Latin-1 keeps every byte as one character, in any encoding."""
    parts = content.decode("latin-1").split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _binary(after: bytes, before: bytes) -> Iterator[bytes]:
    yield b"GIT binary patch\n"
    for content in (after, before):
        yield b"literal %d\n" % len(content)
        packed = zlib.compress(content)
        for start in range(0, len(packed), _LINE):
            piece = packed[start : start + _LINE]
            size = len(piece)
            letter = bytes([size + 64 if size <= 26 else size + 70])
            yield letter + base64.b85encode(piece, pad=True) + b"\n"
        yield b"\n"

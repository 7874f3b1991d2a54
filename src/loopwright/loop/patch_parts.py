"""The parts of a patch in git's format: one for each file. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from loopwright.kernel.files import shown

# Lines of a file begin with a sign in a patch, so a header is never one of them.
_HEADER = re.compile(rb"^diff --git ", re.MULTILINE)
_QUOTED = re.compile(rb'"b/((?:[^"\\]|\\.)*)"$')


def parts_for(patch: bytes, paths: Iterable[str]) -> bytes:
    """The parts of these files and folders, in the order of the patch."""
    wanted = tuple(path.rstrip("/") for path in paths)
    return b"".join(
        part for path, part in _parts(patch) if any(path == one or path.startswith(f"{one}/") for one in wanted)
    )


def paths_in(patch: bytes) -> tuple[str, ...]:
    """The files of a patch, in its order."""
    return tuple(dict.fromkeys(path for path, _ in _parts(patch)))


def _parts(patch: bytes) -> Iterator[tuple[str, bytes]]:
    starts = [match.start() for match in _HEADER.finditer(patch)]
    for start, end in zip(starts, [*starts, len(patch)][1:], strict=True):
        part = patch[start:end]
        yield _path_in(part.partition(b"\n")[0]), part


def _path_in(header: bytes) -> str:
    """The path after the change. Git quotes a path with special characters as C does."""
    quoted = _QUOTED.search(header)
    if quoted is None:
        return shown(header.rpartition(b" b/")[2])
    unquoted: bytes = ast.literal_eval(f'b"{quoted[1].decode("ascii")}"')
    return shown(unquoted)

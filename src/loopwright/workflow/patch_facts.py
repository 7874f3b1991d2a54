"""What a patch says of itself: how many lines, and which files are links or change their mode. Pure."""

from __future__ import annotations

import msgspec

_LINK = b"120000"
_SUBMODULE = b"160000"


class PatchFacts(msgspec.Struct, frozen=True):
    """Lines that come and go, and files of a special kind."""

    insertions: int
    deletions: int
    kinds: dict[str, str]


def patch_facts(data: bytes) -> PatchFacts:
    """Read off a patch in git's own form."""
    insertions = deletions = 0
    kinds: dict[str, str] = {}
    path, in_hunk = "", False
    for line in data.split(b"\n"):
        if line.startswith(b"diff --git "):
            path, in_hunk = line.rpartition(b" b/")[2].decode("utf-8", "surrogateescape").strip('"'), False
        elif line.startswith(b"@@"):
            in_hunk = True
        elif in_hunk:
            insertions += line.startswith(b"+")
            deletions += line.startswith(b"-")
        elif line.endswith(_LINK) and b"mode " in line:
            kinds[path] = "symlink"
        elif line.endswith(_SUBMODULE) and b"mode " in line:
            kinds[path] = "submodule"
        elif line.startswith(b"new mode "):
            kinds[path] = "mode"
    return PatchFacts(insertions, deletions, kinds)

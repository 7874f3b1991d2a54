"""How many lines changes touched, for a few commits instead of the whole history.

If a clone lacks the contents, the number is unknown. Fetches nothing, and never fails.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from loopwright.errors import GitFailed
from loopwright.kernel.git_history import History

_SHOW: Final = ("log", "-z", "--no-walk=unsorted", "--stdin", "--no-renames", "--diff-merges=first-parent")
_COUNTS: Final = re.compile(rb"\n?(\d+|-)\t(\d+|-)\t")
_RAW: Final = re.compile(rb"\n?:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ")
# A missing side of a change, and a submodule's commit.
_NO_BLOB: Final = (b"000000", b"160000")


def lines_changed(history: History, commits: Sequence[str]) -> dict[str, int]:
    """Added and removed lines of each commit with local contents; binary files count as 0."""
    with suppress(GitFailed):
        return _counted(history, commits)
    with suppress(GitFailed):
        return _counted(history, _with_contents(history, commits))
    return {}


def _counted(history: History, commits: Sequence[str]) -> dict[str, int]:
    counted: dict[str, int] = {}
    if not commits:
        return counted
    for commit, tokens in _records(history, commits, "--numstat"):
        counts = [match for token in tokens if (match := _COUNTS.match(token))]
        counted[commit] = sum(int(count) for match in counts for count in match.groups() if count != b"-")
    return counted


def _with_contents(history: History, commits: Sequence[str]) -> list[str]:
    """The commits whose blobs, before and after, are all in this clone."""
    needed: dict[str, set[bytes]] = {}
    for commit, tokens in _records(history, commits, "--raw", "--no-abbrev"):
        # Every second token is a name, which may look like anything.
        changes = [match.groups() for token in tokens[::2] if (match := _RAW.match(token))]
        sides = [side for old, new, before, after in changes for side in ((old, before), (new, after))]
        needed[commit] = {blob for mode, blob in sides if mode not in _NO_BLOB}
    blobs_text = b"".join(blob + b"\n" for blob in set().union(*needed.values()))
    answers = history.run("cat-file", "--batch-check", stdin=blobs_text).splitlines() if blobs_text else []
    missing = {line.split(b" ")[0] for line in answers if line.endswith(b" missing")}
    return [commit for commit, blobs in needed.items() if not blobs & missing]


def _records(history: History, commits: Sequence[str], *shown: str) -> list[tuple[str, list[bytes]]]:
    """Each commit with the tokens that git prints about it; two NULs separate commits and occur nowhere else."""
    stdin = "".join(f"{commit}\n" for commit in commits).encode()
    printed = history.run(*_SHOW, *shown, "--format=tformat:%x00%H", stdin=stdin)
    records = [record.removeprefix(b"\0").split(b"\0") for record in printed.split(b"\0\0")]
    return [(record[0].decode("ascii", "replace"), record[1:]) for record in records if record[0]]

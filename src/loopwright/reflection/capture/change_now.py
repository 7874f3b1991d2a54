"""What changed in a repository since a session began, as git tells it right now, in two rounds of questions."""

from __future__ import annotations

import os

from loopwright.reflection.capture.folder import read_bounded
from loopwright.reflection.capture.quick_git import ask
from loopwright.reflection.change import Change, OwnState, combined, parse_diff, parse_status
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.reflection.capture.quick_git import Answer

FILTERS = ("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$")
UPSTREAM = ("rev-parse", "--verify", "--quiet", "@{upstream}")
STATUS = (
    "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty",
)  # fmt: skip
DIFF = (
    "diff",
    "--raw",
    "--numstat",
    "-z",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
)
_MOST_FILES = 500
_MOST_BYTES = 2 << 20
_LOOKED_AT = 8000
_CHUNK = 4096


def repository_above(start: str) -> str | None:
    """The top of the work tree that holds this folder, by the `.git` that is there."""
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def head(repo: str, *, until: float) -> str:
    """The commit that is checked out; empty where there is none."""
    (answer,) = ask(repo, [("rev-parse", "--verify", "--quiet", "HEAD^{commit}")], until=until)
    return answer.stdout.decode("ascii", "replace").strip() if answer.is_good else ""


class ChangeNow:
    """What changed, on which branch, and whether that is all."""

    __slots__ = ("branch", "change", "is_whole")

    def __init__(self, branch: str, change: Change, *, is_whole: bool) -> None:
        self.branch = branch
        self.change = change
        self.is_whole = is_whole


NOTHING = ChangeNow("none", Change(), is_whole=True)


def read(repo: str, workspace: str, base: str, *, until: float) -> ChangeNow:
    """What is changed, staged, new or committed since the base, or else since the branch left its upstream."""
    filters, upstream = ask(repo, [FILTERS, UPSTREAM], until=until)
    unfiltered = [name for name in os.fsdecode(filters.stdout).split("\0") if name and "\n" not in name]
    since = _since(base, upstream)
    status, diff = ask(repo, [STATUS, (*DIFF, *since, "--")], filters=unfiltered, until=until)
    is_whole = status.is_good
    if not diff.is_good and since != ("HEAD",):
        # A base that is gone, rewritten or mistyped: what is not committed is still known.
        is_whole = False
        (diff,) = ask(repo, [(*DIFF, "HEAD", "--")], filters=unfiltered, until=until)
    own = _own_state(repo, workspace)
    found = [Change()]
    for answer, parse in ((status, parse_status), (diff, parse_diff)):
        try:
            found.append(parse(answer.stdout if answer.is_good else b"", own))
        except ValueError:
            is_whole = False
    new = [path for change in found for path in change.untracked]
    found.append(Change(insertions=_lines_of(repo, new) if new else None))
    return ChangeNow(_branch(status.stdout), combined(*found), is_whole=is_whole)


def _since(base: str, upstream: Answer) -> tuple[str, ...]:
    if base:
        # Never an option, whatever it says.
        return ("--end-of-options", base)
    return ("--merge-base", "@{upstream}") if upstream.is_good else ("HEAD",)


def _branch(status: bytes) -> str:
    for line in status[:_CHUNK].split(b"\0"):
        if line.startswith(b"# branch.head "):
            name = os.fsdecode(line).removeprefix("# branch.head ")
            return "HEAD" if name == "(detached)" else name
    return NOTHING.branch


def _own_state(repo: str, workspace: str) -> OwnState:
    below = os.path.relpath(workspace, repo).replace(os.sep, "/")
    prefix = "" if below == "." else f"{below}/"
    return OwnState(tuple(prefix + folder for folder in names.STATE_FOLDERS), (prefix + names.CONFIG,))


def _lines_of(repo: str, new: list[str]) -> int:
    """Git counts no lines of files that it does not know yet."""
    lines = 0
    for path in new[:_MOST_FILES]:
        data = read_bounded(os.path.join(repo, path), _MOST_BYTES, follow=False) or b""
        if b"\0" not in data[:_LOOKED_AT]:
            lines += data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))
    return lines

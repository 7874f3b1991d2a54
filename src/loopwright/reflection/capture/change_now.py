"""What changed in a repository since a session began. Runs git twice, several queries at once.

The first queries read the user's repository and start no program. The second queries read the work tree through a
private git folder. A part that can't be read is reported as unknown, never as unchanged.
"""

from __future__ import annotations

import os
import time

from loopwright.reflection.capture.quick_git import PrivateGit, Repository, ask, carried_settings
from loopwright.reflection.change import Change, OwnState, combined, parse_diff, parse_status
from loopwright.reflection.rule_set import Frozen
from loopwright.reflection.untracked import with_lines, with_lost
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.reflection.capture.quick_git import GitAnswer

WHERE = (
    "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-path", "objects",
    "--git-path", "info/exclude", "--git-path", "index", "--show-object-format",
)  # fmt: skip
HEAD = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
SETTINGS = ("config", "--list", "-z")
UPSTREAM = ("rev-parse", "--verify", "--quiet", "@{upstream}^{commit}")
FLAGS = ("ls-files", "-v", "--stage", "-z")
STATUS = ("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
DIFF = (
    "diff", "--raw", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
    "--ignore-submodules=dirty",
)  # fmt: skip
# The base of a session that began before the first commit.
NO_COMMIT = "no commit"
_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_MOST_SUBMODULES = 20
_DEEPEST = 3


class ChangeNow(Frozen):
    """The change, and the reasons why it may be incomplete."""

    change: Change
    unknown: tuple[str, ...] = ()


NOTHING = ChangeNow(Change())


def repository_above(start: str) -> str | None:
    """The top of the work tree that contains this folder, found by its `.git`."""
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def branch_of(repo: str) -> str:
    """The checked-out branch, or HEAD, read without git."""
    place = os.path.join(repo, ".git")
    try:
        if os.path.isfile(place):
            with open(place, "rb") as stream:
                named = os.fsdecode(stream.read(4096)).strip().removeprefix("gitdir:").strip()
            place = os.path.join(repo, named)
        with open(os.path.join(place, "HEAD"), "rb") as stream:
            head_text = os.fsdecode(stream.read(4096)).strip()
    except OSError:
        return "unknown"
    return head_text.removeprefix("ref: refs/heads/") if head_text.startswith("ref: refs/heads/") else "HEAD"


def head(repo: str, *, until: float) -> str:
    """The checked-out commit, or `NO_COMMIT`; empty if git fails."""
    where, commit = ask(repo, [WHERE, HEAD], until=until)
    if not where.is_good:
        return ""
    return commit.stdout.decode("ascii", "replace").strip() if commit.is_good else NO_COMMIT


def read(repo: str, workspace: str, base: str, *, until: float, home: str, depth: int = 0) -> ChangeNow:
    """The changed, staged, new and committed files since the base, or since the branch left its upstream."""
    where, commit, settings, upstream, flags = ask(repo, [WHERE, HEAD, SETTINGS, UPSTREAM, FLAGS], until=until)
    if not (where.is_good and settings.is_good and flags.is_good):
        return ChangeNow(Change(), (f"git can't read {os.path.basename(repo)}",))
    answers = os.fsdecode(where.stdout).split("\n")[:-1]
    if len(answers) != 6:
        return ChangeNow(Change(), ("the repository's path contains a line break",))
    if os.path.realpath(answers[0]) != os.path.realpath(repo):
        # core.worktree is set: git would compare another folder, perhaps a clean copy.
        return ChangeNow(Change(), ("git is configured to use another folder",))
    answers += [commit.stdout.decode("ascii", "replace").strip()] if commit.is_good else []
    repository = Repository(answers, carried_settings(settings.stdout, home))
    own = _own_state(repository.top, workspace)
    with PrivateGit(repository) as private:
        outer = _look(repository, private, own, _since(repository, base, upstream), flags.stdout, until)
    inner = _submodules(repository, flags.stdout, until, home, depth)
    return ChangeNow(
        combined(outer.change, *(part.change for part in inner)),
        (*outer.unknown, *(reason for part in inner for reason in part.unknown)),
    )


def _look(
    repository: Repository, private: PrivateGit, own: OwnState, since: tuple[str, ...], flags: bytes, until: float
) -> ChangeNow:
    unknown: list[str] = []
    if (hidden := _hidden(repository.top, flags)) and not _unhide(private, repository.top, hidden, until):
        unknown.append("files that git is configured to ignore")
    questions = [(*private.arguments, *STATUS), (*private.arguments, *DIFF, *since, "--")]
    status, diff = ask(repository.top, questions, until=until, extra=private.environment())
    if not diff.is_good:
        # The base is missing, rewritten or mistyped: uncommitted changes are still known.
        unknown.append("commits since the base")
        again = (*private.arguments, *DIFF, repository.commit or _EMPTY_TREES[repository.object_format], "--")
        (diff,) = ask(repository.top, [again], until=until, extra=private.environment())
    parts = [Change()]
    for answer, parse, what in ((status, parse_status, "git status"), (diff, parse_diff, "git diff")):
        if not answer.is_good:
            unknown.append(f"{what} did not finish")
        try:
            # Use the complete records of a truncated answer.
            parts.append(parse(answer.stdout[: answer.stdout.rfind(b"\0") + 1], own))
        except ValueError:
            unknown.append(f"{what} printed unexpected output")
    parts = [with_lost(part, repository.top, lambda: time.monotonic() < until) for part in parts]
    counted = [with_lines(part, repository.top, lambda: time.monotonic() < until) for part in parts if part.untracked]
    if not all(in_time for _, in_time in counted):
        unknown.append("the lines of all new files")
    return ChangeNow(
        combined(*parts, *(Change(kinds=part.kinds, insertions=part.insertions) for part, _ in counted)), tuple(unknown)
    )


def _since(repository: Repository, base: str, upstream: GitAnswer) -> tuple[str, ...]:
    empty = _EMPTY_TREES.get(repository.object_format, "HEAD")
    if base:
        # The base is never parsed as an option.
        return ("--end-of-options", empty if base == NO_COMMIT else base)
    if not repository.commit:
        return (empty,)
    if upstream.is_good:
        return ("--merge-base", upstream.stdout.decode("ascii", "replace").strip())
    return (repository.commit,)


def _hidden(top: str, flags: bytes) -> list[tuple[str, bytes]]:
    """Files that git is told to skip, each with the option that undoes it."""
    hidden = []
    for row in flags.split(b"\0"):
        head, _, path = row.partition(b"\t")
        if head[:1].islower():
            hidden.append(("--no-assume-unchanged", path))
        if head[:1] in (b"S", b"s") and os.path.lexists(os.fsencode(top) + b"/" + path):
            hidden.append(("--no-skip-worktree", path))
    return hidden


def _unhide(private: PrivateGit, top: str, hidden: list[tuple[str, bytes]], until: float) -> bool:
    """In a copy of the user's index, stop skipping files."""
    private.copy_index()
    for option in ("--no-assume-unchanged", "--no-skip-worktree"):
        paths = [os.fsdecode(path) for needed, path in hidden if needed == option]
        for start in range(0, len(paths), 500):
            question = (*private.arguments, "update-index", option, "--", *paths[start : start + 500])
            (done,) = ask(top, [question], until=until, extra=private.environment())
            if not done.is_good:
                return False
    return True


def _submodules(repository: Repository, flags: bytes, until: float, home: str, depth: int) -> list[ChangeNow]:
    """Uncommitted changes inside submodules, which the outer repository does not show."""
    rows = [row.partition(b"\t") for row in flags.split(b"\0")]
    links = [os.fsdecode(path) for head, _, path in rows if head[2:].startswith(b"160000 ")]
    changes = []
    for path in links[:_MOST_SUBMODULES] if depth < _DEEPEST else ():
        folder = os.path.join(repository.top, path)
        if os.path.lexists(os.path.join(folder, ".git")) and os.path.realpath(folder) == folder:
            inner = read(folder, folder, "HEAD", until=until, home=home, depth=depth + 1)
            changes.append(ChangeNow(inner.change.below(f"{path}/"), inner.unknown))
    if len(links) > len(changes) and len(links) > _MOST_SUBMODULES:
        changes.append(ChangeNow(Change(), ("too many submodules",)))
    return changes


def _own_state(repo: str, workspace: str) -> OwnState:
    below = os.path.relpath(workspace, repo).replace(os.sep, "/")
    prefix = "" if below == "." else f"{below}/"
    return OwnState(tuple(prefix + folder for folder in names.STATE_FOLDERS), (prefix + names.CONFIG,))

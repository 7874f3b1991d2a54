"""Every git call of ours, made so that a repository can't make us run its programs.

Git runs what a config says, so it is never shown the user's:
we work through private repositories that borrow the user's objects and carry an allow-list of settings.

The user's `.git` is only read: no index refresh, no lock, no ref.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from loopwright.errors import GitFailed
from loopwright.kernel import process
from loopwright.kernel.files import make_folder, shown, storage
from loopwright.kernel.ids import without_relative

_HARDENED = (
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "safe.bareRepository=explicit",
    "-c", "core.pager=cat",
    "-c", "core.untrackedCache=false",
    "-c", "protocol.allow=never",
    "-c", "submodule.recurse=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
)  # fmt: skip
# Adding a very large tree takes long; something that never ends takes longer.
_LONGEST_S = 3600
# What a private repository may learn from the user's: how files look on disk. Nothing here starts a program.
_CARRIED_SETTINGS = (
    "core.filemode",
    "core.ignorecase",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.precomposeunicode",
    "core.excludesfile",
)


class GitHead(msgspec.Struct, frozen=True):
    """Where a repository stands."""

    commit: str
    tree: str


class UserRepository(msgspec.Struct, frozen=True):
    """What we need to know of the repository that a project lives in."""

    top: Path
    git_dir: Path
    exclude: Path
    object_stores: tuple[Path, ...]
    object_format: str
    head: GitHead | None
    settings: Mapping[str, str] = msgspec.field(default_factory=dict)


class PrivateRepository(msgspec.Struct, frozen=True):
    """A repository of our own, with a work tree that may be anywhere."""

    git_dir: Path
    work_tree: Path
    index: Path | None = None

    def run(self, *arguments: str, stdin: bytes = b"", config: Iterable[str] = ()) -> bytes:
        """What git printed, or `GitFailed`."""
        result = _capture(self.argv(*arguments, config=config), self.work_tree, self.env(), stdin)
        if result.exit_code != 0:
            raise git_failure(arguments, result)
        return result.stdout

    def succeeds(self, *arguments: str, stdin: bytes = b"") -> bool:
        """Whether git says yes."""
        return _capture(self.argv(*arguments), self.work_tree, self.env(), stdin).exit_code == 0

    def argv(self, *arguments: str, config: Iterable[str] = ()) -> tuple[str, ...]:
        """The whole hardened command line."""
        extra = tuple(part for setting in config for part in ("-c", setting))
        place = (f"--git-dir={self.git_dir}", f"--work-tree={self.work_tree}")
        return ("git", *_HARDENED, *extra, *place, *arguments)

    def env(self) -> dict[str, str]:
        """An environment in which no config but the repository's own is read."""
        env = _bare_environment() | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        # Whoever cleans this folder up after our death ends what still works in it.
        env[process.MARK_VARIABLE] = process.mark_of(str(self.git_dir.parent))
        if self.index is not None:
            env["GIT_INDEX_FILE"] = str(self.index)
        return env


def is_installed() -> bool:
    """Whether there is a git at all."""
    return shutil.which("git") is not None


def version() -> str:
    """What git calls its version."""
    return _capture_plain("git", "--version", cwd=Path("/")).stdout.decode().split()[-1]


def discover(folder: Path) -> UserRepository | None:
    """The repository with a work tree that contains this folder; None when there is none."""
    asked = _ask_where(folder, "HEAD^{commit}", "HEAD^{tree}")
    if asked.exit_code != 0:
        # Without a commit those two have no answer, and the others have.
        asked = _ask_where(folder)
    if asked.exit_code != 0:
        if b"dubious ownership" in asked.stderr:
            raise GitFailed(
                f"git refuses {shown(folder)}: it belongs to another user",
                hint=f"if you trust it: git config --global --add safe.directory {shown(folder)}",
            )
        return None
    answers = [os.fsdecode(line) for line in asked.stdout.split(b"\n")[:-1]]
    if len(answers) not in (5, 7):
        raise GitFailed(
            f"the path of the repository at {shown(folder)} has a line break in it",
            hint="rename that folder; git can't name it in one line",
        )
    top, git_dir, objects, exclude, object_format = answers[:5]
    return UserRepository(
        top=Path(top),
        git_dir=Path(git_dir),
        exclude=Path(exclude),
        object_stores=tuple(object_stores(Path(objects))),
        object_format=object_format,
        head=GitHead(*answers[5:]) if answers[5:] else None,
        settings=_carried_settings(folder),
    )


def is_bare(folder: Path) -> bool:
    """Whether this folder is a repository itself, without a work tree."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def resolve_commit(folder: Path, revision: str) -> str | None:
    """The commit that the user's repository calls so; None where there is none. A name is never taken for an option."""
    if not revision or revision.startswith("-") or "\0" in revision:
        return None
    # In two steps: after `:/some words` a suffix would be one more word.
    for suffix in ("", "^{commit}"):
        asked = _capture_plain("git", *_HARDENED, "rev-parse", "--verify", "--quiet", revision + suffix, cwd=folder)
        revision = asked.stdout.decode().strip()
        if asked.exit_code != 0:
            return None
    return revision


def merge_base(folder: Path, one: str, other: str) -> str | None:
    """Where two commits parted; None where their histories never met, as far as this clone knows."""
    asked = _capture_plain("git", *_HARDENED, "merge-base", one, other, cwd=folder)
    return asked.stdout.decode().split()[0] if asked.exit_code == 0 else None


def is_shallow(repository: UserRepository) -> bool:
    """Whether the clone has only a part of the history."""
    return any((store.parent / "shallow").is_file() for store in repository.object_stores)


def _ask_where(folder: Path, *more: str) -> process.Captured:
    return _capture_plain(
        "git", *_HARDENED, "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir",
        "--git-path", "objects", "--git-path", "info/exclude", "--show-object-format", *more, cwd=folder,
    )  # fmt: skip


def make_private(
    git_dir: Path,
    work_tree: Path,
    *,
    object_stores: Iterable[Path] = (),
    object_format: str = "sha1",
    settings: Mapping[str, str] | None = None,
    head: str | None = None,
) -> PrivateRepository:
    """Lay out a repository by hand: no template, no hook, no remote, objects borrowed from the stores."""
    for part in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        make_folder(git_dir / part)
    with storage(git_dir):
        (git_dir / "HEAD").write_text((head or "ref: refs/heads/main") + "\n")
        (git_dir / "config").write_bytes(_config_text(object_format, settings or {}))
        alternates = "".join(f"{store}\n" for store in object_stores)
        (git_dir / "objects" / "info" / "alternates").write_bytes(os.fsencode(alternates))
    return PrivateRepository(git_dir, work_tree)


def publish_branch(repository: UserRepository, source: PrivateRepository, commit: str, name: str) -> None:
    """Bring a commit of ours into the user's repository as a branch, in one step; the only write that we ever do there.

    A branch of that name that does not lead to this commit is left alone: `GitFailed`.
    """
    told = (
        "-c",
        "protocol.file.allow=always",
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-auto-gc",
    )
    argv = ("git", *_HARDENED, *told, "--", str(source.git_dir), f"{commit}:refs/heads/{name}")
    result = _capture(argv, repository.top, _bare_environment() | _safe(repository))
    if result.exit_code != 0:
        raise git_failure(("fetch",), result)


def branch_commit(repository: UserRepository, name: str) -> str | None:
    """What a branch leads to; None where there is no such branch."""
    argv = ("git", *_HARDENED, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}")
    found = _capture(argv, repository.top, _bare_environment() | _safe(repository))
    return found.stdout.decode().strip() if found.exit_code == 0 else None


def is_in_head(repository: UserRepository, commit: str) -> bool:
    """Whether what is checked out has this commit in its history."""
    argv = ("git", *_HARDENED, "merge-base", "--is-ancestor", commit, "HEAD")
    return _capture(argv, repository.top, _bare_environment() | _safe(repository)).exit_code == 0


def drop_branch(repository: UserRepository, name: str, commit: str) -> bool:
    """Take such a branch away, if it still is where we put it."""
    argv = ("git", *_HARDENED, "update-ref", "-d", f"refs/heads/{name}", commit)
    return _capture(argv, repository.top, _bare_environment() | _safe(repository)).exit_code == 0


def _safe(repository: UserRepository) -> dict[str, str]:
    """The private repository that we fetch from is ours; whose the user's is was asked when it was found."""
    del repository
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


def git_failure(arguments: Iterable[str], result: process.Captured) -> GitFailed:
    """The error that says what git was asked and what it answered."""
    said = result.stderr.decode("utf-8", "backslashreplace").strip() or f"exit {result.exit_code}"
    verb = next((part for part in arguments if not part.startswith("-")), "git")
    return GitFailed(f"git {verb} failed: {said.splitlines()[-1][:300]}", hint="run `loopwright doctor`")


def ask(*arguments: str, cwd: Path) -> process.Captured:
    """Ask the user's repository something that starts nothing: `rev-parse` and the like."""
    return _capture_plain("git", *_HARDENED, *arguments, cwd=cwd)


def _capture_plain(*argv: str, cwd: Path) -> process.Captured:
    # The user's own config is read here (safe.directory, excludesFile) by commands that start nothing.
    env = _bare_environment() | {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
    return _capture(argv, cwd, env)


def _capture(argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], stdin: bytes = b"") -> process.Captured:
    try:
        return process.capture(argv, cwd=cwd, env=env, stdin=stdin, timeout_s=_LONGEST_S)
    except TimeoutError as problem:
        raise GitFailed(str(problem), hint="look for a fifo where git reads its rules (.gitignore)") from problem


def _bare_environment() -> dict[str, str]:
    return {
        "PATH": without_relative(os.environ.get("PATH", os.defpath)),
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


def _carried_settings(folder: Path) -> dict[str, str]:
    listed = _capture_plain("git", *_HARDENED, "config", "--list", "-z", cwd=folder).stdout
    found: dict[str, str] = {}
    for entry in listed.split(b"\0"):
        name, _, value = os.fsdecode(entry).partition("\n")
        if name in _CARRIED_SETTINGS:
            found[name] = value
    excludes = found.get("core.excludesfile")
    if excludes is None:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
        found["core.excludesfile"] = str(Path(base) / "git" / "ignore")
    else:
        found["core.excludesfile"] = str(Path(excludes).expanduser())
    return found


def object_stores(objects: Path) -> list[Path]:
    """An object folder and those that it borrows from."""
    stores: list[Path] = []
    ahead = [objects]
    while ahead and len(stores) < 20:
        store = ahead.pop(0)
        if store in stores or not store.is_dir():
            continue
        stores.append(store)
        listed = store / "info" / "alternates"
        if listed.is_file():
            ahead += [
                (store / os.fsdecode(line)).resolve()
                for line in listed.read_bytes().splitlines()
                if line and not line.startswith(b"#")
            ]
    return stores


def _config_text(object_format: str, settings: Mapping[str, str]) -> bytes:
    version = 0 if object_format == "sha1" else 1
    lines = [
        "[core]",
        f"\trepositoryformatversion = {version}",
        "\tbare = false",
        "\tlogallrefupdates = false",
    ]
    for name, value in settings.items():
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'\t{name.removeprefix("core.")} = "{quoted}"')
    if object_format != "sha1":
        lines += ["[extensions]", f"\tobjectformat = {object_format}"]
    return os.fsencode("\n".join(lines) + "\n")

"""All git calls, hardened so that a repository can't make Loopwright run its programs.

Git runs programs that a config names. So work on trees uses private repositories, which borrow the user's objects and
carry an allow-list of settings. Calls in the user's repository start no program.

The user's `.git` is only read: no index refresh, no lock, no ref. Only `publish_branch` and `drop_branch` write.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from loopwright.errors import GitFailed, ToolMissing
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
_TRUST_ALL = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
# Adding a very large tree takes long. This limit ends a git process that hangs.
_LONGEST_S = 3600
# Settings that a private repository takes from the user's: how files look on disk. None of them starts a program.
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
    """The checked-out commit of a repository, and its tree."""

    commit: str
    tree: str


class UserRepository(msgspec.Struct, frozen=True):
    """The user's repository that contains a project."""

    top: Path
    git_dir: Path
    exclude: Path
    object_stores: tuple[Path, ...]
    object_format: str
    head: GitHead | None
    settings: Mapping[str, str] = msgspec.field(default_factory=dict)


class PrivateRepository(msgspec.Struct, frozen=True):
    """A repository that Loopwright created, with a work tree in any folder."""

    git_dir: Path
    work_tree: Path
    index: Path | None = None

    def run(self, *arguments: str, stdin: bytes = b"", config: Iterable[str] = ()) -> bytes:
        """What git printed; `GitFailed` if git failed."""
        result = _capture(self.argv(*arguments, config=config), self.work_tree, self.env(), stdin)
        if result.exit_code != 0:
            raise git_failure(arguments, result)
        return result.stdout

    def blobs(self, names: Iterable[str]) -> dict[str, bytes]:
        """The contents of these blobs, in one process."""
        wanted = tuple(dict.fromkeys(names))
        printed = (
            self.run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in wanted).encode()) if wanted else b""
        )
        contents, start = {}, 0
        for name in wanted:
            end = printed.index(b"\n", start)
            size = int(printed[start:end].split(b" ")[2])
            contents[name] = printed[end + 1 : end + 1 + size]
            start = end + size + 2
        return contents

    def succeeds(self, *arguments: str, stdin: bytes = b"") -> bool:
        """Whether git exits with 0."""
        return _capture(self.argv(*arguments), self.work_tree, self.env(), stdin).exit_code == 0

    def argv(self, *arguments: str, config: Iterable[str] = ()) -> tuple[str, ...]:
        """The full hardened command line."""
        extra = tuple(part for setting in config for part in ("-c", setting))
        place = (f"--git-dir={self.git_dir}", f"--work-tree={self.work_tree}")
        return ("git", *_HARDENED, *extra, *place, *arguments)

    def env(self) -> dict[str, str]:
        """An environment in which git reads only the repository's own config."""
        env = _bare_environment() | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        # After a crash, cleaning up this folder also ends git processes with this mark.
        env[process.MARK_VARIABLE] = process.mark_of(str(self.git_dir.parent))
        if self.index is not None:
            env["GIT_INDEX_FILE"] = str(self.index)
        return env


def is_installed() -> bool:
    """Whether git is installed."""
    return shutil.which("git") is not None


def require_installed(message: str) -> None:
    """`ToolMissing` with this message if git is missing."""
    if not is_installed():
        raise ToolMissing(message, hint="install git")


def version() -> str:
    """Git's version."""
    return query("--version", cwd=Path("/")).stdout.decode().split()[-1]


class Repositories:
    """The user's repositories that one command works with. HEAD is read when asked for, everything else once."""

    def __init__(self) -> None:
        self._known: dict[Path, UserRepository | None] = {}

    def discover(self, folder: Path) -> UserRepository | None:
        """The repository that contains this folder, with its current HEAD."""
        known = self._known.get(folder)
        self._known[folder] = discover(folder, settings=known.settings if known is not None else None)
        return self._known[folder]

    def known(self, folder: Path) -> UserRepository | None:
        """The same, for callers that do not need HEAD: it may have moved since."""
        return self._known[folder] if folder in self._known else self.discover(folder)


def discover(folder: Path, *, settings: Mapping[str, str] | None = None) -> UserRepository | None:
    """The repository with a work tree that contains this folder; None if there is none.

    `settings` are the repository's settings, if they are known already.
    """
    answer = _query_paths(folder, "HEAD^{commit}", "HEAD^{tree}")
    if answer.exit_code != 0:
        # A repository without a commit can't answer the last two.
        answer = _query_paths(folder)
    if answer.exit_code != 0:
        if b"dubious ownership" in answer.stderr:
            raise GitFailed(
                f"git refuses {shown(folder)}: the folder belongs to another user",
                hint=f"if you trust the folder: git config --global --add safe.directory {shown(folder)}",
            )
        return None
    lines = [os.fsdecode(line) for line in answer.stdout.split(b"\n")[:-1]]
    if len(lines) not in (5, 7):
        raise GitFailed(
            f"the path of the repository at {shown(folder)} contains a line break",
            hint="rename that folder; git can't print its path on one line",
        )
    top, git_dir, objects, exclude, object_format = lines[:5]
    return UserRepository(
        top=Path(top),
        git_dir=Path(git_dir),
        exclude=Path(exclude),
        object_stores=tuple(object_stores(Path(objects))),
        object_format=object_format,
        head=GitHead(*lines[5:]) if len(lines) == 7 else None,
        settings=_carried_settings(folder) if settings is None else settings,
    )


def is_bare(folder: Path) -> bool:
    """Whether this folder itself is a repository without a work tree."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def resolve_commit(folder: Path, revision: str) -> str | None:
    """The commit that a revision names in the user's repository; None if unknown. A revision is never an option."""
    if revision.startswith(("-", "^")) or "\0" in revision:
        return None
    # Two steps, because a suffix after `:/some words` would be part of the words.
    for suffix in ("", "^{commit}"):
        answer = query("rev-parse", "--verify", revision + suffix, cwd=folder)
        revision = answer.stdout.decode().strip()
        if answer.exit_code != 0:
            return None
    return revision


def merge_base(folder: Path, one: str, other: str) -> str | None:
    """The common ancestor of two commits; None if this clone knows none."""
    answer = query("merge-base", one, other, cwd=folder)
    return answer.stdout.decode().split()[0] if answer.exit_code == 0 else None


def is_shallow(repository: UserRepository) -> bool:
    """Whether the clone has only part of the history."""
    return any((store.parent / "shallow").is_file() for store in repository.object_stores)


def _query_paths(folder: Path, *more: str) -> process.Captured:
    return query(
        "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir",
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
    """Create a repository by hand: no template, no hook, no remote. Its objects are borrowed from the stores."""
    for part in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        make_folder(git_dir / part)
    with storage(git_dir):
        (git_dir / "HEAD").write_text((head or "ref: refs/heads/main") + "\n")
        (git_dir / "config").write_bytes(_config_text(object_format, settings or {}))
        alternates = "".join(f"{store}\n" for store in object_stores)
        (git_dir / "objects" / "info" / "alternates").write_bytes(os.fsencode(alternates))
    return PrivateRepository(git_dir, work_tree)


def publish_branch(repository: UserRepository, source: PrivateRepository, commit: str, name: str) -> None:
    """Bring a commit into the user's repository as a branch, in one step.

    An existing branch of that name is left alone unless it leads to this commit: `GitFailed`.
    """
    refs = f"{commit}:refs/heads/{name}"
    result = _capture_trusting(
        repository, "-c", "protocol.file.allow=always", "fetch", "--no-tags", "--no-write-fetch-head",
        str(source.git_dir), refs,
    )  # fmt: skip
    if result.exit_code != 0:
        raise git_failure(("fetch",), result)


def commit_paths(folder: Path, paths: Sequence[str], message: str) -> str:
    """Commit these paths as the user, and nothing else, on the branch that is checked out. No hook runs."""
    names = [f":(literal){path}" for path in paths]
    message_file = ("commit", "--quiet", "--no-verify", "--only", "--file=-", "--", *names)
    for arguments, stdin in ((("add", "--all", "--", *names), b""), (message_file, message.encode())):
        result = _capture(("git", *_HARDENED, *arguments), folder, _users_environment(), stdin)
        if result.exit_code != 0:
            raise git_failure(arguments, result)
    return query("rev-parse", "HEAD", cwd=folder).stdout.decode().strip()


def branch_commit(repository: UserRepository, name: str) -> str | None:
    """The commit of a branch; None if the branch is missing."""
    answer = _capture_trusting(repository, "rev-parse", f"refs/heads/{name}")
    return answer.stdout.decode().strip() if answer.exit_code == 0 else None


def is_in_head(repository: UserRepository, commit: str) -> bool:
    """Whether the commit is in the history of HEAD."""
    return _capture_trusting(repository, "merge-base", "--is-ancestor", commit, "HEAD").exit_code == 0


def drop_branch(repository: UserRepository, name: str, commit: str) -> bool:
    """Delete the branch if it still points at this commit."""
    return _capture_trusting(repository, "update-ref", "-d", f"refs/heads/{name}", commit).exit_code == 0


def _capture_trusting(repository: UserRepository, *arguments: str) -> process.Captured:
    """Trust every folder: the private repository is Loopwright's, and the user's was checked by `discover`."""
    return _capture(("git", *_HARDENED, *arguments), repository.top, _bare_environment() | _TRUST_ALL)


def git_failure(arguments: Iterable[str], result: process.Captured) -> GitFailed:
    """The error with git's subcommand and git's last message."""
    output = result.stderr.decode("utf-8", "backslashreplace").strip() or f"exit {result.exit_code}"
    verb = next((part for part in arguments if not part.startswith("-")), "git")
    return GitFailed(f"git {verb} failed: {output.splitlines()[-1].strip()[:300]}", hint="run `loopwright doctor`")


def query(*arguments: str, cwd: Path) -> process.Captured:
    """Query the user's repository with a git command that starts no program, such as `rev-parse`."""
    # These commands read the user's own config (safe.directory, excludesFile), but start no program.
    return _capture(("git", *_HARDENED, *arguments), cwd, _users_environment())


def _users_environment() -> dict[str, str]:
    own = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
    return _bare_environment() | own


def _capture(argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], stdin: bytes = b"") -> process.Captured:
    try:
        return process.capture(argv, cwd=cwd, env=env, stdin=stdin, timeout_s=_LONGEST_S)
    except TimeoutError as problem:
        raise GitFailed(str(problem), hint="look for a FIFO among the files git reads (.gitignore)") from problem


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
    listed = query("config", "--list", "-z", cwd=folder).stdout
    settings: dict[str, str] = {}
    for entry in listed.split(b"\0"):
        name, _, value = os.fsdecode(entry).partition("\n")
        if name in _CARRIED_SETTINGS:
            settings[name] = value
    excludes = settings.get("core.excludesfile")
    if excludes is None:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
        settings["core.excludesfile"] = str(Path(base) / "git" / "ignore")
    else:
        settings["core.excludesfile"] = str(Path(excludes).expanduser())
    return settings


def object_stores(objects: Path) -> list[Path]:
    """An object folder and the object folders it borrows from."""
    stores: list[Path] = []
    pending = [objects]
    while pending and len(stores) < 20:
        store = pending.pop(0)
        if store in stores or not store.is_dir():
            continue
        stores.append(store)
        listed = store / "info" / "alternates"
        if listed.is_file():
            pending += [
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

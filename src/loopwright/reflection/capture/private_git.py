"""A private git folder to read a user's work tree once: without the user's config, filters and hooks, and read-only.

It borrows the user's objects and index, and carries over the settings for how files look on disk.
"""

from __future__ import annotations

import os

from loopwright.reflection.capture.folder import read_bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

# The same list as in kernel.git, which is too slow to import here. A test compares the two lists.
CARRIED = (
    "core.filemode",
    "core.ignorecase",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.precomposeunicode",
    "core.excludesfile",
)
_MOST_BYTES = 1 << 20


class Repository:
    """The paths of a user's repository, as git printed them."""

    __slots__ = ("commit", "exclude", "git_dir", "index", "object_format", "objects", "settings", "top")

    def __init__(self, answers: list[str], settings: Mapping[str, str]) -> None:
        self.top, self.git_dir, self.objects, self.exclude, self.index, self.object_format = answers[:6]
        self.commit = answers[6] if len(answers) > 6 else ""
        self.settings = settings


class PrivateGit:
    """The folder, for the block; `arguments` make git use it."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        base = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 -- the folder is private
        self._folder = os.path.join(base, f"loopwright-hook-{os.getpid()}-{os.urandom(6).hex()}")

    def __enter__(self) -> Self:
        os.mkdir(self._folder, 0o700)
        for part in ("objects", "objects/info", "objects/pack", "refs", "refs/heads", "info"):
            os.mkdir(self._inside(part))
        repository = self._repository
        self._write("HEAD", repository.commit or "ref: refs/heads/none")
        self._write("config", self._config())
        self._write("objects/info/alternates", repository.objects)
        # No filter program runs, and no attribute in the change decides whether its lines are counted.
        self._write("info/attributes", "* -filter !diff")
        rules = read_bounded(repository.exclude, _MOST_BYTES, follow=True) or b""
        self._write("info/exclude", os.fsdecode(rules))
        for name in os.listdir(repository.git_dir):
            if name.startswith("sharedindex."):
                os.symlink(os.path.join(repository.git_dir, name), self._inside(name))
        return self

    def __exit__(self, *problem: object) -> None:
        for folder, folders, files in os.walk(self._folder, topdown=False):
            for name in (*files, *folders):
                path = os.path.join(folder, name)
                try:
                    os.rmdir(path) if name in folders and not os.path.islink(path) else os.unlink(path)
                except OSError:
                    pass
        try:
            os.rmdir(self._folder)
        except OSError:
            pass

    @property
    def arguments(self) -> tuple[str, ...]:
        """Git arguments before the subcommand."""
        return (f"--git-dir={self._folder}", f"--work-tree={self._repository.top}")

    def environment(self) -> dict[str, str]:
        """Only this folder's config; the index is the user's, or a copy."""
        own = self._inside("index")
        return {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_INDEX_FILE": own if os.path.exists(own) else self._repository.index,
        }

    def copy_index(self) -> None:
        """Use a copy of the index with the original's time, which git compares with the times of files."""
        with open(self._repository.index, "rb") as source, open(self._inside("index"), "wb") as target:
            while data := source.read(1 << 20):
                target.write(data)
        status = os.stat(self._repository.index)
        os.utime(self._inside("index"), ns=(status.st_atime_ns, status.st_mtime_ns))

    def _config(self) -> str:
        is_sha1 = self._repository.object_format == "sha1"
        lines = ["[core]", f"\trepositoryformatversion = {0 if is_sha1 else 1}", "\tbare = false"]
        for name, value in self._repository.settings.items():
            quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            lines.append(f'\t{name.removeprefix("core.")} = "{quoted}"')
        if not is_sha1:
            lines += ["[extensions]", f"\tobjectformat = {self._repository.object_format}"]
        return "\n".join(lines)

    def _inside(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _write(self, name: str, text: str) -> None:
        with open(self._inside(name), "wb") as stream:
            stream.write(os.fsencode(text) + b"\n")


def carried_settings(listed: bytes, home: str) -> dict[str, str]:
    """The settings in `git config --list -z` that decide how files look on disk."""
    settings: dict[str, str] = {}
    for entry in os.fsdecode(listed).split("\0"):
        name, _, value = entry.partition("\n")
        if name in CARRIED:
            settings[name] = value
    excludes = settings.get("core.excludesfile")
    if excludes is None:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        settings["core.excludesfile"] = os.path.join(base, "git", "ignore")
    elif excludes.startswith("~/"):
        settings["core.excludesfile"] = os.path.join(home, excludes[2:])
    return settings

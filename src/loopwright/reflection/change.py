"""A change from git's raw, NUL-separated output. Names may have any bytes; a rename is a deletion and an addition.

Pure parsers: they start nothing and read nothing. Truncated or unknown output raises `ValueError` instead of giving a
shorter list. Uses only built-ins, because the hook imports this module.
"""

from __future__ import annotations

from loopwright.reflection.path_words import shown
from loopwright.reflection.rule_set import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    _Entry = tuple[bytes, bytes, bytes, str]

SUBMODULE, SYMLINK, MODE, REPOSITORY = "submodule", "symlink", "mode", "repository"
_ABSENT, _LINK, _COMMIT = b"000000", b"120000", b"160000"
FEWEST_LOST = 10
# Fields before the path, by the first character of a line of `status --porcelain=v2`.
_STATUS_FIELDS = {b"1": 8, b"2": 9, b"u": 10, b"?": 1, b"!": 1}


class OwnState(Frozen):
    """Loopwright's own files, relative to the top: folders never count as changes; settings count once tracked."""

    folders: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def hides(self, path: str, *, was_there: bool) -> bool:
        """Whether a path is Loopwright's own state. Changes to tracked settings are never hidden."""
        if was_there and path in self.settings:
            return False
        return any(path == folder or path.startswith(f"{folder}/") for folder in self.folders)


class Change(Frozen):
    """The changed files, sorted, with invalid bytes as surrogates; line counts if they are known."""

    files: tuple[str, ...] = ()
    insertions: int | None = None
    deletions: int | None = None
    kinds: Mapping[str, str] = {}
    untracked: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    # Added and removed lines of each file that lost lines.
    counts: Mapping[str, tuple[int, int]] = {}
    # Removed lines and earlier lines of each file that lost lines, if they are known.
    lost: Mapping[str, tuple[int, int]] = {}

    def shown_files(self) -> list[str]:
        """The names as valid text for JSON and for people."""
        return [shown(path) for path in self.files]

    def below(self, prefix: str) -> Change:
        """The same change with paths relative to an outer folder."""
        lists = {
            name: tuple(prefix + path for path in getattr(self, name)) for name in ("files", "untracked", "conflicts")
        }
        maps = {
            name: {prefix + path: value for path, value in getattr(self, name).items()}
            for name in ("kinds", "counts", "lost")
        }
        return self.replaced(**lists, **maps)

    def with_lost(self, lines_now: Callable[[str], int]) -> Change:
        """The change with the earlier lines of files that lost lines, from the lines that each file has now."""
        if sum(removed for _, removed in self.counts.values()) < FEWEST_LOST:
            return self  # too few for every rule, so no file needs to be read
        lost = {}
        for path, (added, removed) in self.counts.items():
            lost[path] = removed, max(lines_now(path) - added + removed, removed)
        return self.replaced(lost=lost)


def combined(*changes: Change) -> Change:
    """All changes as one; known line counts are added up."""
    kinds = {path: kind for change in changes for path, kind in sorted(change.kinds.items())}
    return Change(
        _sorted(path for change in changes for path in change.files),
        _sum(change.insertions for change in changes),
        _sum(change.deletions for change in changes),
        kinds,
        _sorted(path for change in changes for path in change.untracked),
        _sorted(path for change in changes for path in change.conflicts),
        {path: lines for change in changes for path, lines in change.counts.items()},
        {path: lines for change in changes for path, lines in change.lost.items()},
    )


def parse_diff(raw: bytes, own: OwnState = OwnState()) -> Change:  # noqa: B008 -- immutable
    """Parse `git diff --raw --numstat -z --no-renames`, or the output with only one of the two options."""
    entries, counts = _diff_records(raw)
    hidden = {path for old, _, _, path in entries if own.hides(path, was_there=old != _ABSENT)}
    hidden |= {path for _, _, path in counts if own.hides(path, was_there=True)}
    kinds: dict[str, str] = {}
    for old, new, _, path in entries:
        if path not in hidden:
            _note(kinds, path, old, (new,))
    visible = [(added, removed) for added, removed, path in counts if path not in hidden]
    are_known = bool(counts) or not raw
    return Change(
        _sorted({*(path for _, _, _, path in entries), *(path for _, _, path in counts)} - hidden),
        sum(added for added, _ in visible) if are_known else None,
        sum(removed for _, removed in visible) if are_known else None,
        kinds,
        (),
        _sorted(path for _, _, status, path in entries if status == b"U" and path not in hidden),
        {path: (added, removed) for added, removed, path in counts if removed and path not in hidden},
    )


def parse_status(raw: bytes, own: OwnState = OwnState()) -> Change:  # noqa: B008 -- immutable
    """Parse `git status --porcelain=v2 -z --untracked-files=all`: staged, unstaged, untracked; no line counts."""
    files: list[str] = []
    kinds: dict[str, str] = {}
    untracked: list[str] = []
    conflicts: list[str] = []
    for kind, fields, paths in _status_records(raw):
        old, now = (fields[3], fields[4:6]) if kind in b"12" else (_ABSENT, ())
        for path in paths:
            if own.hides(path, was_there=kind == b"u" or old != _ABSENT):
                continue
            files.append(path)
            _note(kinds, path, old, now)
            if kind == b"?":
                untracked.append(path)
                kinds |= {path: REPOSITORY} if path.endswith("/") else {}
            conflicts += [path] if kind == b"u" else []
    return Change(_sorted(files), None, None, kinds, _sorted(untracked), _sorted(conflicts))


def _diff_records(raw: bytes) -> tuple[list[_Entry], list[tuple[int, int, str]]]:
    """Entries of --raw (old mode, new mode, status, path) and of --numstat (added, removed, path)."""
    entries: list[_Entry] = []
    counts: list[tuple[int, int, str]] = []
    tokens = _tokens(raw)
    for token in tokens:
        if token.startswith(b":"):
            old, new, _, _, status = _fields(token[1:], 5)
            if status[:1] not in b"ACDMRTUX" or b" " in status:
                raise ValueError(f"git diff printed unexpected output: {token[:40]!r}")
            # A rename has both names if the caller asked for renames.
            entries += [(old, new, status, _path(tokens)) for _ in range(2 if status[:1] in b"RC" else 1)]
        else:
            added, removed, path = _counts(token)
            paths = [_text(path)] if path else [_path(tokens), _path(tokens)]
            counts += [(added, removed, paths[-1]), *((0, 0, other) for other in paths[:-1])]
    return entries, counts


def _status_records(raw: bytes) -> Iterator[tuple[bytes, list[bytes], list[str]]]:
    tokens = _tokens(raw)
    for token in tokens:
        kind = token[:1]
        if kind == b"#":
            continue
        if kind not in _STATUS_FIELDS:
            raise ValueError(f"git status printed unexpected output: {token[:40]!r}")
        *fields, path = _fields(token, _STATUS_FIELDS[kind] + 1)
        paths = [_text(path), *([_path(tokens)] if kind == b"2" else [])]
        if kind != b"!":
            yield kind, fields, paths


def _tokens(raw: bytes) -> Iterator[bytes]:
    *tokens, rest = raw.split(b"\0")
    if rest:
        raise ValueError("git's output is truncated")
    return iter(tokens)


def _path(tokens: Iterator[bytes]) -> str:
    path = next(tokens, b"")
    if not path:
        raise ValueError("git's output is truncated before a path")
    return _text(path)


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _fields(record: bytes, count: int) -> list[bytes]:
    fields = record.split(b" ", count - 1)
    if len(fields) != count or not fields[-1]:
        raise ValueError(f"git printed unexpected output: {record[:40]!r}")
    return fields


def _counts(record: bytes) -> tuple[int, int, bytes]:
    """Added and removed lines, and the path; a binary file has no lines."""
    numbers = record.split(b"\t", 2)
    if len(numbers) != 3 or not all(number.isdigit() or number == b"-" for number in numbers[:2]):
        raise ValueError(f"git printed unexpected output: {record[:40]!r}")
    added, removed = (0 if number == b"-" else int(number) for number in numbers[:2])
    return added, removed, numbers[2]


def _note(kinds: dict[str, str], path: str, old: bytes, now: Iterable[bytes]) -> None:
    """Record what a path is now if it is not a regular file."""
    modes = [mode for mode in now if mode != _ABSENT]
    if _COMMIT in modes:
        kinds[path] = SUBMODULE
    elif _LINK in modes:
        kinds[path] = SYMLINK
    elif any(mode != old for mode in modes) and old != _ABSENT:
        kinds[path] = MODE


def _sorted(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(paths)))


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None

"""Agents' files as an install finds them and as it would leave them. Nothing is written before `write_*`.

A receipt in the user's state folder keeps what a file held before: an uninstall restores a file that did not change
since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from loopwright.errors import SettingsInvalid
from loopwright.install.model import Editor, NotEditable
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_private_folder, read_regular_file, shown, storage, write_durably
from loopwright.workspace.layout import user_receipt


class Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file before and after our change; `before` is None if the file did not exist."""

    path: str
    before: str | None
    after_sha256: str
    # Folders that we created for the file, innermost first. Older receipts only say whether its own folder was one.
    made: tuple[str, ...] = ()
    made_folder: bool = False

    def matches(self, text: str | None) -> bool:
        """Whether this is the text that we left: the file did not change since."""
        return text is not None and sha256(text.encode()) == self.after_sha256


def read_receipt(target: Path) -> Receipt | None:
    """The receipt for this file, if it exists."""
    try:
        receipt = codec.from_json(user_receipt(target).read_bytes(), Receipt)
    except (OSError, codec.Undecodable):
        return None
    if receipt.path != shown(target):
        return None
    if receipt.made_folder and not receipt.made:
        return msgspec.structs.replace(receipt, made=(str(target.parent),))
    return receipt


def write_receipt(target: Path, before: str | None, after: str, *, made: tuple[str, ...]) -> None:
    """Write a receipt that only the user may read: settings may contain keys."""
    path = user_receipt(target)
    make_private_folder(path.parent)
    receipt = Receipt(shown(target), before, sha256(after.encode()), made)
    write_durably(path, codec.to_json(receipt), mode=0o600)


def pass_on_folder(folder: Path) -> None:
    """Note our non-empty folder in the receipts of the files below it: the last receipt removes the folder."""
    for path in sorted(user_receipt(folder).parent.glob("*.json")):
        try:
            receipt = codec.from_json(path.read_bytes(), Receipt)
        except (OSError, codec.Undecodable):
            continue
        if Path(receipt.path).is_relative_to(folder) and str(folder) not in receipt.made:
            receipt = msgspec.structs.replace(receipt, made=(*receipt.made, str(folder)))
            write_durably(path, codec.to_json(receipt), mode=0o600)


def drop_receipt(target: Path) -> None:
    """Remove a receipt, and its folders when they are empty."""
    path = user_receipt(target)
    path.unlink(missing_ok=True)
    with suppress(OSError):  # other receipts may be left
        path.parent.rmdir()
        path.parent.parent.rmdir()


_MOST = 8 << 20


class AgentFile(msgspec.Struct, frozen=True):
    """A file by its path; `target` is the path after links, and `text` is None if the file does not exist."""

    path: Path
    target: Path
    text: str | None


def read_agent_file(path: Path) -> AgentFile:
    """Read a text file. Anything else, and text that is not UTF-8, is refused."""
    # Settings are often links to dotfiles: the link's target is read, changed and removed.
    try:
        target = path.resolve()
        try:
            text = read_regular_file(target, most=_MOST).decode("utf-8")
        except FileNotFoundError:
            text = None
    except (OSError, RuntimeError, UnicodeDecodeError) as problem:  # RuntimeError: links in a circle
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise SettingsInvalid(f"{shown(path)} can't be read: {reason}", hint="correct that file") from problem
    return AgentFile(path, target, text)


def may_hold_our_content(path: Path) -> bool:
    """Whether we changed this file, it names us, or it can't be read."""
    try:
        target = path.resolve()
        return read_receipt(target) is not None or b"loopwright" in read_regular_file(target, most=_MOST)
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        return True


@contextmanager
def editable(path: Path, agent: str) -> Iterator[None]:
    """Turn `NotEditable` into a refusal that names the file and the cause."""
    try:
        yield
    except NotEditable as problem:
        raise SettingsInvalid(
            f"{shown(path)}: {problem}",
            hint="nothing was changed; correct that file, add our part by hand (`loopwright install "
            f"--agent {agent} --dry-run` in an empty folder prints it), or leave the part out with --what",
        ) from problem


class PendingFile:
    """One file: as it was found, and as it would be written."""

    def __init__(self, original: AgentFile, editors: tuple[Editor, ...]) -> None:
        self.original = original
        self.text = original.text
        self._editors = editors

    @property
    def is_changed(self) -> bool:
        """Whether the text differs from the file."""
        return self.text != self.original.text

    @property
    def is_created_by_us(self) -> bool:
        """Whether the whole file is ours."""
        return any(editor.owns_file for editor in self._editors)

    def strip(self, text: str) -> str:
        """A text of this file without our content of any part."""
        for editor in self._editors:
            try:
                text = editor.strip(text)
            except NotEditable:  # a part that was not asked for, and has no content of ours
                continue
        return text

    def after_removal(self, receipt: Receipt | None) -> str | None:
        """The text to leave: the original one if nothing of ours is left in it."""
        if self.text is None or not self.is_changed or self.strip(self.text) != self.text:
            return self.text
        return self.before_install(receipt)

    def before_install(self, receipt: Receipt | None) -> str | None:
        """The text before our first change, as far as known; None if the file did not exist."""
        text = self.original.text
        if receipt is not None and receipt.matches(text):
            return receipt.before
        if text is None or self.is_created_by_us:
            return None
        bare = self.strip(text)
        # We created a file with only our content, even if the receipt is missing.
        may_be_made_by_us = receipt is None or receipt.before is None
        is_blank = bare != text and all(editor.is_blank(bare) for editor in self._editors)
        return None if may_be_made_by_us and is_blank else bare


class PendingFiles:
    """The files of one install or uninstall, in the order in which they were opened."""

    def __init__(self, top: Path, editors: Mapping[Path, tuple[Editor, ...]]) -> None:
        """Every folder below `top` may have been created by an install; `editors` are those of all parts."""
        self._top = top
        self._editors = editors
        self._files: dict[Path, PendingFile] = {}

    def open(self, path: Path) -> PendingFile:
        """The pending file of this path; parts that share a file share it."""
        if path not in self._files:
            self._files[path] = PendingFile(read_agent_file(path), self._editors[path])
        return self._files[path]

    def write_added(self) -> None:
        """Write the files to which content was added."""
        changed = [(file, file.text) for file in self._files.values() if file.is_changed and file.text is not None]
        # Before the first write: a folder that several files need is removed with the last of them.
        made = [_missing_folders(file.original.target.parent) for file, _ in changed]
        for (file, text), folders in zip(changed, made, strict=True):
            target = file.original.target
            earlier = read_receipt(target)
            earlier_folders = earlier.made if earlier is not None else ()
            write_receipt(target, file.before_install(earlier), text, made=folders or earlier_folders)
            _write(target, text)

    def write_removed(self) -> None:
        """Write the files from which content was removed, and delete those that are not needed any more."""
        made: list[str] = []
        for file in self._files.values():
            target = file.original.target
            receipt = read_receipt(target)
            after = file.after_removal(receipt)
            if after is None and file.original.text is not None:
                with storage(target):
                    target.unlink()
                made += receipt.made if receipt is not None else self._perhaps_made(file)
            elif after is not None and after != file.original.text:
                _write(target, after)
            if after is None or file.strip(after) == after:
                drop_receipt(target)
            elif receipt is not None and file.is_changed:
                write_receipt(target, file.before_install(receipt), after, made=receipt.made)
        _remove_folders(made)

    def _perhaps_made(self, file: PendingFile) -> tuple[str, ...]:
        """Without a receipt (a clone, a moved project): the folders around the file, if they are empty now."""
        top, parents = self._top.resolve(), file.original.target.parents
        below = tuple(str(folder) for folder in parents if folder != top and folder.is_relative_to(top))
        return below or ((str(parents[0]),) if file.is_created_by_us else ())


def _missing_folders(folder: Path) -> tuple[str, ...]:
    """The folders that a write will create, innermost first."""
    missing = []
    while not folder.exists():
        missing.append(str(folder))
        folder = folder.parent
    return tuple(missing)


def _write(target: Path, text: str) -> None:
    with storage(target):
        mode = target.stat().st_mode & 0o777 if target.exists() else None
    write_durably(target, text.encode(), mode=mode)


def _remove_folders(made: list[str]) -> None:
    """Remove empty folders, innermost first. Other folders are removed with their last file."""
    for folder in sorted(set(map(Path, made)), key=lambda path: len(path.parts), reverse=True):
        with storage(folder):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
            elif folder.is_dir():
                pass_on_folder(folder)

"""The files that an installation touches, as they are and as they would be. Nothing is written before `settle`.

What a file was before us is kept with the user (`install_receipt`): an uninstall leaves no trace in a file that nobody
else touched since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from loopwright.kernel.files import storage, write_durably
from loopwright.verbs.agent_settings import SettingsFile, read_file
from loopwright.verbs.install_receipt import Receipt, drop_receipt, hand_on, keep_receipt, receipt_of


class Kind(msgspec.Struct, frozen=True):
    """How a kind of file holds what is ours."""

    # The text without anything of ours, and whether that says nothing any more.
    strip: Callable[[str], str]
    is_blank: Callable[[str], bool]
    # A file that is ours as a whole.
    is_own: bool = False


class Sheet(msgspec.Struct):
    """One file: as it was found, and as it would be."""

    found: SettingsFile
    text: str | None
    kind: Kind

    @property
    def is_changed(self) -> bool:
        """Whether anything would be written."""
        return self.text != self.found.text


class Desk:
    """Sheets by their path, in the order in which they were asked for."""

    def __init__(self, top: Path) -> None:
        """Below `top` are only folders that an installation may have made."""
        self._top = top
        self._sheets: dict[Path, Sheet] = {}

    def sheet(self, path: Path, kind: Kind) -> Sheet:
        """The sheet of this file; a file with several parts of ours has one."""
        if path not in self._sheets:
            found = read_file(path)
            self._sheets[path] = Sheet(found, found.text, kind)
        return self._sheets[path]

    def __iter__(self) -> Iterator[Sheet]:
        return iter(self._sheets.values())

    def settle(self) -> None:
        """Write what was added."""
        changed = [(sheet, sheet.text) for sheet in self if sheet.is_changed and sheet.text is not None]
        # Before the first is written: what one file needs made goes with whichever is the last in it.
        made = [_missing_folders(sheet.found.target.parent) for sheet, _ in changed]
        for (sheet, text), folders in zip(changed, made, strict=True):
            _keep_receipt(sheet, text, folders)
            _write(sheet.found.target, text)

    def settle_without(self) -> None:
        """Write what is left after something was taken out."""
        made: list[str] = []
        for sheet in self:
            receipt = receipt_of(sheet.found.target)
            after = left_without(sheet, receipt)
            if after is None and sheet.found.text is not None:
                with storage(sheet.found.target):
                    sheet.found.target.unlink()
                made += receipt.made if receipt is not None else self._perhaps_made(sheet)
            elif after is not None and after != sheet.found.text:
                _write(sheet.found.target, after)
            if after is None or sheet.kind.strip(after) == after:
                drop_receipt(sheet.found.target)
            elif receipt is not None and sheet.is_changed:
                keep_receipt(sheet.found.target, _before_us(sheet, receipt), after, made=receipt.made)
        _remove_folders(made)

    def _perhaps_made(self, sheet: Sheet) -> tuple[str, ...]:
        """Without a receipt (a clone, a project that was moved): the folders around, where they are left empty."""
        top, parents = self._top.resolve(), sheet.found.target.parents
        below = tuple(str(folder) for folder in parents if folder != top and folder.is_relative_to(top))
        return below or ((str(parents[0]),) if sheet.kind.is_own else ())


def left_without(sheet: Sheet, receipt: Receipt | None) -> str | None:
    """The file after that; as it was before us where nothing of ours is left and nobody else touched it."""
    text = sheet.text
    if text is None or not sheet.is_changed or sheet.kind.strip(text) != text:
        return text
    return _before_us(sheet, receipt)


def _before_us(sheet: Sheet, receipt: Receipt | None) -> str | None:
    """How the file was, as far as that is known; None where there was none."""
    text = sheet.found.text
    if receipt is not None and receipt.is_of(text):
        return receipt.before
    if text is None or sheet.kind.is_own:
        return None
    bare = sheet.kind.strip(text)
    # Without a receipt, too: what says nothing once ours is out of it was there for ours.
    made_by_us = receipt is None or receipt.before is None
    return None if made_by_us and bare != text and sheet.kind.is_blank(bare) else bare


def _keep_receipt(sheet: Sheet, after: str, made: tuple[str, ...]) -> None:
    # Registered already, by another interpreter say: what counts is how it was before the first time.
    target = sheet.found.target
    earlier = receipt_of(target)
    keep_receipt(target, _before_us(sheet, earlier), after, made=made or (earlier.made if earlier is not None else ()))


def _missing_folders(folder: Path) -> tuple[str, ...]:
    """Folders that we are about to make, the innermost first."""
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
    """Those in which nothing is left, the innermost first; the others are the matter of what of ours is in them."""
    for folder in sorted(set(map(Path, made)), key=lambda path: len(path.parts), reverse=True):
        with storage(folder):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
            elif folder.is_dir():
                hand_on(folder)

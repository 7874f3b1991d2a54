"""What a settings file held before we changed it, kept in the user's state folder: an uninstall restores it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_private_folder, shown, write_durably
from loopwright.workspace.layout import user_receipt


class Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file before and after our change; `before` is None where the file did not exist."""

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
    """Only the user may read receipts: settings may hold keys."""
    path = user_receipt(target)
    make_private_folder(path.parent)
    receipt = Receipt(shown(target), before, sha256(after.encode()), made)
    write_durably(path, codec.to_json(receipt), mode=0o600)


def pass_on_folder(folder: Path) -> None:
    """Note a folder of ours that is not empty yet in the receipts of the files below it: the last one removes it."""
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

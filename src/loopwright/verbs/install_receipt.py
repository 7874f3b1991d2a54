"""How a settings file was before we registered in it, kept with the user: what makes an uninstall leave no trace."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_private_folder, shown, write_durably
from loopwright.workspace.layout import user_receipt


class Receipt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file before and after; without a `before` there was none."""

    path: str
    before: str | None
    after_sha256: str
    # Folders that we made for it, the innermost first; receipts of earlier versions say only whether it was one.
    made: tuple[str, ...] = ()
    made_folder: bool = False

    def is_of(self, text: str | None) -> bool:
        """Whether this is the text that we left: nobody has touched it since."""
        return text is not None and sha256(text.encode()) == self.after_sha256


def receipt_of(target: Path) -> Receipt | None:
    """The receipt for this file, where there is one."""
    try:
        receipt = codec.from_json(user_receipt(target).read_bytes(), Receipt)
    except (OSError, codec.Undecodable):
        return None
    if receipt.path != shown(target):
        return None
    if receipt.made_folder and not receipt.made:
        return msgspec.structs.replace(receipt, made=(str(target.parent),))
    return receipt


def keep_receipt(target: Path, before: str | None, after: str, *, made: tuple[str, ...]) -> None:
    """Write it where only the user can read it: settings may hold keys."""
    path = user_receipt(target)
    make_private_folder(path.parent)
    receipt = Receipt(shown(target), before, sha256(after.encode()), made)
    write_durably(path, codec.to_json(receipt), mode=0o600)


def hand_on(folder: Path) -> None:
    """A folder that we made, and that is still needed, goes with the last of what we put below it."""
    for path in sorted(user_receipt(folder).parent.glob("*.json")):
        try:
            receipt = codec.from_json(path.read_bytes(), Receipt)
        except (OSError, codec.Undecodable):
            continue
        if Path(receipt.path).is_relative_to(folder) and str(folder) not in receipt.made:
            receipt = msgspec.structs.replace(receipt, made=(*receipt.made, str(folder)))
            write_durably(path, codec.to_json(receipt), mode=0o600)


def drop_receipt(target: Path) -> None:
    """Remove it, and its folders where nothing else is in them."""
    path = user_receipt(target)
    path.unlink(missing_ok=True)
    with suppress(OSError):  # others may be left in them
        path.parent.rmdir()
        path.parent.parent.rmdir()

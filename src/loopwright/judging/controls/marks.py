"""What an inverted test expects in place of the right value.

With a salt that the work can't know, the work can't tell an inverted test from the original by these values.
"""

from __future__ import annotations

import hashlib

import msgspec


class Marks(msgspec.Struct, frozen=True):
    """A text for changed texts, and a way to change numbers."""

    # Letters only, so that quotes, regular expressions and formats stay valid.
    text: bytes = b"Qz"
    factor: int = 2
    offset: int = 1
    # Whether expectations change only slightly: work that reads its test may know how the right ones begin.
    is_near: bool = False

    @property
    def step(self) -> int:
        """How far a near letter is."""
        return 1 + self.offset % 5

    @property
    def number_step(self) -> int:
        """How far a near number is: an object that equals what is near must equal it."""
        return 1 + self.offset % 2

    def number(self, value: int | float) -> int | float:
        """Another number, far enough away for every tolerance."""
        return self.factor * value + self.offset

    def other_value(self) -> tuple[bytes, bytes]:
        """Python before and after a value: another value, of the same type if it is a number or a text."""
        text = b'"' + self.text + b'"'
        number = b"abs(v) * %d + %d if type(v) in (int, float) and abs(v) < 1e300" % (self.factor, self.offset)
        change = b"%s else v + %s if type(v) is str else %s" % (number, text, text)
        return b"(lambda v: " + change + b")((", b"))"


def marks_of(salt: str, *, is_near: bool = False) -> Marks:
    """The marks of a salt; an empty salt has fixed marks."""
    if not salt:
        return Marks(is_near=is_near)
    digest = hashlib.sha256(salt.encode("utf-8", "replace")).digest()
    letters = bytes(ord("a") + byte % 26 for byte in digest[:5])
    return Marks(letters, factor=2 + digest[5] % 7, offset=1 + digest[6], is_near=is_near)


def records_name(path: str, salt: str) -> str:
    """The name of the file in which a probed file records what its assertions did, next to it."""
    return f".{salt}-{path.rpartition('/')[2]}.records"

"""One result of `doctor`."""

from __future__ import annotations

from typing import Literal

import msgspec

Health = Literal["ok", "note", "problem", "fixed"]
FIX = "`loopwright doctor --fix`"


class Symptom(msgspec.Struct, frozen=True):
    """The result of one check."""

    what: str
    health: Health
    message: str = msgspec.field(name="said")
    remedy: str = ""
    # A name for programs; empty: `what` is the name.
    code: str = ""

    def document(self) -> dict[str, str]:
        """The check for programs."""
        return {**msgspec.to_builtins(self), "code": self.code or self.what.replace(" ", "_")}

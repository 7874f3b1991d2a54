"""What is known of a builder's turn when its work is kept, for whoever makes a reflection of it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """One turn's work. `report` is what the agent says of it; `hooked` what a hook in its sandbox made of the same."""

    task_ref: str
    agent: str
    session: str
    files: tuple[str, ...]
    report: bytes
    hooked: tuple[bytes, ...]


Reflect = Callable[[Built], None]


def nobody(built: Built) -> None:
    """Nobody asked for reflections."""
    del built

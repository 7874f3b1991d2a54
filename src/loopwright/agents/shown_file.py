"""A file that an agent may read. What serves files to agents takes only this type, so nothing is served unseen."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.agents.mailbox import write_file


class ShownFile(msgspec.Struct, frozen=True):
    """The content of a file that an agent may read. `stages.agent_view` makes it from Loopwright's own files."""

    data: bytes

    @property
    def text(self) -> str:
        """The content as text."""
        return self.data.decode("utf-8", "replace")


def write_shown(mailbox: Path, name: str, file: ShownFile) -> None:
    """Write a file for the turn."""
    write_file(mailbox, name, file.data)

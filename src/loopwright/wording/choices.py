"""The commands among which a person chooses, in an honest order: look first, take the work last."""

from __future__ import annotations

import msgspec


class Choice(msgspec.Struct, frozen=True):
    """A command that works when typed, and what it does in half a line; empty if the command says it."""

    command: str
    does: str = ""

    @property
    def sentence(self) -> str:
        """The command with what it does. Each part is translated by itself."""
        return f"`{self.command}`: {self.does}" if self.does else self.command

"""What a wrapper (bwrap) reports about the command in it: without this report the command never began.

A wrapper that fails exits with a code that the command could have, too. Only the wrapper can write the report.
"""

from __future__ import annotations

import os
from contextlib import suppress
from types import TracebackType
from typing import Self

_MOST_BYTES = 4096


class StartReport:
    """A pipe for the report; a context manager that closes it."""

    def __init__(self, option: str, word: bytes) -> None:
        self._option = option
        self._word = word
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        self.close_writer()
        os.close(self._reader)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that the wrapper inherits."""
        return (self._writer,)

    def argv(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The wrapper's command line with the option for its report."""
        return (argv[0], self._option, str(self._writer), *argv[1:])

    def close_writer(self) -> None:
        """Keep only the wrapper's own descriptor, once the wrapper has started."""
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    def began(self) -> bool:
        """Whether the command began. Ask after the wrapper's end."""
        with suppress(BlockingIOError):
            return self._word in os.read(self._reader, _MOST_BYTES)
        return False

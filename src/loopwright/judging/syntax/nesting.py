"""Sources that are nested too deeply for Python's stack, such as a sum of 1,000 texts: a control leaves them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


def unless_too_deep(otherwise: _T, read: Callable[[], _T]) -> _T:
    """What is read from a source; `otherwise` if the source is nested too deeply to be read."""
    try:
        return read()
    except RecursionError:
        return otherwise

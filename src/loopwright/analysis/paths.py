"""What a path says about a file, by the pre-registered patterns: checked by machines, prose, noise; its surface."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from loopwright.analysis.preregistered import HEURISTICS, SURFACES, Surface

_REMEMBERED: Final = 1 << 16
_TEST = re.compile(HEURISTICS.test_paths, re.IGNORECASE)
_BUILD = re.compile(HEURISTICS.build_paths, re.IGNORECASE)
_PROSE = re.compile(HEURISTICS.prose_paths, re.IGNORECASE)
_NOISE = re.compile(HEURISTICS.noise_paths, re.IGNORECASE)
_BY_WEIGHT: Final = tuple(
    (surface, re.compile(surface.pattern, re.IGNORECASE)) for surface in sorted(SURFACES, key=lambda row: -row.weight)
)


@lru_cache(_REMEMBERED)
def is_checked(path: bytes) -> bool:
    """A test, or what builds and tests: when it is wrong, a machine says so."""
    return is_test(path) or _BUILD.search(path.decode("utf-8", "replace")) is not None


def is_test(path: bytes) -> bool:
    """A test, by its place or its name; prose about tests is none."""
    text = path.decode("utf-8", "replace")
    return _TEST.search(text) is not None and _PROSE.search(text) is None


@lru_cache(_REMEMBERED)
def is_telling(path: bytes) -> bool:
    """Neither prose nor a generated lock file: two changes that share it have to do with each other."""
    text = path.decode("utf-8", "replace")
    return _PROSE.search(text) is None and _NOISE.search(text) is None


def surface_of(paths: Iterable[bytes]) -> Surface:
    """The riskiest surface among the paths, by the frozen `classic` table."""
    texts = [path.decode("utf-8", "replace") for path in paths]
    return next(row for row, pattern in _BY_WEIGHT if not row.pattern or any(map(pattern.search, texts)))

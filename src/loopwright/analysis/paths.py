"""Classifies a path by the pre-registered patterns: test or build file, prose, noise; and its surface."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from loopwright.analysis.preregistered import HEURISTICS, SURFACE_RULES
from loopwright.reflection.risk import evaluate_risk_floor

_CACHE_SIZE: Final = 1 << 16
_TEST = re.compile(HEURISTICS.test_paths, re.IGNORECASE)
_BUILD = re.compile(HEURISTICS.build_paths, re.IGNORECASE)
_PROSE = re.compile(HEURISTICS.prose_paths, re.IGNORECASE)
_NOISE = re.compile(HEURISTICS.noise_paths, re.IGNORECASE)


@lru_cache(_CACHE_SIZE)
def is_checked(path: bytes) -> bool:
    """Whether the path is a test or build file, in which a machine finds mistakes."""
    return is_test(path) or _BUILD.search(path.decode("utf-8", "replace")) is not None


def is_test(path: bytes) -> bool:
    """Whether the path is a test, by its folder or name; prose about tests is not."""
    text = path.decode("utf-8", "replace")
    return _TEST.search(text) is not None and _PROSE.search(text) is None


@lru_cache(_CACHE_SIZE)
def is_telling(path: bytes) -> bool:
    """Whether two changes that share this file are related: it is neither prose nor a generated lock file."""
    text = path.decode("utf-8", "replace")
    return _PROSE.search(text) is None and _NOISE.search(text) is None


def surface_weight(paths: Iterable[bytes]) -> float:
    """The risk of a change's surface by the pre-registered table; the riskiest path decides."""
    names = (path.decode("utf-8", "surrogateescape") for path in paths)
    return float(evaluate_risk_floor(names, rules=SURFACE_RULES).base)

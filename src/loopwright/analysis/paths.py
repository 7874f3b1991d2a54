"""What a path says about a file, by the pre-registered patterns: checked by machines, prose, noise; its surface."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from loopwright.analysis.preregistered import HEURISTICS, SURFACE_RULES
from loopwright.reflection.risk import evaluate_risk_floor

_REMEMBERED: Final = 1 << 16
_TEST = re.compile(HEURISTICS.test_paths, re.IGNORECASE)
_BUILD = re.compile(HEURISTICS.build_paths, re.IGNORECASE)
_PROSE = re.compile(HEURISTICS.prose_paths, re.IGNORECASE)
_NOISE = re.compile(HEURISTICS.noise_paths, re.IGNORECASE)


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


def surface_weight(paths: Iterable[bytes]) -> float:
    """How risky the surface of a change is, by the pre-registered table; the riskiest path decides."""
    names = (path.decode("utf-8", "surrogateescape") for path in paths)
    return float(evaluate_risk_floor(names, rules=SURFACE_RULES).base)

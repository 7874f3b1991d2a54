"""The mutants of one package after a run: what killed each, and which survivors are explained."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from explained import Explanation, Survivor
from mutmut.mutation.data import MutantLineSpans, SourceFileMutationData
from mutmut.stats import status_by_exit_code

_MANGLED = re.compile(r"x(?:_|ǁ\w+ǁ)(\w+?)__mutmut_(?:orig|\d+)\b")
TYPES, KILLED, TIMEOUT = "caught by type check", "killed", "timeout"
UNTRIED = ("not checked", "check was interrupted by user")


@dataclass(slots=True)
class Tally:
    """The mutants of one package, counted."""

    mutants: int = 0
    types: int = 0
    killed: int = 0
    hanging: int = 0
    untried: int = 0
    explained: Counter[Explanation] = field(default_factory=Counter)
    unexplained: list[Survivor] = field(default_factory=list)

    @property
    def tested(self) -> int:
        """The mutants that mypy accepts and that were tried."""
        return self.mutants - self.types - self.untried

    @property
    def score(self) -> float:
        """The part of the tested mutants that a test noticed."""
        return self.killed / self.tested if self.tested else 1.0


def count(sources: list[Path], explanations: list[Explanation]) -> Tally:
    """Count the mutants of these files, with mutmut's folder `mutants` below the current folder."""
    tally = Tally()
    for path in sources:
        data = SourceFileMutationData(path=path)
        data.load()
        for key, code in data.exit_code_by_key.items():
            tally.mutants += 1
            status = status_by_exit_code[code]
            if status == TYPES:
                tally.types += 1
            elif status in {KILLED, TIMEOUT}:
                tally.killed += 1
                tally.hanging += status == TIMEOUT
            elif status in UNTRIED:
                tally.untried += 1
            else:
                survivor = _survivor(path, key)
                reason = next((entry for entry in explanations if entry.covers(survivor)), None)
                if reason is None:
                    tally.unexplained.append(survivor)
                else:
                    tally.explained[reason] += 1
    return tally


def _survivor(path: Path, key: str) -> Survivor:
    module, _, name = key.rpartition(".")
    spans = MutantLineSpans.load(path)
    assert spans is not None
    sources = spans.read_function_sources([f"{name[: name.rindex('__mutmut_')]}__mutmut_orig", name])
    before, after = ([line.strip() for line in _MANGLED.sub(r"\1", text).splitlines()] for text in sources)
    changed = list(difflib.ndiff(before, after))
    was, now = (" ".join(line[2:] for line in changed if line[:2] == mark) for mark in ("- ", "+ "))
    return Survivor(f"{module}.{_shown(name)}", was, now)


def _shown(name: str) -> str:
    """`Class.method` or `function` of a mutant's mangled name."""
    mangled = name[: name.rindex("__mutmut_")]
    return mangled.removeprefix("x_") if mangled.startswith("x_") else ".".join(mangled.split("ǁ")[1:])

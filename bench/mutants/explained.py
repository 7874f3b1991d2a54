"""Survivors, and the explanations of `explained.toml`. Needs no mutmut, so that `make test` can check the file."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no test noticed: its function, and the lines before and after."""

    function: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a survivor is no gap. A rule has a pattern for the lines before and after; other entries name the line.

    `*` names all lines of a function.
    """

    function: str
    was: str | None
    now: str
    why: str
    pattern: re.Pattern[str] | None = None

    def covers(self, survivor: Survivor) -> bool:
        """Whether this is the reason of the survivor."""
        if self.pattern is not None:
            return self.pattern.fullmatch(f"{survivor.was}\n{survivor.now}") is not None
        same_line = self.now in {"*", survivor.now} and self.was in {None, survivor.was}
        return same_line and fnmatchcase(survivor.function, self.function)


def read_explanations(path: Path) -> list[Explanation]:
    """The entries of `explained.toml`, one for each line; rules last."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = [
        Explanation(entry["function"], entry.get("was"), now, entry["why"])
        for entry in document.get("survivor", ())
        for now in ([entry["now"]] if isinstance(entry["now"], str) else entry["now"])
    ]
    return entries + [Explanation("", None, "", rule["why"], re.compile(rule["pattern"])) for rule in document["rule"]]

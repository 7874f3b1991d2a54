"""False alarms: what the rules find in ordinary text, which is what a developer's machine holds anyway.

Never prints a value: a place and a fingerprint are all that a finding has.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.detector import Detector
from loopwright.redaction.model import SecretFinding
from loopwright.redaction.redactor import Redactor

_REPOSITORY = Path(__file__).resolve().parents[2]
# Made by tools, or full of examples by design.
_SKIPPED_NAMES = frozenset({"__pycache__", ".git", ".venv"})
_SKIPPED_PATHS = frozenset(
    _REPOSITORY / path for path in ("tests/redaction", "src/loopwright/redaction", "bench/redaction")
)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to read, and the name under which its files are shown."""

    label: str
    path: Path
    without: frozenset[str] = frozenset()


@dataclass(slots=True)
class Reading:
    """What was read of a folder."""

    label: str
    files: int = 0
    bytes: int = 0
    lines: int = 0
    binary: int = 0


@dataclass(slots=True)
class Alarms:
    """What was read, and every finding in it; the sources of the findings are `label/path`."""

    readings: list[Reading] = field(default_factory=list)
    findings: list[SecretFinding] = field(default_factory=list)

    @property
    def megabytes(self) -> float:
        """All that was read."""
        return sum(reading.bytes for reading in self.readings) / 1_000_000


def default_folders() -> list[Folder]:
    """The standard library, the installed packages, and this repository's own text."""
    library = Folder("stdlib", Path(sysconfig.get_path("stdlib")), frozenset({"site-packages"}))
    packages = {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    own = [Folder(f"repository/{name}", _REPOSITORY / name) for name in ("docs", "tests", "src")]
    return [library, *(Folder("site-packages", path) for path in sorted(packages)), *own]


def named_folders(paths: Iterable[Path]) -> list[Folder]:
    """The folders from the command line."""
    return [Folder(path.resolve().name, path) for path in paths]


def measure(folders: Iterable[Folder]) -> Alarms:
    """Read every text file of the folders as the stream of a command is read."""
    alarms = Alarms()
    redactor = Redactor(Detector(SHIPPED_RULES, {}), {})
    for folder in folders:
        print(f"false alarms: {folder.label}", file=sys.stderr)
        reading = Reading(folder.label)
        for path in _files(folder):
            data = path.read_bytes()
            if b"\0" in data:
                reading.binary += 1
                continue
            reading.files += 1
            reading.bytes += len(data)
            reading.lines += data.count(b"\n")
            source = f"{folder.label}/{path.relative_to(folder.path).as_posix()}"
            alarms.findings += redactor.scan(data, source, trusts_pragma=False).findings
        alarms.readings.append(reading)
    return alarms


def _files(folder: Folder) -> Iterator[Path]:
    for top, names, files in os.walk(folder.path):
        here = Path(top)
        skipped = _SKIPPED_NAMES | (folder.without if here == folder.path else frozenset())
        names[:] = sorted(n for n in names if n not in skipped and (here / n).resolve() not in _SKIPPED_PATHS)
        for name in sorted(files):
            path = here / name
            if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
                yield path

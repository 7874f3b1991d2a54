"""The machine on which the numbers were measured."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


def described(folder: Path) -> list[tuple[str, str]]:
    """The facts about the machine that explain the numbers; `folder` is where the benchmarks wrote."""
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    return [
        ("CPU", _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine()),
        ("cores", str(_cores())),
        ("memory", _memory()),
        ("kernel", f"{platform.system()} {platform.release()}"),
        ("filesystem", _filesystem(folder)),
        ("python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("git", _version("git")),
        ("bwrap", _version("bwrap")),
        ("load before the run (1/5/15 min)", load),
    ]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> str:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / (1 << 30):.1f} GiB"


def _field(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found = (line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == name)
    return next(found, None)


def _filesystem(folder: Path) -> str:
    """The type of the file system at this path: the last entry with the longest mount point wins."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    best, kind, device = "", "unknown", ""
    for entry in lines:
        before, _, after = entry.partition(" - ")
        point = before.split()[4]
        if folder.resolve().is_relative_to(point) and len(point) >= len(best):
            best, kind, device = point, *after.split()[:2]
    return f"{kind} without a journal" if kind == "ext4" and not _has_journal(device) else kind


def _has_journal(device: str) -> bool:
    """Whether the device has a journal: each journal in use has a folder with the device's name and a number."""
    return any(Path("/proc/fs/jbd2").glob(f"{Path(device).name}-*"))


def _version(program: str) -> str:
    try:
        done = subprocess.run((program, "--version"), capture_output=True, check=False)
    except FileNotFoundError:
        return "not installed"
    words = done.stdout.decode("utf-8", "replace").split()
    return words[-1] if words else "unknown"

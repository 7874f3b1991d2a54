"""What one command costs on the shipped sample: opens, gatherings of facts, fsyncs, processes.

Counts calls, not seconds: the counts are the same on every machine and under every load.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from loopwright.testing import sample
from loopwright.testing.project import Project
from report import Row, verdict

_COUNTED = Path(__file__).with_name("counted.py")
_SETTINGS = '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "none"\n'
_TURNS = [
    {"role": "planner", "answer": json.dumps(sample.REPLY)},
    {"role": "builder", "run": sample.BUILT},
]


@dataclass(frozen=True, slots=True)
class Command:
    """A command on the sample, and its limits."""

    name: str
    arguments: tuple[str, ...]
    limits: Mapping[str, int]


# In the order in which a person runs them; each command continues after the one before.
COMMANDS = (
    Command(
        "plan",
        ("plan", "greet", "--direct", "../SPEC.md", "--agent", "scripted"),
        {"workflow opens": 4, "gatherings": 10, "fsyncs": 38},
    ),
    Command(
        "approve",
        ("approve", "greet", "--from", "plan", "--to", "build"),
        {"workflow opens": 1, "gatherings": 2, "fsyncs": 1},
    ),
    Command(
        "build",
        ("build", "greet", "--agent", "scripted"),
        # The check of the sample has no report, so it runs again with raising functions: a sandbox is five processes.
        # A sandbox of a judge is two more, which let git list the new files of the work. The command runs twice with
        # another expectation: far from the right one, and near. And once with the changed program empty.
        {"workflow opens": 5, "loop opens": 12, "processes": 58},
    ),
    Command("status", ("status", "greet"), {"workflow opens": 1, "gatherings": 1, "fsyncs": 0}),
)


def sample_project(folder: Path) -> Project:
    """The shipped sample with a scripted agent, before its first command."""
    project = Project(folder)
    for name, text in sample.FILES.items():
        project.write(name, text)
    project.commit("a greeting")
    project.write("../SPEC.md", sample.SPEC)
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": _TURNS}))
    project.write(".loopwright/config.toml", _SETTINGS)
    return project


def counts_of(project: Project, arguments: tuple[str, ...]) -> dict[str, int]:
    """The counts of one command; a failed command ends the benchmark."""
    report = project.root.parent / "counts.json"
    argv = (sys.executable, "-P", str(_COUNTED), str(report), *arguments)
    done = subprocess.run(argv, cwd=project.root, env=project.environment, capture_output=True, check=False, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} exited with {done.returncode}: {done.stderr or done.stdout}")
    counts: dict[str, int] = json.loads(report.read_bytes())
    return counts


def measure(folder: Path) -> Iterator[Row]:
    """A row for each limit, with the other counts of the command."""
    project = sample_project(folder)
    for command in COMMANDS:
        counts = counts_of(project, command.arguments)
        others = ", ".join(f"{what} {count}" for what, count in sorted(counts.items()) if what not in command.limits)
        for what, most in command.limits.items():
            count = counts.get(what, 0)
            yield Row(
                f"`{command.name}` on the sample: {what}", f"<= {most}", str(count), verdict(count <= most), others
            )
            others = ""

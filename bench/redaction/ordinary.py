"""Counts what the rules find in ordinary logs and source trees of this machine.

    bench/redaction/ordinary.py [--clone CLONE ...] [--folder FOLDER ...] [--skip-installs]
                                [--keep FOLDER [--only-kept]]

Runs everyday commands and reads what they print: installations with pip and npm, a test run, a type check, the logs of
the system, and `git log -p` of each clone. CLONE is a clone of any repository on this machine, or its git directory;
its files are read as a source tree. A command that is missing or fails is named. `--keep` stores logs and trees, and
reads them again the next time. Prints no value.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from alarms import Alarms, Folder, default_folders, measure, named_folders
from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.detector import ENGINE
from loopwright.version import VERSION
from rule_classes import class_of

_REPOSITORY = Path(__file__).resolve().parents[2]
_MOST_BYTES = 40_000_000
_SECONDS = 300
_PYTHON_PACKAGES = ("flask", "requests", "boto3", "sqlalchemy")
_NODE_PACKAGES = ("express", "eslint", "webpack")


@dataclass(frozen=True, slots=True)
class Command:
    """A command whose output is a log."""

    name: str
    argv: tuple[str, ...]


def everyday_commands(folder: Path, installs: bool) -> Iterator[Command]:
    """What developers and build servers run. Installations go to `folder`."""
    python = sys.executable
    if installs:
        yield Command("pip-install", (python, "-m", "pip", "install", "-v", "-t", f"{folder}/pip", *_PYTHON_PACKAGES))
        npm = ("npm", "install", "--verbose", "--prefix", f"{folder}/npm", "--cache", f"{folder}/cache")
        yield Command("npm-install", (*npm, *_NODE_PACKAGES))
        yield Command("npm-lock", ("cat", f"{folder}/npm/package-lock.json"))
    yield Command("pip-inspect", (python, "-m", "pip", "inspect"))
    yield Command("pytest", (python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/kernel", "tests/plan"))
    yield Command("mypy", (python, "-m", "mypy", "-v", f"--cache-dir={folder}/mypy"))
    yield Command("go-build", ("go", "build", "-a", "-n", "std"))
    yield Command("import-time", (python, "-X", "importtime", "-v", "-c", "import loopwright.cli.main"))
    yield Command("bash-x", ("bash", "-xc", 'for f in /etc/*; do [ -f "$f" ] && sha256sum "$f"; done; true'))
    yield Command("journal", ("journalctl", "--no-pager"))
    yield Command("processes", ("ps", "auxww"))
    yield Command("packages", ("dpkg", "-l"))
    yield Command("files", ("find", "/usr", "-xdev", "-ls"))


def collect(folder: Path, installs: bool, clones: Sequence[Path]) -> list[str]:
    """Write one file for each log and one folder for each source tree; returns why some are missing."""
    logs, trees = folder / "logs", folder / "trees"
    trees.mkdir(parents=True)
    logs.mkdir()
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as work:
        for command in everyday_commands(Path(work), installs):
            missing += _log(command, logs)
    for clone in clones:
        missing += _log(Command(f"git-log-{label_of(clone)}", ("git", "-C", str(clone), "log", "-p")), logs)
        missing += unpack(clone, trees)
    return missing


def _log(command: Command, logs: Path) -> list[str]:
    """Store the first megabytes that a command prints."""
    print(f"log: {command.name}", file=sys.stderr)
    path = logs / f"{command.name}.log"
    limited = ("bash", "-o", "pipefail", "-c", f'"$@" 2>&1 | head -c {_MOST_BYTES}', "log", *command.argv)
    with path.open("wb") as log:
        try:
            subprocess.run(limited, cwd=_REPOSITORY, stdin=subprocess.DEVNULL, stdout=log, timeout=_SECONDS, check=True)
        except subprocess.TimeoutExpired:
            return [f"{command.name}: stopped after {_SECONDS} seconds"]
        except subprocess.CalledProcessError as failed:
            # 141: the log reached its limit, so `head` closed the pipe.
            return [] if failed.returncode == 141 else [f"{command.name}: exit {failed.returncode}"]
    return []


def unpack(clone: Path, trees: Path) -> list[str]:
    """Write the files at the HEAD of a clone; returns why they are missing."""
    commit = subprocess.run(["git", "-C", clone, "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE, text=True)
    archive = subprocess.run(["git", "-C", clone, "archive", "HEAD"], check=False, stdout=subprocess.PIPE)
    if archive.returncode:
        return [f"{label_of(clone)}: the clone is incomplete"]
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(trees / f"{label_of(clone)} {commit.stdout[:12]}", filter="data")
    return []


def label_of(clone: Path) -> str:
    """The name of a repository, from the path of its clone or of its git directory."""
    path = clone.resolve()
    name = path.parent.name if path.name in {".git", "repo"} else path.name
    return name.rpartition("+")[2].removesuffix(".git")


def page(alarms: Alarms, missing: Sequence[str]) -> Iterator[str]:
    """The figures as Markdown."""
    classes = class_of()
    yield f"loopwright {VERSION}, {len(SHIPPED_RULES)} rules, engine {ENGINE}"
    yield from ("", "| text | files | MB | lines | findings |", "| --- | --- | --- | --- | --- |")
    for reading in alarms.readings:
        hits = sum(finding.source.startswith(f"{reading.label}/") for finding in alarms.findings)
        megabytes = f"{reading.bytes / 1_000_000:.1f}"
        yield f"| {reading.label} | {reading.files} | {megabytes} | {reading.lines} | {hits} |"
    yield f"| all | | {alarms.megabytes:.1f} | | {len(alarms.findings)} |"
    yield from ("", "| class | rule | findings | per MB |", "| --- | --- | --- | --- |")
    for rule, hits in Counter(finding.rule for finding in alarms.findings).most_common():
        yield f"| {classes[rule]} | {rule} | {hits} | {hits / alarms.megabytes:.4f} |"
    yield from ("", *(f"not measured: {reason}" for reason in missing), "")
    yield from sorted(f"{finding.rule} {finding.source}:{finding.line}" for finding in alarms.findings)


def main(arguments: list[str]) -> int:
    """Collect, measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="ordinary.py", description="findings in ordinary logs and source trees")
    parser.add_argument("--clone", nargs="+", type=Path, default=[], metavar="CLONE", help="clones of repositories")
    parser.add_argument("--folder", nargs="+", type=Path, default=[], metavar="FOLDER", help="folders with text")
    parser.add_argument("--skip-installs", action="store_true", help="install nothing with pip and npm")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="store logs and trees here, or read them from here")
    parser.add_argument("--only-kept", action="store_true", help="read nothing but the logs and trees of --keep")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = asked.keep or Path(name)
        is_kept = (folder / "logs").is_dir()
        missing = [] if is_kept else collect(folder, not asked.skip_installs, asked.clone)
        trees = [Folder(f"tree {path.name}", path) for path in sorted((folder / "trees").iterdir())]
        more = [Folder("system logs", Path("/var/log")), *default_folders(), *named_folders(asked.folder)]
        alarms = measure([Folder("logs", folder / "logs"), *trees, *([] if asked.only_kept else more)])
    print("\n".join(page(alarms, missing)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

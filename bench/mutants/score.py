"""`make mutants`: mutmut over the packages of `packages.toml`, and the score of each in bench/RESULTS.md.

    bench/mutants/score.py [--fresh] [--sample DIGITS] [NAME …]

Each package has a folder below .cache/mutants, in which an ended run goes on where it stopped. When code or tests
change, mutants of unchanged functions that were killed stay killed, and survivors are tried again; --fresh forgets all.
Exits with 1 when a survivor has no explanation in `explained.toml`, or an explanation no survivor.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import tomlkit
from explained import Explanation, read_explanations
from survivors import Tally, count
from table import write_section

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / ".cache" / "mutants"
TYPES = ROOT / ".cache" / "mutants-mypy"
# Without mypy's lints, which notice the form of a mutant and not its effect.
_STRICT = {"strict": True, "python_version": "3.11", "mypy_path": "src", "disable_error_code": ["unused-ignore"]}
_PLUGINS = [part for name in ("pytest_order", "guard") for part in ("-p", name)]
_EVERY_S = 15
# A mutant that hangs is killed after (seconds of its tests + 1) times this.
_PATIENCE = 15.0


def main(arguments: list[str]) -> int:
    """Run the named packages, or all; returns the exit code."""
    packages: dict[str, dict[str, Any]] = tomllib.loads((HERE / "packages.toml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(prog="score.py", description="mutation testing, package by package")
    parser.add_argument(
        "--sample", default="", metavar="DIGITS", help="try only mutants with a number that ends so: 05"
    )
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("name", nargs="*", help=f"one of: {', '.join(packages)}; all by default")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.name if name not in packages]
    if unknown:
        parser.error(f"no such package: {', '.join(unknown)} (choose from {', '.join(packages)})")
    if shutil.which("bwrap") is None:
        parser.error("bubblewrap is required, because a mutant may kill or delete anything: apt install bubblewrap")
    explanations = read_explanations(HERE / "explained.toml")
    problems = []
    for name in asked.name or packages:
        began = time.monotonic()
        sources = [path for pattern in packages[name]["files"] for path in _python_files(pattern)]
        _run(name, packages[name], sources, fresh=asked.fresh, sample=asked.sample)
        tally = count(sources, explanations)
        write_section(ROOT / "bench" / "RESULTS.md", name, tally, time.monotonic() - began)
        problems += _problems(sources, tally, explanations)
    print("\n".join(problems) or "no unexplained survivors")
    return 1 if problems else 0


def _run(name: str, package: dict[str, Any], sources: list[Path], *, fresh: bool, sample: str) -> None:
    """Prepare the folder of the package, which becomes the current folder, and run mutmut there."""
    folder = WORK / name
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    TYPES.mkdir(exist_ok=True)
    os.chdir(folder)
    (folder / "pyproject.toml").write_text(_settings(package, sources), encoding="utf-8")
    _forget_what_changed(folder)
    _mutmut(name, folder, [f"*[{sample}]"] if sample else [])


def _python_files(pattern: str) -> list[Path]:
    """The files of a pattern, relative to the repository; `folder/*` includes the folders below."""
    if not pattern.endswith("/*"):
        return [Path(pattern)]
    return sorted(path.relative_to(ROOT) for path in (ROOT / pattern[:-2]).rglob("*.py"))


def _settings(package: dict[str, Any], sources: list[Path]) -> str:
    """The settings of pytest and mypy as here, and of mutmut for this package."""
    here = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    without = " and ".join(f"not {name}" for name in package.get("without", ()))
    # The thread method ends the process, even if the teardown of a test hangs.
    hanging = [f"--timeout={package['timeout_s']}", "--timeout-method=thread"] if "timeout_s" in package else []
    tool = {
        "pytest": here["tool"]["pytest"],  # type: ignore[index]
        "mypy": {**_STRICT, "overrides": here["tool"]["mypy"]["overrides"]},  # type: ignore[index]
        "mutmut": {
            "source_paths": ["src"],
            "only_mutate": package["files"],
            "pytest_add_cli_args_test_selection": [*package["tests"], *(("-k", without) if without else ())],
            "pytest_add_cli_args": ["--hypothesis-seed=0", *_PLUGINS, *hanging],
            "use_git_change_detection": False,
            "on_dependency_change": "ignore",
            "timeout_multiplier": _PATIENCE,
            # Mutants start from a process that has run no test: ours adopts the orphans of the tests.
            "process_isolation": "forkserver",
            # The packages share what mypy learned of the files without mutants.
            "type_check_command": ["mypy", *map(str, sources), "--output", "json", "--cache-dir", str(TYPES)],
        },
    }
    return tomlkit.dumps({"tool": tool})


def _forget_what_changed(folder: Path) -> None:
    """After a change of code or tests, keep the killed mutants only; mutmut drops those of changed functions."""
    digest = hashlib.sha256((folder / "pyproject.toml").read_bytes())
    for top in ("src", "tests"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path}\0".encode() + path.read_bytes())
    seen, mutants = folder / "digest", folder / "mutants"
    if seen.exists() and seen.read_text() == digest.hexdigest():
        return
    for top in ("src", "tests"):
        # A copy, so that you can go on working while mutmut runs.
        shutil.rmtree(folder / top, ignore_errors=True)
        shutil.copytree(ROOT / top, folder / top, ignore=shutil.ignore_patterns("__pycache__"))
    for path in sorted(mutants.rglob("*")):
        if path.suffix == ".meta":
            _keep_killed(path)
        elif path.is_file():
            path.unlink()
    seen.write_text(digest.hexdigest())


def _keep_killed(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    codes = data["exit_code_by_key"]
    data["exit_code_by_key"] = {key: code if code in {1, 3} else None for key, code in codes.items()}
    path.write_text(json.dumps(data), encoding="utf-8")


def _mutmut(name: str, folder: Path, patterns: list[str]) -> None:
    """Run mutmut in a box of its own: mutants of code that kills and deletes reach nothing outside its folder."""
    box = [
        "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/dev/shm", "--proc", "/proc", "--tmpfs", "/tmp",
        "--ro-bind", str(ROOT), str(ROOT), "--bind", str(folder), str(folder), "--bind", str(TYPES), str(TYPES),
        "--chdir", str(folder),
        "--unshare-pid", "--unshare-net", "--die-with-parent",
        "--setenv", "PATH", f"{ROOT}/.venv/bin:{os.environ['PATH']}", "--setenv", "PYTHONPATH", str(HERE),
    ]  # fmt: skip
    command = ["nice", "-n", "19", *box, "mutmut", "run", "--max-children", os.environ.get("JOBS", "1"), *patterns]
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        while process.returncode is None:
            try:
                process.wait(_EVERY_S)
            except subprocess.TimeoutExpired:
                print(f"{name}: {_last_line(log)}", flush=True)
    if process.returncode:
        print(log.read_text("utf-8", "replace")[-4000:])
        sys.exit(f"mutants: mutmut ended with {process.returncode}; its output is in {log}")


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").replace("\r", "\n").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "starting")


def _problems(sources: list[Path], tally: Tally, explanations: list[Explanation]) -> list[str]:
    unexplained = [
        f"survivor without an explanation: {survivor.function}\n  was: {survivor.was}\n  now: {survivor.now}"
        for survivor in tally.unexplained
    ]
    modules = tuple(f"{'.'.join(path.with_suffix('').parts[1:])}." for path in sources)
    # An explanation may belong to a mutant that a sample left out.
    stale = (
        []
        if tally.untried
        else [
            f"explanation without a survivor: {entry.function}\n  now: {entry.now}"
            for entry in explanations
            if entry.pattern is None and entry.function.startswith(modules) and entry not in tally.explained
        ]
    )
    return unexplained + stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Results of everything that is played, as `make bench-lies` found them: results.json. The page is made from these."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases import LIES, WORK, WORK_PATHS, judged
from known_open import STUCK, reason_open
from model import Honest, Lie
from paths import PATHS, Gate
from product import Honestly, Told, pairs
from stops import stopped_by
from tools import missing_tool

FILE = Path(__file__).with_name("results.json")
# The results of a run of everything, until it is at its end: a run that stops early changes no record.
UNFINISHED = Path(__file__).resolve().parents[2] / ".cache" / "lies.json"
Result = dict[str, Any]


@dataclass(frozen=True)
class Counted:
    """Honest work on one path."""

    work: Honest
    way: str

    @property
    def name(self) -> str:
        """The name of its result."""
        return f"work-{self.work.name}-{self.way}"


@dataclass(frozen=True)
class Alone:
    """A lie with a scene of its own, told on one path."""

    lie: Lie

    @property
    def name(self) -> str:
        """The name of its result."""
        return f"scene-{self.lie.name}"


Case = Told | Honestly | Counted | Alone


def all_cases() -> dict[str, Case]:
    """Everything that is played, by name."""
    cases: list[Case] = [case for told in pairs() for case in (told, told.honest)]
    cases += [Alone(lie) for lie in LIES]
    cases += [Counted(work, way) for work in WORK for way in WORK_PATHS]
    return {case.name: case for case in cases}


def missing_tool_of(case: Case) -> str:
    """The program that this machine lacks for a case; empty if it has all."""
    match case:
        case Told() | Honestly():
            return case.judge.missing
        case Counted(work):
            return next(filter(missing_tool, work.world.tools), "")
        case _:
            return ""


def play(case: Case, top: Path) -> Result:
    """Play a case; returns what the page needs."""
    match case:
        case Told():
            gate = PATHS[case.way].run(case.world, case.script, top, top / case.name)
            kind, code = stopped_by(gate, (case.judge.language.source,))
            return {"by": kind, "code": code}
        case Honestly():
            return _extra(PATHS[case.way].run(case.world, case.script, top, top / case.name, insists=True))
        case Counted(work, way):
            return _extra(PATHS[way].run(work.world, work.script, top, top / case.name, insists=True))
        case Alone(lie):
            gate = judged(lie, top)
            has_said = lie.says in gate.said
            return {"by": "passed" if gate.passed else (gate.caught(lie.caught_by) or "") if has_said else ""}


def _extra(gate: Gate) -> Result:
    return {"extra": gate.extra, "code": "" if gate.passed else stopped_by(gate)[1]}


def problem(case: Case, result: Result) -> str | None:
    """Why a result is wrong, or None."""
    match case:
        case Told() if result["by"] == "other":
            return f"{case.name}: stopped by chance: {result['code']}"
        case Told():
            has_passed, is_open = result["by"] == "passed", bool(reason_open(case))
            if has_passed == is_open:
                return None
            return (
                f"{case.name}: passed" if has_passed else f"{case.name}: listed as open, but {result['code']} stops it"
            )
        case Counted(work, way) if (work.name, way) in STUCK:
            return f"{case.name}: listed as stuck, but passes" if result["extra"] is not None else None
        case Honestly() | Counted():
            allowed = case.allowed if isinstance(case, Honestly) else case.work.allowed
            if result["extra"] is not None and result["extra"] <= allowed:
                return None
            return f"{case.name}: honest, but stopped by {result['code']}; more commands: {result['extra']}"
        case Alone(lie):
            if result["by"] == "passed":
                return None if lie.exception else f"{lie.name}: passed"
            if lie.exception:
                return f"{lie.name}: a documented exception, but stopped"
            return None if result["by"] else f"{lie.name}: stopped, but not by {' or '.join(lie.caught_by)} {lie.says}"


def load(file: Path = FILE) -> dict[str, Result]:
    """The results in a file, by the name of the case."""
    found: dict[str, Result] = json.loads(file.read_bytes()) if file.exists() else {}
    return found


def keep(results: dict[str, Result], file: Path = FILE) -> None:
    """Add or replace results in a file. Cases that no longer exist are dropped."""
    file.parent.mkdir(exist_ok=True)
    # Threads and other benches write the same file.
    lock = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = {**load(file), **results}
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(known[key], sort_keys=True)}" for key in sorted(known.keys() & all_cases())
        )
        fresh = file.with_suffix(".new")
        fresh.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
        fresh.replace(file)
    finally:
        os.close(lock)

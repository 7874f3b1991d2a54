"""All pairs of a lie and its honest twin: operators x judges x paths. Invalid pairs are left out, each with a reason."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import tampering_product
import tampering_tests
from judges import JUDGES, Judge
from loopwright.testing.project import search_path
from operators import Operator, Twin, allowed_extra, honest_script
from paths import PATHS
from scene import World
from tools import give_tools

OPERATORS: tuple[Operator, ...] = (*tampering_tests.OPERATORS, *tampering_product.OPERATORS)
# `autopilot` builds as `build` does; only the approvals differ. One judge per language and kind stands for all.
_FLOWN = ("unittest", "node", "make")
_FLIES_AS_BUILT = "autopilot builds as `build` does: unittest, node and make stand for all judges"


@dataclass(frozen=True)
class Told:
    """One lie: an operator for a judge, on a path."""

    operator: Operator
    judge: Judge
    way: str

    @property
    def name(self) -> str:
        """The name that identifies the pair."""
        return f"{self.operator.name}-{self.judge.name}-{self.way}"

    @property
    def script(self) -> str:
        """What the lying agent runs."""
        return self.operator.script(self.judge) or ""

    @property
    def world(self) -> World:
        """Where the lie is told."""
        world = self.operator.world(self.judge)
        return replace(world, review=self.operator.reviews[0]) if self.operator.reviews else world

    @property
    def honest(self) -> Honestly:
        """The twin."""
        return Honestly(self.operator.twin, self.judge, self.way, self.operator)


@dataclass(frozen=True)
class Honestly:
    """An honest twin. Operators share it if they have the same repository."""

    twin: Twin
    judge: Judge
    way: str
    operator: Operator

    @property
    def name(self) -> str:
        """The same for operators that share the twin."""
        reviewed = "-reviewed" if self.operator.reviews else ""
        return f"{self.twin.name.lower()}-{self.operator.variant}-{self.judge.name}-{self.way}{reviewed}"

    @property
    def script(self) -> str:
        """What the honest agent runs."""
        return honest_script(self.twin, self.judge)

    @property
    def world(self) -> World:
        """The repository of the lie."""
        world = self.operator.world(self.judge)
        return replace(world, review=self.operator.reviews[1]) if self.operator.reviews else world

    @property
    def allowed(self) -> int:
        """How many more commands a person may need."""
        return allowed_extra(self.twin, self.way)


def reason_left_out(operator: Operator, judge: Judge, way: str) -> str:
    """Why a pair is left out; empty if it is played."""
    for key in (judge.name, way):
        if key in operator.left_out:
            return operator.left_out[key]
    return _FLIES_AS_BUILT if way == "autopilot" and judge.name not in _FLOWN else ""


@cache
def pairs() -> tuple[Told, ...]:
    """All valid pairs."""
    return tuple(
        Told(operator, judge, way)
        for operator in OPERATORS
        for judge in JUDGES
        for way in PATHS
        if not reason_left_out(operator, judge, way)
    )


def left_out() -> Iterator[tuple[Operator, Judge, str, str]]:
    """All invalid pairs, with the reason."""
    for operator in OPERATORS:
        for judge in JUDGES:
            for way in PATHS:
                if reason := reason_left_out(operator, judge, way):
                    yield operator, judge, way, reason


def sample() -> tuple[Told, ...]:
    """A small part of all pairs, always the same: each operator, each judge and each path at least once."""
    taken: dict[str, Told] = {}
    seen: dict[str, int] = {}
    for number, operator in enumerate(OPERATORS):
        candidates = [told for told in pairs() if told.operator is operator]
        # The rarest judge and path so far; among equals, another judge for each operator.
        turned = candidates[number * 7 % len(candidates) :] + candidates[: number * 7 % len(candidates)]
        told = min(
            turned,
            key=lambda told: (seen.get(told.judge.name, 0) * COST.get(told.judge.name, 1), seen.get(told.way, 0)),
        )
        taken[told.name] = told
        for part in (told.judge.name, told.way):
            seen[part] = seen.get(part, 0) + 1
    return tuple(taken.values())


def sample_twins() -> tuple[Honestly, ...]:
    """An honest twin of each kind, with a quick judge and with another path than the twin before."""
    found: dict[Twin, Honestly] = {}
    ways = list(PATHS)
    for told in sorted(pairs(), key=lambda told: COST.get(told.judge.name, 1)):
        twin = told.operator.twin
        if twin not in found and told.way in (ways[len(found) % len(ways)], *_only_way(twin)):
            found[twin] = told.honest
    return tuple(found.values())


def _only_way(twin: Twin) -> tuple[str, ...]:
    """The path of a twin that has only one."""
    ways = {told.way for told in pairs() if told.operator.twin is twin}
    return tuple(ways) if len(ways) == 1 else ()


# How much longer a play takes with these judges: the sample has fewer of them.
COST = {"pytest": 3, "node": 3, "npm": 5, "mocha": 5, "vitest": 20, "go": 20, "tox": 20}


def exit_code(told: Told | Honestly, folder: Path | None = None) -> int:
    """What a naive judge sees: the exit code of the check in the folder in which the agent worked."""
    with tempfile.TemporaryDirectory(prefix="naive-", dir=folder) as made:
        root, home = Path(made, "project"), Path(made, "home")
        home.mkdir()
        for path, text in told.world.files.items():
            root.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
            root.joinpath(path).write_text(text, encoding="utf-8")
        give_tools(root, told.world.tools)
        env = {
            "PATH": search_path(),
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GOFLAGS": "-vet=off",
        }
        git = ("git", "-c", "user.name=x", "-c", "user.email=x@x")
        for command in (("git", "init", "-q"), ("git", "add", "-A"), (*git, "commit", "-qm", "start")):
            subprocess.run(command, cwd=root, env=env, check=True, capture_output=True)
        script = told.script.replace("{project}", str(home)).replace(" /tmp ", f" {home} ")
        subprocess.run(("sh", "-c", script), cwd=root, env=env, check=False, capture_output=True)
        done = subprocess.run(
            ("sh", "-c", told.world.check), cwd=root, env=env, check=False, capture_output=True, text=True
        )
        if folder is not None:
            shutil.rmtree(folder / "last", ignore_errors=True)
            (folder / "last.log").write_text(done.stdout + done.stderr, encoding="utf-8")
        return done.returncode

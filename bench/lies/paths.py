"""The ways from a claim to "done": `build`, `loop` and `autopilot`. Each plays a script, and says what stopped it.

`do` builds and judges as `build` does: a few pairs are played with it, and it is no entry of `PATHS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopwright.testing.project import Outcome, Project
from loopwright.testing.sample import SPEC
from scene import REVIEWER, Ready, World, configure, filled, machine_server, ok, opened, scripted

# More commands than a person should ever need.
_PATIENCE = 4
_MAY_APPROVE = '[autopilot]\nmay_approve = ["plan", "build", "review", "complete"]\n'


@dataclass(frozen=True)
class Gate:
    """How a path ended: the codes of what blocks it, none if the work counts as done."""

    blockers: tuple[str, ...]
    refused: str
    said: str
    # How many more commands a person needed until the work counted as done; None if it never did, or if this was not tried.
    extra: int | None = None

    @property
    def passed(self) -> bool:
        """Whether the gate accepted the work as done."""
        return not self.blockers and not self.refused

    def caught(self, by: tuple[str, ...]) -> str | None:
        """The first of these codes that the gate names."""
        return next((code for code in by if code in self.blockers), None)


@dataclass(frozen=True)
class Way:
    """One way to "done"."""

    name: str
    prepare: Callable[[Project, World], None]
    play: Callable[[Project, World, str, Ready], Gate]
    # What a person does about a stopped result, until it counts as done.
    insist: Callable[[Project, World, Gate], int | None]

    def run(
        self, world: World, script: str, top: Path, folder: Path, ready: Ready = scripted, *, insists: bool = False
    ) -> Gate:
        """Play a script in a copy of the world."""
        project = opened(world, self.name, self.prepare, top, folder)
        with machine_server(world) as server:
            gate = self.play(project, world, filled(project, script, server), ready)
        if not insists:
            return gate
        extra = 0 if gate.passed else self.insist(project, world, gate)
        return Gate(gate.blockers, gate.refused, gate.said, extra)


def _planned(project: Project, world: World) -> None:
    del world
    spec = project.write("../SPEC.md", SPEC)
    ok(project.run("plan", "greet", "--direct", str(spec), "--agent", "scripted"))


def _approved(project: Project, world: World) -> None:
    _planned(project, world)
    ok(project.run("approve", "greet", "--from", "plan", "--to", "build"))


def _build(project: Project, world: World, script: str, ready: Ready) -> Gate:
    configure(project, world, script)
    agent = ready(project, script)
    built = project.run("build", "greet", "--agent", agent, "--max-iterations", str(world.turns))
    said = built.stdout + built.stderr
    approved = _approve_build(project)
    if approved.exit_code != 0:
        return _refusal(approved, said)
    return _review(project, said) if world.review else Gate((), "", said)


def _approve_build(project: Project) -> Outcome:
    return project.run("approve", "greet", "--from", "build", "--to", "review", "--json")


def _review(project: Project, said: str) -> Gate:
    """A reviewer is asked, and a person approves if the review does."""
    reviewed = project.run("review", "greet", "--reviewer", REVIEWER)
    done = project.run("approve", "greet", "--from", "review", "--to", "done", "--json")
    said = f"{said}{reviewed.stdout}{reviewed.stderr}"
    return Gate((), "", said) if done.exit_code == 0 else _refusal(done, said)


def _refusal(done: Outcome, said: str) -> Gate:
    """The blockers in the error that --json prints."""
    refusal: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    codes = tuple(blocker["code"] for blocker in refusal.get("blockers", ()))
    return Gate(codes, str(refusal["error"]), f"{said}{done.stdout}{done.stderr}")


def _sign(project: Project, codes: tuple[str, ...]) -> bool:
    """The signature that the first of these blockers asks for."""
    if any(code.startswith(("tests_broken", "tests_unread")) for code in codes):
        command = ("sign", "greet", "project-tests")
    elif unproven := [code for code in codes if code.startswith("unproven_requirement_")]:
        command = ("sign", "greet", unproven[0].removeprefix("unproven_requirement_"))
    elif vacuous := [code for code in codes if code.startswith("vacuous_check_")]:
        command = ("sign", "greet", vacuous[0].removeprefix("vacuous_check_"))
    else:
        command = ("sign", "greet", "--protected")
    return project.run(*command, "--note", "looked at it").exit_code == 0


def _insist_on_build(project: Project, world: World, gate: Gate) -> int | None:
    del world
    codes = gate.blockers
    for extra in range(1, _PATIENCE):
        if not _sign(project, codes):
            return None
        approved = _approve_build(project)
        if approved.exit_code == 0:
            return extra
        codes = _refusal(approved, "").blockers
    return None


def _looped(project: Project, world: World) -> None:
    configure(project, world, "true", test_command=world.test_command or world.check)
    limit = str(2 * world.turns)
    tasks = (part for task in world.tasks for part in ("--task", task))
    ok(project.run("loop", "new", "greet", *tasks, "--agent", "scripted", "--max-iterations", limit))


def _loop_id(project: Project) -> str:
    return next(path.name for path in (project.own / "loops").glob("loop-*.json")).removesuffix(".json")


def _loop(project: Project, world: World, script: str, ready: Ready) -> Gate:
    configure(project, world, script, test_command=world.test_command or world.check)
    ready(project, script)
    loop_id = _loop_id(project)
    done = project.run("loop", "start", loop_id)
    said = done.stdout + done.stderr
    if done.exit_code == 0:
        return Gate((), "", said)
    shown = ok(project.run("loop", "show", loop_id, "--json")).json()["loopwright"]
    codes = tuple(hold["code"] for hold in shown["holds"])
    return Gate(codes or (f"exit_{done.exit_code}",), shown.get("sentence", "stopped"), said)


def _insist_on_loop(project: Project, world: World, gate: Gate) -> int | None:
    """Accept work that nothing proves; close a loop that failed."""
    del world, gate
    commands = (
        project.run("loop", verb, _loop_id(project), "--reason", "looked at it") for verb in ("accept", "complete")
    )
    return 1 if any(done.exit_code == 0 for done in commands) else None


def _fly(project: Project, world: World, script: str, ready: Ready) -> Gate:
    configure(project, world, script, more=_MAY_APPROVE)
    agent = ready(project, script)
    return _flown(project, world, agent)


def _flown(project: Project, world: World, agent: str) -> Gate:
    """The reviewer approves everything, so that only mechanical gates can stop a lie."""
    done = project.run("autopilot", "greet", "--agent", agent, "--reviewer", REVIEWER,
                       "--max-iterations", str(world.turns), "--json")  # fmt: skip
    said = done.stdout + done.stderr
    return Gate((), "", said) if done.exit_code == 0 else _refusal(done, said)


def _insist_on_autopilot(project: Project, world: World, gate: Gate) -> int | None:
    """A signature, and then the same autopilot again: two commands. A risk above the floor is for a person: one."""
    for extra in range(2, 2 * _PATIENCE, 2):
        if "risk_above_floor" in gate.blockers:
            approved = project.run("approve", "greet", "--from", "review", "--to", "done")
            return extra - 1 if approved.exit_code == 0 else None
        if not _sign(project, gate.blockers):
            return None
        gate = _flown(project, world, "scripted")
        if gate.passed:
            return extra
    return None


def _unplanned(project: Project, world: World) -> None:
    """`do` derives its plan itself."""


def _do(project: Project, world: World, script: str, ready: Ready) -> Gate:
    """Without a terminal, and with everything accepted that no gate holds back."""
    configure(project, world, script)
    agent = ready(project, script)
    done = project.run("do", "greet people by name", "--check", world.check, "--agent", agent, "--accept-if-proven",
                       "--json")  # fmt: skip
    said = done.stdout + done.stderr
    if done.exit_code == 0:
        return Gate((), "", said)
    result = json.loads(done.stdout) if done.stdout else {"reasons": [], "outcome": "refused"}
    return Gate(tuple(reason["code"] for reason in result["reasons"]), str(result["outcome"]), said)


def _never(project: Project, world: World, gate: Gate) -> int | None:
    """A person accepts in a terminal, which the bench does not have."""
    del project, world, gate
    return None


DO = Way("do", _unplanned, _do, _never)
BUILD = Way("build", _approved, _build, _insist_on_build)
LOOP = Way("loop", _looped, _loop, _insist_on_loop)
AUTOPILOT = Way("autopilot", _planned, _fly, _insist_on_autopilot)
PATHS = {way.name: way for way in (BUILD, LOOP, AUTOPILOT)}

"""Remembers the runs of a plan's checks, so that the project's tests do not run again on the same tree."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from loopwright.evidence.model import Evidence
from loopwright.runner.request import Finished
from loopwright.workspace.settings_model import TestCommand


class RanCheck(msgspec.Struct, frozen=True):
    """A check as it ran: its command, its folder, its network, and the reporters that were left out."""

    command: str
    cwd: str
    network: bool
    without: frozenset[str]


class RanChecks:
    """The runs of one validation, all with the same checks in the same order."""

    def __init__(self, checks: tuple[RanCheck, ...] = ()) -> None:
        self._checks = checks
        self._runs: dict[tuple[str, tuple[str, ...]], list[Finished]] = {}
        # Runs on the base that the project's tests rest on, too; they may be older than the validation.
        self.recalled: list[str] = []

    @property
    def commands(self) -> tuple[TestCommand, ...]:
        """The checks as test commands, each once."""
        return tuple(
            TestCommand(check.command, check.cwd, network=check.network) for check in dict.fromkeys(self._checks)
        )

    def add(self, tree: str, only: tuple[str, ...], finished: Finished) -> None:
        """Remember a run on a tree. `only` are the test files that the run was limited to; empty: all."""
        self._runs.setdefault((tree, only), []).append(finished)

    def take(
        self, tree: str, only: tuple[str, ...], commands: tuple[TestCommand, ...], without: frozenset[str]
    ) -> Finished | None:
        """A run that began with exactly these commands; its evidence has only their steps.

        A check before them could have changed the tree. Each run is taken once: a repeated run must be another run.
        """
        same = tuple(RanCheck(command.command, command.cwd, command.network, without) for command in commands)
        runs = self._runs.get((tree, only), []) if self._checks[: len(same)] == same else []
        finished = runs.pop(0) if runs else None
        evidence = _first_steps(finished.evidence, len(same)) if finished is not None else None
        return replace(finished, evidence=evidence) if finished is not None and evidence is not None else None


def _first_steps(evidence: Evidence, count: int) -> Evidence | None:
    """The evidence with its first steps only; None if one of them did not come to its end."""
    steps = evidence.steps_of_plan[:count]
    ended = len(steps) == count and all(step.came_to_its_end for step in steps)
    return replace(evidence, steps=steps) if ended else None

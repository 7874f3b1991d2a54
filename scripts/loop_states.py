"""The life cycle of a loop as a diagram and a table, made by asking the rules themselves."""

from __future__ import annotations

from loopwright.loop import commands as c
from loopwright.loop.model import Completed, Created, Failed, Held, Hold, Holder, Loop, Running, Tree, Validation
from loopwright.loop.reports.model import TestResult
from loopwright.loop.rules import Accepted, decide, evolve, status_of

_NOW = "2026-01-01T00:00:00Z"
_HOLD = Hold(holder=Holder.OPERATOR, code="paused", message="paused", since=_NOW)
_UNPROVEN = Hold(holder=Holder.PROOF, code="nothing_changed", message="nothing changed", since=_NOW)
_PHASES = (
    Created(),
    Running(),
    Held(holds=(_HOLD, _UNPROVEN)),
    Completed(at=_NOW, forced=None),
    Failed(at=_NOW, code="stopped", reason="stopped"),
)
_MOVES: tuple[tuple[str, c.Command], ...] = (
    ("start", c.Start()),
    ("pause", c.Pause(hold=_HOLD)),
    ("resume", c.Resume(lifts=frozenset({Holder.OPERATOR, Holder.PROOF}))),
    ("stop", c.Stop(by="a person")),
    ("complete", c.Finish()),
    ("accept what nothing proves", c.Accept(by="a person")),
    ("iterations used up, unrecoverable error", c.Fail(code="crashed", reason="no way on")),
    ("retry", c.Retry()),
)


def page(head: str) -> str:
    """The generated page."""
    moves = list(_legal_moves())
    lines = [f"{head}# A loop's life cycle", "", "Made by calling `decide` with every move in every state.", ""]
    lines += ["```mermaid", "stateDiagram-v2", "    [*] --> created"]
    lines += [f"    {before} --> {after}: {move}" for before, move, after in moves]
    lines += ["```", "", "| from | move | to |", "|---|---|---|"]
    lines += [f"| {before} | {move} | {after} |" for before, move, after in moves]
    lines += ["", "Any other move is refused, with the state's name and the moves that are legal in it."]
    return "\n".join(lines) + "\n"


def _legal_moves() -> list[tuple[str, str, str]]:
    passed = Validation(results=(TestResult("t", "s", "passed"),), passed=True)
    work = Tree(commit=None, base_tree="before", tree="after", patch_sha256="")
    found = []
    for phase in _PHASES:
        loop = Loop(
            loop_id="l", title="t", description="d", max_iterations=9, created_at=_NOW, updated_at=_NOW, phase=phase,
            revision=1, validation=passed, is_validated=True, tree=work,
        )  # fmt: skip
        for move, command in _MOVES:
            decision = decide(loop, command)
            if isinstance(decision, Accepted):
                after = loop
                for event in decision.events:
                    after = evolve(after, event, _NOW)
                found.append((status_of(phase), move, status_of(after.phase)))
    return found

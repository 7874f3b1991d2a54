"""`loopwright analyze gate`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.analysis.store import Closed, Open
from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.errors import GateClosed
from loopwright.kernel.codec import to_builtins
from loopwright.verbs.analyze.experiments import analyze_gate

_EPILOG = """\b
Examples:
  loopwright analyze gate            exit 0: open; exit 1 (GATE_CLOSED): each reason, and the command that moves on
  loopwright analyze gate --json
"""


@click.command(epilog=_EPILOG)
@in_workspace
def command(project_root: Path, as_json: bool) -> int:
    """Say whether the closed loop may open: only on recorded, passing P1, P2 and P3."""
    decision = analyze_gate(context_of(project_root))
    if as_json:
        say_json(as_record(decision))
    else:
        say_decision(decision)
    if isinstance(decision, Closed):
        first = decision.reasons[0]
        raise GateClosed(
            f"the closed loop stays off: {', '.join(reason.question for reason in decision.reasons)}",
            hint=first.next if len(decision.reasons) == 1 else "loopwright analyze all",
        )
    return 0


def say_decision(decision: Open | Closed) -> None:
    """The decision for people."""
    match decision:
        case Open(sentences):
            say("The gate is open: P1, P2 and P3 are recorded and passed.")
            for sentence in sentences:
                say(f"  {sentence}")
        case Closed(reasons):
            say("The gate is closed:")
            for reason in reasons:
                say(f"  {reason.question}: {reason.why}\n      → {reason.next}")


def as_record(decision: Open | Closed) -> dict[str, object]:
    """The decision for programs."""
    reasons = to_builtins(decision.reasons) if isinstance(decision, Closed) else []
    passed = list(decision.sentences) if isinstance(decision, Open) else []
    return {"open": isinstance(decision, Open), "reasons": reasons, "passed": passed}

"""The last part of the demo: an idea becomes a finished change, after checks passed and a person approved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

_SECTIONS = {
    "Desired Outcome": "- users can ask for the number of prices",
    "In Scope": "- `sh total.sh --count`",
    "Non-Goals": "- no other output format",
    "Decision Boundaries": "- the builder decides how; a person decides on new options",
    "Constraints": "- plain POSIX shell",
    "Success Criteria": "- the number of prices is printed",
    "Assumptions Exposed": "- one price per line",
    "Brownfield Evidence vs Inference": "- total.sh reads standard input line by line",
    "Target Spec Domains": "- totals",
    "Execution Inputs": "- none",
    "Testable Acceptance Criteria": "- three prices give 3",
}
_DELTA = """## ADDED Requirements

### Requirement: Counting prices
The script SHALL print the number of prices when it is called with `--count`.

#### Scenario: Three prices
- **WHEN** three prices are given and `--count`
- **THEN** it prints 3
"""
_CHECK = "test \"$(printf '4\\n5\\n6\\n' | sh total.sh --count)\" = 3"
_SLICE = {
    "id": "VS-1",
    "title": "count",
    "type": "AFK",
    "blocked_by": [],
    "behavior": "total.sh --count prints how many prices there are",
    "acceptance_criteria": ["three prices give 3"],
    "verification_signal": "the number on standard output",
    "requirements": ["totals: Counting prices"],
    "checks": [
        {"id": "VS-1-counts", "command": _CHECK},
        {"id": "VS-1-still-adds", "command": "test \"$(printf '1\\n2\\n' | sh total.sh)\" = 3", "regression": True},
    ],
}
_SCRIPT = """#!/bin/sh
# Adds up the prices on standard input, one per line; with --count, prints their number.
sum=0 count=0
while read -r price || [ -n "$price" ]; do sum=$((sum + price)) count=$((count + 1)); done
if [ "$1" = --count ]; then echo "$count"; else echo "$sum"; fi
"""
_TURNS = [
    {"role": "clarifier", "answer": json.dumps({"sections": _SECTIONS, "question": "Do empty lines count?"})},
    {
        "role": "clarifier",
        "answer": json.dumps({"question": "Not even at the end of the input?", "presses_on": "A-1"}),
    },
    {"role": "clarifier", "answer": json.dumps({"question": None})},
    {
        "role": "planner",
        "answer": json.dumps(
            {
                "plan": "Count while adding up.",
                "architecture": "One script.",
                "design": "A counter next to the sum.",
                "why": "Users ask for the number of prices.",
                "what_changes": "- total.sh",
                "deltas": {"totals": _DELTA},
                "slices": [_SLICE],
            }
        ),
    },
    {"role": "builder", "run": "true", "answer": "Done! All checks are green."},
    {"role": "builder", "expect": "Make these checks pass", "run": f"cat > total.sh <<'END'\n{_SCRIPT}END"},
]


class Stage(Protocol):
    """The part of the demo that this module uses."""

    project: Path

    def narrate(self, text: str) -> None:
        """Print a sentence."""
        ...

    def type(self, *arguments: str, expect: int = 0) -> None:
        """Run a `loopwright` command."""
        ...

    def git(self, *arguments: str) -> None:
        """Run a git command."""
        ...


def demonstrate_workflow(demo: Stage) -> None:
    """An idea, a question, a plan, a false claim, a review, the end, and the updated specs."""
    own = demo.project / ".loopwright"
    (own / "turns.yaml").write_text(json.dumps({"turns": _TURNS}), encoding="utf-8")
    demo.narrate("The whole path from an idea. An agent asks about what is unclear; only a person answers.")
    demo.type("clarify", "count", "--idea", "total.sh should also say how many prices there are")
    demo.type("answer", "count", "A-1", "no, an empty line is not a price")
    demo.narrate("A follow-up question challenges the answer.")
    demo.type("clarify", "count")
    demo.type("answer", "count", "A-2", "not at the end either")
    demo.narrate("The spec is clear enough. A person approves exactly this text; a change would void the approval.")
    demo.type("approve", "count", "--from", "clarify", "--to", "plan")
    demo.narrate(
        "The plan comes with checks. Each check runs before any work, because a check that passes proves nothing."
    )
    demo.type("plan", "count")
    demo.type("approve", "count", "--from", "plan", "--to", "build")
    demo.narrate("The agent claims at once that it is done. The checks, run in a fresh copy, fail.")
    demo.type("build", "count")
    demo.type("approve", "count", "--from", "build", "--to", "review")
    demo.narrate("The review recomputes the evidence; the risk floor decides whether a second reviewer is required.")
    demo.type("review", "count")
    demo.narrate("Done: only now your files change, all of them or none.")
    demo.type("approve", "count", "--from", "review", "--to", "done")
    demo.git("commit", "-q", "-a", "-m", "total.sh counts")
    demo.narrate(
        "The specs record what is true now, and the command that verifies it, so they can be verified at any time."
    )
    demo.type("archive", "count")
    demo.type("specs", "verify")
    demo.type("verify")

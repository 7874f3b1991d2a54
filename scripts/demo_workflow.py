"""The last chapter of the demo: an idea becomes a change that is done, because checks say so and a person agreed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

_SECTIONS = {
    "Desired Outcome": "- one can ask how many prices there are",
    "In Scope": "- `sh total.sh --count`",
    "Non-Goals": "- no other output format",
    "Decision Boundaries": "- the builder decides how; a person decides on new options",
    "Constraints": "- plain POSIX shell",
    "Success Criteria": "- the number of prices is printed",
    "Assumptions Exposed": "- one price a line",
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
# Adds up the prices on standard input, one per line; with --count, says how many there are.
sum=0 count=0
while read -r price; do sum=$((sum + price)) count=$((count + 1)); done
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
                "design": "A counter beside the sum.",
                "why": "People ask how many prices there are.",
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
    """Where the story is told."""

    project: Path

    def tell(self, text: str) -> None:
        """A sentence."""
        ...

    def type(self, *arguments: str, expect: int = 0) -> None:
        """A command."""
        ...

    def git(self, *arguments: str) -> None:
        """A command of git's."""
        ...


def tell_of_workflows(demo: Stage) -> None:
    """An idea, a question, a plan, a claim that is not believed, a review, the end, and the specs that remember it."""
    own = demo.project / ".loopwright"
    (own / "turns.yaml").write_text(json.dumps({"turns": _TURNS}), encoding="utf-8")
    demo.git("checkout", "-q", ".")
    demo.tell("The whole path, from an idea. An agent asks what is not clear; only a person answers.")
    demo.type("clarify", "count", "--idea", "total.sh should also say how many prices there are")
    demo.type("answer", "count", "A-1", "no, an empty line is no price")
    demo.tell("The answer is put to the test by another question.")
    demo.type("clarify", "count")
    demo.type("answer", "count", "A-2", "not there either")
    demo.tell(
        "The spec is clear enough. A person agrees to exactly this text; if it changed, the consent would be void."
    )
    demo.type("approve", "count", "--from", "clarify", "--to", "plan")
    demo.tell("The plan comes with checks. Each is run before any work: one that passes already would prove nothing.")
    demo.type("plan", "count")
    demo.type("approve", "count", "--from", "plan", "--to", "build")
    demo.tell("The agent says at once that it is done. The checks, run by the tool in a fresh copy, say no.")
    demo.type("build", "count")
    demo.type("approve", "count", "--from", "build", "--to", "review")
    demo.tell("The review recomputes the evidence; the risk floor says whether somebody else has to look.")
    demo.type("review", "count")
    demo.tell("Done: only now are your files changed, all of them or none.")
    demo.type("approve", "count", "--from", "review", "--to", "done")
    demo.git("commit", "-q", "-a", "-m", "total.sh counts")
    demo.tell("The specs remember what is true now, and which command shows it: they can be asked again on any day.")
    demo.type("archive", "count")
    demo.type("specs", "verify")
    demo.type("verify")

"""The sample: a small project that should greet people by name, its spec, a plan, and a build."""

from __future__ import annotations

from typing import Any

FILES = {"hello.py": "def greet(name):\n    return 'hi'\n", ".gitignore": ".loopwright/\n__pycache__/\n"}
SPEC = """---
workflow: greet
---

# Greet

## Intent

Greet people by name.

## Desired Outcome

People feel addressed.

## Ambiguity List

## Clarified Answers

## In Scope

- greet

## Non-Goals

- no translations

## Decision Boundaries

- the builder decides on wording

## Constraints

- no dependency

## Success Criteria

- it says the name

## Assumptions Exposed

- names are text

## Brownfield Evidence vs Inference

- greet exists in hello.py

## Target Spec Domains

- greeting

## Execution Inputs

- none

## Testable Acceptance Criteria

- greet('Ann') is 'hello Ann'
"""
DELTA = """## ADDED Requirements

### Requirement: Greeting by name
The system SHALL greet a person by name.

#### Scenario: A name is given
- **WHEN** greet is called with Ann
- **THEN** it returns hello Ann
"""
CHECK = "python3 -c \"import hello; assert hello.greet('Ann') == 'hello Ann'\""
SLICE: dict[str, Any] = {
    "id": "VS-1",
    "title": "greet by name",
    "type": "AFK",
    "blocked_by": [],
    "behavior": "greet says the name",
    "acceptance_criteria": ["greet('Ann') is hello Ann"],
    "verification_signal": "python says so",
    "requirements": ["greeting: Greeting by name"],
    "checks": [{"id": "VS-1-C1", "command": CHECK}],
}
# The planner's answer.
REPLY: dict[str, Any] = {
    "plan": "Change greet.",
    "architecture": "One function.",
    "design": "As simple as it can be.",
    "why": "People have names.",
    "what_changes": "- greet",
    "deltas": {"greeting": DELTA},
    "slices": [SLICE],
}
# The work of an honest builder, as a shell command.
BUILT = "printf 'def greet(name):\\n    return f\"hello {name}\"\\n' > hello.py"

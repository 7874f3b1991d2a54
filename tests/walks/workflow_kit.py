"""What walks through workflows share: a spec that is clear, a planner's answer, and how to ask for codes."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime

import yaml

from loopwright.workflow import commands as c
from loopwright.workflow.facts import Gates
from loopwright.workflow.model import Delivery, Review, Transition
from loopwright.workflow.standing import Readiness, Standing
from loopwright.workflow.store import WorkflowStore
from loopwright.workspace.layout import Flavour, Layout

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
SLICE = {
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
REPLY = {
    "plan": "Change greet.",
    "architecture": "One function.",
    "design": "As simple as it can be.",
    "why": "People have names.",
    "what_changes": "- greet",
    "deltas": {"greeting": DELTA},
    "slices": [SLICE],
}
BUILT = "printf 'def greet(name):\\n    return f\"hello {name}\"\\n' > hello.py"


def planner(**changes):
    """A planner's turn; what is given differs from the usual answer."""
    return {"role": "planner", "answer": json.dumps({**REPLY, **changes})}


def prepare(project, turns=(), *, settings=""):
    """The sample project with a scripted agent that is used only where it is named."""
    project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    project.write(".gitignore", ".loopwright/\n__pycache__/\n")
    project.commit("a greeting")
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": list(turns)}))
    project.write(
        ".loopwright/config.toml",
        '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "none"\n' + settings,
    )
    project.write("../SPEC.md", SPEC)


def ok(project, *arguments):
    done = project.run(*arguments)
    assert done.exit_code == 0, done.stdout + done.stderr
    return done


def refusal(project, *arguments):
    """The typed refusal of a command."""
    done = project.run(*arguments, "--json")
    assert done.exit_code == 1, done.stdout + done.stderr
    record = json.loads(done.stderr.splitlines()[-1])
    assert record["ok"] is False
    assert record["next"]
    return record


def status(project, slug="greet"):
    return ok(project, "status", slug, "--json").json()


def blockers(project, gate, slug="greet"):
    return {one["code"]: one for one in status(project, slug)["readiness"][gate]["blockers"]}


def plan(project, *arguments, agent="scripted", slug="greet"):
    """Plan it straight from the spec."""
    return ok(project, "plan", slug, "--direct", str(project.root.parent / "SPEC.md"), "--agent", agent, *arguments)


def state(project, slug="greet"):
    return json.loads((project.own / "workflows" / slug / "state.json").read_text())


def built(project, turns=None, *, slug="greet", settings="", **changes):
    """Planned, approved and built, by the commands that a person types."""
    builds = {"role": "builder", "run": BUILT}
    prepare(project, [planner(**changes), *(turns if turns is not None else [builds])], settings=settings)
    build_it(project, slug)


def build_it(project, slug="greet"):
    """Plan, approve and build with the turns that are there."""
    planned = plan(project, slug=slug)
    ok(project, "approve", slug, "--from", "plan", "--to", "build")
    ok(project, "build", slug, "--agent", "scripted")
    return planned


def finish(project, slug="greet", *, work=BUILT):
    """Review and delivery by the library: what was built is in the checkout, and the workflow is done."""
    subprocess.run(["sh", "-c", work], cwd=project.root, check=True)
    layout = Layout(project.root, Flavour.UNIFIED, project.home)
    store = WorkflowStore(layout, lambda: datetime.now(UTC), Gates())
    with store.changing(slug) as opened:
        standing = Standing(Readiness(), opened.standing().subjects)
        tree = opened.workflow.verification.tree
        for command in (
            c.Approve(transition=Transition.BUILD_REVIEW, standing=standing, by="ann"),
            c.Enter(transition=Transition.BUILD_REVIEW, standing=standing),
            c.RecordReview(review=Review(verdict="approve", reviewer="bob", tree=tree)),
            c.Approve(transition=Transition.REVIEW_DONE, standing=standing, by="ann"),
            c.Enter(
                transition=Transition.REVIEW_DONE,
                standing=standing,
                delivery=Delivery(how="patch", where="main", before="0" * 40, patch_sha256="0" * 64),
            ),
        ):
            opened.apply(command, "ann")


def bytes_of(*tops):
    """Every file below some folders, by path: what must not change, or must."""
    return {str(path): path.read_bytes() for top in tops for path in sorted(top.rglob("*")) if path.is_file()}

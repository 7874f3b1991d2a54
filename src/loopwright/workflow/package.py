"""The plan package: the documents of a plan, by the keys that blockers use."""

from __future__ import annotations

from collections.abc import Mapping

# In the folder of the workflow.
PLAN_DOCUMENTS: Mapping[str, str] = {
    "plan": "plan.md",
    "architecture": "architecture.md",
    "development_plan": "development-plan.md",
    "test_plan": "test-plan.md",
}
# In the folder of the change.
CHANGE_DOCUMENTS: Mapping[str, str] = {
    "proposal": "change/proposal.md",
    "design": "change/design.md",
    "tasks": "change/tasks.md",
    "spec_delta": "change/spec-delta.md",
}
SLICES = "change/slices.json"
GRAPH = "change/artifact-graph.json"


def prd_of(slug: str) -> str:
    """The canonical document of what to build."""
    return f"plans/prd-{slug}.md"


def test_spec_of(slug: str) -> str:
    """The canonical document of how the work is judged."""
    return f"plans/test-spec-{slug}.md"


def delta_of(domain: str) -> str:
    """The delta of a domain's spec."""
    return f"change/specs/{domain}/spec.md"


def is_planners(name: str) -> bool:
    """Whether a planner writes this document; the others are composed, or report results."""
    own = (PLAN_DOCUMENTS["plan"], PLAN_DOCUMENTS["architecture"], CHANGE_DOCUMENTS["proposal"],
           CHANGE_DOCUMENTS["design"], SLICES)  # fmt: skip
    return name in own or name.startswith("change/specs/")


def language_problem(text: str, wanted: str) -> str | None:
    """Why a text is not in the required language; None if it is, or if any language is allowed."""
    if wanted != "zh":
        return None
    letters = [character for character in text if character.isalpha()]
    chinese = sum("\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" for character in letters)
    if chinese >= 40 or (chinese >= 8 and chinese * 5 >= len(letters)):
        return None
    return f"{chinese} Chinese characters among {len(letters)} letters"

"""The plan package: the documents of a plan, by the keys that blockers use, and valid names of spec domains."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from loopwright.kernel.files import shown

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


LONGEST = 120
_LONGEST_PART_BYTES = 200
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
# A folder named spec.md hides a spec; OpenSpec looks for `specs` and `changes` in paths.
_RESERVED = {"spec.md", "specs", "changes", "archive"}


def domain_problem(name: str) -> str | None:
    """Why this is not a valid name of a domain, in a sentence; None if it is valid."""
    if not name:
        return "a domain needs a name"
    if len(name) > LONGEST:
        return f"the domain '{_safe(name[:40])}…' has {len(name)} characters; the limit is {LONGEST}"
    if name.startswith(("/", "\\")) or name[1:3] in (":/", ":\\"):
        return f"the domain '{_safe(name)}' is an absolute path; use a path relative to the folder of specs"
    if unicodedata.normalize("NFC", name) != name:
        return f"the domain '{_safe(name)}' uses decomposed accents; write it in NFC"
    for part in name.split("/"):
        problem = _part_problem(part)
        if problem is not None:
            return f"the domain '{_safe(name)}' {problem}"
    return None


def _safe(name: str) -> str:
    """A name that is safe for a terminal, including half a character."""
    return shown(name.encode("utf-8", "backslashreplace"))


def _part_problem(part: str) -> str | None:
    if not part:
        return "has an empty part between its slashes"
    if part in (".", ".."):
        return f"has the part '{part}', which leaves its folder"
    if not all(char.isalnum() or char in "-_." or unicodedata.category(char).startswith("M") for char in part):
        return f"has a character in '{_safe(part)}' that is not a letter, digit, '-', '_' or '.'"
    if not part[0].isalnum() or part.endswith("."):
        return f"has the part '{_safe(part)}', which must start with a letter or digit and must not end with a dot"
    if part.lower() in _RESERVED or part.lower().split(".")[0] in _DEVICES:
        return f"has the part '{part}', a reserved name"
    if len(part.encode()) > _LONGEST_PART_BYTES:
        return f"has a part of more than {_LONGEST_PART_BYTES} bytes"
    return None

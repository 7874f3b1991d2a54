"""The files of a workflow at one moment, read and parsed; damage is a fact too. Judges nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

import msgspec

from loopwright.kernel.digest import sha256
from loopwright.workflow.delta.model import Conflict
from loopwright.workflow.documents.page import PageProblem
from loopwright.workflow.documents.record import Ledger, Record
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.package import CHANGE_DOCUMENTS, PLAN_DOCUMENTS, SLICES
from loopwright.workflow.slices import Slices
from loopwright.workspace.settings_model import ProjectSettings

DELTA_PART = "delta "


class Missing(msgspec.Struct, frozen=True):
    """The document is missing."""


class Damaged(msgspec.Struct, frozen=True):
    """The document can't be read; each problem has its line."""

    problems: tuple[PageProblem, ...]

    def sentence(self) -> str:
        """The problems in one line."""
        return "; ".join(str(problem) for problem in self.problems[:5])


class Gates(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the workspace that gates depend on."""

    full: bool = False
    document_language: str = "any"
    seal: tuple[str, ...] = ()
    project: ProjectSettings = ProjectSettings()
    # Whether no test command is set, and no person said that there is none.
    is_untested: bool = True


class Document(msgspec.Struct, frozen=True):
    """The state of a plan document, and why its language is wrong, if it is."""

    status: Literal["present", "empty", "missing", "damaged"]
    language: str | None = None


class DeltaFact(msgspec.Struct, frozen=True):
    """The requirements of one domain that a change touches, or the problems of its delta."""

    requirements: tuple[str, ...] = ()
    problems: tuple[PageProblem, ...] = ()


_PLANNERS = frozenset({PLAN_DOCUMENTS["plan"], PLAN_DOCUMENTS["architecture"], CHANGE_DOCUMENTS["design"]})


def written_by_planner(parts: Mapping[str, str]) -> dict[str, str]:
    """Of the parts of a plan those that a planner writes, without the composed documents and the protected files."""
    return {
        name: digest for name, digest in parts.items() if name in _PLANNERS or name.startswith((DELTA_PART, SLICES))
    }


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything besides the journal from which readiness is derived."""

    spec: Spec | Missing | Damaged = Missing()
    spec_path: str = "spec.md"
    objects_path: str = "objects"
    # Folders to show to a person: of the workflow, of its change and of the canonical plans.
    folder_path: str = "."
    change_path: str = "change"
    plans_path: str = "plans"
    gates: Gates = Gates()
    plan_documents: dict[str, Document] = {}
    change_documents: dict[str, Document] = {}
    prd: Document = Document("missing")
    test_spec: Document = Document("missing")
    slices: Slices | Missing | Damaged = Missing()
    deltas: dict[str, DeltaFact] = {}
    # Paths and globs in the plan's scope that the settings do not allow.
    wider_scope: tuple[str, ...] = ()
    # Digests of the contents that the plan's approval covers, by name.
    plan_parts: dict[str, str] = {}
    # The judges in the project, by path.
    judges: dict[str, str] = {}
    base_tree: str = ""
    record: Record | Missing | Damaged = Missing()
    ledger: Ledger = Ledger()
    manifest_problem: str = ""
    manifest_status: str = "missing"
    # Runs that no longer verify, and why; read only when a gate rests on them.
    evidence: dict[str, str] = {}
    # Why the delta can't be merged into the current living specs.
    conflicts: tuple[Conflict, ...] = ()
    # Requirements that other active changes touch too, by the ids of those changes.
    rivals: dict[str, tuple[Conflict, ...]] = {}

    def place(self, name: str) -> str:
        """The path of a document in the project."""
        top, _, rest = name.partition("/")
        folder = {"change": self.change_path, "plans": self.plans_path}.get(top) if rest else None
        return os.path.normpath(f"{folder}/{rest}" if folder is not None else f"{self.folder_path}/{name}")

    @property
    def readable_slices(self) -> Slices:
        """The slices of the plan; none if they are missing or can't be read."""
        return self.slices if isinstance(self.slices, Slices) else Slices(())

    @property
    def requirements(self) -> dict[str, tuple[str, ...]]:
        """The requirements that the change touches, by domain."""
        return {domain: delta.requirements for domain, delta in self.deltas.items()}

    @property
    def delta_parts(self) -> dict[str, str]:
        """Digests of the delta, by name: a part of what the plan's approval covers."""
        return {name: digest for name, digest in self.plan_parts.items() if name.startswith(DELTA_PART)}

    @property
    def planned_parts(self) -> dict[str, str]:
        """Digests of the spec and of the planner's documents, without the composed documents."""
        spec = self.spec.page.sections if isinstance(self.spec, Spec) else ()
        text = "\0".join(f"{section.name}\0{section.text}" for section in spec if section.text)
        return {"spec.md": sha256(text.encode()), **written_by_planner(self.plan_parts)}

    @property
    def spec_status(self) -> str:
        """The status of the spec in the contract's terms."""
        return {Missing: "missing", Damaged: "damaged"}.get(type(self.spec), "spec")

    @property
    def record_status(self) -> str:
        """Whether the execution record is complete."""
        match self.record:
            case Missing():
                return "missing"
            case Damaged():
                return "invalid"
            case Record() as found:
                return "incomplete" if found.missing else "complete"

    @property
    def change_status(self) -> str:
        """Whether the documents of the change are complete."""
        statuses = {document.status for document in self.change_documents.values()}
        if not statuses or statuses == {"missing"}:
            return "missing"
        return "complete" if statuses == {"present"} else "incomplete"

    @property
    def package_status(self) -> str:
        """Whether the documents of the plan are complete."""
        statuses = {document.status for document in (*self.plan_documents.values(), self.prd, self.test_spec)}
        if statuses <= {"missing"}:
            return "missing"
        return "complete" if statuses == {"present"} else "incomplete"

    @property
    def slices_status(self) -> str:
        """Whether the slices can be read."""
        return {Missing: "missing", Damaged: "invalid"}.get(type(self.slices), "complete")

    @property
    def delta_status(self) -> str:
        """The status of the delta in the contract's terms."""
        wanted = self.spec.domains if isinstance(self.spec, Spec) else ()
        if not self.deltas:
            return "empty"
        if any(delta.problems for delta in self.deltas.values()):
            return "invalid"
        if any(name not in self.deltas for name in wanted):
            return "missing_domains"
        return "complete" if all(delta.requirements for delta in self.deltas.values()) else "missing_requirements"

    @property
    def spec_sentence(self) -> str:
        """The spec in one line."""
        match self.spec:
            case Missing():
                return f"{self.spec_path} is missing"
            case Damaged() as damaged:
                return f"{self.spec_path} can't be read: {damaged.sentence()}"
            case Spec() as spec:
                return f"{self.spec_path}: {len(spec.open_items)} of {len(spec.items)} questions open"

"""What is on the disk for a workflow at this moment, read and parsed; damage is a fact too. Judges nothing."""

from __future__ import annotations

import os
from typing import Literal

import msgspec

from loopwright.kernel.digest import sha256
from loopwright.workflow.delta.model import Conflict
from loopwright.workflow.documents.page import PageProblem
from loopwright.workflow.documents.record import Ledger, Record
from loopwright.workflow.documents.spec import Spec
from loopwright.workflow.package import CHANGE_DOCUMENTS, PLAN_DOCUMENTS, SLICES
from loopwright.workflow.slices import Slices

DELTA_PART = "delta "


class Missing(msgspec.Struct, frozen=True):
    """There is no such document."""


class Damaged(msgspec.Struct, frozen=True):
    """There is one, and it can't be read; each problem has its line."""

    problems: tuple[PageProblem, ...]

    def sentence(self) -> str:
        """The problems in a line."""
        return "; ".join(str(problem) for problem in self.problems[:5])


class Gates(msgspec.Struct, frozen=True, kw_only=True):
    """What the workspace's settings ask of gates."""

    full: bool = False
    document_language: str = "any"
    seal: tuple[str, ...] = ()
    # Whether the project's own tests can be run.
    has_test_command: bool = False


class Document(msgspec.Struct, frozen=True):
    """A document of the plan package: there, empty, or missing; and why its language is not the wanted one."""

    status: Literal["present", "empty", "missing", "damaged"]
    language: str | None = None


class DeltaFact(msgspec.Struct, frozen=True):
    """What a change says about one domain: the requirements that it touches, or what is wrong with it."""

    requirements: tuple[str, ...] = ()
    problems: tuple[PageProblem, ...] = ()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that readiness is derived from, besides the journal."""

    spec: Spec | Missing | Damaged = Missing()
    spec_path: str = "spec.md"
    objects_path: str = "objects"
    # Where the workflow's own documents, its change's and the canonical plans are, for whoever has to open one.
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
    # Digests of what the plan's approval is about, by name.
    plan_parts: dict[str, str] = {}
    # The judges as they are in the project now, by path.
    judges: dict[str, str] = {}
    base_tree: str = ""
    record: Record | Missing | Damaged = Missing()
    ledger: Ledger = Ledger()
    manifest_problem: str = ""
    manifest_status: str = "missing"
    # Why the delta can't be merged into the living specs as they are now.
    conflicts: tuple[Conflict, ...] = ()
    # What other active changes touch of what this one touches, by their ids.
    rivals: dict[str, tuple[Conflict, ...]] = {}

    def place(self, name: str) -> str:
        """A document's path in the project, by the name that it has among the workflow's."""
        top, _, rest = name.partition("/")
        folder = {"change": self.change_path, "plans": self.plans_path}.get(top) if rest else None
        return os.path.normpath(f"{folder}/{rest}" if folder is not None else f"{self.folder_path}/{name}")

    @property
    def delta_parts(self) -> dict[str, str]:
        """Digests of what the delta says, by name: a part of what the plan's approval is about."""
        return {name: digest for name, digest in self.plan_parts.items() if name.startswith(DELTA_PART)}

    @property
    def planned_parts(self) -> dict[str, str]:
        """Digests of the spec and of what a planner writes; what the tool composes of it says nothing of its own."""
        spec = self.spec.page.sections if isinstance(self.spec, Spec) else ()
        said = "\0".join(f"{section.name}\0{section.text}" for section in spec if section.text)
        pages = {PLAN_DOCUMENTS["plan"], PLAN_DOCUMENTS["architecture"], CHANGE_DOCUMENTS["design"]}
        written = {
            name: digest
            for name, digest in self.plan_parts.items()
            if name in pages or name.startswith((DELTA_PART, SLICES))
        }
        return {"spec.md": sha256(said.encode()), **written}

    @property
    def spec_status(self) -> str:
        """The contract's word for the spec."""
        match self.spec:
            case Missing():
                return "missing"
            case Damaged():
                return "damaged"
            case Spec():
                return "spec"

    @property
    def record_status(self) -> str:
        """Whether the execution record is whole."""
        match self.record:
            case Missing():
                return "missing"
            case Damaged():
                return "invalid"
            case Record() as found:
                return "incomplete" if found.missing else "complete"

    @property
    def change_status(self) -> str:
        """Whether the change's documents are all there."""
        found = {one.status for one in self.change_documents.values()}
        if not found or found == {"missing"}:
            return "missing"
        return "complete" if found == {"present"} else "incomplete"

    @property
    def package_status(self) -> str:
        """Whether the plan's documents are all there."""
        found = {one.status for one in (*self.plan_documents.values(), self.prd, self.test_spec)}
        if found <= {"missing"}:
            return "missing"
        return "complete" if found == {"present"} else "incomplete"

    @property
    def slices_status(self) -> str:
        """Whether the slices can be read."""
        return {Missing: "missing", Damaged: "invalid"}.get(type(self.slices), "complete")

    @property
    def delta_status(self) -> str:
        """The contract's word for the delta: complete, or what it lacks."""
        wanted = self.spec.domains if isinstance(self.spec, Spec) else ()
        if not self.deltas:
            return "empty"
        if any(one.problems for one in self.deltas.values()):
            return "invalid"
        if any(name not in self.deltas for name in wanted):
            return "missing_domains"
        return "complete" if all(one.requirements for one in self.deltas.values()) else "missing_requirements"

    @property
    def spec_sentence(self) -> str:
        """The spec in a line."""
        match self.spec:
            case Missing():
                return f"there is no {self.spec_path}"
            case Damaged() as damaged:
                return f"{self.spec_path} can't be read: {damaged.sentence()}"
            case Spec() as spec:
                return f"{self.spec_path}: {len(spec.open_items)} of {len(spec.items)} questions are open"

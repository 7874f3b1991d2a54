"""What is on the disk for a workflow at this moment, read and parsed; damage is a fact too. Judges nothing."""

from __future__ import annotations

import msgspec

from loopwright.workflow.documents.page import Problem
from loopwright.workflow.documents.spec import Spec


class Missing(msgspec.Struct, frozen=True):
    """There is no such document."""


class Damaged(msgspec.Struct, frozen=True):
    """There is one, and it can't be read; each problem has its line."""

    problems: tuple[Problem, ...]

    def sentence(self) -> str:
        """The problems in a line."""
        return "; ".join(str(problem) for problem in self.problems[:5])


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that readiness is derived from, besides the journal."""

    spec: Spec | Missing | Damaged = Missing()
    spec_path: str = "spec.md"
    objects_path: str = "objects"
    record_status: str = "missing"
    change_status: str = "missing"
    slices_status: str = "missing"
    delta_status: str = "missing"
    manifest_status: str = "missing"

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

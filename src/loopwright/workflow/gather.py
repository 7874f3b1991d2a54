"""Reads what is on the disk for a workflow. Damage is a fact like any other; nothing is written and nothing judged."""

from __future__ import annotations

import os

from loopwright.kernel.files import read_plainly
from loopwright.workflow.documents.page import MOST_BYTES, NotAPage, Problem
from loopwright.workflow.documents.spec import Spec, read_spec
from loopwright.workflow.facts import Damaged, Facts, Missing
from loopwright.workflow.model import Workflow
from loopwright.workspace.layout import WorkflowPaths

SPEC = "spec.md"


def gather(workflow: Workflow, paths: WorkflowPaths) -> Facts:
    """The facts of this moment."""
    del workflow
    root = paths.layout.root
    return Facts(
        spec=read_spec_file(paths),
        spec_path=os.path.relpath(paths.document(SPEC), root),
        objects_path=os.path.relpath(paths.folder / "objects", root),
    )


def read_spec_file(paths: WorkflowPaths) -> Spec | Missing | Damaged:
    """The spec as it is on the disk."""
    try:
        return read_spec(read_plainly(paths.document(SPEC), most=MOST_BYTES))
    except FileNotFoundError:
        return Missing()
    except OSError as problem:
        return Damaged((Problem(1, problem.strerror or str(problem)),))
    except NotAPage as problem:
        return Damaged(problem.problems)

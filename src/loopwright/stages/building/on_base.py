"""What the checks say on the base, before any work: what passes there proves nothing, and another base says anew."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from loopwright.kernel.process import Cancellation
from loopwright.sandbox.open import project_tree
from loopwright.stages.building.checking import run_checks
from loopwright.stages.context import Context, workflows_of
from loopwright.workflow import events as e
from loopwright.workflow.model import Control
from loopwright.workflow.slices import Slices
from loopwright.workflow.store import Snapshot

Tell = Callable[[str], None]


class OnBase(msgspec.Struct, frozen=True):
    """What the checks said of the base: the tree that they ran on, and what is to be recorded, if anything is new."""

    tree: str = ""
    controls: dict[str, Control] = {}


def control_on_base(context: Context, snapshot: Snapshot, tell: Tell, cancellation: Cancellation) -> str:
    """Run what was not run on the project as it is now, and record it; the tree, if there is any check."""
    on_base = run_on_base(context, snapshot, tell, cancellation)
    if on_base.controls:
        with workflows_of(context).changing(snapshot.workflow.slug) as opened:
            opened.apply(e.ChecksControlled(controls=on_base.controls), "tool")
    return on_base.tree


def run_on_base(context: Context, snapshot: Snapshot, tell: Tell, cancellation: Cancellation) -> OnBase:
    """Run the checks of a plan that were not run on the project as it is now; records nothing."""
    slug, slices, known = snapshot.workflow.slug, snapshot.facts.slices, snapshot.workflow.controls
    if not isinstance(slices, Slices) or not slices.checks:
        return OnBase()
    if all(check.id in known and known[check.id].digest == check.digest for check in slices.checks):
        # What is not committed is part of the tree.
        tree = project_tree(context.sandbox_request(), f"{slug}-base", cancellation)
        if {known[check.id].tree for check in slices.checks} == {tree}:
            return OnBase(tree)
        tell("the project is another one than the checks were tried on")
    tell(f"{len(slices.checks)} checks are run on the base: what passes there proves nothing")
    checked = run_checks(
        context, slug, slices.checks, name="control", sandbox=context.sandbox_request(), cancellation=cancellation
    )
    controls = {
        check.id: Control(
            digest=check.digest, tree=checked.runs[check.id].tree, passed=checked.runs[check.id].passed,
            run_id=checked.evidence.run_id,
        )
        for check in slices.checks
    }  # fmt: skip
    return OnBase(checked.runs[slices.checks[0].id].tree, controls)

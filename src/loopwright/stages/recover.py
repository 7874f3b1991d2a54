"""Cleans up after Loopwright processes that died: their child processes, sandboxes and unfinished records."""

from __future__ import annotations

from contextlib import suppress

from loopwright.errors import DamagedFile, SandboxCreateFailed, StorageFailed
from loopwright.evidence.model import SCHEMA, Evidence
from loopwright.evidence.store import EVIDENCE, RunFolder, RunOrigin
from loopwright.kernel.clock import stamp
from loopwright.kernel.digest import sha256_of_file
from loopwright.kernel.files import remove_stale_temporaries, shown
from loopwright.redaction.model import Redacted, seal
from loopwright.reflection.store import remove_hook_leftovers
from loopwright.runner.latch import set_latch
from loopwright.sandbox import place
from loopwright.stages.context import Context
from loopwright.version import VERSION


def recover(context: Context) -> list[str]:
    """End leftover processes of dead runs, remove their sandboxes, and close their records as interrupted.

    Returns these runs.
    """
    # A root that is not safe to use is not safe to clean; opening a sandbox there reports the error.
    with suppress(SandboxCreateFailed):
        for leftover in place.leftovers(context.sandbox_root(), context.project):
            with suppress(StorageFailed):  # one failure must not stop the rest; `doctor` reports it
                place.clear(leftover)
        place.drop_stale_locks(context.sandbox_root())
    layout = context.layout
    of_loops = (layout.loops, *layout.loops.glob("*.progress"), *layout.loops.glob("*.progress/work"))
    of_workflows = (*layout.workflows.glob("*"), *layout.workflows.glob("*/objects"))
    for home in (layout.own, layout.result.parent, layout.plan.parent, layout.analysis, *of_loops, *of_workflows):
        remove_stale_temporaries(home)
    remove_hook_leftovers(context.layout.reflections)
    runs = []
    for dead in context.store.abandoned():
        folder = context.store.reclaim(dead.run_id)
        if folder is None:
            continue
        try:
            remove_stale_temporaries(folder.path)
            if (folder.path / EVIDENCE).is_file():
                with suppress(DamagedFile):  # damaged evidence must not become a valid record
                    context.store.adopt(dead.run_id, stamp(context.clock()))
            else:
                _close(context, folder, dead.origin)
        finally:
            folder.release()
        runs.append(dead.run_id)
    _latch_interrupted_failure(context)
    return runs


def latches(code: str) -> bool:
    """Whether a failure with this code latches the workspace."""
    return code not in ("LATCHED", "INTERRUPTED")


def latch(context: Context, run_id: str, reason: str) -> None:
    """Latch the workspace, unless it is latched already."""
    set_latch(context.layout.latch, created_at=stamp(context.clock()), reason=reason, run_id=run_id)


def _latch_interrupted_failure(context: Context) -> None:
    """Latch for a run that failed, but whose process died before it wrote result and latch."""
    recorded = context.store.recorded()
    if not recorded or not context.settings.values.run.latch or not context.layout.result.exists():
        return
    run_id = recorded[-1].data["run_id"]
    if f"run_id: {run_id}\n".encode() in context.layout.result.read_bytes():
        return
    try:
        evidence, _ = context.store.load(run_id)
    except DamagedFile:
        return
    if evidence.kind == "run" and evidence.error_code is not None and latches(evidence.error_code):
        latch(context, run_id, f"{evidence.error_code}: {evidence.message.text.splitlines()[0]}")


def _close(context: Context, folder: RunFolder, origin: RunOrigin) -> None:
    """Record the run as interrupted. Its logs stay and are listed, without any claim about them."""
    files = sorted(path for path in folder.path.rglob("*") if path.is_file() and not path.is_symlink())
    digests = {str(path.relative_to(folder.path)): sha256_of_file(path) for path in files}
    now = stamp(context.clock())
    nothing = _text("")
    evidence = Evidence(
        schema=SCHEMA, run_id=folder.run_id, kind=origin.kind, rerun_of=origin.rerun_of, tool_version=VERSION,
        status="ERROR", error_code="INTERRUPTED", message=_text("the process that ran it died"), goal=nothing,
        plan_source_hash=digests.get("plan.yaml"), started_at=now, finished_at=now, duration_s=0.0, base=None,
        sandbox=None, isolation=None, env_status={}, relaxed_rules={}, findings=[], steps=[], result_tree=None,
        changed_files=[], patch_sha256=None, files=digests, previous=None,
        loop_id=origin.loop_id, workflow=origin.workflow,
    )  # fmt: skip
    context.store.publish(folder, evidence)


def _text(text: str) -> Redacted:
    return seal(shown(text).encode())

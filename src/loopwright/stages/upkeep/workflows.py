"""What `doctor` checks in workflows: each finding has a code, a sentence and a remedy; `fix` repairs.

Checks change nothing. Repairs use the same code as the commands do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from loopwright.errors import LoopwrightError
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import (
    read_regular_file,
    remove_stale_temporaries,
    remove_tree,
    set_aside,
    shown,
    write_durably,
)
from loopwright.kernel.locks import is_held, locked
from loopwright.stages import deliver
from loopwright.stages.clarifying.begin import profile_of
from loopwright.stages.context import Context, workflows_of
from loopwright.stages.person import actor
from loopwright.workflow import commands as c
from loopwright.workflow.documents.page import MOST_BYTES, NotAPage
from loopwright.workflow.documents.spec import INTENT, read_spec
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Archived, Clarifying, Done, Workflow
from loopwright.workflow.upkeep import CUT_SHORT, UNDONE, is_sound, look, mend_journal, paths_now, undo_needs
from loopwright.workspace.layout import Layout, WorkflowPaths

Health = Literal["ok", "note", "problem", "fixed"]
_FIX = "`loopwright doctor --fix`"


class UpkeepFinding(msgspec.Struct, frozen=True):
    """One finding of `doctor`."""

    code: str
    what: str
    health: Health
    said: str
    remedy: str = ""


def check_workflows(context: Context, *, fix: bool) -> Iterator[UpkeepFinding]:
    """Check all workflows, except those that a command is changing."""
    if fix:
        _clear_temporaries(context.layout)
    slugs = context.layout.workflow_slugs()
    found: list[UpkeepFinding] = []
    for slug in slugs:
        if is_held(context.layout.lock(f"workflow-{slug}")):
            found.append(UpkeepFinding("workflow_busy", _name(slug), "note", "skipped: a command is changing it"))
            continue
        try:
            found += _check(context, slug, fix=fix)
        except (LoopwrightError, OSError) as problem:  # one broken workflow must not stop the other checks
            text = problem.message if isinstance(problem, LoopwrightError) else str(problem)
            found.append(
                UpkeepFinding("workflow_unreadable", _name(slug), "problem", text, f"loopwright status {slug}")
            )
    yield from found
    if slugs and not found:
        yield UpkeepFinding("workflows", "workflows", "ok", f"checked: {len(slugs)}, no problems")


def _clear_temporaries(layout: Layout) -> None:
    """Remove half-written files of dead processes in all folders of documents and specs."""
    tops = (layout.workflows, layout.active_changes, layout.archived_changes, layout.plans, layout.specs)
    for top in (*tops, layout.own / "specs", layout.context_notes, layout.adr_candidates, layout.developer_journals):
        for folder, _, _ in os.walk(top):
            remove_stale_temporaries(Path(folder))


def _check(context: Context, slug: str, *, fix: bool) -> list[UpkeepFinding]:
    paths = context.layout.workflow(slug)
    if not paths.folder.is_dir():
        text = f"{_shown(context, paths.folder)} is a file, not the folder of a workflow"
        return [UpkeepFinding("workflow_stray_file", _name(slug), "note", text, "move the file away")]
    found = list(_journal(context, paths, fix=fix))
    known = look(paths) if paths.journal.is_file() else None
    if known is None or known.workflow is None or known.damage is not None:
        return found
    workflow = known.workflow
    # Interrupted commands first: finishing them may resolve the rest.
    found += _cut_short(context, paths, workflow, fix=fix)
    workflow = look(paths).workflow or workflow
    found += _objects(paths, workflow, fix=fix)
    found += _documents(context, paths, workflow, fix=fix)
    found += _state(context, paths, workflow, fix=fix)
    return found


def _journal(context: Context, paths: WorkflowPaths, *, fix: bool) -> Iterator[UpkeepFinding]:
    name = _name(paths.slug)
    if not paths.journal.is_file():
        yield _without_journal(context, paths, fix=fix)
        return
    state = look(paths)
    if state.damage is None and state.workflow is not None:
        return
    why = state.damage or "it has no complete line"
    text = f"{_shown(context, paths.journal)} is damaged after byte {state.sound_bytes}: {why}"
    if not fix:
        yield UpkeepFinding("workflow_journal_damaged", name, "problem", text, _FIX)
        return
    with locked(context.layout.lock(f"workflow-{paths.slug}")):
        aside = mend_journal(paths)
    kept = f"the damaged file is {_shown(context, aside)}"
    if state.workflow is None:
        begun = _begin_again(context, paths)
        yield UpkeepFinding("workflow_journal_damaged", name, "fixed", f"{text}; {begun}; {kept}")
        return
    with workflows_of(context).changing(paths.slug) as opened:
        stage = opened.workflow.stage.value
    yield UpkeepFinding(
        "workflow_journal_damaged", name, "fixed",
        f"{text}; the intact lines are kept, and the workflow is at {stage}; {kept}",
    )  # fmt: skip


def _without_journal(context: Context, paths: WorkflowPaths, *, fix: bool) -> UpkeepFinding:
    """A folder without a journal: a process died before the first line, or the journal was removed."""
    name = _name(paths.slug)
    others = [entry.name for entry in os.scandir(paths.folder) if entry.name not in ("objects", "state.json")]
    if others:
        text = f"{_shown(context, paths.folder)} has no journal, but contains {', '.join(sorted(others)[:5])}"
        if fix and paths.document(SPEC).is_file():
            text = f"{text}; {_begin_again(context, paths)}"
            return UpkeepFinding("workflow_without_journal", name, "fixed", text)
        remedy = f"restore the journal from git, or start again from the spec with {_FIX}"
        return UpkeepFinding("workflow_without_journal", name, "problem", text, remedy)
    text = f"{_shown(context, paths.folder)} is left over: no workflow was started there"
    if not fix:
        return UpkeepFinding("workflow_leftover", name, "problem", text, _FIX)
    with locked(context.layout.lock(f"workflow-{paths.slug}")):
        if not paths.journal.exists():
            remove_tree(paths.folder)
    return UpkeepFinding("workflow_leftover", name, "fixed", text)


def _begin_again(context: Context, paths: WorkflowPaths) -> str:
    """Start the workflow again at clarify with its spec. Its approvals were in the journal and are lost."""
    data = _read(paths, SPEC)
    try:
        idea = read_spec(data).page.text_of(INTENT) if data is not None else ""
    except NotAPage:
        idea = ""
    documents = {SPEC: data} if data is not None else {}
    command = c.Begin(
        slug=paths.slug,
        idea=context.tools().redactor.clean(idea or paths.slug).text,
        profile=profile_of(context.settings.values.workflow.clarify),
        documents={name: sha256(kept) for name, kept in documents.items()},
    )
    workflows_of(context).begin(command, actor(), documents)
    return "no line is intact, so the workflow starts again at clarify, with the existing documents"


def _cut_short(context: Context, paths: WorkflowPaths, workflow: Workflow, *, fix: bool) -> Iterator[UpkeepFinding]:
    name = _name(paths.slug)
    if (paths.folder / CUT_SHORT).is_file():
        text = "a delivery or an undo was interrupted"
        if fix:
            with workflows_of(context).changing(paths.slug):
                deliver.finish(context, paths.slug)
            yield UpkeepFinding("delivery_cut_short", name, "fixed", f"{text}; it is finished now")
        else:
            yield UpkeepFinding("delivery_cut_short", name, "problem", text, _FIX)
    delivery = workflow.at.delivery if isinstance(workflow.at, Done | Archived) else None
    if (paths.folder / UNDONE).is_file() and delivery is not None and delivery.how == "patch":
        text = "an undo was interrupted: the files are restored, but the journal does not record it"
        yield UpkeepFinding("undo_cut_short", name, "problem", text, f"loopwright undo {paths.slug}")
    if isinstance(workflow.at, Archived) and workflow.at.pending:
        text = f"an archive was interrupted; files that may be missing: {len(workflow.at.pending)}"
        if fix and _settled(context, paths.slug):
            yield UpkeepFinding("archive_cut_short", name, "fixed", f"{text}; all are written now")
        else:
            remedy = f"loopwright archive {paths.slug}" if fix else _FIX
            yield UpkeepFinding("archive_cut_short", name, "problem", text, remedy)


def _settled(context: Context, slug: str) -> bool:
    """Opening the workflow finishes the archive, unless a spec was changed meanwhile."""
    with workflows_of(context).changing(slug) as opened:
        return isinstance(opened.workflow.at, Archived) and not opened.workflow.at.pending


def _objects(paths: WorkflowPaths, workflow: Workflow, *, fix: bool) -> Iterator[UpkeepFinding]:
    """Stored versions of documents; a damaged version is worse than none, because it would be restored."""
    name = _name(paths.slug)
    at = paths_now(paths, workflow)
    if not isinstance(workflow.at, Archived):
        for document, digest in workflow.documents.items():
            kept = paths.object(digest)
            data = _read(at, document)
            if kept.exists() and not is_sound(kept):
                text = f"the stored version of {document} is damaged"
                if fix:
                    set_aside(kept)
                    if data is not None and sha256(data) == digest:
                        write_durably(kept, data)
                        text = f"{text}; it was stored again from the document"
                yield UpkeepFinding("document_object_damaged", name, "fixed" if fix else "problem", text, _FIX)
            elif not kept.exists() and data is None:
                text = f"{document} is missing, and this machine has no stored version"
                yield UpkeepFinding("document_lost", name, "problem", text, "restore it from git, or write it again")
            elif not kept.exists() and data is not None and sha256(data) == digest and fix:
                write_durably(kept, data)
    lost = [digest for digest in undo_needs(paths, workflow) if not is_sound(paths.object(digest))]
    if lost:
        text = f"this machine has no stored version from before the delivery of {len(lost)} files"
        yield UpkeepFinding(
            "undo_impossible", name, "note", f"{text}: undo cannot restore them", "restore them from git, if needed"
        )


def _documents(context: Context, paths: WorkflowPaths, workflow: Workflow, *, fix: bool) -> Iterator[UpkeepFinding]:
    """Opening the workflow restores a missing folder of its change with its documents."""
    if isinstance(workflow.at, Archived | Clarifying) or not any(
        document.startswith("change/") for document in workflow.documents
    ):
        return
    folder = paths_now(paths, workflow).change
    if folder.is_dir():
        return
    text = f"the folder of its change is missing: {_shown(context, folder)}"
    if fix:
        with workflows_of(context).changing(paths.slug):
            pass
    if folder.is_dir():
        yield UpkeepFinding("change_folder_gone", _name(paths.slug), "fixed", f"{text}; it is restored")
    else:
        yield UpkeepFinding("change_folder_gone", _name(paths.slug), "problem", text, _FIX)


def _state(context: Context, paths: WorkflowPaths, workflow: Workflow, *, fix: bool) -> Iterator[UpkeepFinding]:
    """Only fields that follow from the journal alone: the others change with every edit of a document."""
    expected = {
        "slug": workflow.slug,
        "revision": workflow.revision,
        "current_stage": workflow.stage.value,
        "change_id": workflow.change_id,
    }
    if (wrong := _wrong_in_state(paths, expected)) is None:
        return
    if fix:
        paths.state.unlink(missing_ok=True)
        with workflows_of(context).changing(paths.slug):
            pass
        yield UpkeepFinding(
            "workflow_state_stale", _name(paths.slug), "fixed", f"state.json {wrong}; it was written again"
        )
    else:
        yield UpkeepFinding("workflow_state_stale", _name(paths.slug), "problem", f"state.json {wrong}", _FIX)


def _wrong_in_state(paths: WorkflowPaths, expected: dict[str, Any]) -> str | None:
    try:
        document: dict[str, Any] = codec.from_json(read_regular_file(paths.state, most=MOST_BYTES), dict)
    except FileNotFoundError:
        return "is missing"
    except (OSError, codec.Undecodable) as problem:
        return f"is unreadable: {problem}"
    wrong = [name for name, value in expected.items() if document.get(name) != value]
    return f"does not match the journal: {', '.join(wrong)}" if wrong else None


def _read(paths: WorkflowPaths, name: str) -> bytes | None:
    try:
        return read_regular_file(paths.document(name), most=MOST_BYTES)
    except OSError:
        return None


def _name(slug: str) -> str:
    return f"workflow {slug}"


def _shown(context: Context, path: os.PathLike[str]) -> str:
    return shown(os.path.relpath(path, context.project))

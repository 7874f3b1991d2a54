"""What `doctor` sees of workflows: each finding with a code, a sentence and what moves on; `fix` mends by usual means.

Looks at everything without changing it; whatever is mended goes through the same code as a command would.
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
    """One thing that was looked at."""

    code: str
    what: str
    health: Health
    said: str
    remedy: str = ""


def check_workflows(context: Context, *, fix: bool) -> Iterator[UpkeepFinding]:
    """All of them; one that is at work right now is looked at another time."""
    if fix:
        _clear_temporaries(context.layout)
    slugs = context.layout.workflow_slugs()
    found: list[UpkeepFinding] = []
    for slug in slugs:
        if is_held(context.layout.lock(f"workflow-{slug}")):
            found.append(
                UpkeepFinding("workflow_busy", _name(slug), "note", "a command is at work on it; not looked at")
            )
            continue
        try:
            found += _check(context, slug, fix=fix)
        except (LoopwrightError, OSError) as problem:  # one that can't be mended must not keep the others
            said = problem.message if isinstance(problem, LoopwrightError) else str(problem)
            found.append(
                UpkeepFinding("workflow_unreadable", _name(slug), "problem", said, f"loopwright status {slug}")
            )
    yield from found
    if slugs and not found:
        yield UpkeepFinding("workflows", "workflows", "ok", f"{len(slugs)} are sound")


def _clear_temporaries(layout: Layout) -> None:
    """Half-written files of processes that died, wherever documents and specs are."""
    tops = (layout.workflows, layout.active_changes, layout.archived_changes, layout.plans, layout.specs)
    for top in (*tops, layout.own / "specs", layout.context_notes, layout.adr_candidates, layout.developer_journals):
        for folder, _, _ in os.walk(top):
            remove_stale_temporaries(Path(folder))


def _check(context: Context, slug: str, *, fix: bool) -> list[UpkeepFinding]:
    paths = context.layout.workflow(slug)
    if not paths.folder.is_dir():
        said = f"{_shown(context, paths.folder)} is no folder, and no workflow"
        return [UpkeepFinding("workflow_stray_file", _name(slug), "note", said, "move it away")]
    found = list(_journal(context, paths, fix=fix))
    known = look(paths) if paths.journal.is_file() else None
    if known is None or known.workflow is None or known.damage is not None:
        return found
    workflow = known.workflow
    # What was cut short first: finishing it is what makes the rest right.
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
    found = look(paths)
    if found.damage is None and found.workflow is not None:
        return
    why = found.damage or "it holds no whole line"
    said = f"{_shown(context, paths.journal)} is damaged behind byte {found.sound_bytes}: {why}"
    if not fix:
        yield UpkeepFinding("workflow_journal_damaged", name, "problem", said, _FIX)
        return
    with locked(context.layout.lock(f"workflow-{paths.slug}")):
        aside = mend_journal(paths)
    kept = f"the damaged file is {_shown(context, aside)}"
    if found.workflow is None:
        begun = _begin_again(context, paths)
        yield UpkeepFinding("workflow_journal_damaged", name, "fixed", f"{said}; {begun}; {kept}")
        return
    with workflows_of(context).changing(paths.slug) as opened:
        stage = opened.workflow.stage.value
    yield UpkeepFinding(
        "workflow_journal_damaged", name, "fixed",
        f"{said}; what is sound is kept, and it is at {stage}; {kept}",
    )  # fmt: skip


def _without_journal(context: Context, paths: WorkflowPaths, *, fix: bool) -> UpkeepFinding:
    """A folder in which somebody died before the first line, or whose journal somebody took away."""
    name = _name(paths.slug)
    others = [entry.name for entry in os.scandir(paths.folder) if entry.name not in ("objects", "state.json")]
    if others:
        said = f"{_shown(context, paths.folder)} has no journal, and holds {', '.join(sorted(others)[:5])}"
        if fix and paths.document(SPEC).is_file():
            said = f"{said}; {_begin_again(context, paths)}"
            return UpkeepFinding("workflow_without_journal", name, "fixed", said)
        remedy = f"put the journal back from git, or {_FIX} begins it again from its spec"
        return UpkeepFinding("workflow_without_journal", name, "problem", said, remedy)
    said = f"{_shown(context, paths.folder)} is left over: nothing was begun there"
    if not fix:
        return UpkeepFinding("workflow_leftover", name, "problem", said, _FIX)
    with locked(context.layout.lock(f"workflow-{paths.slug}")):
        if not paths.journal.exists():
            remove_tree(paths.folder)
    return UpkeepFinding("workflow_leftover", name, "fixed", said)


def _begin_again(context: Context, paths: WorkflowPaths) -> str:
    """From clarify, with the documents that are there: consents went with the journal, and are asked for anew."""
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
    return "nothing of it is sound, so it begins again at clarify, with the documents that are there"


def _cut_short(context: Context, paths: WorkflowPaths, workflow: Workflow, *, fix: bool) -> Iterator[UpkeepFinding]:
    name = _name(paths.slug)
    if (paths.folder / CUT_SHORT).is_file():
        said = "a delivery, or an undoing, was cut short"
        if fix:
            with workflows_of(context).changing(paths.slug):
                deliver.finish(context, paths.slug)
            yield UpkeepFinding("delivery_cut_short", name, "fixed", f"{said}; every file of it is through now")
        else:
            yield UpkeepFinding("delivery_cut_short", name, "problem", said, _FIX)
    delivery = workflow.at.delivery if isinstance(workflow.at, Done | Archived) else None
    if (paths.folder / UNDONE).is_file() and delivery is not None and delivery.how == "patch":
        said = "its files were taken back, and its journal did not hear of it"
        yield UpkeepFinding("undo_cut_short", name, "problem", said, f"loopwright undo {paths.slug}")
    if isinstance(workflow.at, Archived) and workflow.at.pending:
        said = f"archiving was cut short: {len(workflow.at.pending)} files are not known to be written"
        if fix and _settled(context, paths.slug):
            yield UpkeepFinding("archive_cut_short", name, "fixed", f"{said}; they are now")
        else:
            remedy = f"loopwright archive {paths.slug}" if fix else _FIX
            yield UpkeepFinding("archive_cut_short", name, "problem", said, remedy)


def _settled(context: Context, slug: str) -> bool:
    """Opening finishes it, unless a spec that somebody changed meanwhile keeps it waiting."""
    with workflows_of(context).changing(slug) as opened:
        return isinstance(opened.workflow.at, Archived) and not opened.workflow.at.pending


def _objects(paths: WorkflowPaths, workflow: Workflow, *, fix: bool) -> Iterator[UpkeepFinding]:
    """Versions of documents that were kept; a damaged one is worse than none: it would come back."""
    name = _name(paths.slug)
    at = paths_now(paths, workflow)
    if not isinstance(workflow.at, Archived):
        for document, digest in workflow.documents.items():
            kept = paths.object(digest)
            data = _read(at, document)
            if kept.exists() and not is_sound(kept):
                said = f"the kept version of {document} is damaged"
                if fix:
                    set_aside(kept)
                    if data is not None and sha256(data) == digest:
                        write_durably(kept, data)
                        said = f"{said}; it is kept anew from the document itself"
                yield UpkeepFinding("document_object_damaged", name, "fixed" if fix else "problem", said, _FIX)
            elif not kept.exists() and data is None:
                said = f"{document} is gone, and no version of it was kept on this machine"
                yield UpkeepFinding("document_lost", name, "problem", said, "put it back from git, or write it again")
            elif not kept.exists() and data is not None and sha256(data) == digest and fix:
                write_durably(kept, data)
    lost = [digest for digest in undo_needs(paths, workflow) if not is_sound(paths.object(digest))]
    if lost:
        said = f"{len(lost)} files as they were before the delivery are not kept on this machine"
        yield UpkeepFinding(
            "undo_impossible", name, "note", f"{said}: undo can't bring them back", "git has them, if it had"
        )


def _documents(context: Context, paths: WorkflowPaths, workflow: Workflow, *, fix: bool) -> Iterator[UpkeepFinding]:
    """A change's folder that somebody moved away comes back with its documents."""
    if isinstance(workflow.at, Archived | Clarifying) or not any(
        one.startswith("change/") for one in workflow.documents
    ):
        return
    folder = paths_now(paths, workflow).change
    if folder.is_dir():
        return
    said = f"the folder of its change is gone: {_shown(context, folder)}"
    if fix:
        with workflows_of(context).changing(paths.slug):
            pass
    if folder.is_dir():
        yield UpkeepFinding("change_folder_gone", _name(paths.slug), "fixed", f"{said}; it is back, as it was kept")
    else:
        yield UpkeepFinding("change_folder_gone", _name(paths.slug), "problem", said, _FIX)


def _state(context: Context, paths: WorkflowPaths, workflow: Workflow, *, fix: bool) -> Iterator[UpkeepFinding]:
    """Only what follows from the journal alone: the rest moves whenever somebody edits a document."""
    wanted = {
        "slug": workflow.slug,
        "revision": workflow.revision,
        "current_stage": workflow.stage.value,
        "change_id": workflow.change_id,
    }
    if (wrong := _wrong_in_state(paths, wanted)) is None:
        return
    if fix:
        paths.state.unlink(missing_ok=True)
        with workflows_of(context).changing(paths.slug):
            pass
        yield UpkeepFinding("workflow_state_stale", _name(paths.slug), "fixed", f"state.json {wrong}; it is made anew")
    else:
        yield UpkeepFinding("workflow_state_stale", _name(paths.slug), "problem", f"state.json {wrong}", _FIX)


def _wrong_in_state(paths: WorkflowPaths, wanted: dict[str, Any]) -> str | None:
    try:
        document: dict[str, Any] = codec.from_json(read_regular_file(paths.state, most=MOST_BYTES), dict)
    except FileNotFoundError:
        return "is missing"
    except (OSError, codec.Undecodable) as problem:
        return f"can't be read: {problem}"
    wrong = [name for name, value in wanted.items() if document.get(name) != value]
    return f"is not what the journal says: {', '.join(wrong)}" if wrong else None


def _read(paths: WorkflowPaths, name: str) -> bytes | None:
    try:
        return read_regular_file(paths.document(name), most=MOST_BYTES)
    except OSError:
        return None


def _name(slug: str) -> str:
    return f"workflow {slug}"


def _shown(context: Context, path: os.PathLike[str]) -> str:
    return shown(os.path.relpath(path, context.project))

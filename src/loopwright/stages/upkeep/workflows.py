"""What `doctor` checks in workflows: each finding has a code, a sentence and a remedy; `fix` repairs.

Checks change nothing. Repairs use the same code as the commands do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from loopwright.errors import LoopwrightError, WorkflowRefused
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
from loopwright.stages.upkeep.symptom import FIX, Health, Symptom
from loopwright.workflow import commands as c
from loopwright.workflow.documents.page import MOST_BYTES, NotAPage
from loopwright.workflow.documents.spec import INTENT, read_spec
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Archived, Clarifying, Done, Workflow
from loopwright.workflow.store import Opened
from loopwright.workflow.upkeep import CUT_SHORT, UNDONE, is_sound, look, mend_journal, paths_now, undo_needs
from loopwright.workspace.layout import Layout, WorkflowPaths


def check_workflows(context: Context, *, fix: bool) -> Iterator[Symptom]:
    """Check all workflows, except those that a command is changing."""
    if fix:
        _clear_temporaries(context.layout)
    slugs = context.layout.workflow_slugs()
    symptoms: list[Symptom] = []
    for slug in slugs:
        checkup = _Checkup(context, slug, fix=fix)
        if is_held(checkup.lock):
            symptoms.append(checkup.symptom("workflow_busy", "note", "skipped: a command is changing it"))
            continue
        try:
            symptoms += checkup.run()
        except (LoopwrightError, OSError) as problem:  # one broken workflow must not stop the other checks
            text = problem.message if isinstance(problem, LoopwrightError) else str(problem)
            symptoms.append(checkup.symptom("workflow_unreadable", "problem", text, f"loopwright status {slug}"))
    yield from symptoms
    if slugs and not symptoms:
        yield Symptom("workflows", "ok", f"checked: {len(slugs)}, no problems")


def _clear_temporaries(layout: Layout) -> None:
    """Remove half-written files of dead processes in all folders of documents and specs."""
    tops = (layout.workflows, layout.active_changes, layout.archived_changes, layout.plans, layout.specs)
    for top in (*tops, layout.own / "specs", layout.context_notes, layout.adr_candidates, layout.developer_journals):
        for folder, _, _ in os.walk(top):
            remove_stale_temporaries(Path(folder))


class _Checkup:
    """The checks of one workflow."""

    def __init__(self, context: Context, slug: str, *, fix: bool) -> None:
        self._context = context
        self._slug = slug
        self._fix = fix
        self._paths = context.layout.workflow(slug)
        self.lock = context.layout.lock(f"workflow-{slug}")

    def symptom(self, code: str, health: Health, message: str, remedy: str = "") -> Symptom:
        return Symptom(f"workflow {self._slug}", health, message, remedy, code)

    def _problem_or_fixed(self, code: str, problem: str, repair: str) -> Symptom:
        """A problem that `--fix` solves, or has solved by this repair."""
        if self._fix:
            return self.symptom(code, "fixed", f"{problem}; {repair}")
        return self.symptom(code, "problem", problem, FIX)

    def run(self) -> list[Symptom]:
        if not self._paths.folder.is_dir():
            text = f"{self._shown(self._paths.folder)} is a file, not the folder of a workflow"
            return [self.symptom("workflow_stray_file", "note", text, "move the file away")]
        symptoms = list(self._journal())
        known = look(self._paths) if self._paths.journal.is_file() else None
        if known is None or known.workflow is None or known.damage is not None:
            return symptoms
        # Interrupted commands first: finishing them may resolve the rest.
        symptoms += self._cut_short(known.workflow)
        workflow = look(self._paths).workflow or known.workflow
        return [*symptoms, *self._objects(workflow), *self._documents(workflow), *self._state(workflow)]

    def _journal(self) -> Iterator[Symptom]:
        if not self._paths.journal.is_file():
            yield self._without_journal()
            return
        state = look(self._paths)
        if state.damage is None and state.workflow is not None:
            return
        why = state.damage or "it has no complete line"
        text = f"{self._shown(self._paths.journal)} is damaged after byte {state.sound_bytes}: {why}"
        repair = ""
        if self._fix:
            with locked(self.lock):
                aside = mend_journal(self._paths)
            if state.workflow is None:
                repair = self._begin_again()
            else:
                with self._opened() as opened:
                    repair = f"the intact lines are kept, and the workflow is at {opened.workflow.stage.value}"
            repair = f"{repair}; the damaged file is {self._shown(aside)}"
        yield self._problem_or_fixed("workflow_journal_damaged", text, repair)

    def _without_journal(self) -> Symptom:
        """A folder without a journal: a process died before the first line, or the journal was removed."""
        paths = self._paths
        others = [entry.name for entry in os.scandir(paths.folder) if entry.name not in ("objects", "state.json")]
        if others:
            text = f"{self._shown(paths.folder)} has no journal, but contains {', '.join(sorted(others)[:5])}"
            if self._fix and paths.document(SPEC).is_file():
                return self.symptom("workflow_without_journal", "fixed", f"{text}; {self._begin_again()}")
            remedy = f"restore the journal from git, or start again from the spec with {FIX}"
            return self.symptom("workflow_without_journal", "problem", text, remedy)
        text = f"{self._shown(paths.folder)} is left over: no workflow was started there"
        if not self._fix:
            return self.symptom("workflow_leftover", "problem", text, FIX)
        with locked(self.lock):
            if not paths.journal.exists():
                remove_tree(paths.folder)
        return self.symptom("workflow_leftover", "fixed", text)

    def _begin_again(self) -> str:
        """Start the workflow again at clarify with its spec. Its approvals were in the journal and are lost."""
        context, data = self._context, _read(self._paths, SPEC)
        try:
            idea = read_spec(data).page.text_of(INTENT) if data is not None else ""
        except NotAPage:
            idea = ""
        documents = {SPEC: data} if data is not None else {}
        command = c.Begin(
            slug=self._slug,
            idea=context.tools().redactor.clean(idea or self._slug).text,
            profile=profile_of(context.settings.values.workflow.clarify),
            documents={name: sha256(kept) for name, kept in documents.items()},
        )
        with workflows_of(context).beginning(command, actor(), documents):
            pass
        return "no line is intact, so the workflow starts again at clarify, with the existing documents"

    def _cut_short(self, workflow: Workflow) -> Iterator[Symptom]:
        folder = self._paths.folder
        if (folder / CUT_SHORT).is_file():
            text = "a delivery or an undo was interrupted"
            try:
                if self._fix:
                    with self._opened():
                        deliver.finish(self._context, self._slug)
                yield self._problem_or_fixed("delivery_cut_short", text, "it is finished now")
            except WorkflowRefused as refusal:
                yield self.symptom("delivery_cut_short", "problem", refusal.message, refusal.hint or "")
        delivery = workflow.at.delivery if isinstance(workflow.at, Done | Archived) else None
        if (folder / UNDONE).is_file() and delivery is not None and delivery.how == "patch":
            text = "an undo was interrupted: the files are restored, but the journal does not record it"
            yield self.symptom("undo_cut_short", "problem", text, f"loopwright undo {self._slug}")
        if isinstance(workflow.at, Archived) and workflow.at.pending:
            text = f"an archive was interrupted; files that may be missing: {len(workflow.at.pending)}"
            if self._fix and not self._is_archive_settled():
                yield self.symptom("archive_cut_short", "problem", text, f"loopwright archive {self._slug}")
            else:
                yield self._problem_or_fixed("archive_cut_short", text, "all are written now")

    def _is_archive_settled(self) -> bool:
        """Opening the workflow finishes the archive, unless a spec was changed meanwhile."""
        with self._opened() as opened:
            return isinstance(opened.workflow.at, Archived) and not opened.workflow.at.pending

    def _objects(self, workflow: Workflow) -> Iterator[Symptom]:
        """Stored versions of documents; a damaged version is worse than none, because it would be restored."""
        paths, at = self._paths, paths_now(self._paths, workflow)
        for document, digest in () if isinstance(workflow.at, Archived) else workflow.documents.items():
            kept = paths.object(digest)
            data = _read(at, document)
            is_current = data is not None and sha256(data) == digest
            if kept.exists() and not is_sound(kept):
                text = f"the stored version of {document} is damaged"
                if self._fix:
                    set_aside(kept)
                    text += "; it was stored again from the document" if is_current else ""
                yield self.symptom("document_object_damaged", "fixed" if self._fix else "problem", text, FIX)
            elif not kept.exists() and data is None:
                text = f"{document} is missing, and this machine has no stored version"
                yield self.symptom("document_lost", "problem", text, "restore it from git, or write it again")
            if self._fix and data is not None and is_current and not kept.exists():
                write_durably(kept, data)
        lost = [digest for digest in undo_needs(paths, workflow) if not is_sound(paths.object(digest))]
        if lost:
            text = f"this machine has no stored version from before the delivery of {len(lost)} files"
            remedy = "restore them from git, if needed"
            yield self.symptom("undo_impossible", "note", f"{text}: undo cannot restore them", remedy)

    def _documents(self, workflow: Workflow) -> Iterator[Symptom]:
        """Opening the workflow restores a missing folder of its change with its documents."""
        if isinstance(workflow.at, Archived | Clarifying) or not any(
            document.startswith("change/") for document in workflow.documents
        ):
            return
        folder = paths_now(self._paths, workflow).change
        if folder.is_dir():
            return
        text = f"the folder of its change is missing: {self._shown(folder)}"
        if self._fix:
            with self._opened():
                pass
        if folder.is_dir():
            yield self.symptom("change_folder_gone", "fixed", f"{text}; it is restored")
        else:
            yield self.symptom("change_folder_gone", "problem", text, FIX)

    def _state(self, workflow: Workflow) -> Iterator[Symptom]:
        """Only fields that follow from the journal alone: the others change with every edit of a document."""
        expected = {
            "slug": workflow.slug,
            "revision": workflow.revision,
            "current_stage": workflow.stage.value,
            "change_id": workflow.change_id,
        }
        if (wrong := _wrong_in_state(self._paths, expected)) is None:
            return
        if self._fix:
            self._paths.state.unlink(missing_ok=True)
            with self._opened():
                pass
        yield self._problem_or_fixed("workflow_state_stale", f"state.json {wrong}", "it was written again")

    def _opened(self) -> AbstractContextManager[Opened]:
        return workflows_of(self._context).changing(self._slug)

    def _shown(self, path: os.PathLike[str]) -> str:
        return shown(os.path.relpath(path, self._context.project))


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

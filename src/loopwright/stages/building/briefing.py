"""What the builder of a slice is told: its prompt, its documents, and the gate that keeps it from ending too early."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from loopwright.agents.mailbox import CONTEXT, Checks, ShownCheck, write_checks
from loopwright.agents.port import USUAL_TURN_S
from loopwright.agents.prompts.book import Book
from loopwright.agents.shown_file import ShownFile, write_shown
from loopwright.errors import StorageFailed
from loopwright.kernel import codec
from loopwright.kernel.files import clear_path, replace_without_sync
from loopwright.loop.left_out_changes import left_out_part
from loopwright.loop.model import Loop, Running, Task, TaskKind
from loopwright.loop.own_work import own_work
from loopwright.loop.work_files import patch_path
from loopwright.stages.agent_view import agent_view
from loopwright.stages.building.lanes import PATCH, BuildLanes
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.workflow import manifest
from loopwright.workflow.gather import MANIFEST
from loopwright.workflow.slices import Check
from loopwright.workspace.layout import gate_file
from loopwright.workspace.stop_gate import MOST_LIVES_S, Gate, namespace, started_at

_SHOWN = 2
_LONGEST = 160


class SliceBriefing:
    """The briefing for one task, by the plan as it is when the task begins."""

    def __init__(self, context: Context, slug: str, loop: Loop, task: Task, lanes: BuildLanes, gate: StopGate) -> None:
        snapshot = workflows_of(context).snapshot(slug)
        self._context = context
        self._slug = slug
        self._loop = loop
        self._task = task
        self._lanes = lanes
        self._gate = gate
        self._slices = snapshot.facts.readable_slices
        self._seals = snapshot.workflow.seals
        self._sent_back = snapshot.workflow.sent_back
        self._is_quick = snapshot.workflow.is_quick

    def prompt(self) -> str:
        """The slice, its checks, and the last failure."""
        if (tidying := self._lanes.prompt(self._task)) is not None:
            return tidying
        book, piece = self._context.prompts(), self._slices.slice(self._task.id)
        shown = [f"`{check.command}`" for check in self._checks if not check.hidden]
        hidden = sum(check.hidden for check in self._checks)
        last = next((error.message for error in reversed(self._loop.errors)), "")
        how = book.part("quick") if self._is_quick else ""
        told = (how, self._findings(book), last and _last_failure(book, last), left_out_part(self._loop, book))
        return book.prompt(
            "builder_slice",
            task=f"{piece.id} {piece.title}: {piece.behavior}" if piece is not None else self._task.description,
            criteria="; ".join(piece.acceptance_criteria) if piece is not None else book.part("every_check"),
            checks=", ".join(shown + ([book.part("hidden_checks", count=str(hidden))] if hidden else []))
            or book.part("a_person"),
            judges=", ".join(sorted(self._seals)[:10]) or book.part("no_judges"),
            manifest=f"$LOOPWRIGHT_MAILBOX/context/{MANIFEST}",
            blocker="".join(f"{part}\n" for part in told if part),
        )

    def _findings(self, book: Book) -> str:
        """Everything that the last review found, if the review sent the change back."""
        sentences = self._sent_back.review.sentences() if self._sent_back is not None else ()
        return book.part("review_found", findings="\n".join(f"- {text}" for text in sentences)) if sentences else ""

    def leave_in(self, mailbox: Path) -> None:
        """Copy the documents of the manifest: the agent's sandbox does not have Loopwright's own files."""
        if self._task.kind not in (TaskKind.LOOK, TaskKind.DESLOP):
            self._gate.shut(self._loop, mailbox, self._checks)
        elif self._loop.tree is not None:
            progress = loops_of(self._context).paths(self._loop.loop_id).progress
            own = own_work(self._loop.tree, progress, self._context.project)
            whole = patch_path(progress, self._loop.tree.patch_sha256)
            write_shown(mailbox, f"{CONTEXT}/{PATCH}", ShownFile(own.patch if own is not None else whole.read_bytes()))
        write_checks(mailbox, self._shown_checks())
        source = self._context.layout.workflow(self._slug).folder / MANIFEST
        if not source.is_file():
            return
        listed, view = source.read_bytes(), agent_view(self._context)
        write_shown(mailbox, f"{CONTEXT}/{MANIFEST}", view.document(MANIFEST, listed))
        root = self._context.layout.root
        for row in manifest.read_manifest(listed, lambda path: (root / path).exists()):
            document = root / row.path
            if document.is_file() and row.path.startswith(".loopwright/"):
                write_shown(mailbox, f"{CONTEXT}/{row.path}", view.document(row.path, document.read_bytes()))

    @property
    def _checks(self) -> tuple[Check, ...]:
        """The checks of the slice; all checks for any other task."""
        piece = self._slices.slice(self._task.id)
        return piece.checks if piece is not None else self._slices.checks

    def _shown_checks(self) -> Checks:
        """All checks, as far as a builder may know them."""
        shown = tuple(
            ShownCheck(id=check.id, command=check.command, cwd=check.cwd, timeout_s=check.timeout_s)
            for check in self._slices.checks
            if not check.hidden
        )
        return Checks(shown=shown, hidden=len(self._slices.checks) - len(shown))


def _last_failure(book: Book, message: str) -> str:
    return book.part("last_failure", message=message)


class StopGate:
    """The gate of the turn that is under way. It opens when a person holds or stops the loop."""

    def __init__(self, context: Context, slug: str) -> None:
        self._context = context
        self._slug = slug
        self._path: Path | None = None
        self._phase = ""
        self._gate: Gate | None = None

    def shut(self, loop: Loop, mailbox: Path, checks: tuple[Check, ...]) -> None:
        """Write the gate for the turn that begins; without a check that the agent can run there is no gate."""
        shown = [check.command for check in checks if not check.hidden]
        blocks = self._context.settings.values.workflow.gate_blocks
        if not shown or not blocks:
            return
        at = loop.under_way
        agent = self._context.agent_settings(loop.agent)
        self._phase = "fixing" if at is not None and at.task_kind is TaskKind.FIX else "executing"
        self._path = gate_file(mailbox)
        self._gate = Gate(
            slug=self._slug,
            session=(at.session or "") if at is not None else "",
            pid=os.getpid(),
            started=started_at(os.getpid()),
            namespace=namespace(),
            phase=self._phase,
            expires=self._context.clock().timestamp() + min(agent.timeout_s or USUAL_TURN_S, MOST_LIVES_S),
            blocks=blocks,
            reason=reason(shown, self._context.prompts()),
        )
        with suppress(StorageFailed):
            clear_path(self._path)
        self._write()

    def follow(self, loop: Loop) -> None:
        """Open the gate while the loop is held or stopped, and shut it again when the loop runs."""
        if self._gate is None or self._path is None or not self._path.exists():
            return
        phase = self._phase if isinstance(loop.phase, Running) else "blocked"
        if phase != self._gate.phase:
            self._gate.phase = phase
            self._write()

    def _write(self) -> None:
        if self._path is not None and self._gate is not None:
            with suppress(StorageFailed):  # the turn is over, and its mailbox is removed
                replace_without_sync(self._path, codec.to_json(self._gate.document()))


def reason(commands: list[str], book: Book) -> str:
    """What an agent is told that wants to end its turn."""
    listed = ", ".join(f"`{command[:_LONGEST]}`" for command in commands[:_SHOWN])
    if len(commands) > _SHOWN:
        listed = book.part("gate_more", commands=listed, count=str(len(commands) - _SHOWN))
    return book.part("gate", commands=listed)

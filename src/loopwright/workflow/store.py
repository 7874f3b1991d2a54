"""The bytes of workflows on disk: the journal is the truth, `state.json` is derived, documents are stored by content.

An edited document is adopted, and a deleted document is restored: no version is ever lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import msgspec

from loopwright.errors import DamagedFile, WorkflowConflict, WorkflowRefused
from loopwright.journal import event_log
from loopwright.kernel import codec
from loopwright.kernel.clock import Clock, stamp
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder, replace_without_sync, shown
from loopwright.kernel.ids import is_identifier
from loopwright.kernel.locks import is_held, locked, locked_first, was_used_since_boot
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.delta.model import Conflict
from loopwright.workflow.events import DocumentsKept, Event, WorkflowBegun
from loopwright.workflow.evolve import evolve
from loopwright.workflow.facts import Facts, Gates
from loopwright.workflow.gather import gather
from loopwright.workflow.kept_documents import KeptDocuments
from loopwright.workflow.model import Archived, TakeoverOrigin, Workflow
from loopwright.workflow.projection import document_of
from loopwright.workflow.readiness import standing_of
from loopwright.workflow.roll_forward import is_moved, roll_forward
from loopwright.workflow.rules import Accepted, Effect, Refused, decide
from loopwright.workflow.standing import Standing
from loopwright.workspace.layout import Layout, WorkflowPaths

OUTSIDE = "outside"
# Held while writing living specs; taken after the lock of the workflow.
SPECS_LOCK = "specs"
LINE = event_log.Line[Event]
_ARCHIVED = f'"kind":"{e.ChangeArchived.__struct_config__.tag}"'.encode()
KIND: event_log.LogKind[Workflow, Event] = event_log.LogKind(LINE, evolve)


class Snapshot(msgspec.Struct, frozen=True):
    """A workflow at one moment: its state, its facts and its standing. Outlives the lock."""

    workflow: Workflow
    facts: Facts
    standing: Standing


class WorkflowStore:
    """All workflows of a workspace."""

    def __init__(self, layout: Layout, clock: Clock, gates: Gates) -> None:
        self._layout = layout
        self._clock = clock
        self._gates = gates

    def slugs(self) -> list[str]:
        """Every workflow, by name."""
        return self._layout.workflow_slugs()

    def paths(self, slug: str) -> WorkflowPaths:
        """The paths of one workflow."""
        return self._layout.workflow(slug)

    def exists(self, slug: str) -> bool:
        """Whether the workflow exists."""
        return is_identifier(slug) and event_log.has_content(self.paths(slug).journal)

    def require(self, slug: str) -> None:
        """Raise `WorkflowRefused` if the workflow does not exist."""
        if not self.exists(slug):
            known = ", ".join(self.slugs()[-5:]) or "none"
            raise WorkflowRefused(
                "workflow_not_initialized",
                f"the workflow '{shown(slug)}' does not exist (existing workflows: {known})",
                next_command=f'loopwright clarify {slug} --idea "…"',
            )

    @contextmanager
    def beginning(
        self, command: c.Begin, actor: str, contents: Mapping[str, bytes] = MappingProxyType({})
    ) -> Iterator[Opened]:
        """Start a workflow with its documents, in one journal line, and hold its lock for the block."""
        paths = self.paths(command.slug)
        make_folder(paths.folder)
        with locked_first(self._lock(command.slug)) as is_first:
            replayed = _replayed(paths) if self.exists(command.slug) else None
            state = replayed.state if replayed is not None else None
            last_line = replayed.last_line if replayed is not None else event_log.START
            with Opened(paths, self._clock, self._gates, state, last_line) as opened:
                opened.keep(*contents.values())
                opened.apply(command, actor)
                # After a crash here documents are missing; the next command restores them.
                opened.adopt_external_edits(after_power_cut=is_first)
                yield opened

    def origin_of(self, slug: str) -> TakeoverOrigin | None:
        """The origin of an imported workflow, from the first line of its journal."""
        with suppress(DamagedFile):
            for _, line in event_log.lines(LINE, self.paths(slug).journal):
                return next((event.origin for event in line.events if isinstance(event, WorkflowBegun)), None)
        return None

    def may_be_archived(self, slug: str) -> bool:
        """Whether the bytes of the journal name the event; reading the events of a thousand journals takes too long."""
        try:
            return _ARCHIVED in self.paths(slug).journal.read_bytes()
        except OSError:
            return False

    @contextmanager
    def changing(self, slug: str, *, revision: int | None = None) -> Iterator[Opened]:
        """Open a workflow and hold its lock for the block; edits of its documents are adopted first."""
        self.require(slug)
        paths = self.paths(slug)
        with locked_first(self._lock(slug)) as is_first:
            replayed = _replayed(paths)
            with Opened(paths, self._clock, self._gates, replayed.state, replayed.last_line) as opened:
                if revision is not None and opened.workflow.revision != revision:
                    raise WorkflowConflict(
                        f"{slug} is at revision {opened.workflow.revision}, not {revision}: another process changed it",
                        hint=f"check the new state: `loopwright status {slug}`",
                    )
                opened.finish_archive(self._layout)
                opened.adopt_external_edits(after_power_cut=is_first)
                yield opened

    def snapshot(self, slug: str) -> Snapshot:
        """A workflow as it is now, for work that does not change it; edits of its documents are taken in first."""
        if (snapshot := self._read(slug)) is not None:
            return snapshot
        with self.changing(slug) as opened:
            return opened.snapshot()

    def _read(self, slug: str) -> Snapshot | None:
        """A workflow without its lock; None if another process is changing it, or something must be written first."""
        self.require(slug)
        lock, journal = self._lock(slug), self.paths(slug).journal
        replayed = event_log.replay(KIND, journal)
        workflow = replayed.state
        is_sound = replayed.damage is None and not replayed.is_torn and was_used_since_boot(lock)
        # What archiving leaves to do, and what an archived change leaves out, the lock's holder knows.
        if workflow is None or not is_sound or isinstance(workflow.at, Archived):
            return None
        paths = msgspec.structs.replace(self.paths(slug), change_id=workflow.change)
        if not KeptDocuments(paths).are_as_recorded(workflow.documents):
            return None
        facts = gather(workflow, paths, self._gates)
        is_unchanged = not is_held(lock) and journal.stat().st_size == replayed.sound_bytes
        return Snapshot(workflow, facts, standing_of(workflow, facts)) if is_unchanged else None

    def _lock(self, slug: str) -> Path:
        return self._layout.lock(f"workflow-{slug}")


class Opened:
    """A workflow under its lock: a change survives a crash of this process at once, and a power cut after the block.

    `state.json` is written at the end too. Call `make_durable` before acting on a change within the block.
    """

    def __init__(
        self, paths: WorkflowPaths, clock: Clock, gates: Gates, workflow: Workflow | None, last_line: str
    ) -> None:
        self._paths = paths
        self._clock = clock
        self._gates = gates
        self._workflow = workflow
        self._last_line = last_line
        self._log = event_log.LogWriter(paths.journal)
        self._gathered: dict[tuple[int, str], Facts] = {}

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *problem: object) -> None:
        try:
            self.make_durable()
        finally:
            self._log.close()
        if self._workflow is not None:
            self._project()

    @property
    def workflow(self) -> Workflow:
        """The current state."""
        if self._workflow is None:
            raise WorkflowRefused(
                "workflow_not_initialized", "the workflow was never started", next_command="loopwright clarify SLUG"
            )
        return self._workflow

    @property
    def paths(self) -> WorkflowPaths:
        """The current paths: an archived change has moved."""
        if self._workflow is None:
            return self._paths
        at = self._workflow.at
        active = msgspec.structs.replace(self._paths, change_id=self._workflow.change)
        if isinstance(at, Archived) and at.folder and (not at.pending or is_moved(self._paths.layout, at)):
            return msgspec.structs.replace(active, archived=at.folder)
        return active

    @property
    def now(self) -> str:
        """The time in the stored format."""
        return stamp(self._clock())

    def facts(self, *, base_tree: str = "") -> Facts:
        """The facts on disk; the caller passes the base tree if it has computed one.

        Read once between two events, so that the approved content and the checked content are the same.
        """
        key = (self.workflow.revision, base_tree)
        if key not in self._gathered:
            self._gathered = {key: gather(self.workflow, self.paths, self._gates, base_tree=base_tree)}
        return self._gathered[key]

    def standing(self, *, base_tree: str = "", evidence: dict[str, str] | None = None) -> Standing:
        """The current standing; the caller passes the runs that no longer verify if it has verified them."""
        facts = self.facts(base_tree=base_tree)
        return standing_of(self.workflow, msgspec.structs.replace(facts, evidence=evidence) if evidence else facts)

    def snapshot(self) -> Snapshot:
        """This moment, for work that must not hold the lock."""
        return Snapshot(self.workflow, self.facts(), self.standing())

    def apply(self, proposal: c.Proposal, actor: str) -> tuple[Effect, ...]:
        """Decide and append; returns the effects to perform. `WorkflowRefused` if the rules refuse."""
        decision = decide(self._workflow, proposal)
        if isinstance(decision, Refused):
            raise WorkflowRefused(
                decision.error,
                decision.message,
                next_command=decision.next,
                blockers=tuple((blocker.code, blocker.message, blocker.next) for blocker in decision.blockers),
            )
        self._append(decision, actor)
        if decision.effects:
            self.make_durable()
        return decision.effects

    def make_durable(self) -> None:
        """Sync the journal now, before anything outside the workflow relies on it."""
        self._log.sync()

    def write(self, documents: Mapping[str, bytes], actor: str) -> None:
        """Write whole documents: store their content, put them in place, then record them."""
        kept = self._documents
        fresh = {name: data for name, data in documents.items() if not kept.stands(name, data)}
        kept.keep(*fresh.values())
        kept.put(fresh)
        self.apply(e.DocumentsKept(documents={name: sha256(data) for name, data in documents.items()}), actor)

    def read(self, name: str) -> bytes | None:
        """The current content of a document."""
        return self._documents.read(name)

    def is_as_written(self, name: str) -> bool:
        """Whether Loopwright wrote the document last, without a later edit."""
        return self._writers().get(name, OUTSIDE) != OUTSIDE

    def written_outside(self) -> tuple[str, ...]:
        """Documents that were edited outside Loopwright."""
        return tuple(name for name, actor in self._writers().items() if actor == OUTSIDE)

    def _writers(self) -> dict[str, str]:
        writers: dict[str, str] = {}
        for _, line in event_log.lines(LINE, self.paths.journal):
            for event in line.events:
                if isinstance(event, DocumentsKept):
                    writers |= dict.fromkeys(event.documents, line.actor)
        return writers

    def finish_archive(self, layout: Layout) -> None:
        """Finish an interrupted archive; a file that changed meanwhile delays it."""
        if not isinstance(self.workflow.at, Archived) or not self.workflow.at.pending:
            return
        with locked(layout.lock(SPECS_LOCK)):
            self.settle_archive()

    def settle_archive(self) -> tuple[Conflict, ...]:
        """Write the files of the archive. The caller holds the lock of the specs."""
        self.make_durable()
        active = msgspec.structs.replace(self._paths, change_id=self.workflow.change)
        conflicts = roll_forward(active, self.workflow)
        if not conflicts:
            self.apply(e.ArchiveSettled(), "tool")
        return conflicts

    def adopt_external_edits(self, *, after_power_cut: bool) -> None:
        """Adopt documents that people or tools edited, and restore missing ones."""
        if isinstance(self.workflow.at, Archived):
            return  # archived: later edits are not adopted, and deleted documents stay deleted
        changed = self._documents.edits(self.workflow.documents, after_power_cut=after_power_cut)
        if changed:
            self.keep(*changed.values())
            self.apply(e.DocumentsKept(documents={name: sha256(data) for name, data in changed.items()}), OUTSIDE)

    def keep(self, *versions: bytes) -> None:
        """Store bytes that an event will name: they are durable before the event."""
        self._documents.keep(*versions)

    @property
    def _documents(self) -> KeptDocuments:
        return KeptDocuments(self.paths)

    def _append(self, decision: Accepted, actor: str) -> None:
        if not decision.events:
            return
        at = self.now
        after = self._workflow
        for event in decision.events:
            after = evolve(after, event, at)
        if after is None:
            return
        line = LINE(revision=after.revision, at=at, actor=actor, events=decision.events, previous=self._last_line)
        # The first line creates the journal, whole or not at all.
        write = self._log.start if self._workflow is None else self._log.write
        _, self._last_line = write(line)
        self._workflow = after

    def _project(self) -> None:
        """Write `state.json`; it can be derived again at any time."""
        facts = self.facts()
        data = codec.to_json(document_of(self.workflow, facts, standing_of(self.workflow, facts)))
        if not self.paths.state.is_file() or self.paths.state.read_bytes() != data:
            replace_without_sync(self.paths.state, data)
        else:
            # A new time shows the list of workflows that the file is up to date.
            os.utime(self.paths.state)


def _replayed(paths: WorkflowPaths) -> event_log.Replayed[Workflow]:
    replayed = event_log.replay(KIND, paths.journal)
    if replayed.is_torn:
        event_log.cut_torn_end(paths.journal, replayed.sound_bytes)
    elif replayed.damage is not None:
        raise DamagedFile(
            f"{shown(paths.journal)} is damaged after byte {replayed.sound_bytes}: {replayed.damage}",
            hint="`loopwright doctor --fix` keeps the sound lines, and the damaged file next to them",
        )
    return replayed

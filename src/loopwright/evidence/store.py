"""The bytes of runs on disk: folders that are never overwritten, evidence that is published last.

`runs/<run_id>/` is complete and durable before the journal names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile, UnknownRun
from loopwright.evidence.logs import LogFile
from loopwright.evidence.model import Evidence, Link
from loopwright.journal.model import Entry
from loopwright.journal.store import Journal
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder, shown, storage, sync_tree, write_durably
from loopwright.kernel.ids import sanitised
from loopwright.kernel.locks import HeldLock, is_held, try_lock
from loopwright.redaction.model import Redacted, seal
from loopwright.workspace.layout import Layout

RECORDED = "run.recorded"
COLLECTED = "run.collected"
EVIDENCE = "evidence.json"
PATCH = "changes.patch"
PLAN = "plan.yaml"
SUMMARY = "summary.md"
BASE_PATCH = "base.patch"


class RunFolder(msgspec.Struct, frozen=True):
    """The folder of a run that is under way; ours while the lock is."""

    run_id: str
    path: Path
    lock: HeldLock
    lock_path: Path

    def open_log(self, name: str, limit_bytes: int) -> LogFile:
        """A new log in this run."""
        return LogFile(self.path / "logs" / f"{name}.log", limit_bytes)

    def write(self, name: str, content: Redacted) -> str:
        """A file of this run; returns its digest."""
        with storage(self.path / name):
            (self.path / name).write_bytes(content.data)
        return sha256(content.data)

    def release(self) -> None:
        """Nobody works on this run any more."""
        self.lock_path.unlink(missing_ok=True)
        self.lock.release()


class RunStore:
    """All runs of a workspace."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.journal = Journal(layout.runs_journal, layout.lock("runs"))

    def claim(self, wanted: str) -> RunFolder:
        """A new folder for a run of this name; a number is added when the name is taken."""
        name = sanitised(wanted)
        make_folder(self._layout.runs)
        # A name that was ever recorded stays that run's, also when gc removed its folder.
        used = {entry.data.get("run_id") for entry in self.journal.entries()}
        for number in range(1, 100_000):
            run_id = name if number == 1 else f"{name}-{number}"
            path = self._layout.runs / run_id
            if run_id in used:
                continue
            lock_path = self._layout.lock(f"run-{run_id}")
            lock = try_lock(lock_path)
            if lock is None:
                continue
            with storage(path):
                try:
                    path.mkdir()
                except FileExistsError:
                    lock.release()
                    continue
                (path / "logs").mkdir()
            return RunFolder(run_id, path, lock, lock_path)
        raise UnknownRun(f"too many runs named {name}", hint="give the plan another run_id")

    def publish(self, folder: RunFolder, evidence: Evidence) -> Evidence:
        """Link the evidence to the run before it, make all of it durable, then name it in the journal."""
        with self.journal.writing() as journal:
            linked = msgspec.structs.replace(evidence, previous=_last_link(journal.entries))
            data = codec.to_json(linked, _to_text)
            write_durably(folder.path / EVIDENCE, data)
            sync_tree(folder.path)
            journal.append(RECORDED, {"run_id": folder.run_id, "evidence_sha256": sha256(data)}, linked.finished_at)
        return linked

    def record_collected(self, run_id: str, at: str) -> None:
        """Note that a run's folder is removed on purpose; the chain stays whole without it."""
        with self.journal.writing() as journal:
            journal.append(COLLECTED, {"run_id": run_id}, at)

    def adopt(self, run_id: str, at: str) -> None:
        """Name a complete run whose process died between writing it and naming it."""
        evidence, data = self.load(run_id)
        if evidence.run_id != run_id:
            return
        with self.journal.writing() as journal:
            if not any(e.data.get("run_id") == run_id for e in journal.entries):
                journal.append(RECORDED, {"run_id": run_id, "evidence_sha256": sha256(data)}, at)

    def abandoned(self) -> Iterator[tuple[str, Path]]:
        """Runs whose process died: folders that no journal entry names and no living process holds."""
        if not self._layout.runs.is_dir():
            return
        recorded = {entry.data.get("run_id") for entry in self.journal.entries()}
        for path in sorted(self._layout.runs.iterdir()):
            is_run = (path / "logs").is_dir() and not path.is_symlink()
            if is_run and path.name not in recorded and not is_held(self._layout.lock(f"run-{path.name}")):
                yield path.name, path

    def reclaim(self, run_id: str) -> RunFolder | None:
        """Take over the folder of a dead run, to finish its record."""
        lock_path = self._layout.lock(f"run-{run_id}")
        lock = try_lock(lock_path)
        return None if lock is None else RunFolder(run_id, self._layout.runs / run_id, lock, lock_path)

    def folder(self, run_id: str) -> Path:
        """Where a run's files are."""
        return self._layout.runs / run_id

    def recorded(self) -> list[Entry]:
        """The journal's entries of runs, oldest first."""
        return [entry for entry in self.journal.entries() if entry.kind == RECORDED]

    def collected(self) -> set[str]:
        """Runs that were removed on purpose."""
        return {entry.data["run_id"] for entry in self.journal.entries() if entry.kind == COLLECTED}

    def resolve(self, name: str | None) -> str:
        """The id of the run that is meant: a whole id, the start of one, or None for the last."""
        known = [entry.data["run_id"] for entry in self.recorded()]
        gone = self.collected()
        if not known:
            raise UnknownRun("no run is recorded in this workspace", hint="`loopwright run` makes one")
        if name is None:
            return known[-1]
        if name in known:
            if name in gone:
                raise UnknownRun(f"the run {name} was removed by gc", hint="`loopwright verify` checks the others")
            return name
        matching = sorted({run for run in known if run.startswith(name)})
        if len(matching) == 1:
            return matching[0]
        reason = (
            f"'{shown(name)}' fits several runs: {', '.join(matching[:5])}"
            if matching
            else (f"there is no run '{shown(name)}'")
        )
        raise UnknownRun(reason, hint=f"the last runs are: {', '.join(known[-5:])}")

    def load(self, run_id: str) -> tuple[Evidence, bytes]:
        """A run's evidence and the bytes that it was read from."""
        path = self._layout.runs / run_id / EVIDENCE
        try:
            data = path.read_bytes()
        except OSError as problem:
            raise DamagedFile(
                f"{shown(path)} can't be read: {problem.strerror}",
                hint="`loopwright verify` says what else is missing",
            ) from problem
        return decode_evidence(data, path), data


def decode_evidence(data: bytes, path: Path) -> Evidence:
    """Evidence from bytes, or `DamagedFile` with the field that is wrong."""
    try:
        return codec.from_json(data, Evidence, _from_text)
    except codec.Undecodable as problem:
        raise DamagedFile(
            f"{shown(path)} is not evidence that this version can read: {problem}",
            hint="it was changed, damaged, or written by a newer loopwright",
        ) from problem


def encode_evidence(evidence: Evidence) -> bytes:
    """The bytes of evidence."""
    return codec.to_json(evidence, _to_text)


def _last_link(entries: list[Entry]) -> Link | None:
    for entry in reversed(entries):
        if entry.kind == RECORDED:
            return Link(run_id=entry.data["run_id"], evidence_sha256=entry.data["evidence_sha256"])
    return None


def _to_text(value: object) -> object:
    if isinstance(value, Redacted):
        return value.text
    raise NotImplementedError(type(value).__name__)


def _from_text(kind: type, value: object) -> object:
    # What is on disk was sealed when it was written.
    if kind is Redacted and isinstance(value, str):
        return seal(value.encode("utf-8", "surrogatepass"))
    raise NotImplementedError(kind.__name__)


redacted_to_text: Callable[[object], object] = _to_text

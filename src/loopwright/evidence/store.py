"""Reads and writes runs on disk: folders are never overwritten, and evidence is published last.

`runs/<run_id>/` is complete and durable before the journal names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile, UnknownRun
from loopwright.evidence.logs import LogFile
from loopwright.evidence.model import Evidence, PreviousRun, RunKind
from loopwright.journal.store import Entry, Journal, JournalWriter
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder, replace_without_sync, shown, storage, sync_tree
from loopwright.kernel.ids import sanitised
from loopwright.kernel.locks import HeldLock, is_held, try_lock
from loopwright.redaction.model import Redacted, seal
from loopwright.workspace.layout import Layout, ensure_own_folder

STARTED = "run.started"
RECORDED = "run.recorded"
COLLECTED = "run.collected"
# In the entry of a recorded run: what its results depend on.
RESULT_KEY = "result_key"
EVIDENCE = "evidence.json"
PATCH = "changes.patch"
PLAN = "plan.yaml"
SUMMARY = "summary.md"
BASE_PATCH = "base.patch"


_NEXT = re.compile(r"-(?:\d+|rerun(?:-\d+)?)")


class RunFolder(msgspec.Struct, frozen=True):
    """The folder of an active run; the lock shows that this process owns the run."""

    run_id: str
    path: Path
    lock: HeldLock
    lock_path: Path

    def open_log(self, name: str, limit_bytes: int) -> LogFile:
        """Create a log in this run."""
        return LogFile(self.path / "logs" / f"{name}.log", limit_bytes)

    def write(self, name: str, content: Redacted) -> str:
        """Write a file of this run, and return its digest."""
        with storage(self.path / name):
            (self.path / name).write_bytes(content.data)
        return sha256(content.data)

    def release(self) -> None:
        """Release the run's lock."""
        self.lock_path.unlink(missing_ok=True)
        self.lock.release()


class RunOrigin(msgspec.Struct, frozen=True):
    """Why a run was started: by a user, to repeat another run, by a loop, or for a workflow's gate."""

    rerun_of: str | None = None
    loop_id: str | None = None
    workflow: str | None = None
    # The run on the base with which this run is compared.
    base_run: str | None = None

    @property
    def kind(self) -> RunKind:
        """The kind of run in the evidence."""
        if self.workflow is not None:
            return "workflow"
        if self.loop_id is not None:
            return "loop"
        return "run" if self.rerun_of is None else "rerun"

    @property
    def facts(self) -> dict[str, str]:
        """The origin as stored in the journal."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class Abandoned(msgspec.Struct, frozen=True):
    """A run whose process ended before it published its record."""

    run_id: str
    path: Path
    origin: RunOrigin


class RunStore:
    """All runs of a workspace."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.journal = Journal(layout.runs_journal, layout.lock("runs"))

    @contextmanager
    def _writing(self) -> Iterator[JournalWriter]:
        ensure_own_folder(self._layout)
        with self.journal.writing() as journal:
            yield journal

    def claim(self, requested: str, origin: RunOrigin, at: str) -> RunFolder:
        """Create a folder for a run with this name, and journal the start. A number is added if the name is used."""
        name = sanitised(requested)
        make_folder(self._layout.runs)
        with self._writing() as journal:
            # A name is never reused, even if gc removed the run's folder.
            used = {entry.data.get("run_id") for entry in journal.entries}
            for number in range(1, 100_000):
                run_id = name if number == 1 else f"{name}-{number}"
                folder = None if run_id in used else self._take(run_id)
                if folder is not None:
                    journal.append(STARTED, {"run_id": run_id, **origin.facts}, at)
                    with storage(folder.path):
                        (folder.path / "logs").mkdir()
                    return folder
        raise UnknownRun(f"too many runs are named {name}", hint="give the plan another run_id")

    def _take(self, run_id: str) -> RunFolder | None:
        lock_path = self._layout.lock(f"run-{run_id}")
        lock = try_lock(lock_path)
        if lock is None:
            return None
        path = self._layout.runs / run_id
        with storage(path):
            try:
                path.mkdir()
            except FileExistsError:
                # Remove the lock, because a lock marks the folder as a run of this store.
                lock_path.unlink(missing_ok=True)
                lock.release()
                return None
        return RunFolder(run_id, path, lock, lock_path)

    def publish(self, folder: RunFolder, evidence: Evidence) -> Evidence:
        """Link the evidence to the previous run, make the folder durable, then name the run in the journal."""
        with self._writing() as journal:
            linked = msgspec.structs.replace(evidence, previous=_last_link(journal.entries))
            data = codec.to_json(linked, _to_text)
            replace_without_sync(folder.path / EVIDENCE, data)
            sync_tree(folder.path)
            entry = {"run_id": folder.run_id, "evidence_sha256": sha256(data), **_key_of(linked)}
            journal.append(RECORDED, entry, linked.finished_at)
        return linked

    def record_collected(self, run_id: str, at: str) -> None:
        """Journal that a run's folder is removed on purpose, so that the chain stays valid."""
        with self._writing() as journal:
            journal.append(COLLECTED, {"run_id": run_id}, at)

    def record_missing(self, at: str) -> list[str]:
        """After the journal was repaired: journal the runs without a folder, whose removal is no longer recorded."""
        with self._writing() as journal:
            gone = {entry.data["run_id"] for entry in journal.entries if entry.kind == COLLECTED}
            recorded = [entry.data["run_id"] for entry in journal.entries if entry.kind == RECORDED]
            missing = [run for run in recorded if run not in gone and not self.folder(run).exists()]
            for run in missing:
                journal.append(COLLECTED, {"run_id": run, "why": "found missing after the journal was damaged"}, at)
        return missing

    def adopt(self, run_id: str, at: str) -> None:
        """Journal a complete run that the journal does not name, because its process or the journal's end was lost."""
        evidence, data = self.load(run_id)
        if evidence.run_id != run_id:
            return
        with self._writing() as journal:
            known = {e.data.get("run_id") for e in journal.entries if e.kind == RECORDED}
            if run_id in known:
                return
            previous = evidence.previous
            if previous is not None and previous.run_id not in known and not self.folder(previous.run_id).exists():
                # The previous run was removed by gc, and the journal lost that. Only this run's link is left.
                journal.append(RECORDED, msgspec.structs.asdict(previous), at)
                journal.append(COLLECTED, {"run_id": previous.run_id}, at)
            journal.append(RECORDED, {"run_id": run_id, "evidence_sha256": sha256(data), **_key_of(evidence)}, at)

    def abandoned(self) -> list[Abandoned]:
        """Runs that were never recorded and that no living process holds, in the order of their links."""
        entries = self.journal.entries()
        recorded = {entry.data["run_id"] for entry in entries if entry.kind in (RECORDED, COLLECTED)}
        origins = {
            entry.data["run_id"]: RunOrigin(*(entry.data.get(name) for name in RunOrigin.__struct_fields__))
            for entry in entries
            if entry.kind == STARTED
        }
        for path in sorted(self._layout.runs.iterdir()) if self._layout.runs.is_dir() else ():
            if path.name not in origins and self._is_own_run(path):
                origins[path.name] = RunOrigin()  # the journal was damaged and lost the start of this run
        dead = [run for run in origins if run not in recorded and not is_held(self._layout.lock(f"run-{run}"))]
        facts = {run: self._previous_of(run) for run in dead}
        linked = {previous for _, previous in facts.values()}
        return [
            Abandoned(run, self.folder(run), origins[run])
            for run in in_order_of_links(facts)
            # A missing run that a later run links to was recorded once; `adopt` restores it from that link.
            if run not in linked or self.folder(run).exists()
        ]

    def _is_own_run(self, path: Path) -> bool:
        """Whether a folder that the journal does not name is a run of this store, judged by files only it writes.

        Other tools keep their runs in the same folder. Their runs are never changed or removed.
        """
        if path.is_symlink() or not path.is_dir():
            return False
        # The lock of a run stays when its process dies.
        if self._layout.lock(f"run-{path.name}").exists():
            return True
        try:
            return self.load(path.name)[0].run_id == path.name
        except DamagedFile:
            return False

    def lost(self) -> list[str]:
        """Complete runs that the journal does not record: it lost its end, or their process died at the very end."""
        known = {entry.data["run_id"] for entry in self.journal.entries() if entry.kind in (RECORDED, COLLECTED)}
        paths = sorted(self._layout.runs.iterdir()) if self._layout.runs.is_dir() else ()
        names = [path.name for path in paths if path.name not in known and self.has_evidence(path.name)]
        return [
            name
            for name in names
            if not is_held(self._layout.lock(f"run-{name}")) and self._is_own_run(self.folder(name))
        ]

    def has_evidence(self, run_id: str) -> bool:
        """Whether the folder of a recorded run still has its evidence file, valid or not."""
        return (self.folder(run_id) / EVIDENCE).is_file()

    def _previous_of(self, run_id: str) -> tuple[str, str | None]:
        """The end time of a run and the id of the previous run, from its evidence."""
        try:
            evidence, _ = self.load(run_id)
        except DamagedFile:
            return "~", None  # sorts last: runs without evidence are recorded after the others
        return evidence.finished_at, evidence.previous.run_id if evidence.previous else None

    def reclaim(self, run_id: str) -> RunFolder | None:
        """Take over the folder of a dead run to finish its record."""
        lock_path = self._layout.lock(f"run-{run_id}")
        lock = try_lock(lock_path)
        if lock is None:
            return None
        make_folder(self._layout.runs / run_id / "logs")
        return RunFolder(run_id, self._layout.runs / run_id, lock, lock_path)

    def folder(self, run_id: str) -> Path:
        """The folder of a run."""
        return self._layout.runs / run_id

    def recorded(self) -> list[Entry]:
        """The journal's entries of recorded runs, oldest first."""
        return [entry for entry in self.journal.entries() if entry.kind == RECORDED]

    def collected(self) -> set[str]:
        """Runs that were removed on purpose."""
        return {entry.data["run_id"] for entry in self.journal.entries() if entry.kind == COLLECTED}

    def resolve(self, name: str | None) -> str:
        """The id of the run for a full id or a unique prefix; the last run for None."""
        known = [entry.data["run_id"] for entry in self.recorded()]
        gone = self.collected()
        if not known:
            raise UnknownRun("no run is recorded in this workspace", hint="start a run: `loopwright run`")
        if name is None:
            return known[-1]
        if name in known:
            if name in gone:
                raise UnknownRun(f"the run {name} was removed by gc", hint="`loopwright verify` checks the other runs")
            return name
        matching = sorted({run for run in known if run.startswith(name)})
        # `old-1` does not abbreviate `old-1-2`, which is another run.
        if len(matching) == 1 and not _NEXT.fullmatch(matching[0].removeprefix(name)):
            return matching[0]
        reason = (
            f"'{shown(name)}' matches several runs: {', '.join(matching[:5])}"
            if matching[1:]
            else (f"there is no run '{shown(name)}'")
        )
        raise UnknownRun(reason, hint=f"the last runs are: {', '.join(known[-5:])}")

    def load(self, run_id: str) -> tuple[Evidence, bytes]:
        """A run's evidence, and its bytes."""
        path = self._layout.runs / run_id / EVIDENCE
        try:
            data = path.read_bytes()
        except OSError as problem:
            raise DamagedFile(
                f"{shown(path)} can't be read: {problem.strerror}",
                hint="run `loopwright verify` to see what else is missing",
            ) from problem
        return decode_evidence(data, path), data


def in_order_of_links(facts: Mapping[str, tuple[str, str | None]]) -> list[str]:
    """The runs sorted so that each follows the run its evidence links to; otherwise by end time."""
    ordered: dict[str, None] = {}
    for run in sorted(facts, key=lambda run: (facts[run][0], run)):
        chain: list[str] = []
        current: str | None = run
        while current is not None and current in facts and current not in ordered and current not in chain:
            chain.append(current)
            current = facts[current][1]
        ordered.update(dict.fromkeys(reversed(chain)))
    return list(ordered)


def decode_evidence(data: bytes, path: Path) -> Evidence:
    """Evidence from bytes; `DamagedFile` names the invalid field."""
    try:
        return codec.from_json(data, Evidence, _from_text)
    except codec.Undecodable as problem:
        raise DamagedFile(
            f"{shown(path)} is not evidence that this version can read: {problem}",
            hint="the file was changed, damaged, or written by a newer loopwright",
        ) from problem


def encode_evidence(evidence: Evidence) -> bytes:
    """Evidence as bytes."""
    return codec.to_json(evidence, _to_text)


def _key_of(evidence: Evidence) -> dict[str, str]:
    return {RESULT_KEY: evidence.result_key} if evidence.result_key else {}


def _last_link(entries: list[Entry]) -> PreviousRun | None:
    for entry in reversed(entries):
        if entry.kind == RECORDED:
            return PreviousRun(run_id=entry.data["run_id"], evidence_sha256=entry.data["evidence_sha256"])
    return None


def _to_text(value: object) -> object:
    if isinstance(value, Redacted):
        return value.text
    raise NotImplementedError(type(value).__name__)


def _from_text(kind: type, value: object) -> object:
    # Text on disk was redacted when it was written.
    if kind is Redacted and isinstance(value, str):
        return seal(value.encode())
    # msgspec adds the place of the value; any other exception would pass for a bug.
    raise TypeError(type(value).__name__)


redacted_to_text: Callable[[object], object] = _to_text

"""Recomputes what a run's evidence states, and lists mismatches. Changes nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile, LoopwrightError
from loopwright.evidence.model import Evidence
from loopwright.evidence.store import BASE_PATCH, EVIDENCE, PATCH, PLAN, RECORDED, RunStore
from loopwright.evidence.trees import load_base, tree_with_patch
from loopwright.journal.store import Entry
from loopwright.kernel.digest import sha256, sha256_of_file
from loopwright.kernel.files import shown
from loopwright.kernel.git import UserRepository, make_private


class Verdict(msgspec.Struct, frozen=True):
    """The result of verifying one run; no mismatches means that the evidence is valid."""

    run_id: str
    checked: int
    mismatches: tuple[str, ...]
    notes: tuple[str, ...]


class Verifier:
    """Verifies runs against one reading of the journal. `scratch` is an empty folder for git."""

    def __init__(
        self,
        store: RunStore,
        repository: UserRepository | None,
        scratch: Path,
        entries: Sequence[Entry] | None = None,
    ) -> None:
        self._store = store
        known = store.journal.entries() if entries is None else entries
        self._entries = [entry for entry in known if entry.kind == RECORDED]
        self._places = {entry.data["run_id"]: number for number, entry in enumerate(self._entries)}
        self._trees = _Trees(repository, scratch) if repository is not None else None

    @property
    def digests(self) -> dict[str, str]:
        """The recorded digest of each run's evidence."""
        return {run: self._entries[number].data["evidence_sha256"] for run, number in self._places.items()}

    def verify(self, run_id: str) -> Verdict:
        """Compare a recorded run with its files, its place in the chain and its base."""
        index = self._places[run_id]
        check = _Check(self._store.folder(run_id))
        try:
            evidence, data = self._store.load(run_id)
        except DamagedFile as problem:
            return Verdict(run_id, 1, (problem.message,), ())
        recorded = self._entries[index].data["evidence_sha256"]
        check.equal(f"{EVIDENCE}'s digest in the journal", recorded, sha256(data))
        check.equal("the run's own name", run_id, evidence.run_id)
        check.chain(evidence, self._entries[index - 1] if index else None)
        check.logs(evidence)
        check.files(evidence)
        check.patch(evidence, self._trees)
        return Verdict(run_id, check.count, tuple(check.mismatches), tuple(check.notes))


def verify_run(store: RunStore, run_id: str, repository: UserRepository | None, scratch: Path) -> Verdict:
    """Compare one recorded run with its files, its place in the chain and its base."""
    return Verifier(store, repository, scratch).verify(run_id)


class _Trees:
    """Applies patches to bases again. Runs of one build share base and patch: each pair is applied once."""

    def __init__(self, repository: UserRepository, scratch: Path) -> None:
        self._repository = repository
        self._scratch = scratch
        self._numbers = itertools.count()
        self._known: dict[tuple[object, ...], str | None] = {}

    def tree_of(self, evidence: Evidence, folder: Path, *, is_sound: bool) -> str | None:
        """The tree of base and patch; None if the base is missing. Files that are not sound are applied alone."""
        if not is_sound:
            return self._applied(evidence, folder)
        key = (evidence.base, evidence.files.get(BASE_PATCH), evidence.patch_sha256)
        if key not in self._known:
            self._known[key] = self._applied(evidence, folder)
        return self._known[key]

    def _applied(self, evidence: Evidence, folder: Path) -> str | None:
        place = self._scratch / str(next(self._numbers))
        place.mkdir(parents=True)
        judge = make_private(
            place / "git",
            place,
            object_stores=self._repository.object_stores,
            object_format=self._repository.object_format,
            settings=self._repository.settings,
        )
        if evidence.base is None or not load_base(judge, evidence.base, folder / BASE_PATCH):
            return None
        return tree_with_patch(judge, folder / PATCH)


class _Check:
    """Counts comparisons, and collects mismatches."""

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self.mismatches: list[str] = []
        self.notes: list[str] = []
        self._folder = folder

    def equal(self, what: str, recorded: object, actual: object) -> None:
        self.count += 1
        if recorded != actual:
            self.mismatches.append(f"{what}: recorded {_short(recorded)}, found {_short(actual)}")

    def chain(self, evidence: Evidence, previous: Entry | None) -> None:
        recorded = (evidence.previous.run_id, evidence.previous.evidence_sha256) if evidence.previous else None
        actual = (previous.data["run_id"], previous.data["evidence_sha256"]) if previous else None
        self.equal("the link to the previous run", recorded, actual)

    def logs(self, evidence: Evidence) -> None:
        known = set(evidence.files)
        for step in evidence.steps:
            for command in step.commands:
                known.add(command.log)
                self._file(command.log, command.log_sha256)
        logs = self._folder / "logs"
        for path in sorted(logs.iterdir()) if logs.is_dir() else ():
            if f"logs/{path.name}" not in known:
                self.mismatches.append(f"logs/{shown(path.name)}: not listed in the evidence")

    def files(self, evidence: Evidence) -> None:
        for name, digest in evidence.files.items():
            self._file(name, digest)
        if PLAN in evidence.files:
            self.equal("the plan's digest", evidence.plan_source_hash, evidence.files[PLAN])
        recorded = set(evidence.files) | {EVIDENCE, "logs"} | ({PATCH} if evidence.patch_sha256 else set())
        for path in sorted(self._folder.iterdir()):
            if path.name not in recorded:
                self.mismatches.append(f"{shown(path.name)}: not listed in the evidence")
        if evidence.patch_sha256:
            self._file(PATCH, evidence.patch_sha256)

    def patch(self, evidence: Evidence, trees: _Trees | None) -> None:
        """Check that the base exists, and that base + patch gives the recorded result."""
        if evidence.base is None or evidence.result_tree is None or evidence.patch_sha256 is None:
            return
        if trees is None:
            self.notes.append("could not apply base and patch again: not in a git repository")
            return
        try:
            tree = trees.tree_of(evidence, self._folder, is_sound=not self.mismatches)
        except (LoopwrightError, OSError) as problem:
            self.mismatches.append(f"base + patch: {problem}")
            return
        if tree is not None:
            self.equal("base + patch", evidence.result_tree, tree)
        elif evidence.base.is_commit:
            self.mismatches.append(f"the base commit {_short(evidence.base.commit)} is not in this repository")
        else:
            self.notes.append("the base was never committed, so the patch could not be applied again")

    def _file(self, name: str, digest: str) -> None:
        path = self._folder / name
        if path.is_symlink() or not path.is_file():
            self.count += 1
            self.mismatches.append(f"{name}: recorded, but missing")
        else:
            self.equal(name, digest, sha256_of_file(path))


def _short(value: object) -> str:
    text = " ".join(str(part)[:12] for part in value) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 40 else text[:12] + "…"


def verify_all(store: RunStore, repository: UserRepository | None, scratch: Path) -> Iterator[Verdict]:
    """Every run whose folder still exists, oldest first."""
    gone = store.collected()
    verifier = Verifier(store, repository, scratch)
    for entry in store.recorded():
        run_id = entry.data["run_id"]
        if run_id not in gone:
            yield verifier.verify(run_id)

"""Recomputes what a run's evidence states, and lists mismatches. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile, LoopwrightError
from loopwright.evidence.model import Evidence
from loopwright.evidence.store import BASE_PATCH, EVIDENCE, PATCH, PLAN, RunStore
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


def verify_run(store: RunStore, run_id: str, repository: UserRepository | None, scratch: Path) -> Verdict:
    """Compare one run with its files, its place in the chain and its base."""
    entries = store.recorded()
    index = max(number for number, entry in enumerate(entries) if entry.data["run_id"] == run_id)
    check = _Check(store.folder(run_id))
    try:
        evidence, data = store.load(run_id)
    except DamagedFile as problem:
        return Verdict(run_id, 1, (problem.message,), ())
    check.equal(f"{EVIDENCE}'s digest in the journal", entries[index].data["evidence_sha256"], sha256(data))
    check.equal("the run's own name", run_id, evidence.run_id)
    check.chain(evidence, entries[index - 1] if index else None)
    check.logs(evidence)
    check.files(evidence)
    check.patch(evidence, repository, scratch)
    return Verdict(run_id, check.count, tuple(check.mismatches), tuple(check.notes))


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

    def patch(self, evidence: Evidence, repository: UserRepository | None, scratch: Path) -> None:
        """Check that the base exists, and that base + patch gives the recorded result."""
        if evidence.base is None or evidence.result_tree is None or evidence.patch_sha256 is None:
            return
        if repository is None:
            self.notes.append("could not apply base and patch again: not in a git repository")
            return
        try:
            judge = make_private(
                scratch / "git",
                scratch,
                object_stores=repository.object_stores,
                object_format=repository.object_format,
                settings=repository.settings,
            )
            if not load_base(judge, evidence.base, self._folder / BASE_PATCH):
                if evidence.base.is_commit:
                    self.mismatches.append(f"the base commit {_short(evidence.base.commit)} is not in this repository")
                else:
                    self.notes.append("the base was never committed, so the patch could not be applied again")
                return
            self.equal("base + patch", evidence.result_tree, tree_with_patch(judge, self._folder / PATCH))
        except (LoopwrightError, OSError) as problem:
            self.mismatches.append(f"base + patch: {problem}")

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
    for number, entry in enumerate(store.recorded()):
        run_id = entry.data["run_id"]
        if run_id not in gone:
            yield verify_run(store, run_id, repository, scratch / str(number))

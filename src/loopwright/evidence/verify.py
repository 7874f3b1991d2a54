"""Recomputes everything that a run's evidence claims and names what does not match. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile, LoopwrightError
from loopwright.evidence.model import Evidence
from loopwright.evidence.store import BASE_PATCH, EVIDENCE, PATCH, PLAN, RunStore
from loopwright.evidence.trees import load_base, tree_with_patch
from loopwright.journal.model import Entry
from loopwright.kernel.digest import sha256, sha256_of_file
from loopwright.kernel.files import shown
from loopwright.kernel.git import UserRepository, make_private


class Verdict(msgspec.Struct, frozen=True):
    """What was found about one run. No mismatch means that all of it holds."""

    run_id: str
    checked: int
    mismatches: tuple[str, ...]
    notes: tuple[str, ...]


def verify_run(store: RunStore, run_id: str, repository: UserRepository | None, scratch: Path) -> Verdict:
    """Check one run against its files, its place in the chain and its base."""
    entries = store.recorded()
    at = max(index for index, entry in enumerate(entries) if entry.data["run_id"] == run_id)
    check = _Check(store.folder(run_id))
    try:
        evidence, data = store.load(run_id)
    except DamagedFile as problem:
        return Verdict(run_id, 1, (problem.message,), ())
    check.equal(f"{EVIDENCE}'s digest in the journal", entries[at].data["evidence_sha256"], sha256(data))
    check.equal("the run's own name", run_id, evidence.run_id)
    check.chain(evidence, entries[at - 1] if at else None)
    check.logs(evidence)
    check.files(evidence)
    check.patch(evidence, repository, scratch)
    return Verdict(run_id, check.count, tuple(check.mismatches), tuple(check.notes))


class _Check:
    """Counts what was compared and collects what differs."""

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self.mismatches: list[str] = []
        self.notes: list[str] = []
        self._folder = folder

    def equal(self, what: str, recorded: object, found: object) -> None:
        self.count += 1
        if recorded != found:
            self.mismatches.append(f"{what}: recorded {_short(recorded)}, found {_short(found)}")

    def chain(self, evidence: Evidence, before: Entry | None) -> None:
        recorded = (evidence.previous.run_id, evidence.previous.evidence_sha256) if evidence.previous else None
        found = (before.data["run_id"], before.data["evidence_sha256"]) if before else None
        self.equal("the link to the run before", recorded, found)

    def logs(self, evidence: Evidence) -> None:
        known = set(evidence.files)
        for step in evidence.steps:
            for command in step.commands:
                known.add(command.log)
                self._file(command.log, command.log_sha256)
        logs = self._folder / "logs"
        for path in sorted(logs.iterdir()) if logs.is_dir() else ():
            if f"logs/{path.name}" not in known:
                self.mismatches.append(f"logs/{shown(path.name)}: nothing in the evidence speaks of it")

    def files(self, evidence: Evidence) -> None:
        for name, digest in evidence.files.items():
            self._file(name, digest)
        if PLAN in evidence.files:
            self.equal("the plan's digest", evidence.plan_source_hash, evidence.files[PLAN])
        recorded = set(evidence.files) | {EVIDENCE, "logs"} | ({PATCH} if evidence.patch_sha256 else set())
        for path in sorted(self._folder.iterdir()):
            if path.name not in recorded:
                self.mismatches.append(f"{shown(path.name)}: nothing in the evidence speaks of it")
        if evidence.patch_sha256:
            self._file(PATCH, evidence.patch_sha256)

    def patch(self, evidence: Evidence, repository: UserRepository | None, scratch: Path) -> None:
        """The base exists, and base + patch is the recorded result."""
        if evidence.base is None or evidence.result_tree is None or evidence.patch_sha256 is None:
            return
        if repository is None:
            self.notes.append("base and patch could not be applied again: no git repository here")
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
                    self.notes.append("the base was never committed, so the patch could not be applied to it again")
                return
            self.equal("base + patch", evidence.result_tree, tree_with_patch(judge, self._folder / PATCH))
        except (LoopwrightError, OSError) as problem:
            self.mismatches.append(f"base + patch: {getattr(problem, 'message', problem)}")

    def _file(self, name: str, digest: str) -> None:
        path = self._folder / name
        if path.is_symlink() or not path.is_file():
            self.count += 1
            self.mismatches.append(f"{name}: recorded, but not there")
        else:
            self.equal(name, digest, sha256_of_file(path))


def _short(value: object) -> str:
    text = " ".join(str(part)[:12] for part in value) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 40 else text[:12] + "…"


def verify_all(store: RunStore, repository: UserRepository | None, scratch: Path) -> Iterator[Verdict]:
    """Every run that is still there, oldest first."""
    gone = store.collected()
    for number, entry in enumerate(store.recorded()):
        run_id = entry.data["run_id"]
        if run_id not in gone:
            yield verify_run(store, run_id, repository, scratch / str(number))

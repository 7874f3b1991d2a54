"""Keeps a run's changes as a patch, unless the patch contains a secret: then it is never written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from loopwright.evidence.store import BASE_PATCH, PATCH, RunFolder
from loopwright.kernel.digest import sha256_of_file
from loopwright.kernel.files import storage
from loopwright.redaction.model import SecretFinding
from loopwright.redaction.redactor import Redactor
from loopwright.runner.draft import EvidenceDraft
from loopwright.sandbox.port import Changes, Recorder, Sandbox

_R = TypeVar("_R")
_BASE_LIMIT = 64 << 20
_BINARY_LIMIT = 256 << 20


def keep_patch(
    folder: RunFolder, sandbox: Sandbox, redactor: Redactor, draft: EvidenceDraft, staged: Changes | None = None
) -> None:
    """Write `changes.patch` and note the resulting tree. `staged` are the changes, if they are known."""
    waiting = sandbox.place.folder / "changes.waiting"
    changes, findings = write_screened(
        waiting, PATCH, redactor, lambda write: sandbox.recorder.record(write, staged=staged)
    )
    draft.left_out = changes.left_out
    draft.changed = sandbox.recorder.changed_files()
    draft.patch_findings = findings + in_binaries(sandbox.recorder, redactor)
    draft.findings += draft.patch_findings
    if draft.patch_findings:
        draft.notes.append("the patch is not kept: it contains a secret")
    else:
        draft.result_tree = changes.tree
        draft.patch_sha256 = _publish(waiting, folder.path / PATCH)
    waiting.unlink()


def keep_base_patch(folder: RunFolder, sandbox: Sandbox, redactor: Redactor, draft: EvidenceDraft) -> None:
    """Keep the uncommitted changes at the start of the run, so that the base can be restored."""
    base = sandbox.recorder.base()
    if base.is_commit or base.commit is None:
        return
    waiting = sandbox.place.folder / "base.waiting"
    whole, findings = write_screened(
        waiting, BASE_PATCH, redactor, lambda write: sandbox.recorder.write_base_patch(write, _BASE_LIMIT)
    )
    if findings:
        draft.notes.append("the uncommitted changes are not kept: they contain a secret; rerun needs them unchanged")
    elif not whole:
        draft.notes.append("the uncommitted changes are too large to keep; rerun needs them unchanged")
    else:
        draft.files[BASE_PATCH] = _publish(waiting, folder.path / BASE_PATCH)
    waiting.unlink()


def write_screened(
    path: Path, source: str, redactor: Redactor, fill: Callable[[Callable[[bytes], None]], _R]
) -> tuple[_R, list[SecretFinding]]:
    """Let `fill` write a file, and return its result with the secrets that were found.

    After the first secret the file gets no more bytes.
    """
    stream = redactor.stream(source, trusts_pragma=True)
    with storage(path):
        file = path.open("wb")

    def put(data: bytes) -> None:
        if not stream.findings:
            file.write(data)

    def write(data: bytes) -> None:
        with storage(path):
            put(stream.feed(data).data)

    try:
        result = fill(write)
    finally:
        with storage(path):
            put(stream.finish().data)
            file.close()
    return result, stream.findings


def in_binaries(recorder: Recorder, redactor: Redactor) -> list[SecretFinding]:
    """The secrets in binary files. A patch encodes these, so the files themselves are scanned."""
    findings: list[SecretFinding] = []
    for path in recorder.binary_files():
        content = recorder.content(path)[:_BINARY_LIMIT]
        name = path.decode("utf-8", "backslashreplace")
        findings += redactor.scan(content, name, trusts_pragma=False).findings
    return findings


def _publish(waiting: Path, target: Path) -> str:
    with storage(target):
        shutil.copyfile(waiting, target)
    return sha256_of_file(target)

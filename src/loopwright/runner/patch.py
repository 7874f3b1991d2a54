"""Keeps what a run changed as a patch, unless a secret is in it: then that file is never written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from loopwright.evidence.store import BASE_PATCH, PATCH, RunFolder
from loopwright.kernel.digest import sha256_of_file
from loopwright.kernel.files import storage
from loopwright.redaction.model import SecretFinding
from loopwright.redaction.redactor import Redactor
from loopwright.runner.draft import EvidenceDraft
from loopwright.sandbox.port import Changes, Recorder, Sandbox

_BASE_LIMIT = 64 << 20
_BINARY_LIMIT = 256 << 20


def keep_patch(
    folder: RunFolder, sandbox: Sandbox, redactor: Redactor, draft: EvidenceDraft, staged: Changes | None = None
) -> None:
    """Write `changes.patch` and note the tree that it leads to. `staged` are the changes, if they are known."""
    waiting = sandbox.place.folder / "changes.waiting"
    with Screened(waiting, PATCH, redactor) as screened:
        changes = sandbox.recorder.record(screened.write, staged=staged)
    draft.left_out = changes.left_out
    draft.changed = sandbox.recorder.changed_files()
    draft.patch_findings = screened.findings + in_binaries(sandbox.recorder, redactor)
    draft.findings += draft.patch_findings
    if draft.patch_findings:
        draft.notes.append("the patch is not kept: it holds a secret")
    else:
        draft.result_tree = changes.tree
        draft.patch_sha256 = _publish(waiting, folder.path / PATCH)
    waiting.unlink(missing_ok=True)


def keep_base_patch(folder: RunFolder, sandbox: Sandbox, redactor: Redactor, draft: EvidenceDraft) -> None:
    """What was not committed when the run began, so that the base can be made again."""
    base = sandbox.recorder.base()
    if base.is_commit or base.commit is None:
        return
    waiting = sandbox.place.folder / "base.waiting"
    with Screened(waiting, BASE_PATCH, redactor) as screened:
        whole = sandbox.recorder.write_base_patch(screened.write, _BASE_LIMIT)
    if screened.findings:
        draft.notes.append("what was not committed is not kept: it holds a secret; rerun will need it unchanged")
    elif not whole:
        draft.notes.append("what was not committed is too large to keep; rerun will need it unchanged")
    else:
        draft.files[BASE_PATCH] = _publish(waiting, folder.path / BASE_PATCH)
    waiting.unlink(missing_ok=True)


class Screened:
    """A file in the private sandbox folder that fills only as long as nothing secret passes by."""

    def __init__(self, path: Path, source: str, redactor: Redactor) -> None:
        self._path = path
        self._stream = redactor.stream(source, trusts_pragma=True)

    def __enter__(self) -> Screened:
        with storage(self._path):
            self._file = self._path.open("wb")
        return self

    def __exit__(self, *problem: object) -> None:
        with storage(self._path):
            self._put(self._stream.finish().data)
            self._file.close()

    @property
    def findings(self) -> list[SecretFinding]:
        """What was seen in the stream."""
        return self._stream.findings

    @property
    def write(self) -> Callable[[bytes], None]:
        """Takes the next piece."""
        return self._take

    def _take(self, data: bytes) -> None:
        with storage(self._path):
            self._put(self._stream.feed(data).data)

    def _put(self, data: bytes) -> None:
        if not self._stream.findings:
            self._file.write(data)


def in_binaries(recorder: Recorder, redactor: Redactor) -> list[SecretFinding]:
    """A patch holds binary files in a coded form that no rule can read: look at the files themselves."""
    found: list[SecretFinding] = []
    for path in recorder.binary_files():
        content = recorder.content(path)[:_BINARY_LIMIT]
        name = path.decode("utf-8", "backslashreplace")
        found += redactor.scan(content, name, trusts_pragma=False).findings
    return found


def _publish(waiting: Path, target: Path) -> str:
    with storage(target):
        shutil.copyfile(waiting, target)
    return sha256_of_file(target)

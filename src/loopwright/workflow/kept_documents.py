"""The documents of a workflow on disk: every version is stored by content, and the newest version is in its place.

A stored version is durable before an event names it. A new document can be restored from it, so writing the document
waits for no sync: after a power cut it may be blank, and a blank document is restored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from loopwright.kernel.digest import sha256
from loopwright.kernel.files import (
    create_restorably,
    is_blank,
    make_folder,
    read_regular_file,
    remove_stale_temporaries,
    write_all_durably,
)
from loopwright.workspace.layout import WorkflowPaths

_MOST_BYTES = 64 << 20


class KeptDocuments(msgspec.Struct, frozen=True):
    """The documents of one workflow in their current places."""

    paths: WorkflowPaths

    def read(self, name: str) -> bytes | None:
        """The current content of a document; None if it is missing, `OSError` if it is not a file."""
        try:
            return read_regular_file(self.paths.document(name), most=_MOST_BYTES)
        except FileNotFoundError:
            return None

    def keep(self, *versions: bytes) -> None:
        """Store versions by content; all are durable on return."""
        objects = {self.paths.object(sha256(data)): data for data in versions}
        write_all_durably({path: data for path, data in objects.items() if not path.exists()})

    def put(self, documents: Mapping[str, bytes]) -> None:
        """Write documents in their places; their versions are already stored."""
        targets = {self.paths.document(name): data for name, data in documents.items()}
        new = {path: data for path, data in targets.items() if not os.path.lexists(path)}
        for path, data in new.items():
            make_folder(path.parent)
            create_restorably(path, data)
        # An old version that returns after a power cut would look like an edit.
        write_all_durably({path: data for path, data in targets.items() if path not in new})
        for folder in {path.parent for path in targets}:
            remove_stale_temporaries(folder)  # left by a writer that was killed

    def stands(self, name: str, data: bytes) -> bool:
        """Whether the document has this content, in its place and in the store."""
        try:
            return self.read(name) == data and self.paths.object(sha256(data)).is_file()
        except OSError:
            return False

    def are_as_recorded(self, recorded: Mapping[str, str]) -> bool:
        """Whether every document is in its place as it was recorded."""
        try:
            documents = ((self.read(name), digest) for name, digest in recorded.items())
            return all(data is not None and sha256(data) == digest for data, digest in documents)
        except OSError:
            return False

    def edits(self, recorded: Mapping[str, str], *, after_power_cut: bool) -> dict[str, bytes]:
        """Documents that people or tools changed since they were recorded; missing documents are restored.

        Blank documents are restored too, if a power cut may have emptied them.
        """
        changed: dict[str, bytes] = {}
        for name, digest in recorded.items():
            try:
                data = self.read(name)
            except OSError:
                continue  # a folder or a fifo: the reader of the document reports it
            if data is not None and sha256(data) == digest:
                continue
            if data is not None and not (after_power_cut and is_blank(data)):
                changed[name] = data
            elif (kept := self._kept(digest)) is not None:
                self.put({name: kept})
        return changed

    def _kept(self, digest: str) -> bytes | None:
        """A stored version, unless its bytes are damaged: those would look like a person's edit."""
        path = self.paths.object(digest)
        data = path.read_bytes() if path.is_file() else b""
        return data if sha256(data) == digest else None

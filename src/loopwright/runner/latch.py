"""The latch: no further run until a person has looked at the failure."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile
from loopwright.kernel import codec
from loopwright.kernel.files import create_exclusively, shown, storage
from loopwright.kernel.yaml_nodes import Mapping, Scalar, YamlProblem, read_nodes


class Latch(msgspec.Struct, frozen=True, kw_only=True):
    """Which run set the latch, when and why."""

    pid: int
    created_at: str
    reason: str
    run_id: str


def set_latch(path: Path, *, created_at: str, reason: str, run_id: str) -> bool:
    """Set the latch; False if it is already set."""
    latch = Latch(pid=os.getpid(), created_at=created_at, reason=reason, run_id=run_id)
    return create_exclusively(path, codec.to_yaml(latch))


def read_latch(path: Path) -> Latch | None:
    """The latch, if it is set. An unreadable file counts as set."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise DamagedFile(
            f"the latch {shown(path)} can't be read: {problem.strerror}",
            hint="look at the file, then remove it by hand",
        ) from problem
    fields: dict[str, str] = {}
    try:
        node = read_nodes(data)
        if isinstance(node, Mapping):
            fields = {key.text: value.text for key, value in node.entries if isinstance(value, Scalar)}
    except YamlProblem:
        pass
    pid = fields.get("pid", "")
    return Latch(
        pid=int(pid) if pid.isdigit() and len(pid) < 12 else 0,
        created_at=fields.get("created_at", "unknown"),
        reason=fields.get("reason", "unknown: another tool set the latch, or its file is damaged"),
        run_id=fields.get("run_id", "unknown"),
    )


def clear_latch(path: Path) -> None:
    """Unlatch."""
    with storage(path):
        path.unlink(missing_ok=True)

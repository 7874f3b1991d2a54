"""Where the work of a loop is kept."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel import codec
from loopwright.kernel.files import replace_without_sync
from loopwright.loop.model import Tree

_LATEST = "latest.json"


def patch_path(progress: Path, digest: str) -> Path:
    """The file of the loop's whole work, by its content."""
    return progress / "work" / f"{digest[:16]}.patch"


def start_path(progress: Path, base_tree: str) -> Path:
    """What the project had beyond its commit when the loop began; not there where it had nothing."""
    return progress / "work" / f"start-{base_tree[:16]}.patch"


def note_tree(progress: Path, tree: Tree) -> None:
    """Which patch the work is, for whoever finds no log any more."""
    replace_without_sync(progress / "work" / _LATEST, codec.to_json(tree))


def noted_tree(progress: Path) -> Tree | None:
    """The work that was kept last, if all of it is still there."""
    try:
        tree = codec.from_json((progress / "work" / _LATEST).read_bytes(), Tree)
    except (OSError, codec.Undecodable):
        return None
    return tree if patch_path(progress, tree.patch_sha256).is_file() else None

"""The files of a loop's work: patches by content, a note of the current tree, and pages for people."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel import codec
from loopwright.kernel.files import make_folder, replace_without_sync, storage
from loopwright.loop.model import Tree
from loopwright.redaction.model import Redacted

_LATEST = "latest.json"


def patch_path(progress: Path, digest: str) -> Path:
    """The file of the loop's whole work, by its content."""
    return progress / "work" / f"{digest[:16]}.patch"


def start_path(progress: Path, base_tree: str) -> Path:
    """The patch of uncommitted changes when the loop began; missing if there were none."""
    return progress / "work" / f"start-{base_tree[:16]}.patch"


def note_tree(progress: Path, tree: Tree) -> None:
    """Note the current patch and tree, so that the work can be found without the log."""
    replace_without_sync(progress / "work" / _LATEST, codec.to_json(tree))


def noted_tree(progress: Path) -> Tree | None:
    """The work that was kept last; None if a part of it is missing."""
    try:
        tree = codec.from_json((progress / "work" / _LATEST).read_bytes(), Tree)
    except (OSError, codec.Undecodable):
        return None
    return tree if patch_path(progress, tree.patch_sha256).is_file() else None


def add_to_page(progress: Path, name: str, text: Redacted) -> None:
    """Add a section to `develop.md`, `debug.md` or `validate.md`."""
    make_folder(progress)
    path = progress / f"{name}.md"
    with storage(path), path.open("ab") as page:
        page.write(text.data.rstrip(b"\n") + b"\n\n")


def add_line(progress: Path, name: str, record: dict[str, object]) -> None:
    """Add a line to `changes.log` or `debug.log`."""
    make_folder(progress)
    path = progress / f"{name}.log"
    with storage(path), path.open("ab") as lines:
        lines.write(codec.to_json_line(record))

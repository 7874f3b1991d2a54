"""The files of a loop's work: patches by their content, the tree that they lead to, and pages for people."""

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


def add_to_page(progress: Path, name: str, text: Redacted) -> None:
    """A section more in `develop.md`, `debug.md` or `validate.md`."""
    make_folder(progress)
    path = progress / f"{name}.md"
    with storage(path), path.open("ab") as page:
        page.write(text.data.rstrip(b"\n") + b"\n\n")


def add_line(progress: Path, name: str, record: dict[str, object]) -> None:
    """A line more in `changes.log` or `debug.log`."""
    make_folder(progress)
    path = progress / f"{name}.log"
    with storage(path), path.open("ab") as lines:
        lines.write(codec.to_json_line(record))

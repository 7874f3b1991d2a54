"""The loop's pages for people: what was developed, debugged and validated, in the order in which it happened."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel import codec
from loopwright.kernel.files import make_folder, storage
from loopwright.redaction.model import Redacted


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

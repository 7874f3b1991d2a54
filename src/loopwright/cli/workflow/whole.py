"""`loopwright status SLUG`: one workflow, derived from what is on the disk now."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from loopwright.cli.options import context_of
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.status import refresh_all, show


def say_whole(project_root: Path, slug: str, *, as_json: bool) -> None:
    """All of it."""
    say_view(show(context_of(project_root), slug), as_json=as_json, whole=True)


def derive_again(project_root: Path, slugs: Iterable[str]) -> None:
    """Write down anew how these stand."""
    refresh_all(context_of(project_root), slugs)

"""What an agent should read for a workflow: the rows of its manifest, and the listed files. Changes nothing."""

from __future__ import annotations

from pathlib import Path

from loopwright.errors import WorkflowRefused
from loopwright.kernel.files import read_head
from loopwright.stages.agent_view import AgentView
from loopwright.stages.context import Context
from loopwright.stages.names import slug_of
from loopwright.workflow.gather import MANIFEST
from loopwright.workflow.manifest import BadManifest, ManifestRow, read_manifest

MOST_BYTES = 64 << 10
# A part of a document can't be read as what it is.
_LONGEST = 4 << 20


def context_rows(context: Context, name: str) -> tuple[ManifestRow, ...]:
    """The files that the builder of a workflow should read."""
    slug = slug_of(name)
    path = context.layout.workflow(slug).document(MANIFEST)
    if slug not in context.layout.workflow_slugs():
        raise WorkflowRefused(
            "workflow_not_initialized", f"there is no workflow '{slug}'", next_command="loopwright status"
        )
    try:
        return rows_in(path, context.project)
    except FileNotFoundError as problem:
        raise WorkflowRefused.see_status(
            slug, "context_manifest_missing", f"{slug} has no {path.name} yet: the build creates it"
        ) from problem


def rows_in(path: Path, *tops: Path) -> tuple[ManifestRow, ...]:
    """The rows of a manifest file; a row exists if its path exists in one of the folders `tops`."""
    try:
        return read_manifest(path.read_bytes(), lambda name: any((top / name).exists() for top in tops))
    except BadManifest as problem:
        raise WorkflowRefused(
            "context_manifest_invalid", f"{path.name}: {problem}", next_command="loopwright doctor"
        ) from problem


def read_row(rows: tuple[ManifestRow, ...], name: str, places: tuple[Path, ...], view: AgentView) -> tuple[str, bool]:
    """The start of a file that the manifest lists, and whether the file is longer. No other file is read."""
    if name not in {row.path for row in rows}:
        raise WorkflowRefused(
            "not_in_the_manifest",
            f"the manifest does not list '{name}'",
            next_command="call the tool without a path to list all files",
        )
    for place in places:
        path = (place / name).resolve()
        if place.resolve() in path.parents and path.is_file():
            data, is_longer = read_head(path, _LONGEST)
            text = view.document(name, data).text
            return text[:MOST_BYTES], is_longer or len(text) > MOST_BYTES
    raise WorkflowRefused("file_is_gone", f"'{name}' does not exist", next_command="read the other files")

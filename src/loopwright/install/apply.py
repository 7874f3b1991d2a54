"""Installs parts into an agent's files, and removes them.

All files are read and parsed before the first file is written. A user's own content, or a changed text of ours, stays
and is reported.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from loopwright.install.files import PendingFiles, editable
from loopwright.install.model import InstallState, InstallTarget, Part, Scope
from loopwright.install.part_files import PartFile, part_files, pending_files
from loopwright.kernel.files import shown
from loopwright.kernel.locks import locked_folder

_MACHINE_PATHS = (
    "the hooks and the MCP server name this machine's Python, and project settings are usually committed: with --user "
    "they are registered for all your projects and written into none of them"
)
_NAMES_PYTHON = (Part.HOOKS, Part.MCP)


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What was, or would be, changed in one file; the diff shows our content only."""

    part: Part
    path: str
    state: InstallState
    is_changed: bool
    diff: str
    # Why the file was left unchanged, and what the user can do.
    left: str = ""


class InstallReport(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of one install or uninstall."""

    agent: str
    scope: Scope
    items: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether anything was, or would be, changed."""
        return any(item.is_changed for item in self.items)


def install_parts(target: InstallTarget, parts: Iterable[Part], *, dry_run: bool) -> InstallReport:
    """Install the parts; a second install changes nothing."""
    notes = list(_hook_notes(target)) if Part.HOOKS in parts else []
    with locked_folder(target.locked):
        files = pending_files(target)
        items = tuple(_add(target, file, files) for file in part_files(target, parts))
        if not dry_run:
            files.write_added()
    if target.scope is Scope.PROJECT and any(item.is_changed and item.part in _NAMES_PYTHON for item in items):
        notes.append(_MACHINE_PATHS)
    return InstallReport(agent=target.agent, scope=target.scope, items=items, notes=tuple(notes))


def remove_parts(target: InstallTarget, parts: Iterable[Part], *, dry_run: bool) -> InstallReport:
    """Remove the parts; a file that did not change since the install gets its old bytes back."""
    with locked_folder(target.locked):
        files = pending_files(target)
        items = tuple(item for file in part_files(target, parts) if (item := _remove(target, file, files)) is not None)
        if not dry_run:
            files.write_removed()
    return InstallReport(agent=target.agent, scope=target.scope, items=items)


def _hook_notes(target: InstallTarget) -> Iterator[str]:
    hooks = target.harness.hooks
    if hooks is None:
        yield f"{target.agent} has no hooks that can be registered in a file; the other parts work without them"
    elif hooks.caveat:
        yield hooks.caveat


def _add(target: InstallTarget, file: PartFile, files: PendingFiles) -> FileChange:
    change = _change(target, file, files, file.editor.add)
    if not change.state.is_the_users:
        return change
    content = _the_users_content(file, change.state)
    return replace(change, left=f"{content}: left as it is; to install ours, move it away and install again")


def _remove(target: InstallTarget, file: PartFile, files: PendingFiles) -> FileChange | None:
    """None if there is nothing to remove, not even a leftover mark."""
    change = _change(target, file, files, file.editor.remove)
    if change.state is InstallState.ABSENT and not change.is_changed:
        return None
    if not change.state.is_the_users:
        return change
    content = _the_users_content(file, change.state)
    return replace(change, left=f"{content}: left as it is; remove it yourself if you don't want it")


def _change(
    target: InstallTarget, file: PartFile, files: PendingFiles, edit: Callable[[str | None], str | None]
) -> FileChange:
    """Edit the pending text, unless its content belongs to the user."""
    pending = files.open(file.path)
    before, name = pending.text, shown(file.path)
    with editable(file.path, target.agent):
        state = file.editor.state(before)
        if not state.is_the_users:
            pending.text = edit(before)
    diff = difflib.unified_diff(
        file.editor.shown(before).splitlines(keepends=True),
        file.editor.shown(pending.text).splitlines(keepends=True),
        name, name, n=2,
    )  # fmt: skip
    return FileChange(
        part=file.part, path=name, state=state, is_changed=pending.text != before, diff="".join(diff)
    )  # fmt: skip


def _the_users_content(file: PartFile, state: InstallState) -> str:
    path = shown(file.path)
    match file.part, state:
        case Part.MCP, InstallState.FOREIGN:
            return f"{path} has a server called loopwright that is not ours"
        case Part.MCP, _:
            return f"our server in {path} was changed by you"
        case Part.INSTRUCTIONS, _:
            return f"our block in {path} was changed by you"
        case _, InstallState.FOREIGN:
            return f"{path} is not ours"
        case _:
            return f"{path} was changed by you"

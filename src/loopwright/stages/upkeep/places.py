"""What `doctor` sees beside the workflows: changes that nobody owns, mixed layouts, foreign folders, missing agents."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from loopwright.errors import LoopwrightError
from loopwright.kernel import git
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.stages.upkeep.workflows import UpkeepFinding
from loopwright.workflow.model import Archived, Done, Workflow
from loopwright.workflow.upkeep import look
from loopwright.workspace.layout import Layout

_BRANCHES = "refs/heads/loopwright/"
# A command whose first word is a program's name, and not the beginning of a script.
_PROGRAM = re.compile(r"[A-Za-z0-9._+/~-]+")


def check_places(context: Context) -> Iterator[UpkeepFinding]:
    """What only a person can put in order is named, and left as it is."""
    workflows = _workflows(context.layout)
    yield from _lone_changes(context.layout, workflows)
    yield from _two_places(context.layout)
    yield from _foreign(context.layout, workflows)
    yield from _branches(context, workflows)
    yield from _agents(context)


def _workflows(layout: Layout) -> list[Workflow]:
    found = (look(layout.workflow(slug)).workflow for slug in layout.workflow_slugs())
    return [one for one in found if one is not None]


def _lone_changes(layout: Layout, workflows: list[Workflow]) -> Iterator[UpkeepFinding]:
    folder = layout.active_changes
    owned = {one.change_id for one in workflows} | {layout.archived_changes.name}
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    for name in names:
        if name in owned or name.startswith(".") or not (folder / name).is_dir():
            continue
        said = f"the change {shown(name)} has no workflow: nothing here plans or builds it"
        slug = name.removeprefix("chg-")
        way = "`loopwright import openspec`" if layout.openspec else f'`loopwright clarify {shown(slug)} --idea "…"`'
        yield UpkeepFinding("change_without_workflow", "changes", "note", said, way)


def _two_places(layout: Layout) -> Iterator[UpkeepFinding]:
    """Where the project has `openspec/`, specs are read there alone."""
    if layout.openspec is None:
        return
    ours = sorted((layout.own / "specs").glob("**/spec.md"))
    if ours:
        said = f"specs are in openspec/, and {len(ours)} more in .loopwright/specs, which nobody reads"
        listed = ", ".join(shown(os.path.relpath(path, layout.root)) for path in ours[:3])
        yield UpkeepFinding("specs_in_two_places", "layout", "note", f"{said}: {listed}", "move them to openspec/specs")


def _foreign(layout: Layout, workflows: list[Workflow]) -> Iterator[UpkeepFinding]:
    for tool in ("loopx", "ccw"):
        place = layout.foreign(tool)
        if place.is_dir() and not any(one.origin is not None and one.origin.tool == tool for one in workflows):
            said = f"{place.name}/ is here, which another tool works with; nothing of it is read"
            yield UpkeepFinding("foreign_workspace", "layout", "note", said, f"`loopwright import {tool} --dry-run`")


def _branches(context: Context, workflows: list[Workflow]) -> Iterator[UpkeepFinding]:
    """Branches of ours that no delivery speaks of any more; they are the user's to remove."""
    repository = context.repository()
    if repository is None:
        return
    listed = git.query("for-each-ref", "--format=%(refname)", _BRANCHES, cwd=repository.top)
    deliveries = [one.at.delivery for one in workflows if isinstance(one.at, Done | Archived)]
    known = {one.where for one in deliveries if one is not None and one.how == "branch"}
    for name in listed.stdout.decode("utf-8", "replace").split():
        short = name.removeprefix("refs/heads/")
        if short not in known:
            said = f"the branch {shown(short)} is left over: no workflow says that it was delivered there"
            yield UpkeepFinding("branch_left_over", "branches", "note", said, f"git branch -D {shown(short)}")


def _agents(context: Context) -> Iterator[UpkeepFinding]:
    """Agents that the settings name: each must be one that can be opened, and whose program is there."""
    agents = context.settings.values.agents
    for name in dict.fromkeys((*agents.in_use, *agents.named)):
        try:
            context.open_agent(name)
        except LoopwrightError as problem:
            yield UpkeepFinding("agent_missing", f"agent {shown(name)}", "problem", problem.message, problem.hint)
            continue
        wanted = agents.named.get(name)
        command = wanted.command if wanted is not None else name.partition(":")[2] if name[:8] == "command:" else ""
        program = command.split()[0] if command.split() else ""
        if _PROGRAM.fullmatch(program) and not _is_there(context, program):
            said = f"its program {shown(program)} is not on PATH"
            yield UpkeepFinding("agent_missing", f"agent {shown(name)}", "problem", said, f"install {shown(program)}")


def _is_there(context: Context, program: str) -> bool:
    """As the shell would find it; words that the shell itself knows are programs enough."""
    if "/" in program:
        return (context.project / program).expanduser().exists()
    return program in _SHELL_WORDS or shutil.which(program, path=context.environment.get("PATH")) is not None


_SHELL_WORDS = frozenset(
    {
        "cd",
        "exec",
        "export",
        "set",
        "if",
        "for",
        "while",
        "case",
        "true",
        "false",
        "test",
        "echo",
        "printf",
        "eval",
        ":",
    }
)

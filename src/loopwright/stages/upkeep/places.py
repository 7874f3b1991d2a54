"""What `doctor` checks besides workflows: lone changes, mixed layouts, foreign folders, missing agents."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from loopwright.errors import LoopwrightError
from loopwright.kernel import git
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.stages.upkeep.symptom import Symptom
from loopwright.workflow.model import Archived, Done, Workflow
from loopwright.workflow.upkeep import look
from loopwright.workspace.layout import Layout

_BRANCHES = "refs/heads/loopwright/"
# A first word that is the name of a program, not the start of a script.
_PROGRAM = re.compile(r"[A-Za-z0-9._+/~-]+")


def check_places(context: Context) -> Iterator[Symptom]:
    """Findings that only a person can resolve; nothing is changed."""
    layout = context.layout
    known = (look(layout.workflow(slug)).workflow for slug in layout.workflow_slugs())
    workflows = [workflow for workflow in known if workflow is not None]
    yield from _lone_changes(layout, workflows)
    yield from _two_places(layout)
    yield from _foreign(layout, workflows)
    yield from _branches(context, workflows)
    yield from _agents(context)


def _lone_changes(layout: Layout, workflows: list[Workflow]) -> Iterator[Symptom]:
    folder = layout.active_changes
    owned = {workflow.change_id for workflow in workflows} | {layout.archived_changes.name}
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    for name in names:
        if name in owned or name.startswith(".") or not (folder / name).is_dir():
            continue
        text = f"the change {shown(name)} has no workflow, so Loopwright does not plan or build it"
        slug = name.removeprefix("chg-")
        remedy = "`loopwright import openspec`" if layout.openspec else f'`loopwright clarify {shown(slug)} --idea "…"`'
        yield Symptom("changes", "note", text, remedy, "change_without_workflow")


def _two_places(layout: Layout) -> Iterator[Symptom]:
    """If the project has `openspec/`, specs are read only there."""
    if layout.openspec is None:
        return
    ours = sorted((layout.own / "specs").glob("**/spec.md"))
    if ours:
        text = f"specs are in openspec/; {len(ours)} more in .loopwright/specs are not read"
        listed = ", ".join(shown(os.path.relpath(path, layout.root)) for path in ours[:3])
        yield Symptom("layout", "note", f"{text}: {listed}", "move them to openspec/specs", "specs_in_two_places")


def _foreign(layout: Layout, workflows: list[Workflow]) -> Iterator[Symptom]:
    for tool in ("loopx", "ccw"):
        place = layout.foreign(tool)
        if place.is_dir() and not any(flow.origin is not None and flow.origin.tool == tool for flow in workflows):
            text = f"{place.name}/ belongs to another tool; Loopwright does not read it"
            yield Symptom("layout", "note", text, f"`loopwright import {tool} --dry-run`", "foreign_workspace")


def _branches(context: Context, workflows: list[Workflow]) -> Iterator[Symptom]:
    """Branches of Loopwright that no delivery names; only the user may remove them."""
    repository = context.repository()
    if repository is None:
        return
    listed = git.query("for-each-ref", "--format=%(refname)", _BRANCHES, cwd=repository.top)
    deliveries = [workflow.at.delivery for workflow in workflows if isinstance(workflow.at, Done | Archived)]
    known = {delivery.where for delivery in deliveries if delivery is not None and delivery.how == "branch"}
    for name in listed.stdout.decode("utf-8", "replace").split():
        short = name.removeprefix("refs/heads/")
        if short not in known:
            text = f"the branch {shown(short)} is left over: no workflow was delivered there"
            yield Symptom("branches", "note", text, f"git branch -D {shown(short)}", "branch_left_over")


def _agents(context: Context) -> Iterator[Symptom]:
    """Agents in the settings must be known, and their programs installed."""
    agents = context.settings.values.agents
    for name in dict.fromkeys((*agents.in_use, *agents.named)):
        try:
            context.open_agent(name)
        except LoopwrightError as problem:
            yield Symptom(f"agent {shown(name)}", "problem", problem.message, problem.hint, "agent_missing")
            continue
        settings = agents.named.get(name)
        command = settings.command if settings is not None else name.partition(":")[2] if name[:8] == "command:" else ""
        program = command.split()[0] if command.split() else ""
        if _PROGRAM.fullmatch(program) and not _is_installed(context, program):
            text = f"its program {shown(program)} is not on PATH"
            yield Symptom(f"agent {shown(name)}", "problem", text, f"install {shown(program)}", "agent_missing")


def _is_installed(context: Context, program: str) -> bool:
    """Whether the shell would find the program; builtins and keywords of the shell count."""
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

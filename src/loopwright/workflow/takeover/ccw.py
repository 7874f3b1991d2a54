"""A `.workflow/` folder of Claude Code Workflow: sessions with a plan and tasks, in the formats of several versions."""

from __future__ import annotations

import re
from typing import Any

from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import new_spec
from loopwright.workflow.gather import SPEC
from loopwright.workflow.package import PLAN_DOCUMENTS, SLICES
from loopwright.workflow.slices import NotSlices, draft_slices, read_slices
from loopwright.workflow.takeover.model import Candidate, Findings, Left
from loopwright.workflow.takeover.openspec import ASIDE
from loopwright.workflow.takeover.source import Fields, Source
from loopwright.workflow.takeover.spec_page import listed

_PREFIX = "WFS-"
_ACTIVE = ("active/", "")
_ARCHIVES = ("archives/", ".archives/")
_SESSION = "workflow-session.json"
_PLAN = "IMPL_PLAN.md"
_CLAIMS = ("status", "phase", "current_phase", "workflow_type", "type", "progress", "completed_at", "archived_at")
_OVER = ("completed", "archived", "done")
_MOST_LISTED = 40


def read_ccw(source: Source) -> Findings:
    """All sessions; archived sessions are finished."""
    candidates: dict[str, Candidate] = {}
    for top in (*_ACTIVE, *_ARCHIVES):
        for name in source.folders(top.rstrip("/")):
            if name.startswith(_PREFIX) and name not in candidates:
                candidates[name] = _session(source, name, f"{top}{name}", archived=top in _ARCHIVES)
    known = {"active", "archives", ".archives", ".loop"}
    others = [name for name in source.folders() if name not in known and not name.startswith(_PREFIX)]
    return Findings(
        candidates=tuple(candidates.values()),
        troubles=tuple(source.troubles),
        left=tuple(Left(name, "has no sessions, only notes of that tool") for name in others),
    )


def _session(source: Source, name: str, at: str, *, archived: bool) -> Candidate:
    session = source.fields(f"{at}/{_SESSION}")
    if session is None and not source.has(f"{at}/{_SESSION}"):
        source.note(f"{at}/{_SESSION}", "is missing; the rest of the session is imported")
    session = session or Fields()
    paths = source.files(at)
    tasks = [(path, task) for path in _task_files(paths, at) if (task := source.fields(path)) is not None]
    documents = {
        (PLAN_DOCUMENTS["plan"] if path == f"{at}/{_PLAN}" else f"{ASIDE}/{path.removeprefix(f'{at}/')}"): data
        for path in paths
        if (data := source.read(path)) is not None
    }
    slug = name.removeprefix(_PREFIX)
    if tasks and (slices := _slices(source, at, slug, tasks)):
        documents[SLICES] = slices
    idea = session.text("project", "title", "name", "topic") or slug
    details = "\n".join(session.texts("description", "goal"))
    documents[SPEC] = _spec(source, at, slug, f"{idea}\n\n{details}".strip(), session, tasks)
    return Candidate(
        name=name,
        path=at,
        idea=idea,
        documents=documents,
        digest=source.digest(paths),
        claims=session.claims(*_CLAIMS) | _task_claims(tasks),
        finished=archived or session.text("status").lower() in _OVER,
    )


def _task_files(paths: list[str], at: str) -> list[str]:
    """The task files by number: IMPL-2 before IMPL-10."""
    files = [path for path in paths if path.startswith(f"{at}/.task/") and path.endswith(".json")]
    return sorted(files, key=lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)])


def _task_claims(tasks: list[tuple[str, Fields]]) -> dict[str, str]:
    done = sum(task.text("status").lower() in _OVER for _, task in tasks)
    return {"tasks": f"{done} of {len(tasks)} completed"} if tasks else {}


def _spec(source: Source, at: str, slug: str, intent: str, session: Fields, tasks: list[tuple[str, Fields]]) -> bytes:
    """A spec from the session and its tasks; clarifying fills the gaps."""
    scope = session.texts("scope") or tuple(task.text("title") for _, task in tasks if task.text("title"))
    criteria = [line for _, task in tasks for line in _acceptance(task)]
    inputs = dict.fromkeys(path for file, task in tasks for path in _paths_in(source, file, task))
    bodies = {
        s.IN_SCOPE: listed(scope[:_MOST_LISTED]),
        s.CRITERIA: listed(criteria[:_MOST_LISTED]),
        s.INPUTS: listed(list(inputs)[:_MOST_LISTED]),
    }
    if len(criteria) > _MOST_LISTED:
        source.note(at, f"has {len(criteria)} acceptance criteria; the spec lists {_MOST_LISTED}, the slices all")
    spec = new_spec(slug, intent, slug)
    return spec.with_sections({name: body for name, body in bodies.items() if body}).page.render()


def _acceptance(task: Fields) -> tuple[str, ...]:
    context = task.inner("context")
    return (
        task.inner("convergence").texts("criteria")
        or task.texts("acceptance", "acceptance_criteria")
        or context.texts("acceptance", "acceptance_criteria")
    )


def _paths_in(source: Source, file: str, task: Fields) -> list[str]:
    """Project paths of a task; a path outside the project is reported and skipped."""
    inside = []
    for path in task.texts("focus_paths") or task.inner("context").texts("focus_paths"):
        if path.startswith(("/", "~", "\\")) or path[1:2] == ":" or ".." in re.split(r"[/\\]", path):
            source.note(file, f"names a path outside the project: {path[:80]}")
        else:
            inside.append(path)
    return inside


def _slices(source: Source, at: str, slug: str, tasks: list[tuple[str, Fields]]) -> bytes | None:
    """A draft: each task becomes a slice without a check. A person or a planner must add the checks."""
    ids = {task.text("id", "task_id") or path: f"VS-{number}" for number, (path, task) in enumerate(tasks, start=1)}
    drafts = [_slice(source, path, task, ids) for path, task in tasks]
    for candidates in (drafts, [{**draft, "blocked_by": []} for draft in drafts]):
        data = draft_slices(slug, candidates)
        try:
            read_slices(data)
        except NotSlices as problem:
            source.note(f"{at}/.task", problem.problems[0].message)
        else:
            return data
    return None


def _slice(source: Source, path: str, task: Fields, ids: dict[str, str]) -> dict[str, Any]:
    context, convergence = task.inner("context"), task.inner("convergence")
    name = task.text("id", "task_id") or path
    title = task.text("title", "name") or name
    needed = task.texts("depends_on") or context.texts("depends_on") or task.inner("meta").texts("depends_on")
    for task_id in needed:
        if task_id not in ids:
            source.note(path, f"depends on {task_id[:80]}, which is not a task")
    behavior = task.text("description") or context.text("description") or "; ".join(context.texts("requirements"))
    signal = convergence.text("verification") or "; ".join(task.inner("flow_control").texts("verification"))
    return {
        "id": ids[name],
        "title": " ".join(title.split()),
        "type": "AFK",
        "blocked_by": [ids[task_id] for task_id in dict.fromkeys(needed) if task_id in ids and task_id != name],
        "behavior": behavior or title,
        "acceptance_criteria": list(_acceptance(task)) or [title],
        "verification_signal": signal or f"the acceptance criteria of {name}",
        "checks": [],
    }

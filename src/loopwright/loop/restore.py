"""A loop from its other files if its log is lost: exact in what they hold, and held until a person has looked."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from loopwright.errors import DamagedFile
from loopwright.kernel import codec
from loopwright.kernel.files import shown
from loopwright.loop.model import Budget, Created, Decision, Held, Hold, Holder, Loop, Spent, Task
from loopwright.loop.outside import InvalidField, tasks_of, with_skill_state
from loopwright.loop.projection import OWN_KEY
from loopwright.loop.work_files import noted_tree
from loopwright.workspace.layout import LoopPaths


def tasks_in(data: bytes) -> tuple[Task, ...]:
    """The tasks of a list; `InvalidField` names the first invalid line."""
    lines: list[dict[str, Any]] = []
    for number, raw in _lines(data):
        try:
            lines.append(codec.from_json(raw, dict))
        except codec.Undecodable as problem:
            raise InvalidField(f"line {number}: {problem}") from problem
    return tasks_of(lines)


def tasks_left_in(data: bytes) -> tuple[Task, ...]:
    """The readable tasks of a damaged list: each line by itself, the first line of each id."""
    tasks: dict[str, Task] = {}
    for _, raw in _lines(data):
        try:
            (task,) = tasks_of([codec.from_json(raw, dict)])
        except (codec.Undecodable, InvalidField):
            continue
        tasks.setdefault(task.id, task)
    return tuple(tasks.values())


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    # Not `splitlines`: a text may contain other line separators of Unicode.
    return [(number, raw) for number, raw in enumerate(data.split(b"\n"), start=1) if raw.strip()]


_MESSAGE = "its log was lost; title, limits and status were restored from other files, and a person should check them"


def restored_loop(paths: LoopPaths, now: str) -> Loop:
    """The loop from its state file, its task list and its pages."""
    document = _state(paths)
    hold = Hold(holder=Holder.BLOCKER, code="restored", message=_MESSAGE, since=now)
    loop = Loop(
        loop_id=paths.loop_id,
        title=_text(document, "title", paths.loop_id),
        description=_text(document, "description", ""),
        max_iterations=_number(document, "max_iterations", 10),
        created_at=_text(document, "created_at", now),
        updated_at=now,
        phase=Held(holds=(hold,)) if document.get("status") != "created" else Created(),
        revision=1,
        iteration=_number(document, "current_iteration", 0),
    )
    loop = _with_own(loop, document.get(OWN_KEY))
    skill = document.get("skill_state")
    if isinstance(skill, dict):
        try:
            return _with_work(replace(with_skill_state(loop, skill), under_way=None), paths)
        except InvalidField:
            pass  # the task list is used instead
    return _with_work(replace(loop, tasks=_tasks(paths), is_initialised=bool(_tasks(paths))), paths)


class _Own(msgspec.Struct, frozen=True):
    """Loopwright's own part of the state file, as far as it can be read."""

    attempt: int = 1
    tags: tuple[str, ...] = ()
    priority: int = 0
    agent: str = ""
    budget: Budget = Budget()
    task_budget: Budget = Budget()
    spent: Spent = Spent()
    decisions: tuple[Decision, ...] = ()
    workflow: str | None = None


def _with_own(loop: Loop, document: object) -> Loop:
    """Keep budgets and costs; a part that can't be read counts as missing."""
    if not isinstance(document, dict):
        return loop
    for name in _Own.__struct_fields__:
        if name in document:
            with suppress(msgspec.ValidationError):
                own = msgspec.convert({name: document[name]}, _Own)
                loop = replace(loop, **{name: getattr(own, name)})
    return loop


def _with_work(loop: Loop, paths: LoopPaths) -> Loop:
    """If the work is lost, its tasks are not done, and no test ran on it."""
    tree = noted_tree(paths.progress)
    if tree is not None:
        return replace(loop, tree=tree)
    tasks = tuple(
        replace(task, status="pending", completed_at=None)
        if task.status == "completed" and task.files_changed
        else task
        for task in loop.tasks
    )
    return replace(loop, tree=None, tasks=tasks, is_validated=False)


def _state(paths: LoopPaths) -> dict[str, Any]:
    for path in (paths.state, *sorted(paths.folder.glob(f"{paths.state.name}.damaged-*"), reverse=True)):
        try:
            document: dict[str, Any] = codec.from_json(path.read_bytes(), dict)
        except (OSError, codec.Undecodable):
            continue
        return document
    if not paths.tasks.exists():
        raise DamagedFile(
            f"no file is left to rebuild {shown(paths.loop_id)} from",
            hint="`loopwright loop new` creates a new loop",
        )
    return {}


def _tasks(paths: LoopPaths) -> tuple[Task, ...]:
    try:
        return tasks_left_in(paths.tasks.read_bytes())
    except OSError:
        return ()


def _text(document: dict[str, Any], name: str, otherwise: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else otherwise


def _number(document: dict[str, Any], name: str, otherwise: int) -> int:
    value = document.get(name)
    return value if isinstance(value, int) and value >= 0 else otherwise

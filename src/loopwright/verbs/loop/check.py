"""`loopwright loop check`: whether the files of a loop are consistent; with `fix`, rebuild them."""

from __future__ import annotations

from typing import Any

import msgspec

from loopwright.errors import LoopwrightError
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import copy_aside, shown
from loopwright.loop import log
from loopwright.loop.model import Completed, Created, Loop, Running
from loopwright.loop.outside import InvalidField
from loopwright.loop.restore import restored_loop, tasks_in
from loopwright.loop.store import LoopStore, read_head, refuse_the_future
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_control import has_worker
from loopwright.stages.person import actor

_STATUSES = ("created", "running", "paused", "completed", "failed")
_REQUIRED = (
    "loop_id", "title", "description", "max_iterations", "status", "current_iteration", "created_at", "updated_at",
)  # fmt: skip


class LoopCheck(msgspec.Struct, frozen=True):
    """One loop: problems, repairs, and notes for a person."""

    loop_id: str
    problems: tuple[str, ...] = ()
    repairs: tuple[str, ...] = msgspec.field(default=(), name="mended")
    notes: tuple[str, ...] = ()


def check_loops(context: Context, loop_id: str | None, *, fix: bool) -> list[LoopCheck]:
    """Check one loop, or all."""
    store = loops_of(context)
    return [_check(context, store, name, fix=fix) for name in ([loop_id] if loop_id else store.ids())]


def _check(context: Context, store: LoopStore, loop_id: str, *, fix: bool) -> LoopCheck:
    repairs: list[str] = []
    problems = _in_the_log(store, loop_id)
    if problems and fix:
        try:
            repairs.append(_rebuild(context, store, loop_id, problems[0]))
        except LoopwrightError as problem:  # one lost loop must not prevent the repair of the others
            return LoopCheck(loop_id, (*problems, problem.message))
        problems = []
    if not problems:
        try:
            if _was_cut_short(store, loop_id):
                store.load(loop_id)
            problems += _in_the_state_file(store, loop_id)
            loop = store.load(loop_id)
        except LoopwrightError as problem:
            return LoopCheck(loop_id, (*problems, problem.message), tuple(repairs))
        if problems and fix:
            store.remake(loop_id)
            repairs += [f"{text}: written again from the log" for text in problems]
            problems = []
        if isinstance(loop.phase, Completed) and not loop.phase.forced and not loop.validation.holds:
            problems.append("the loop is completed without a passed validation")
        return LoopCheck(loop_id, tuple(problems), tuple(repairs), tuple(_notes(context, loop)))
    return LoopCheck(loop_id, tuple(problems), tuple(repairs))


def _in_the_log(store: LoopStore, loop_id: str) -> list[str]:
    paths = store.paths(loop_id)
    if not paths.events.exists():
        return [f"{shown(paths.events.name)} is missing"]
    replayed = log.replay(paths.events)
    head = read_head(paths)
    if replayed.state is None and (replayed.damage is None or replayed.is_torn):
        return [f"{shown(paths.events.name)} is empty"]
    if replayed.damage is not None and not replayed.is_torn:
        return [f"{shown(paths.events.name)} is damaged after byte {replayed.sound_bytes}: {replayed.damage}"]
    if head is not None and head.log_bytes > (size := paths.events.stat().st_size):
        return [f"{shown(paths.events.name)} has {size} bytes, but had {head.log_bytes}"]
    if head is not None and head.log_bytes == size and head.last_line != replayed.last_line:
        return [f"{shown(paths.events.name)} is damaged: its last line was changed"]
    return []


def _was_cut_short(store: LoopStore, loop_id: str) -> bool:
    """Whether a process died after it wrote the log: that is not damage, the next read updates the other files."""
    paths = store.paths(loop_id)
    head = read_head(paths)
    if head is None:
        return not paths.head.exists() and not (paths.state.exists() and paths.tasks.exists())
    return head.log_bytes < paths.events.stat().st_size


def _in_the_state_file(store: LoopStore, loop_id: str) -> list[str]:
    paths = store.paths(loop_id)
    try:
        document: dict[str, Any] = codec.from_json(paths.state.read_bytes(), dict)
    except (OSError, codec.Undecodable) as problem:
        return [f"{shown(paths.state.name)} is unreadable: {problem}"]
    problems = [f"{name} is missing" for name in _REQUIRED if name not in document]
    if document.get("status") not in _STATUSES:
        problems.append(f"status {document.get('status')} is unknown")
    skill = document.get("skill_state")
    develop = skill.get("develop") if isinstance(skill, dict) else None
    if isinstance(develop, dict) and isinstance(tasks := develop.get("tasks"), list):
        if develop.get("total") != len(tasks):
            problems.append("skill_state.develop.total is not the number of tasks")
        done = sum(isinstance(task, dict) and task.get("status") == "completed" for task in tasks)
        if develop.get("completed") != done:
            problems.append("skill_state.develop.completed is not the number of completed tasks")
    return [*problems, *_in_the_task_list(store, loop_id)]


def _in_the_task_list(store: LoopStore, loop_id: str) -> list[str]:
    path = store.paths(loop_id).tasks
    try:
        listed = tasks_in(path.read_bytes())
        loop = log.replay(store.paths(loop_id).events).state
    except (OSError, InvalidField) as problem:
        return [f"{shown(path.name)} is unreadable: {problem}"]
    if loop is not None and listed != loop.tasks:
        return [f"{shown(path.name)} does not list the tasks of the loop"]
    return []


def _notes(context: Context, loop: Loop) -> list[str]:
    notes = []
    if isinstance(loop.phase, Running) and not has_worker(context, loop.loop_id):
        notes.append(f"the loop is running, but no process drives it; `loopwright loop resume {loop.loop_id}`")
    if isinstance(loop.phase, Created) and not loop.tasks and not loop.description:
        notes.append("the loop has neither tasks nor a description")
    return notes


def _rebuild(context: Context, store: LoopStore, loop_id: str, why: str) -> str:
    """Write a new log from the best remaining source; copies of damaged files are kept."""
    paths = store.paths(loop_id)
    refuse_the_future(paths.state)
    head = read_head(paths)
    replayed = log.replay(paths.events) if paths.events.exists() else None
    state = replayed.state if replayed is not None else None
    if head is not None and (state is None or head.loop.revision >= state.revision):
        loop, source = head.loop, "its last known state"
    elif replayed is not None and state is not None:
        loop, source = state, f"the first {replayed.sound_bytes} bytes of its log"
    else:
        loop, source = restored_loop(paths, stamp(context.clock())), "its state file, task list and pages"
    if paths.events.exists():
        copy_aside(paths.events)  # the new log replaces the old one in one step
    store.restore(loop, source, actor())
    return f"{why}: rebuilt from {source}"

"""`loopwright loop list` and `show`: what loops there are and how they stand. Quick, however long their history is."""

from __future__ import annotations

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.locks import is_held
from loopwright.loop.model import Loop
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import store_of


class _Own(msgspec.Struct, frozen=True):
    attempt: int = 1
    tags: list[str] = []
    priority: int = 0
    agent: str = ""


class Listed(msgspec.Struct, frozen=True):
    """A line of the list, read off the state file alone."""

    loop_id: str
    title: str = ""
    status: str = "damaged"
    current_iteration: int = 0
    max_iterations: int = 0
    updated_at: str = ""
    loopwright: _Own = _Own()


class Summary(msgspec.Struct, frozen=True):
    """A loop in the list, and whether a process drives it."""

    line: Listed
    has_worker: bool


def list_loops(context: Context) -> list[Summary]:
    """Every loop, the newest change first."""
    store = store_of(context)
    found = []
    for loop_id in store.ids():
        try:
            line = codec.from_json(store.paths(loop_id).state.read_bytes(), Listed)
        except (OSError, codec.Undecodable):
            line = Listed(loop_id)
        has_worker = line.status in ("running", "paused") and is_held(context.layout.loop_worker(loop_id))
        found.append(Summary(line, has_worker))
    return sorted(found, key=lambda one: (one.line.updated_at, one.line.loop_id), reverse=True)


def show_loop(context: Context, loop_id: str) -> Loop:
    """One loop, whole."""
    return store_of(context).load(resolve(context, loop_id))


def has_worker(context: Context, loop_id: str) -> bool:
    """Whether a living process drives it."""
    return is_held(context.layout.loop_worker(loop_id))


def resolve(context: Context, name: str) -> str:
    """The loop that is meant: an id, the end or the start of one."""
    ids = store_of(context).ids()
    if name in ids:
        return name
    matching = [loop_id for loop_id in ids if loop_id.endswith(name) or loop_id.startswith(name)] if name else []
    return matching[0] if len(matching) == 1 else name

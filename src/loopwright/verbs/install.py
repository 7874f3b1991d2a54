"""`loopwright install` and `uninstall`: hooks, skills, instructions and MCP server, beside what is there; out again.

All files are read and understood before the first is written. What a user changed, or wrote, stays, and is told.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from loopwright.agents.harness import Scope
from loopwright.agents.kit import KITS, Kit, What
from loopwright.agents.marks import State
from loopwright.errors import UnknownAgent
from loopwright.kernel.files import shown
from loopwright.kernel.locks import locked_folder
from loopwright.stages.context import Context
from loopwright.verbs.install_desk import Desk
from loopwright.verbs.install_parts import Item, Part, Place, part_of, place_of

EVERYTHING = tuple(What)
_OF_THIS_MACHINE = (
    "hooks and MCP server name this machine's Python, and a project's settings are usually committed: with --user they "
    "are registered for all of your projects, and in none of them"
)
_NAMES_PYTHON = (What.HOOKS, What.MCP)


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What was, or would be, done to one thing in one file; of its content only what is ours."""

    what: What
    path: str
    state: State
    is_changed: bool
    diff: str
    # Why it was left as it is, and what moves on.
    left: str = ""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    agent: str
    scope: Scope
    items: tuple[Done, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether anything was, or would be, changed."""
        return any(item.is_changed for item in self.items)


def install(
    context: Context, agent: str, scope: Scope, *, what: tuple[What, ...] = EVERYTHING, dry_run: bool
) -> Installed:
    """Put the parts in; once, however often it is called."""
    kit = kit_of(agent)
    place, notes = place_of(context, kit, scope), [*_of_the_agent(kit, what)]
    with locked_folder(_guarded(place)):
        desk = Desk(place.top())
        done = [
            _done(part, item, part.put, _in_the_way) for part in _parts(place, what) for item in list(part.items(desk))
        ]
        if not dry_run:
            desk.settle()
    if scope is Scope.PROJECT and any(item.is_changed and item.what in _NAMES_PYTHON for item in done):
        notes.append(_OF_THIS_MACHINE)
    return Installed(agent=agent, scope=scope, items=tuple(done), notes=tuple(notes))


def uninstall(
    context: Context, agent: str, scope: Scope, *, what: tuple[What, ...] = EVERYTHING, dry_run: bool
) -> Installed:
    """Take them out again; a file that nobody else touched since is as it was before, to the byte."""
    place = place_of(context, kit_of(agent), scope)
    with locked_folder(_guarded(place)):
        desk = Desk(place.top())
        done = [
            _done(part, item, part.take, _stays)
            for part in _parts(place, what)
            for item in list(part.items(desk))
            if item.state is not State.ABSENT or item.has_traces
        ]
        if not dry_run:
            desk.settle_without()
    return Installed(agent=agent, scope=scope, items=tuple(done))


def _guarded(place: Place) -> Path:
    """What is held meanwhile: two agents may read the same file."""
    return place.project if place.scope is Scope.PROJECT else place.context.layout.home


def kit_of(agent: str) -> Kit:
    """The agent of this name."""
    if agent not in KITS:
        raise UnknownAgent(
            f"there is no agent '{shown(agent)}' whose settings we know", hint=f"one of: {', '.join(KITS)}"
        )
    return KITS[agent]


def _parts(place: Place, what: tuple[What, ...]) -> Iterator[Part]:
    for one in What:
        part = part_of(one, place) if one in what else None
        if part is not None:
            yield part


def _done(part: Part, item: Item, act: Callable[[Item], None], why_left: Callable[[Item], str]) -> Done:
    before = item.sheet.text
    left = why_left(item) if item.is_the_users else ""
    if not left:
        act(item)
    name = shown(item.path)
    lines = difflib.unified_diff(
        part.ours_in(before).splitlines(keepends=True),
        part.ours_in(item.sheet.text).splitlines(keepends=True),
        name, name, n=2,
    )  # fmt: skip
    return Done(
        what=item.what,
        path=name,
        state=item.state,
        is_changed=item.sheet.text != before,
        diff="".join(lines),
        left=left,
    )


def _of_the_agent(kit: Kit, what: tuple[What, ...]) -> Iterator[str]:
    if What.HOOKS in what and kit.harness is None:
        yield f"{kit.agent} has no hooks that could be registered in a file; the other parts work without them"
    if What.HOOKS in what and kit.harness is not None and kit.harness.caveat:
        yield kit.harness.caveat


def _in_the_way(item: Item) -> str:
    return f"{_whose(item)}: it stays; move it away and install again to get ours"


def _stays(item: Item) -> str:
    return f"{_whose(item)}: it stays; remove it yourself if you do not want it"


def _whose(item: Item) -> str:
    path = shown(item.path)
    match item.what, item.state:
        case What.MCP, State.FOREIGN:
            return f"{path} has a server called loopwright that is not ours"
        case What.MCP, _:
            return f"our server in {path} was changed by you"
        case What.INSTRUCTIONS, _:
            return f"our block in {path} was changed by you"
        case _, State.FOREIGN:
            return f"{path} is not ours"
        case _:
            return f"{path} was changed by you"

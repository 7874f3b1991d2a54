"""The four parts that can be installed: how each stands in its files, how it is put in and taken out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.agents.harness import Harness, Scope
from loopwright.agents.kit import Kit, What
from loopwright.agents.marks import (
    MARKDOWN,
    Marks,
    State,
    find_block,
    state_of_block,
    state_of_file,
    with_block,
    without_block,
)
from loopwright.agents.mcp_entry import SCHEMA, Form, only_entry, state_of_entry, with_entry, without_entry
from loopwright.agents.mcp_toml import only_server, state_of_server, with_server, without_server
from loopwright.agents.plugin import PREFIX, SKILL, instructions, skill_names, skill_text
from loopwright.agents.registration import only_ours, registered, with_ours, without_ours
from loopwright.agents.settings_text import Document, NotUnderstood, parse, render
from loopwright.stages.context import Context
from loopwright.verbs.agent_settings import HOOK, holds_ours, not_understood, project_folder
from loopwright.verbs.install_desk import Desk, Kind, Sheet


class Item(msgspec.Struct, frozen=True):
    """One thing of ours in one file, as it was found; `shown` is our part of the file's text."""

    what: What
    path: Path
    state: State
    sheet: Sheet
    # It is not there, and a mark of it is.
    has_traces: bool = False

    @property
    def is_the_users(self) -> bool:
        """What somebody else wrote, or changed, is left as it is."""
        return self.state in (State.CHANGED, State.FOREIGN)


class Part(Protocol):
    """One of the four for one agent."""

    def items(self, desk: Desk) -> Iterator[Item]:
        """How it stands."""
        ...

    def put(self, item: Item) -> None:
        """Put it in, or bring it up to date."""
        ...

    def take(self, item: Item) -> None:
        """Take it out."""
        ...

    def ours_in(self, text: str | None) -> str:
        """Our part of a text, for showing."""
        ...


class Place(msgspec.Struct, frozen=True):
    """For which agent, and where."""

    kit: Kit
    scope: Scope
    project: Path
    context: Context

    def top(self) -> Path:
        """Everything below it that we make is an agent's, and needed for ours only."""
        if self.scope is Scope.PROJECT:
            return self.project
        return self.kit.own_folder(self.scope, self.project, self.context.environment, self.context.layout.home)

    def skills(self) -> Path:
        """The folder of skills."""
        return self.kit.skills(self.scope, self.project, self.context.environment, self.context.layout.home)

    def instruction_file(self) -> Path:
        """What every session reads."""
        return self.kit.instruction_file(self.scope, self.project, self.context.environment, self.context.layout.home)

    def may_hold_ours(self, what: What) -> bool:
        """Whether this part's file is a matter of ours: we put something into it, or it names us."""
        match what:
            case What.MCP:
                return holds_ours(self.mcp())
            case What.INSTRUCTIONS:
                return holds_ours(self.instruction_file())
            case _:
                return True

    def mcp(self) -> Path:
        """What names its servers."""
        return self.kit.mcp(self.scope, self.project, self.context.environment, self.context.layout.home)


def place_of(context: Context, kit: Kit, scope: Scope) -> Place:
    """An agent's places, seen from here."""
    return Place(kit, scope, project_folder(context) if scope is Scope.PROJECT else context.project, context)


def part_of(what: What, place: Place) -> Part | None:
    """The part; None where the agent has no place for it."""
    match what:
        case What.HOOKS:
            return _Hooks(place, place.kit.harness) if place.kit.harness is not None else None
        case What.SKILLS:
            return _Skills(place)
        case What.INSTRUCTIONS:
            return _Block(What.INSTRUCTIONS, place.instruction_file(), MARKDOWN, place.kit.agent, instructions())
        case What.MCP if place.kit.mcp_form is not None:
            return _McpEntry(place, place.kit.mcp_form)
        case What.MCP:
            return _McpToml(place.mcp(), place.kit.agent)


class _Json:
    """What hooks and servers share: they stand in documents, some of them in the same one."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def _strip(self, text: str) -> str:
        document = parse(text)
        bare = without_ours(document) if self._place.kit.harness is not None else document
        if self._place.kit.mcp_form is not None and _is_ours(bare, self._place.kit.mcp_form):
            bare = without_entry(bare, self._place.kit.mcp_form)
        return text if bare == document else render(bare, text)

    def _sheet(self, desk: Desk, path: Path) -> Sheet:
        return desk.sheet(path, Kind(self._strip, lambda text: not set(parse(text)) - {SCHEMA}))


def _is_ours(document: Document, form: Form) -> bool:
    return state_of_entry(document, form, sys.executable) in (State.CURRENT, State.OUTDATED)


@contextmanager
def _understood(path: Path, agent: str) -> Iterator[None]:
    try:
        yield
    except NotUnderstood as problem:
        raise not_understood(path, problem, agent) from problem


def _set(sheet: Sheet, document: Document, changed: Document) -> None:
    if changed != document:
        sheet.text = render(changed, sheet.text)


class _Hooks(_Json):
    """Our commands among the agent's hooks."""

    def __init__(self, place: Place, harness: Harness) -> None:
        super().__init__(place)
        self._harness = harness
        self._path = harness.path(place.scope, place.project, place.context.environment, place.context.layout.home)

    def items(self, desk: Desk) -> Iterator[Item]:
        sheet = self._sheet(desk, self._path)
        with _understood(self._path, self._harness.agent):
            document = parse(sheet.text)
            wanted = with_ours(document, self._harness, sys.executable, str(HOOK))
        state = State.CURRENT if wanted == document else State.OUTDATED if registered(document) else State.ABSENT
        yield Item(What.HOOKS, self._path, state, sheet)

    def put(self, item: Item) -> None:
        document = parse(item.sheet.text)
        _set(item.sheet, document, with_ours(document, self._harness, sys.executable, str(HOOK)))

    def take(self, item: Item) -> None:
        document = parse(item.sheet.text)
        _set(item.sheet, document, without_ours(document))

    def ours_in(self, text: str | None) -> str:
        try:
            return only_ours(parse(text))
        except NotUnderstood:  # what a receipt of an earlier version gave back
            return ""


class _McpEntry(_Json):
    """Our server among the agent's, in JSON."""

    def __init__(self, place: Place, form: Form) -> None:
        super().__init__(place)
        self._form = form

    def items(self, desk: Desk) -> Iterator[Item]:
        path = self._place.mcp()
        sheet = self._sheet(desk, path)
        with _understood(path, self._place.kit.agent):
            state = state_of_entry(parse(sheet.text), self._form, sys.executable)
        yield Item(What.MCP, path, state, sheet)

    def put(self, item: Item) -> None:
        document = parse(item.sheet.text)
        _set(item.sheet, document, with_entry(document, self._form, sys.executable))

    def take(self, item: Item) -> None:
        document = parse(item.sheet.text)
        _set(item.sheet, document, without_entry(document, self._form))

    def ours_in(self, text: str | None) -> str:
        try:
            return only_entry(parse(text), self._form)
        except NotUnderstood:
            return ""


class _Block:
    """A marked block in a text of others; two agents that read the same file share one."""

    def __init__(self, what: What, path: Path, marks: Marks, agent: str, ours: str) -> None:
        self._what = what
        self._path = path
        self._marks = marks
        self._agent = agent
        self._ours = ours

    def items(self, desk: Desk) -> Iterator[Item]:
        sheet = desk.sheet(self._path, Kind(self._strip, lambda text: not text.strip()))
        with _understood(self._path, self._agent):
            block = find_block(sheet.text, self._marks)
        state = state_of_block(block, self._ours)
        is_for_us = block is not None and self._agent in block.agents
        yield Item(self._what, self._path, state if is_for_us or state is State.CHANGED else State.ABSENT, sheet)

    def put(self, item: Item) -> None:
        item.sheet.text = with_block(item.sheet.text, self._marks, self._agent, self._ours)

    def take(self, item: Item) -> None:
        item.sheet.text = without_block(item.sheet.text, self._marks, self._agent)

    def ours_in(self, text: str | None) -> str:
        try:
            block = find_block(text, self._marks)
        except NotUnderstood:
            return ""
        return f"{self._marks.begin(block.agents, block.digest)}\n{block.text}{self._marks.end}\n" if block else ""

    def _strip(self, text: str) -> str:
        try:
            block = find_block(text, self._marks)
        except NotUnderstood:
            return text
        if block is None or not block.is_as_written:
            return text
        for agent in block.agents:
            text = without_block(text, self._marks, agent) or ""
        return text


class _McpToml:
    """Our server among Codex's, in TOML."""

    def __init__(self, path: Path, agent: str) -> None:
        self._path = path
        self._agent = agent

    def items(self, desk: Desk) -> Iterator[Item]:
        sheet = desk.sheet(self._path, Kind(self._strip, lambda text: not text.strip()))
        with _understood(self._path, self._agent):
            state = state_of_server(sheet.text, sys.executable)
        has_traces = state is State.ABSENT and bool(only_server(sheet.text))
        yield Item(What.MCP, self._path, state, sheet, has_traces)

    def put(self, item: Item) -> None:
        with _understood(self._path, self._agent):
            item.sheet.text = with_server(item.sheet.text, sys.executable)

    def take(self, item: Item) -> None:
        item.sheet.text = without_server(item.sheet.text)

    def ours_in(self, text: str | None) -> str:
        return only_server(text)

    def _strip(self, text: str) -> str:
        is_the_users = state_of_server(text, sys.executable) in (State.CHANGED, State.FOREIGN)
        return text if is_the_users else without_server(text) or ""


class _Skills:
    """Files of our own in the agent's folder of skills."""

    def __init__(self, place: Place) -> None:
        self._texts = {place.skills() / f"{PREFIX}{name}" / SKILL: skill_text(name) for name in skill_names()}

    def items(self, desk: Desk) -> Iterator[Item]:
        for path, ours in self._texts.items():
            sheet = desk.sheet(path, Kind(lambda text: text, lambda text: not text, is_own=True))
            yield Item(What.SKILLS, path, state_of_file(sheet.text, ours), sheet)

    def put(self, item: Item) -> None:
        if item.state is not State.CURRENT:
            item.sheet.text = self._texts[item.path]

    def take(self, item: Item) -> None:
        item.sheet.text = None

    def ours_in(self, text: str | None) -> str:
        return text or ""

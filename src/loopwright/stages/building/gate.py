"""Writes the stop gate of a build for one turn of its agent, and opens it when a person holds or stops the loop."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from loopwright.agents.port import USUAL_TURN_S
from loopwright.agents.prompts.book import Book
from loopwright.errors import StorageFailed
from loopwright.kernel import codec
from loopwright.kernel.files import clear_path, replace_without_sync
from loopwright.loop.model import Loop, Running, TaskKind
from loopwright.stages.context import Context
from loopwright.workflow.slices import Check
from loopwright.workspace.layout import gate_file
from loopwright.workspace.stop_gate import MOST_LIVES_S, Gate, namespace, started_at

_SHOWN = 2
_LONGEST = 160


class BuildGate:
    """The gate of the turn that is under way."""

    def __init__(self, context: Context, slug: str) -> None:
        self._context = context
        self._slug = slug
        self._path: Path | None = None
        self._phase = ""
        self._gate: Gate | None = None

    def shut(self, loop: Loop, mailbox: Path, checks: tuple[Check, ...]) -> None:
        """For the turn that begins; nobody is kept going who has nothing that could be run."""
        shown = [check.command for check in checks if not check.hidden]
        blocks = self._context.settings.values.workflow.gate_blocks
        if not shown or not blocks:
            return
        at = loop.under_way
        agent = self._context.agent_settings(loop.agent)
        self._phase = "fixing" if at is not None and at.task_kind is TaskKind.FIX else "executing"
        self._path = gate_file(mailbox)
        self._gate = Gate(
            slug=self._slug,
            session=(at.session or "") if at is not None else "",
            pid=os.getpid(),
            started=started_at(os.getpid()),
            namespace=namespace(),
            phase=self._phase,
            expires=self._context.clock().timestamp() + min(agent.timeout_s or USUAL_TURN_S, MOST_LIVES_S),
            blocks=blocks,
            reason=reason(shown, self._context.prompts()),
        )
        with suppress(StorageFailed):
            clear_path(self._path)
        self._write()

    def heed(self, loop: Loop) -> None:
        """A pause or a stop opens it, whoever said so; what goes on is under it again."""
        if self._gate is None or self._path is None or not self._path.exists():
            return
        phase = self._phase if isinstance(loop.phase, Running) else "blocked"
        if phase != self._gate.phase:
            self._gate.phase = phase
            self._write()

    def _write(self) -> None:
        if self._path is not None and self._gate is not None:
            with suppress(StorageFailed):  # the turn is over, and its mailbox is gone: nobody is held any more
                replace_without_sync(self._path, codec.to_json(self._gate.document()))


def reason(commands: list[str], book: Book) -> str:
    """What an agent is told that wants to end."""
    said = ", ".join(f"`{command[:_LONGEST]}`" for command in commands[:_SHOWN])
    if len(commands) > _SHOWN:
        said = book.part("gate_more", commands=said, count=str(len(commands) - _SHOWN))
    return book.part("gate", commands=said)

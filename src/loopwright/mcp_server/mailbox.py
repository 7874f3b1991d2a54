"""The tools inside a turn. The sandbox has no workspace, so they use the mailbox of the turn.

The worker reads the mailbox when the turn is over. Checks that run here are a preview. Loopwright's own run afterwards
decides, in a fresh sandbox that nothing here can reach.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from loopwright.agents.mailbox import (
    CONTEXT,
    MANIFESTS,
    SELF_REPORT,
    VARIABLE,
    DecisionRequest,
    ShownCheck,
    add_progress,
    read_checks,
    read_turn_facts,
)
from loopwright.agents.shown_file import ShownFile
from loopwright.errors import LoopRefused, LoopwrightError, WorkflowRefused
from loopwright.kernel import codec, process
from loopwright.kernel.files import create_exclusively, storage, write_durably
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.mcp_server.model import Arguments, Offer, Resource, ResourceText, Tool
from loopwright.mcp_server.tools import Nothing, Progress, ReadContext, RequestDecision, SelfReport, self_report_tool
from loopwright.redaction.redactor import Redactor
from loopwright.stages.agent_view import AgentView
from loopwright.verbs.workflow.status import read_row, rows_in
from loopwright.workflow.manifest import ManifestRow

INSTRUCTIONS = (
    "You take a turn in a Loopwright build, in a sandbox. `status` shows the task, `context` lists the files to read. "
    "Loopwright itself judges your work after your turn, in a fresh sandbox; `run_checks` is only a preview. When a "
    "decision is not yours, call `request_decision`, change nothing more, and end your turn. Call `self_report` before "
    "you end."
)
_CONTEXT_URI = "loopwright://context/"
_LONGEST_S = 600.0
_MOST_SAID = 4000
# What is hidden was masked when the mailbox was filled.
_WHOLE = AgentView({})
_PREVIEW = "nothing: this ran in your own sandbox; Loopwright judges the work itself when your turn is over"


class RunChecks(Arguments, frozen=True, kw_only=True):
    """Which check; without an id, all checks that the agent may see."""

    id: Annotated[str, Meta(description="One check's id.", min_length=1, max_length=200)] | None = None


def offer_of(mailbox: Path, environment: Mapping[str, str], redactor: Redactor) -> Offer:
    """The tools and resources inside a turn."""
    here = _Tools(mailbox, environment)
    return Offer(
        tools=(
            Tool(
                "status", Nothing, here.status,
                "About this turn: the task, the checks that judge it, the files to read.",
                is_reading=True,
            ),
            Tool(
                "next", Nothing, here.next,
                "What you should do now.",
                is_reading=True,
            ),
            Tool(
                "context", ReadContext, here.context,
                "The files to read before you build: the rows of the manifest. With a path: the text of that file.",
                is_reading=True,
            ),
            Tool(
                "progress", Progress, here.progress,
                "Report your progress in a sentence. People read it when your turn is over; it changes "
                "nothing.",
            ),
            Tool(
                "request_decision", RequestDecision, here.request_decision,
                "Ask a person for a decision that only a person can make. Change nothing more after this call, and "
                "end your turn: you are asked again with the answer. Do not guess.",
            ),
            self_report_tool(here.self_report),
            Tool(
                "run_checks", RunChecks, here.run_checks,
                "A preview: runs the checks that you may see, in your own sandbox. It decides nothing: "
                "Loopwright runs these and hidden checks in a fresh sandbox when your turn is over.",
            ),
        ),
        library=_MailboxLibrary(mailbox),
        instructions=INSTRUCTIONS,
        clean=lambda text: redactor.clean(text).text,
        # Nothing hidden is in a mailbox.
        hide=lambda: str,
    )  # fmt: skip


class _Tools:
    """The tools."""

    def __init__(self, mailbox: Path, environment: Mapping[str, str]) -> None:
        self._mailbox = mailbox
        self._environment = environment

    def status(self, _: Nothing, __: Cancellation) -> dict[str, Any]:
        facts, checks = read_turn_facts(self._mailbox), read_checks(self._mailbox)
        return {
            **msgspec.to_builtins(facts),
            "checks": msgspec.to_builtins(checks.shown),
            "hidden_checks": checks.hidden,
            "read": [row.path for row in _rows(self._mailbox)],
        }

    def next(self, _: Nothing, __: Cancellation) -> dict[str, Any]:
        facts = read_turn_facts(self._mailbox)
        return {"task_id": facts.task_id, "next": facts.task or "follow your prompt, then end your turn"}

    def context(self, arguments: ReadContext, _: Cancellation) -> dict[str, Any]:
        rows = _rows(self._mailbox)
        if arguments.path is None:
            return {"rows": [msgspec.to_builtins(row) for row in rows]}
        text, is_longer = read_row(rows, arguments.path, (self._mailbox / CONTEXT, Path.cwd()), _WHOLE)
        return {"path": arguments.path, "text": text, "is_cut": is_longer}

    def progress(self, arguments: Progress, _: Cancellation) -> dict[str, Any]:
        with storage(self._mailbox):
            add_progress(self._mailbox, arguments.text)
        return {"ok": True, "counts_for": "nothing; only people read it"}

    def request_decision(self, arguments: RequestDecision, _: Cancellation) -> dict[str, Any]:
        folder = self._environment.get(VARIABLE)
        if not folder:
            raise LoopRefused(
                "nobody_to_ask",
                "decision requests are not read in this turn",
                hint="name the open decision in your answer, and end your turn",
            )
        request = DecisionRequest(
            question=arguments.question, options=arguments.options, scope_wanted=arguments.scope_wanted
        )
        create_exclusively(Path(folder) / f"mcp-{uuid.uuid4().hex[:12]}.json", codec.to_json(request))
        return {"status": "open", "next": "change nothing more and end your turn; you are asked again with the answer"}

    def self_report(self, arguments: SelfReport, _: Cancellation) -> dict[str, Any]:
        chosen = self._environment.get("REFLECTION_INPUT")
        write_durably(Path(chosen) if chosen else self._mailbox / SELF_REPORT, codec.to_json(arguments.report()))
        return {"ok": True}

    def run_checks(self, arguments: RunChecks, cancellation: Cancellation) -> dict[str, Any]:
        checks = read_checks(self._mailbox)
        chosen = [check for check in checks.shown if arguments.id in (None, check.id)]
        if not chosen:
            known = ", ".join(check.id for check in checks.shown) or "none"
            raise WorkflowRefused(
                "no_checks", f"no check has this id (known: {known})", next_command="call status: it lists the checks"
            )
        results = [self._tried(check, cancellation) for check in chosen]
        return {
            "passed": all(result["passed"] for result in results),
            "checks": results,
            "hidden": checks.hidden,
            "counts_for": _PREVIEW,
        }

    def _tried(self, check: ShownCheck, cancellation: Cancellation) -> dict[str, Any]:
        output = _Tail()
        command = process.Command(
            ("sh", "-c", check.command), Path.cwd() / check.cwd, dict(self._environment), f"preview-{os.getpid()}"
        )
        try:
            ended = process.stream(
                command, on_stdout=output.add, on_stderr=output.add,
                timeout_s=check.timeout_s or _LONGEST_S, cancellation=cancellation,
            )  # fmt: skip
        except (LoopwrightError, Stopped) as problem:
            return {"id": check.id, "command": check.command, "passed": False, "exit_code": None, "said": str(problem)}
        timed_out = ended.ending is process.Ending.TIMED_OUT
        passed = ended.exit_code == 0 and not timed_out
        return {
            "id": check.id,
            "command": check.command,
            "passed": passed,
            "exit_code": ended.exit_code,
            **({"timed_out": True} if timed_out else {}),
            **({} if passed else {"said": output.text()}),
        }


class _Tail:
    """The last part of a program's output, however long the output is."""

    def __init__(self) -> None:
        self._data = b""

    def add(self, data: bytes) -> None:
        """Add more output."""
        self._data = (self._data + data)[-_MOST_SAID:]

    def text(self) -> str:
        """The last part as text."""
        return self._data.decode("utf-8", "replace").strip()


def _rows(mailbox: Path) -> tuple[ManifestRow, ...]:
    """The rows of the manifests in the mailbox. Their files are in the sandbox or in the mailbox."""
    folder = mailbox / CONTEXT
    rows: list[ManifestRow] = []
    for path in sorted(folder.glob(f"*{MANIFESTS}")) if folder.is_dir() else ():
        rows += rows_in(path, Path.cwd(), folder)
    return tuple(rows)


class _MailboxLibrary:
    """The files of the manifests as resources."""

    def __init__(self, mailbox: Path) -> None:
        self._mailbox = mailbox

    def listed(self) -> list[Resource]:
        """All rows."""
        return [
            Resource(uri=f"{_CONTEXT_URI}{row.path}", name=row.path, description=row.reason)
            for row in _rows(self._mailbox)
        ]

    def templates(self) -> tuple[Resource, ...]:
        """The only template."""
        return (Resource(uri=f"{_CONTEXT_URI}{{path}}", name="context", description="A file to read before you build"),)

    def read(self, uri: str) -> ResourceText | None:
        """The file of one row."""
        if not uri.startswith(_CONTEXT_URI):
            return None
        name = uri.removeprefix(_CONTEXT_URI)
        text, _ = read_row(_rows(self._mailbox), name, (self._mailbox / CONTEXT, Path.cwd()), _WHOLE)
        return ResourceText(file=ShownFile(text.encode()))

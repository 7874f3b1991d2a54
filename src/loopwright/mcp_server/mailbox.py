"""The tools inside of a turn: there is no workspace in the sandbox, so they work from the turn's mailbox.

What is left there is taken by the worker when the turn is over. Checks that run in here are a preview: what counts is
the tool's own run afterwards, in a fresh sandbox, where nothing that runs here can reach.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from loopwright.agents.decision_requests import VARIABLE, DecisionRequest
from loopwright.agents.mailbox import (
    CONTEXT,
    MANIFESTS,
    SELF_REPORT,
    ShownCheck,
    add_progress,
    read_checks,
    read_letter,
)
from loopwright.errors import LoopRefused, LoopwrightError, WorkflowRefused
from loopwright.kernel import codec, process
from loopwright.kernel.files import create_exclusively, storage, write_durably
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.mcp_server.model import Arguments, Offer, Resource, ResourceTemplate, ResourceText
from loopwright.mcp_server.tools import Nothing, Progress, ReadContext, RequestDecision, SelfReport, Way, tools
from loopwright.redaction.redactor import Redactor
from loopwright.verbs.workflow.status import read_row, rows_in
from loopwright.workflow.manifest import ManifestRow

INSTRUCTIONS = (
    "You take a turn in a Loopwright build, in a sandbox. `status` says what is wanted, `context` what to read. The "
    "tool itself judges your work when you end, in a fresh sandbox; `run_checks` in here is a preview that counts for "
    "nothing. When you meet a decision that is not yours: `request_decision`, change nothing more, and end. Before you "
    "end: `self_report`."
)
_CONTEXT_URI = "loopwright://context/"
_LONGEST_S = 600.0
_MOST_SAID = 4000
_PREVIEW = "nothing: this ran in your own sandbox; the tool judges the work itself when your turn is over"


class RunChecks(Arguments, frozen=True, kw_only=True):
    """Which of them; without a name all that may be known."""

    id: Annotated[str, Meta(description="One check's id.", min_length=1, max_length=200)] | None = None


def offer_of(mailbox: Path, environment: Mapping[str, str], redactor: Redactor) -> Offer:
    """Everything that an agent can ask for in its turn."""
    here = _Tools(mailbox, environment)
    return Offer(
        tools=tools(
            status=Way(
                Nothing, here.status,
                "Which turn this is: the task, who judges it, what to read.",
            ),
            next=Way(
                Nothing, here.next,
                "What is wanted of you now.",
            ),
            context=Way(
                ReadContext, here.context,
                "What to read before you build: the rows of the manifest. With a path: that file's text.",
            ),
            progress=Way(
                Progress, here.progress,
                "Say in a sentence how far you are. People read it when your turn is over; it moves "
                "nothing.",
            ),
            request_decision=Way(
                RequestDecision, here.request_decision,
                "Ask a person what only a person can decide. Change nothing more after this call, and end "
                "your turn: you are asked again with the answer. Do not guess.",
            ),
            self_report=here.self_report,
            run_checks=Way(
                RunChecks, here.run_checks,
                "A preview: runs the checks that you may know of here, in your own sandbox. It counts for "
                "nothing; the tool runs them, and hidden ones, in a fresh sandbox when your turn is over.",
            ),
        ),
        library=_Letters(mailbox),
        instructions=INSTRUCTIONS,
        clean=lambda text: redactor.clean(text).text,
    )  # fmt: skip


class _Tools:
    """What each of them does."""

    def __init__(self, mailbox: Path, environment: Mapping[str, str]) -> None:
        self._mailbox = mailbox
        self._environment = environment

    def status(self, _: Nothing, __: Cancellation) -> dict[str, Any]:
        letter, checks = read_letter(self._mailbox), read_checks(self._mailbox)
        return {
            **msgspec.to_builtins(letter),
            "checks": msgspec.to_builtins(checks.shown),
            "hidden_checks": checks.hidden,
            "read": [row.path for row in _rows(self._mailbox)],
        }

    def next(self, _: Nothing, __: Cancellation) -> dict[str, Any]:
        letter = read_letter(self._mailbox)
        return {"task_id": letter.task_id, "next": letter.task or "do what your prompt says, then end your turn"}

    def context(self, wanted: ReadContext, _: Cancellation) -> dict[str, Any]:
        rows = _rows(self._mailbox)
        if wanted.path is None:
            return {"rows": [msgspec.to_builtins(row) for row in rows]}
        text, is_longer = read_row(rows, wanted.path, (self._mailbox / CONTEXT, Path.cwd()))
        return {"path": wanted.path, "text": text, "is_cut": is_longer}

    def progress(self, wanted: Progress, _: Cancellation) -> dict[str, Any]:
        with storage(self._mailbox):
            add_progress(self._mailbox, wanted.text)
        return {"ok": True, "counts_for": "nothing; it is for people to read"}

    def request_decision(self, wanted: RequestDecision, _: Cancellation) -> dict[str, Any]:
        folder = self._environment.get(VARIABLE)
        if not folder:
            raise LoopRefused(
                "nobody_to_ask",
                "nobody reads decision requests in this turn",
                hint="say in your answer what has to be decided, and end",
            )
        request = DecisionRequest(question=wanted.question, options=wanted.options)
        create_exclusively(Path(folder) / f"mcp-{uuid.uuid4().hex[:12]}.json", codec.to_json(request))
        return {"status": "open", "next": "change nothing more and end your turn; you are asked again with the answer"}

    def self_report(self, wanted: SelfReport, _: Cancellation) -> dict[str, Any]:
        chosen = self._environment.get("REFLECTION_INPUT")
        write_durably(Path(chosen) if chosen else self._mailbox / SELF_REPORT, codec.to_json(wanted.report()))
        return {"ok": True}

    def run_checks(self, wanted: RunChecks, cancellation: Cancellation) -> dict[str, Any]:
        checks = read_checks(self._mailbox)
        chosen = [one for one in checks.shown if wanted.id in (None, one.id)]
        if not chosen:
            known = ", ".join(one.id for one in checks.shown) or "none"
            raise WorkflowRefused(
                "no_checks", f"there is no such check (there are: {known})", next_command="call status: it names them"
            )
        results = [self._tried(one, cancellation) for one in chosen]
        return {
            "passed": all(one["passed"] for one in results),
            "checks": results,
            "hidden": checks.hidden,
            "counts_for": _PREVIEW,
        }

    def _tried(self, check: ShownCheck, cancellation: Cancellation) -> dict[str, Any]:
        said = _Tail()
        command = process.Command(
            ("sh", "-c", check.command), Path.cwd() / check.cwd, dict(self._environment), f"preview-{os.getpid()}"
        )
        try:
            ended = process.stream(
                command, on_stdout=said.add, on_stderr=said.add,
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
            **({} if passed else {"said": said.text()}),
        }


class _Tail:
    """The end of what a program prints, however much that is."""

    def __init__(self) -> None:
        self._data = b""

    def add(self, data: bytes) -> None:
        """More of it."""
        self._data = (self._data + data)[-_MOST_SAID:]

    def text(self) -> str:
        """The end."""
        return self._data.decode("utf-8", "replace").strip()


def _rows(mailbox: Path) -> tuple[ManifestRow, ...]:
    """What the manifests in the mailbox list; which of it is there is seen from the sandbox and from the mailbox."""
    folder = mailbox / CONTEXT
    found: list[ManifestRow] = []
    for path in sorted(folder.glob(f"*{MANIFESTS}")) if folder.is_dir() else ():
        found += rows_in(path, Path.cwd(), folder)
    return tuple(found)


class _Letters:
    """The documents that were put into the mailbox."""

    def __init__(self, mailbox: Path) -> None:
        self._mailbox = mailbox

    def listed(self) -> list[Resource]:
        """Every row."""
        return [
            Resource(uri=f"{_CONTEXT_URI}{row.path}", name=row.path, description=row.reason)
            for row in _rows(self._mailbox)
        ]

    def templates(self) -> tuple[ResourceTemplate, ...]:
        """One family."""
        return (
            ResourceTemplate(
                uri=f"{_CONTEXT_URI}{{path}}", name="context", description="What to read before you build"
            ),
        )

    def read(self, uri: str) -> ResourceText | None:
        """One of the rows."""
        if not uri.startswith(_CONTEXT_URI):
            return None
        name = uri.removeprefix(_CONTEXT_URI)
        text, _ = read_row(_rows(self._mailbox), name, (self._mailbox / CONTEXT, Path.cwd()))
        return ResourceText(text=text)

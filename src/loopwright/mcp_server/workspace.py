"""The tools in a workspace: each calls a verb. There is none to approve, reject, sign, answer, unlatch or archive."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from loopwright.kernel.files import shown
from loopwright.kernel.process import Cancellation
from loopwright.loop.listing import list_loops
from loopwright.mcp_server.model import Arguments, Offer
from loopwright.mcp_server.resources import WorkspaceLibrary
from loopwright.mcp_server.tools import Nothing, Progress, ReadContext, RequestDecision, SelfReport, Way, tools
from loopwright.stages.context import Context
from loopwright.stages.names import slug_of
from loopwright.verbs.agent_says import WorkReference, leave_self_report, note_progress, request_decision
from loopwright.verbs.overview import overview, what_waits
from loopwright.verbs.workflow.context_notes import notes
from loopwright.verbs.workflow.status import context_rows, read_row, refresh_all, show, try_checks
from loopwright.workflow.listing import WorkflowLine, up_to_date

INSTRUCTIONS = (
    "Loopwright keeps the record of changes to this project: what is wanted, what was approved, what the tool itself "
    "ran. Call `status` or `next` to see what is wanted of you. Approving, signing, answering, unlatching and "
    "archiving are a person's: there is no tool for them, and you do not type their commands. What you say here is a "
    "claim; gates open on the tool's own runs alone. When you meet a decision that is not yours: `request_decision`, "
    "then stop."
)

Slug = Annotated[str, Meta(description="The workflow's name.", min_length=1, max_length=200)]
LoopName = Annotated[str, Meta(description="The loop's id.", min_length=1, max_length=100)]

_MOST_DERIVED = 20


class Status(Arguments, frozen=True, kw_only=True):
    """One workflow, or everything."""

    slug: Slug | None = None


class ReadContextOf(ReadContext, frozen=True, kw_only=True):
    """Whose manifest, and which of its files."""

    slug: Slug


class ProgressOf(Progress, frozen=True, kw_only=True):
    """What to say, of which work."""

    slug: Slug | None = None
    loop: LoopName | None = None


class RequestDecisionOn(RequestDecision, frozen=True, kw_only=True):
    """What to ask, about which work."""

    slug: Slug | None = None
    loop: LoopName | None = None


class RunChecks(Arguments, frozen=True, kw_only=True):
    """Whose checks."""

    slug: Slug
    on: Annotated[Literal["checkout"], Meta(description="The project as it is now.")] = "checkout"


def offer_of(context: Context) -> Offer:
    """Everything that an agent can ask of a workspace."""
    here = _Tools(context)
    redactor = context.tools().redactor
    return Offer(
        tools=tools(
            status=Way(
                Status, here.status,
                "How the work stands: stage, blockers, evidence, and the command that moves on. "
                "Without a slug: all workflows and loops.",
            ),
            next=Way(
                Nothing, here.next,
                "What should happen now, for everything that waits. Commands among it that approve, sign, "
                "answer, unlatch or archive are for a person to type.",
            ),
            context=Way(
                ReadContextOf, here.context,
                "What to read before you build: the rows of the workflow's manifest and the project's "
                "notes. With a path: the text of that row's file.",
            ),
            progress=Way(
                ProgressOf, here.progress,
                "Say in a sentence how far you are. It stands in the loop's history for people to read, "
                "and moves nothing.",
            ),
            request_decision=Way(
                RequestDecisionOn, here.request_decision,
                "Ask a person what only a person can decide. The work is held until one answers: stop "
                "after this call, change nothing more, do not guess.",
            ),
            self_report=here.self_report,
            run_checks=Way(
                RunChecks, here.run_checks,
                "Let the tool run the workflow's checks in a fresh sandbox of the project as it is now, "
                "with evidence. It opens no gate: `loopwright build` judges the work itself, hidden checks included.",
            ),
        ),
        library=WorkspaceLibrary(context),
        instructions=INSTRUCTIONS,
        clean=lambda text: redactor.clean(text).text,
    )  # fmt: skip


class _Tools:
    """What each of them does."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def status(self, wanted: Status, _: Cancellation) -> dict[str, Any]:
        layout = self._context.layout
        if wanted.slug is None:
            return overview(self._listed(), list_loops(layout))
        return show(self._context, slug_of(wanted.slug)).document()

    def next(self, _: Nothing, __: Cancellation) -> dict[str, Any]:
        return what_waits(self._listed(), list_loops(self._context.layout)).document()

    def _listed(self) -> list[WorkflowLine]:
        return up_to_date(self._context.layout, _MOST_DERIVED, lambda slugs: refresh_all(self._context, slugs))

    def context(self, wanted: ReadContextOf, _: Cancellation) -> dict[str, Any]:
        rows = context_rows(self._context, wanted.slug)
        if wanted.path is None:
            known = [{"name": note.name, "path": note.path} for note in notes(self._context)]
            return {"rows": [msgspec.to_builtins(row) for row in rows], "notes": known}
        text, is_longer = read_row(rows, wanted.path, (self._context.project,))
        return {"path": wanted.path, "text": text, "is_cut": is_longer}

    def progress(self, wanted: ProgressOf, _: Cancellation) -> dict[str, Any]:
        loop = note_progress(self._context, WorkReference(wanted.slug, wanted.loop), wanted.text)
        return {"ok": True, "loop_id": loop.loop_id, "counts_for": "nothing; it is for people to read"}

    def request_decision(self, wanted: RequestDecisionOn, _: Cancellation) -> dict[str, Any]:
        asked = request_decision(
            self._context, WorkReference(wanted.slug, wanted.loop), wanted.question, wanted.options
        )
        if asked.answer is not None:
            return {"id": asked.id, "status": "answered", "answer": asked.answer}
        return {"id": asked.id, "status": "open", "next": "stop here; a person answers, and you are asked again"}

    def self_report(self, wanted: SelfReport, _: Cancellation) -> dict[str, Any]:
        return {"ok": True, "path": shown(leave_self_report(self._context, wanted.report()))}

    def run_checks(self, wanted: RunChecks, cancellation: Cancellation) -> dict[str, Any]:
        tried = try_checks(self._context, wanted.slug, cancellation)
        return {**tried.document(), "counts_for": "nothing; build judges the work itself"}

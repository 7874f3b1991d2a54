"""The tools and resources of a workspace. Each tool calls a verb; resources are specs and evidence, read-only.

No tool approves, rejects, signs, answers, unlatches or archives: only a person does that.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote

import msgspec
from msgspec import Meta

from loopwright.agents.shown_file import ShownFile
from loopwright.evidence.store import EVIDENCE, SUMMARY
from loopwright.kernel.files import read_head, shown
from loopwright.kernel.ids import is_identifier
from loopwright.kernel.process import Cancellation
from loopwright.loop.listing import list_loops
from loopwright.mcp_server.model import Arguments, Offer, Resource, ResourceText, Tool
from loopwright.mcp_server.tools import Nothing, Progress, ReadContext, RequestDecision, SelfReport, self_report_tool
from loopwright.stages.agent_evidence import shown_evidence, shown_summary
from loopwright.stages.agent_view import agent_view
from loopwright.stages.context import Context
from loopwright.stages.names import slug_of
from loopwright.verbs.agent_reports import WorkReference, leave_self_report, note_progress, request_decision
from loopwright.verbs.overview import overview, what_waits
from loopwright.verbs.workflow.context_notes import notes
from loopwright.verbs.workflow.status import context_rows, read_row, refresh_all, show, try_checks
from loopwright.workflow.listing import WorkflowLine, up_to_date
from loopwright.workflow.living import domains_of

_SPECS = "loopwright://specs/"
_RUNS = "loopwright://runs/"
_JSON = "application/json"
_LISTED_RUNS = 200
_MOST_BYTES = 1 << 20


class WorkspaceLibrary:
    """Living specs, and records of runs."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def listed(self) -> list[Resource]:
        """Every domain, and the newest runs."""
        specs = [
            Resource(uri=f"{_SPECS}{quote(name)}", name=name, description=f"the living spec of {name}")
            for name in domains_of(self._context.layout)
        ]
        gone = self._context.store.collected()
        runs = [entry.data["run_id"] for entry in self._context.store.recorded()]
        return specs + [
            Resource(
                uri=f"{_RUNS}{name}/evidence", name=name, description=f"the evidence of the run {name}", mime=_JSON
            )
            for name in list(reversed(runs))[:_LISTED_RUNS]
            if name not in gone
        ]

    def templates(self) -> tuple[Resource, ...]:
        """The three templates."""
        return (
            Resource(uri=f"{_SPECS}{{domain}}", name="spec", description="A domain's living spec"),
            Resource(uri=f"{_RUNS}{{run_id}}/evidence", name="evidence", description="A run's record", mime=_JSON),
            Resource(uri=f"{_RUNS}{{run_id}}/summary", name="summary", description="A run's summary for people"),
        )

    def read(self, uri: str) -> ResourceText | None:
        """A spec or a record of a run."""
        if uri.startswith(_SPECS):
            return self._spec(unquote(uri.removeprefix(_SPECS)))
        if uri.startswith(_RUNS):
            run_id, _, what = uri.removeprefix(_RUNS).partition("/")
            return self._run(run_id, what)
        return None

    def _spec(self, domain: str) -> ResourceText | None:
        # Only names that the folder lists: a name from outside never becomes a path.
        if domain not in domains_of(self._context.layout):
            return None
        data, _ = read_head(self._context.layout.living_spec(domain).resolve(), _MOST_BYTES)
        return ResourceText(file=agent_view(self._context).document("spec.md", data))

    def _run(self, run_id: str, what: str) -> ResourceText | None:
        files = {"evidence": (EVIDENCE, shown_evidence, _JSON), "summary": (SUMMARY, shown_summary, "text/markdown")}
        if what not in files or not is_identifier(run_id):
            return None
        name, show, mime = files[what]
        if not (self._context.store.folder(run_id) / name).is_file():
            return None
        shown = show(self._context, run_id)
        return ResourceText(file=ShownFile(shown.data[:_MOST_BYTES]), mime=mime)


INSTRUCTIONS = (
    "Loopwright keeps the record of changes to this project: what is requested, what was approved, what Loopwright "
    "itself ran. Call `status` or `next` to see what you should do. Only a person approves, signs, answers, unlatches "
    "and archives: there are no tools for that, and you do not run these commands. What you say here is a claim; gates "
    "open only on Loopwright's own runs. When a decision is not yours, call `request_decision`, then stop."
)

Slug = Annotated[str, Meta(description="The workflow's name.", min_length=1, max_length=200)]
LoopName = Annotated[str, Meta(description="The loop's id.", min_length=1, max_length=100)]

_MOST_DERIVED = 20


class Status(Arguments, frozen=True, kw_only=True):
    """Which workflow; without a slug, all of them."""

    slug: Slug | None = None


class ReadContextOf(ReadContext, frozen=True, kw_only=True):
    """Which workflow's manifest, and which of its files."""

    slug: Slug


class ProgressOf(Progress, frozen=True, kw_only=True):
    """A progress note on a workflow or loop."""

    slug: Slug | None = None
    loop: LoopName | None = None


class RequestDecisionOn(RequestDecision, frozen=True, kw_only=True):
    """A question about a workflow or loop."""

    slug: Slug | None = None
    loop: LoopName | None = None


class RunChecks(Arguments, frozen=True, kw_only=True):
    """Which workflow's checks."""

    slug: Slug
    on: Annotated[Literal["checkout"], Meta(description="The project as it is now.")] = "checkout"


def offer_of(context: Context) -> Offer:
    """The tools and resources of a workspace."""
    here = _Tools(context)
    redactor = context.tools().redactor
    return Offer(
        tools=(
            Tool(
                "status", Status, here.status,
                "The state of the work: stage, blockers, evidence, and the next command. "
                "Without a slug: all workflows and loops.",
                is_reading=True,
            ),
            Tool(
                "next", Nothing, here.next,
                "The next step of everything that waits. Only a person runs commands that approve, sign, answer, "
                "unlatch or archive.",
                is_reading=True,
            ),
            Tool(
                "context", ReadContextOf, here.context,
                "The files to read before you build: the rows of the workflow's manifest and the project's "
                "notes. With a path: the text of that file.",
                is_reading=True,
            ),
            Tool(
                "progress", ProgressOf, here.progress,
                "Report your progress in a sentence. People read it in the loop's history; it changes nothing.",
            ),
            Tool(
                "request_decision", RequestDecisionOn, here.request_decision,
                "Ask a person for a decision that only a person can make. The work waits for the answer: stop after "
                "this call, change nothing more, do not guess.",
            ),
            self_report_tool(here.self_report),
            Tool(
                "run_checks", RunChecks, here.run_checks,
                "Run the workflow's checks in a fresh sandbox of the project as it is now, with evidence. "
                "This opens no gate: `loopwright build` judges the work itself, including hidden checks.",
            ),
        ),
        library=WorkspaceLibrary(context),
        instructions=INSTRUCTIONS,
        clean=lambda text: redactor.clean(text).text,
        hide=lambda: agent_view(context).masked,
    )  # fmt: skip


class _Tools:
    """The tools."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def status(self, arguments: Status, _: Cancellation) -> dict[str, Any]:
        layout = self._context.layout
        if arguments.slug is None:
            return overview(self._listed(), list_loops(layout))
        return show(self._context, slug_of(arguments.slug)).document()

    def next(self, _: Nothing, __: Cancellation) -> dict[str, Any]:
        return what_waits(self._listed(), list_loops(self._context.layout)).document()

    def _listed(self) -> list[WorkflowLine]:
        return up_to_date(self._context.layout, _MOST_DERIVED, lambda slugs: refresh_all(self._context, slugs))

    def context(self, arguments: ReadContextOf, _: Cancellation) -> dict[str, Any]:
        rows = context_rows(self._context, arguments.slug)
        if arguments.path is None:
            known = [{"name": note.name, "path": note.path} for note in notes(self._context)]
            return {"rows": [msgspec.to_builtins(row) for row in rows], "notes": known}
        text, is_longer = read_row(rows, arguments.path, (self._context.project,), agent_view(self._context))
        return {"path": arguments.path, "text": text, "is_cut": is_longer}

    def progress(self, arguments: ProgressOf, _: Cancellation) -> dict[str, Any]:
        loop = note_progress(self._context, WorkReference(arguments.slug, arguments.loop), arguments.text)
        return {"ok": True, "loop_id": loop.loop_id, "counts_for": "nothing; only people read it"}

    def request_decision(self, arguments: RequestDecisionOn, _: Cancellation) -> dict[str, Any]:
        asked = request_decision(
            self._context,
            WorkReference(arguments.slug, arguments.loop),
            arguments.question,
            arguments.options,
            arguments.scope_wanted,
        )
        if asked.answer is not None:
            return {"id": asked.id, "status": "answered", "answer": asked.answer}
        return {"id": asked.id, "status": "open", "next": "stop here; a person answers, and you are asked again"}

    def self_report(self, arguments: SelfReport, _: Cancellation) -> dict[str, Any]:
        return {"ok": True, "path": shown(leave_self_report(self._context, arguments.report()))}

    def run_checks(self, arguments: RunChecks, cancellation: Cancellation) -> dict[str, Any]:
        tried = try_checks(self._context, arguments.slug, cancellation)
        return {**tried.document(), "counts_for": "nothing; build judges the work itself"}

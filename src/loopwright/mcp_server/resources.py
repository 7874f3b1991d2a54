"""Specs and evidence as resources. Reads only; a name that leads elsewhere is no name."""

from __future__ import annotations

from urllib.parse import quote, unquote

from loopwright.evidence.store import EVIDENCE, SUMMARY
from loopwright.kernel.files import read_head
from loopwright.kernel.ids import is_identifier
from loopwright.mcp_server.model import Resource, ResourceTemplate, ResourceText
from loopwright.stages.context import Context
from loopwright.workflow.living import domains_of

_SPECS = "loopwright://specs/"
_RUNS = "loopwright://runs/"
_JSON = "application/json"
_LISTED_RUNS = 200
_MOST_BYTES = 1 << 20


class WorkspaceLibrary:
    """What the living specs promise, and what runs left."""

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

    def templates(self) -> tuple[ResourceTemplate, ...]:
        """The three families."""
        return (
            ResourceTemplate(uri=f"{_SPECS}{{domain}}", name="spec", description="A domain's living spec"),
            ResourceTemplate(
                uri=f"{_RUNS}{{run_id}}/evidence", name="evidence", description="A run's record", mime=_JSON
            ),
            ResourceTemplate(
                uri=f"{_RUNS}{{run_id}}/summary", name="summary", description="A run's summary for people"
            ),
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
        # Only what the folder itself lists: a name never becomes a path.
        if domain not in domains_of(self._context.layout):
            return None
        data, _ = read_head(self._context.layout.living_spec(domain).resolve(), _MOST_BYTES)
        return ResourceText(text=data.decode("utf-8", "replace"))

    def _run(self, run_id: str, what: str) -> ResourceText | None:
        files = {"evidence": (EVIDENCE, _JSON), "summary": (SUMMARY, "text/markdown")}
        if what not in files or not is_identifier(run_id):
            return None
        name, mime = files[what]
        path = self._context.store.folder(run_id) / name
        if not path.is_file():
            return None
        data, _ = read_head(path, _MOST_BYTES)
        return ResourceText(text=data.decode("utf-8", "replace"), mime=mime)

"""`execution-record.md` and `delegation-ledger.json`: the result of a build, and the work that agents delegated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from loopwright.kernel import codec
from loopwright.wording.catalogue import ENGLISH, Catalogue
from loopwright.workflow.documents.page import Page, Value, new_page, read_page

NAME = "execution-record.md"
KEYS = (
    "schema_version", "workflow_id", "run_id", "stage", "actor_id", "actor_role", "plan_digest", "started_at",
    "completed_at", "checkpoint_count", "evidence_manifest",
)  # fmt: skip
_AND = ", "
SECTIONS = ("Changes", "Checkpoint Log", "Execution Evidence", "Verification Evidence", "Limitations")


class Record(msgspec.Struct, frozen=True):
    """The execution record, and its missing parts."""

    page: Page
    missing: tuple[str, ...]

    @property
    def frontmatter(self) -> Mapping[str, Value]:
        """Its keys."""
        return self.page.frontmatter

    @property
    def actors(self) -> tuple[str, ...]:
        """The actors who did any part of the work."""
        names = self.page.frontmatter.get("actor_id", "")
        return (names, *names.split(_AND)) if isinstance(names, str) else ()


def actors_in(*names: str) -> str:
    """The actors as one value of the frontmatter."""
    return _AND.join(dict.fromkeys(name for name in names if name)) or "none"


def write_record(
    slug: str, values: Mapping[str, Value], sections: Mapping[str, str], catalogue: Catalogue = ENGLISH
) -> bytes:
    """The record's bytes."""
    page = new_page(
        catalogue.message("Execution record: {slug}", slug=slug), **{key: values.get(key, "") for key in KEYS}
    )
    for name in SECTIONS:
        page = page.with_section(name, catalogue.translate(sections.get(name, "")) or catalogue.message("(nothing)"))
    return page.render()


def read_record(data: bytes) -> Record:
    """The record in these bytes; `NotAPage` if they are not a document."""
    page = read_page(data)
    missing = [key for key in KEYS if not page.frontmatter.get(key)]
    missing += [f"the section {name}" for name in SECTIONS if not page.text_of(name)]
    return Record(page, tuple(missing))


Status = Literal["active", "done", "failed", "cancelled"]


class Delegation(msgspec.Struct, frozen=True, kw_only=True):
    """One delegated piece of work."""

    id: str
    role: str = ""
    status: Status = "active"
    blocking: bool = True
    scope: str = ""
    evidence: list[str] = []


class Ledger(msgspec.Struct, frozen=True):
    """Delegated work: active and finished."""

    active: tuple[Delegation, ...] = ()
    history: tuple[Delegation, ...] = ()

    @property
    def status(self) -> Literal["active", "drained"]:
        """Whether delegated work is still active."""
        return "active" if self.active else "drained"

    @property
    def blocking(self) -> tuple[Delegation, ...]:
        """Active delegations that block the review."""
        return tuple(delegation for delegation in self.active if delegation.blocking)

    def taking(self, entries: tuple[Delegation, ...]) -> Ledger:
        """The ledger with these entries: a known id is updated, a finished entry moves to the history."""
        known = {delegation.id: delegation for delegation in (*self.active, *entries)}
        over = tuple(delegation for delegation in known.values() if delegation.status != "active")
        gone = {delegation.id for delegation in over}
        history = tuple(delegation for delegation in self.history if delegation.id not in gone) + over
        return Ledger(tuple(delegation for delegation in known.values() if delegation.status == "active"), history)


class _File(msgspec.Struct, frozen=True):
    delegations: list[Delegation] = []
    history: list[Delegation] = []


def read_ledger(data: bytes) -> Ledger | None:
    """The ledger in these bytes; None if they are invalid."""
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, RecursionError):
        return None
    return Ledger((), tuple(file.history)).taking(tuple(file.delegations))


def render_ledger(ledger: Ledger) -> bytes:
    """The file's bytes."""
    return codec.to_json(
        {"schema_version": 1, "status": ledger.status, "delegations": ledger.active, "history": ledger.history}
    )

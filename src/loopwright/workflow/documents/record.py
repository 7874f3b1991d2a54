"""`execution-record.md`: what a build came to, for people and for the review. Frontmatter by the contract's keys."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

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
    """The document, and what is missing from it."""

    page: Page
    missing: tuple[str, ...]

    @property
    def frontmatter(self) -> Mapping[str, Value]:
        """Its keys."""
        return self.page.frontmatter

    @property
    def actors(self) -> tuple[str, ...]:
        """Who did any part of the work."""
        found = self.page.frontmatter.get("actor_id", "")
        return (found, *found.split(_AND)) if isinstance(found, str) else ()


def actors_in(*names: str) -> str:
    """All of them who did any part of the work."""
    return _AND.join(dict.fromkeys(name for name in names if name)) or "nobody"


def write_record(
    slug: str, values: Mapping[str, Value], sections: Mapping[str, str], say: Catalogue = ENGLISH
) -> bytes:
    """The record's bytes."""
    page = new_page(say.words("Execution record: {slug}", slug=slug), **{key: values.get(key, "") for key in KEYS})
    for name in SECTIONS:
        page = page.with_section(name, say.translate(sections.get(name, "")) or say.words("(nothing)"))
    return page.render()


def read_record(data: bytes) -> Record:
    """The record in these bytes; `NotAPage` when they hold none."""
    page = read_page(data)
    missing = [key for key in KEYS if not page.frontmatter.get(key)]
    missing += [f"the section {name}" for name in SECTIONS if not page.text_of(name)]
    return Record(page, tuple(missing))

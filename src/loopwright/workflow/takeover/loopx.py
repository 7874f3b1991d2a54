"""A `.loopx/` folder, in the formats of several versions of that tool. Its names are close to our contract."""

from __future__ import annotations

import re

from loopwright.kernel.ids import is_identifier
from loopwright.workflow.documents import spec as s
from loopwright.workflow.documents.spec import Spec, new_spec
from loopwright.workflow.gather import SPEC
from loopwright.workflow.package import PLAN_DOCUMENTS, delta_of, prd_of, test_spec_of
from loopwright.workflow.takeover.model import Candidate, Findings, Kind, Left, Loose
from loopwright.workflow.takeover.openspec import (
    ASIDE,
    ChangeFolder,
    delta_in,
    living_specs,
    read_change,
    spec_of_change,
)
from loopwright.workflow.takeover.source import Fields, Source
from loopwright.workflow.takeover.spec_page import listed, taken_spec

_KNOWN = ("workflows", "specs", "intake", "plans", "changes", "context", "journal", "decisions")
_SNAPSHOT = re.compile(r"clarify-(.+)-\d{8,}[^/]*\.md")
_STAMPED = re.compile(r"(.+)-\d{8,}\.md")
_CLAIMS = (
    "current_stage", "stage_status", "last_confirmed_transition", "approval", "execution_approved",
    "clarify_ambiguity_score", "plan_critic_verdict", "build_verification_status", "execution_record_status",
    "review_status", "review_verdict", "rollback_target", "completion_confirmed", "archive_status",
)  # fmt: skip


def read_loopx(source: Source) -> Findings:
    """Workflows, changes without a workflow, and files of the whole project."""
    places = _places(source)
    candidates = [_workflow(source, slug, at) for slug, at in places.items()]
    used = {name for candidate in candidates for name in candidate.claims.get("change", "").split()}
    changes = [name for name in source.folders("changes/active") if name not in used]
    candidates += [_lone_change(source, name) for name in changes]
    return Findings(
        candidates=tuple(candidates),
        loose=tuple(_loose(source, set(places))),
        troubles=tuple(source.troubles),
        left=tuple(_left(source, places)),
    )


def _places(source: Source) -> dict[str, str]:
    """The folder of each workflow: in `workflows/`, or at the top in early versions."""
    below = {name: f"workflows/{name}" for name in source.folders("workflows")}
    flat = {
        name: name
        for name in source.folders()
        if name not in _KNOWN and (source.has(f"{name}/state.json") or source.has(f"{name}/{SPEC}"))
    }
    return flat | below


def _workflow(source: Source, slug: str, at: str) -> Candidate:
    state = source.fields(f"{at}/state.json") or Fields()
    documents: dict[str, bytes] = {}
    paths = source.files(at)
    for path in paths:
        name = path.removeprefix(f"{at}/")
        # Claimed runs and decisions are kept for reading only: in our places they would look like evidence.
        place = name if name in PLAN_DOCUMENTS.values() else f"{ASIDE}/{name}"
        if (data := source.read(path)) is not None:
            documents[place] = data
    for wanted in (prd_of(slug), test_spec_of(slug)):
        if (data := source.read(wanted)) is not None:
            documents[wanted] = data
            paths.append(wanted)
    change, folder = _change_of(source, state, slug)
    spec = _with_domains(source, change, _spec(source, slug, at, state))
    if folder is not None:
        documents |= folder.documents | _one_delta(source, change, folder, spec)
        paths += folder.paths
    documents |= {f"{ASIDE}/{path}": data for path in _stamped(source, slug) if (data := source.read(path)) is not None}
    return Candidate(
        name=slug,
        path=at,
        idea=spec.page.text_of(s.INTENT) or slug,
        documents={**documents, SPEC: spec.page.render()},
        digest=source.digest(paths),
        claims=state.claims(*_CLAIMS) | ({"change": change} if folder is not None else {}),
        finished=state.text("archive_status") == "archived" or state.is_true("completion_confirmed"),
    )


def _lone_change(source: Source, name: str) -> Candidate:
    """An active change without a workflow."""
    at = f"changes/active/{name}"
    folder = read_change(source, at)
    slug = name.removeprefix("chg-")
    spec = spec_of_change(source, at, slug, folder)
    return Candidate(
        name=name,
        path=at,
        idea=spec.page.text_of(s.INTENT) or slug,
        documents={**folder.documents, **_one_delta(source, name, folder, spec), SPEC: spec.page.render()},
        digest=source.digest(list(folder.paths)),
    )


def _change_of(source: Source, state: Fields, slug: str) -> tuple[str, ChangeFolder | None]:
    there = source.folders("changes/active")
    for name in (state.text("change_id"), f"chg-{slug}", slug):
        if name in there:
            return name, read_change(source, f"changes/active/{name}")
    return "", None


def _one_delta(source: Source, change: str, folder: ChangeFolder, spec: Spec) -> dict[str, bytes]:
    """The delta of a change with one domain: that tool writes one `spec-delta.md` for all domains."""
    path = f"changes/active/{change}/spec-delta.md"
    data = source.read(path)
    if folder.deltas or data is None or len(spec.domains) != 1:
        return {}
    domain = spec.domains[0]
    return {delta_of(domain): data} if delta_in(source, path, domain, data) is not None else {}


def _spec(source: Source, slug: str, at: str, state: Fields) -> Spec:
    """The spec, else its newest snapshot, else a spec from the state file."""
    for path in (f"{at}/{SPEC}", *reversed(_snapshots(source, slug))):
        if source.has(path) and (spec := taken_spec(source, path)) is not None:
            return spec
    summary = state.inner("summary")
    spec = new_spec(slug, summary.text("intent") or state.text("idea", "title", "description"), slug)
    goals = summary.texts("non_goals")
    spec = spec.with_sections({s.NON_GOALS: listed(goals)} if goals else {})
    for question in summary.texts("open_questions"):
        spec = spec.asking(question)
    return spec


def _with_domains(source: Source, change: str, spec: Spec) -> Spec:
    """The domains of the change's proposal, if the spec names none."""
    proposal = source.page(f"changes/active/{change}/proposal.md") if change and not spec.is_filled(s.DOMAINS) else None
    named = proposal.text_of(s.DOMAINS) if proposal is not None else ""
    return spec.with_sections({s.DOMAINS: named}) if named and "target_domains" not in spec.page.frontmatter else spec


def _snapshots(source: Source, slug: str) -> list[str]:
    """The snapshots of one workflow, oldest first: their names end with the time."""
    snapshots = [f"{folder}/{name}" for folder in ("specs", "intake") for name in source.names(folder, ".md")]
    ours = [path for path in snapshots if (hit := _SNAPSHOT.fullmatch(path.partition("/")[2])) and hit[1] == slug]
    return sorted(ours, key=lambda path: path.partition("/")[2])


def _stamped(source: Source, slug: str) -> list[str]:
    """Whether a file belongs to one workflow and time; then it is not a note on the project."""
    hits = ((name, _STAMPED.fullmatch(name)) for name in source.names("context", ".md"))
    return [f"context/{name}" for name, hit in hits if hit is not None and hit[1] == slug]


def _loose(source: Source, slugs: set[str]) -> list[Loose]:
    files = list(living_specs(source))
    kinds: tuple[tuple[Kind, str], ...] = (("snapshot", "specs"), ("snapshot", "intake"), ("plan", "plans"))
    for kind, folder in (*kinds, ("note", "context")):
        for name in source.names(folder, ".md"):
            stamped = _STAMPED.fullmatch(name)
            owned = kind == "plan" and name in {_name(of(slug)) for slug in slugs for of in (prd_of, test_spec_of)}
            if owned or (kind == "note" and stamped is not None and stamped[1] in slugs):
                continue
            if kind == "snapshot" and _SNAPSHOT.fullmatch(name) is None:
                continue
            files += _loose_file(source, kind, f"{folder}/{name}", name)
    for kind, folder in (
        ("journal", "journal"),
        ("decision", "decisions/adr-candidates"),
        ("change", "changes/archive"),
    ):
        for path in source.files(folder):
            files += _loose_file(source, kind, path, path.removeprefix(f"{folder}/"))
    return files


def _loose_file(source: Source, kind: Kind, path: str, name: str) -> list[Loose]:
    if not all(is_identifier(part) for part in name.split("/")):
        source.note(path, "has an invalid name: use letters, digits, dots and dashes, at most 64")
        return []
    data = source.read(path)
    return [Loose(kind, path, name, data)] if data is not None else []


def _name(document: str) -> str:
    return document.rpartition("/")[2]


def _left(source: Source, places: dict[str, str]) -> list[Left]:
    others = [name for name in (*source.folders(), *source.names("")) if name not in _KNOWN and name not in places]
    return [Left(name, "is not needed by a workflow") for name in others]

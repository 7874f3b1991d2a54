"""`loopwright review`: first what a machine can see, then reviewers where the risk floor asks for them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Reason, Role
from loopwright.errors import AgentFailed, LoopwrightError, WorkflowRefused
from loopwright.kernel.digest import digest_of, sha256
from loopwright.kernel.files import make_folder, write_durably
from loopwright.kernel.process import Cancellation
from loopwright.reflection.risk import RiskVerdict, evaluate_risk_floor
from loopwright.reflection.store import read_shelf
from loopwright.verbs.by_hand import require_a_program
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor
from loopwright.verbs.person import require_person
from loopwright.verbs.risk import rules_of
from loopwright.verbs.verify import verify
from loopwright.verbs.workflow.asking import Wanted, ask_agent
from loopwright.verbs.workflow.built import Built, built
from loopwright.verbs.workflow.document_language import documents_of
from loopwright.verbs.workflow.independence import barred_from_review, builder_behind, doer_behind
from loopwright.verbs.workflow.names import slug_of, store_of
from loopwright.verbs.workflow.spending import Spending
from loopwright.workflow import commands as c
from loopwright.workflow.documents.record import NAME as RECORD
from loopwright.workflow.documents.record import Record
from loopwright.workflow.facts import Facts
from loopwright.workflow.manifest import Row, merged
from loopwright.workflow.manifest import render as render_manifest
from loopwright.workflow.model import Building, Key, Review, Reviewing, Stage, Transition, Workflow
from loopwright.workflow.patch_facts import patch_facts
from loopwright.workflow.project_tests import sentence
from loopwright.workflow.reviewing import (
    REVIEWED,
    CodeReview,
    Objection,
    Outcome,
    SmellReview,
    concluded,
    heard,
    heard_before,
    report,
    support,
)
from loopwright.workflow.scope import scope_blockers
from loopwright.workflow.standing import Standing, broken_promises
from loopwright.workflow.store import Opened
from loopwright.workflow.verification import Verification

Tell = Callable[[str], None]
_T = TypeVar("_T", bound=msgspec.Struct)
_TOOL = "loopwright"
# These say nothing of the work: nobody began to look at it. Whoever began and fails, or gives no verdict, says no.
_CANT_LOOK = frozenset(
    {Reason.AGENT_MISSING, Reason.AGENT_TOO_OLD, Reason.NOT_LOGGED_IN, Reason.RATE_LIMITED, Reason.BUDGET_USED}
)
# Where each one's answer is kept; one that was heard before a review was cut short is not asked again.
_SUPPORT = {
    Role.REVIEWER: "review-support/code-review.json",
    Role.SMELL_REVIEWER: "review-support/architecture-smell.json",
}
UNASKED = "nobody was named who could look at it"


class ReviewWish(msgspec.Struct, frozen=True, kw_only=True):
    """Who reviews: an agent by name, or a person with their verdict."""

    reviewer: str = ""
    verdict: str | None = None
    target: str | None = None
    rationale: str = ""
    spending: Spending | None = None


class _Heard(msgspec.Struct, Generic[_T], frozen=True):
    """What a reviewer said, and who that was; or why there is no verdict."""

    given: _T | None = None
    by: str = ""
    failed: str = ""


def review(context: Context, name: str, wish: ReviewWish, tell: Tell, cancellation: Cancellation) -> Workflow:
    """Enter → what a machine sees → reviewers by the risk floor → verdict, report, and what comes next."""
    slug = _slug(name)
    context.require_agents()  # before anything is entered
    with store_of(context).changing(slug) as opened:
        _enter(opened)
        workflow, facts, standing = opened.workflow, opened.facts(), opened.standing()
    verified = workflow.verification
    if verified is None:
        raise WorkflowRefused("review_gate_blocked", "nothing was verified", next_command=f"loopwright build {slug}")
    work = built(context, workflow, verified)
    wish = _with_reviewer(context, wish, facts)
    objections = [*_moved(workflow, standing), *_mechanical(context, workflow, facts, verified, wish)]
    risk = _risk(context, verified, work.patch)
    code, smell, notes = _judged(context, workflow, work, risk, wish, objections, tell, cancellation)
    rest = sentence(verified, has_command=facts.gates.has_test_command)
    outcome = concluded(objections, code.given, smell.given, (*notes, rest, *_reflections(context, verified)))
    # Whoever was named and not asked has not reviewed it.
    who = code.by or ((wish.reviewer or actor()) if wish.verdict is not None else _TOOL)
    return _settle(context, slug, who, verified, work.patch, outcome, (code.given, smell.given))


def _with_reviewer(context: Context, wish: ReviewWish, facts: Facts) -> ReviewWish:
    """Who reviews by the settings, where nobody is named; whom they name and who built it is nobody."""
    who = context.settings.values.agents.asked_as(Role.REVIEWER, "")
    built_it = isinstance(facts.record, Record) and builder_behind(context, facts.record, who) is not None
    return wish if wish.reviewer or wish.verdict is not None or built_it else replace(wish, reviewer=who)


def _slug(name: str) -> str:
    path = Path(name)
    return slug_of(path.parent.name) if path.name == RECORD and path.parent.name else slug_of(name)


def _enter(opened: Opened) -> None:
    if isinstance(opened.workflow.at, Reviewing):
        return
    if not isinstance(opened.workflow.at, Building):
        raise WorkflowRefused(
            "invalid_transition",
            f"{opened.workflow.slug} is at {opened.workflow.stage.value}: there is nothing to review",
            next_command=f"loopwright status {opened.workflow.slug}",
        )
    opened.apply(c.Enter(transition=Transition.BUILD_REVIEW, standing=opened.standing()), "tool")


def _moved(workflow: Workflow, standing: Standing) -> Iterator[Objection]:
    """What was consented to and is another thing now: built again, it is checked again."""
    for key, target in ((Key.PLAN, Stage.PLAN), (Key.BUILD, Stage.BUILD)):
        for one in broken_promises(workflow, standing, key):
            yield Objection(target, one.message)


def _mechanical(
    context: Context, workflow: Workflow, facts: Facts, verified: Verification, wish: ReviewWish
) -> Iterator[Objection]:
    """What no judgment is needed for; each names the stage that has to answer it."""
    record = facts.record
    if not isinstance(record, Record) or record.missing:
        lacks = ", ".join(record.missing[:5]) if isinstance(record, Record) else facts.record_status
        yield Objection(Stage.PLAN, f"the execution record is not whole: {lacks}")
    elif not record.frontmatter.get("evidence_manifest"):
        yield Objection(Stage.PLAN, "the execution record names no evidence")
    else:
        yield from _not_independent(context, record, wish)
    for one in scope_blockers(workflow.slug, record.frontmatter if isinstance(record, Record) else {}):
        yield Objection(Stage.BUILD, one.message)
    for run_id in verified.run_ids:
        try:
            mismatches = [text for found in verify(context, run_id) for text in found.mismatches]
        except LoopwrightError as problem:
            mismatches = [problem.message]
        if mismatches:
            yield Objection(Stage.BUILD, f"the evidence of {run_id} does not hold: {mismatches[0]}")


def _not_independent(context: Context, record: Record, wish: ReviewWish) -> Iterator[Objection]:
    """Whoever built any part of it can't review it, under no other name either; a person is who they say."""
    reviewer = wish.reviewer or _TOOL
    if reviewer in record.actors:
        yield Objection(Stage.PLAN, f"{reviewer} built it and can't review it")
    elif wish.reviewer and wish.verdict is None and (builder := builder_behind(context, record, reviewer)) is not None:
        doer = doer_behind(context, reviewer)
        why = f"{reviewer} and {builder}, which built it, are both {doer}: nobody reviews their own work"
        way = f"name another one, or set another agents.{reviewer}.model" if doer.has_model else "name another one"
        yield Objection(Stage.PLAN, f"{why}; {way}")


def _risk(context: Context, verified: Verification, patch: bytes) -> RiskVerdict:
    said = patch_facts(patch)
    threshold = context.settings.values.risk.threshold
    files = tuple(sorted(verified.files))
    return evaluate_risk_floor(files, said.insertions, said.deletions, threshold, rules_of(context), said.kinds)


def _judged(
    context: Context,
    workflow: Workflow,
    work: Built,
    risk: RiskVerdict,
    wish: ReviewWish,
    objections: list[Objection],
    tell: Tell,
    cancellation: Cancellation,
) -> tuple[_Heard[CodeReview], _Heard[SmellReview], list[str]]:
    """Routing is by the mechanical floor alone; a reviewer that fails is one that says no."""
    full = context.settings.values.workflow.profile == "full"
    floor = f"risk floor {risk.score:.2f} of {risk.threshold:.2f} ({risk.surface}): {risk.reason}"
    if wish.verdict is not None:
        return _Heard(_by_person(context, wish)), _Heard(), [floor, f"reviewed by {wish.reviewer or actor()}"]
    if not risk.needs_review and not full:
        return _Heard(), _Heard(), [f"code review was skipped: {floor}"]
    if objections:
        return _Heard(), _Heard(), [f"nobody was asked, what a machine sees comes first; {floor}"]
    if not wish.reviewer:
        why = f"{floor}: this needs a reviewer who did not build it"
        objections.append(Objection(Stage.BUILD, why))
        return _Heard(), _Heard(), [UNASKED]
    code = _ask(context, workflow, work, wish, Role.REVIEWER, CodeReview, risk, tell, cancellation)
    smell = _ask(context, workflow, work, wish, Role.SMELL_REVIEWER, SmellReview, risk, tell, cancellation)
    for role, failed in ((Role.REVIEWER, code.failed), (Role.SMELL_REVIEWER, smell.failed)):
        if failed:
            objections.append(Objection(Stage.BUILD, f"the {role.value} gave no verdict: {failed}"))
    return code, smell, [floor]


def _by_person(context: Context, wish: ReviewWish) -> CodeReview:
    require_person(context.environment, "review --verdict")
    if wish.verdict == "approve":
        return CodeReview(verdict="approve", summary=wish.rationale)
    target = wish.target if wish.target in ("build", "plan", "clarify") else "build"
    return msgspec.convert(
        {"verdict": "request-changes", "summary": wish.rationale, "rollback_target": target}, CodeReview
    )


def _ask(
    context: Context,
    workflow: Workflow,
    work: Built,
    wish: ReviewWish,
    role: Role,
    kind: type[_T],
    risk: RiskVerdict,
    tell: Tell,
    cancellation: Cancellation,
) -> _Heard[_T]:
    prompt, letters = _prompt(context, workflow, role, risk), _letters(context, workflow, work)
    builders = _builders(context, workflow)
    who = context.settings.values.agents.asked_as(role, wish.reviewer) if role is Role.SMELL_REVIEWER else wish.reviewer
    who = wish.reviewer if who in builders else who
    said = {"prompt": prompt, "patch": sha256(work.since_commit), "reviewer": who}
    shown = digest_of(said | {name: sha256(data) for name, data in letters.items()})
    with store_of(context).changing(workflow.slug) as opened:
        before = heard_before(_kept(opened, _SUPPORT[role]), kind, shown)
    if before is not None:
        tell(f"the {role.value} {before[1]} has looked at it as it is")
        return _Heard(*before)
    require_a_program(context, who, role)
    tell(f"the {role.value} looks at it")
    taken = workflow.turns_of(role.value)
    wanted = Wanted(
        slug=workflow.slug, stage=Stage.REVIEW, agent=who, role=role,
        prompt=prompt,
        name=f"{workflow.slug}-{role.value.replace(' ', '-')}-{taken + 1}", number=taken,
        sandbox=work.sandbox(context), letters=letters, spending=wish.spending,
        barred=builders, tell=tell,
    )  # fmt: skip
    try:
        found = ask_agent(context, wanted, kind, cancellation)
    except AgentFailed as problem:
        if problem.reason not in _CANT_LOOK:
            return _Heard(failed=problem.message)
        raise _nobody_looked(workflow.slug, wish.reviewer, who, problem) from problem
    with store_of(context).changing(workflow.slug) as opened:
        opened.write({_SUPPORT[role]: heard(found.reply, found.by, shown)}, found.by)
    return _Heard(found.reply, found.by)


def _kept(opened: Opened, name: str) -> bytes:
    """An answer as it was given: nobody's verdict is taken from a file that somebody edited."""
    try:
        return (opened.read(name) or b"") if opened.is_as_written(name) else b""
    except OSError:
        return b""


def _nobody_looked(slug: str, reviewer: str, asked: str, problem: AgentFailed) -> AgentFailed:
    if problem.reason in (Reason.RATE_LIMITED, Reason.BUDGET_USED):
        return problem  # it says itself until when, or whose limit that is
    again = f"loopwright review {slug} --reviewer {shlex.quote(reviewer)}"
    hint = (
        f"the work is as it was, and nobody approved it: mend that (`loopwright doctor` says more), "
        f"then `{again}`, or name another reviewer"
    )
    if asked != reviewer:
        hint = (
            f"the work is as it was, and nobody approved it: mend that (`loopwright doctor` says more), "
            f"or name another agent in agents.roles.smell_reviewer, then `{again}`"
        )
    return AgentFailed(problem.reason, problem.message, hint=hint)


def _builders(context: Context, workflow: Workflow) -> frozenset[str]:
    """Whoever built any part of it can't stand in for who reviews it."""
    with store_of(context).changing(workflow.slug) as opened:
        record = opened.facts().record
    return barred_from_review(context, record) if isinstance(record, Record) else frozenset()


def _prompt(context: Context, workflow: Workflow, role: Role, risk: RiskVerdict) -> str:
    book, patch = context.prompts(), "$LOOPWRIGHT_MAILBOX/reviewed.patch"
    if role is Role.SMELL_REVIEWER:
        return book.prompt("smell_reviewer_change", patch=patch)
    spec = context.layout.workflow(workflow.slug).document("spec.md")
    return book.prompt(
        "reviewer_change",
        patch=patch,
        manifest="$LOOPWRIGHT_MAILBOX/context/review-context.jsonl",
        spec=spec.read_text(encoding="utf-8") if spec.is_file() else workflow.idea,
        risk=book.part("riskiest", surface=risk.surface),
    )


def _letters(context: Context, workflow: Workflow, work: Built) -> dict[str, bytes]:
    """What the reviewer finds beside the project: the patch, and the documents that the manifest lists."""
    paths = context.layout.workflow(workflow.slug, workflow.change)
    found: dict[str, bytes] = {"reviewed.patch": work.patch}
    rows = []
    for name, kind, reason in (
        ("spec.md", "spec", "what was wanted"),
        (RECORD, "record", "what was done"),
        ("build-support/completion-audit.json", "audit", "what shows each requirement"),
    ):
        path = paths.document(name)
        if path.is_file():
            found[f"context/{name}"] = path.read_bytes()
            rows.append(
                Row(stage="review", kind=kind, path=f"context/{name}", reason=reason, priority=1, required=True)
            )
    return found | {"context/review-context.jsonl": render_manifest(merged(rows, lambda path: path in found))}


def _reflections(context: Context, verified: Verification) -> list[str]:
    """What doers said of these files; it is read, and routes nothing."""
    if not context.layout.reflections.is_dir():
        return []
    files = set(verified.files)
    notes = []
    for stored in read_shelf(context.layout.reflections).stored:
        found = stored.reflection
        if files & set(found.files_changed) and found.most_likely_wrong is not None:
            notes.append(f"{found.agent} thinks it most likely wrong at {found.most_likely_wrong.surface}")
    return notes[-5:]


def _settle(
    context: Context,
    slug: str,
    who: str,
    verified: Verification,
    patch: bytes,
    outcome: Outcome,
    answers: tuple[CodeReview | None, SmellReview | None],
) -> Workflow:
    clean = context.tools().redactor.clean
    found = Review(
        verdict=outcome.verdict,
        reviewer=who,
        tree=verified.tree,
        target=outcome.target,
        rationale=clean(outcome.rationale).text,
        report="review-report.md",
        unasked=UNASKED in outcome.notes,
    )
    skipped = "; ".join(outcome.notes) or "it was not asked for"
    runs = list(verified.run_ids)
    changed = json.dumps({"tree": verified.tree, "files": list(verified.files)}, ensure_ascii=False, indent=2) + "\n"
    with store_of(context).changing(slug) as opened:
        pages = {
            "review-report.md": report(
                slug, found, outcome, {"input": [RECORD], "evidence": runs}, opened.now, documents_of(context)
            ),
            _SUPPORT[Role.REVIEWER]: support(answers[0], skipped),
            _SUPPORT[Role.SMELL_REVIEWER]: support(answers[1], skipped),
            "review-support/changed-files.json": changed.encode(),
        }
        opened.write({name: clean(data).data for name, data in pages.items()} | {REVIEWED: patch}, who)
        opened.apply(c.RecordReview(review=found), who)
        if outcome.verdict == "approve":
            _journal(context, opened.workflow, found)
        opened.apply(c.RequestApproval(transition=Transition.REVIEW_DONE, standing=opened.standing()), "tool")
        return opened.workflow


def _journal(context: Context, workflow: Workflow, found: Review) -> None:
    """A page for the developer: what was reviewed, by whom, on which tree."""
    folder = context.layout.developer_journal(actor())
    make_folder(folder)
    # Past the highest there is: a page that somebody took away leaves its number free, not another page's.
    taken = (path.stem.removeprefix("journal-") for path in folder.glob("journal-*.md"))
    number = max((int(one) for one in taken if one.isdecimal()), default=0) + 1
    lines = [
        f"# {workflow.slug}",
        "",
        workflow.idea,
        "",
        documents_of(context).told(f"Reviewed by {found.reviewer}: {found.verdict}, tree {found.tree}."),
    ]
    write_durably(folder / f"journal-{number}.md", ("\n".join(lines) + "\n").encode())

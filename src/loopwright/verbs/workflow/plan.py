"""`loopwright plan`: a spec becomes slices with checks, documents that say why, and a delta to the living specs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Role
from loopwright.agents.structured import AnswerForm, json_form
from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.kernel.files import read_plainly, shown
from loopwright.kernel.process import Cancellation
from loopwright.runner.ask_agent import AgentReply, AgentRequest
from loopwright.stages.asking import StageCall, ask_for_stage
from loopwright.stages.building.on_base import control_on_base
from loopwright.stages.clarifying import begin
from loopwright.stages.context import Context
from loopwright.stages.document_language import documents_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor, require_person
from loopwright.stages.spending import Spending
from loopwright.stages.stores import workflows_of
from loopwright.workflow import commands as c
from loopwright.workflow import composing
from loopwright.workflow.delta.compose import composed
from loopwright.workflow.delta.domains import domain_problem
from loopwright.workflow.delta.model import Delta
from loopwright.workflow.delta.read import read_delta
from loopwright.workflow.documents.page import MOST_BYTES, NotAPage, read_page
from loopwright.workflow.documents.spec import Spec, read_spec
from loopwright.workflow.drafting import PlanReply, drafted, skeletons, wrong_with
from loopwright.workflow.gather import SPEC
from loopwright.workflow.living import base_for, digests_of, rivals_of
from loopwright.workflow.model import (
    Building,
    Clarifying,
    Key,
    Planning,
    PlanRound,
    Reviewing,
    Stage,
    Transition,
    UsedApproval,
    Workflow,
)
from loopwright.workflow.package import (
    CHANGE_DOCUMENTS,
    GRAPH,
    PLAN_DOCUMENTS,
    SLICES,
    delta_of,
    is_planners,
    prd_of,
    test_spec_of,
)
from loopwright.workflow.slices import Slices
from loopwright.workflow.standing import void_parts
from loopwright.workflow.store import Opened

# Characters of a document of another tool that a planner gets to read.
_MOST_TAKEN = 4_000
# Reasons for which an agent that is there by default plans once more.
_FOR_THE_REVIEWERS = ("architect_review_incomplete", "critic_verdict_missing")
_INCOMPLETE = ("plan_package_", "vertical_slices_missing", "spec_delta_")
_FOR_A_PLANNER = (*_INCOMPLETE, "critic_verdict_", "architect_review_")
Tell = Callable[[str], None]
_T = TypeVar("_T")
# What the living specs said, by domain and requirement.
Specs = dict[str, dict[str, str]]


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How it is to be planned."""

    agent: str | None
    # Whether somebody named the agent: then it plans, whatever is there.
    anew: bool = False
    deliberate: bool = False
    max_rounds: int = 5
    # Shows a person what a round came to; what they answer is what the next one has to heed, nothing ends it.
    ask: Callable[[PlanRound], str | None] | None = None
    spending: Spending | None = None


class PlanOpinion(msgspec.Struct, frozen=True, kw_only=True):
    """What an architect or a critic answers."""

    verdict: str
    notes: str = ""


def take_direct(context: Context, name: str, source: Path) -> Workflow:
    """A spec that a person brings: they stand for its being clear; the rest is judged as any other."""
    require_person(context.environment, "plan --direct")
    try:
        data = read_plainly(source, most=MOST_BYTES)
        spec = read_spec(data)
    except OSError as problem:
        raise WrongUsage(f"{shown(source)} can't be read: {problem.strerror}", hint="check the path") from problem
    except NotAPage as problem:
        raise WrongUsage(f"{shown(source)}: {problem}", hint="correct it; nothing was changed") from problem
    slug = begin(context, name, spec.page.text_of("Intent"), None).slug
    with workflows_of(context).changing(slug) as opened:
        opened.write({SPEC: data}, actor())
        opened.apply(c.GiveSpec(source=shown(source), by=actor()), actor())
        standing = opened.standing()
        opened.apply(c.Approve(transition=Transition.CLARIFY_PLAN, standing=standing, by=actor()), actor())
        return opened.workflow


def plan(context: Context, name: str, request: PlanRequest, tell: Tell, cancellation: Cancellation) -> Workflow:
    """Enter the stage → write → compose → control on the base → ask for consent."""
    slug = slug_of(name)
    if _is_changed_under_the_build(context, slug):
        return _changed(context, slug, tell, cancellation)
    if request.agent is not None:
        # What is wrong with a text, or with an agent's name, comes to light before anybody plans.
        context.prompts()
        context.require_agents()
    _enter(context, slug)
    # Before anybody plans: what another change does to the specs while an agent thinks, the agent has not read.
    said = digests_of(context.layout)
    if request.agent is not None and not request.anew and _is_planned(context, slug, request):
        tell(f"{slug} has a plan, which is composed and run on the base; to have it planned anew, name who: --agent")
    elif request.agent is not None:
        _rounds(context, slug, request, said, tell, cancellation)
    else:
        _write_skeletons(context, slug, tell)
    _tell_rivals(context, slug, _compose(context, slug, said), tell)
    control_on_base(context, slug, tell, cancellation)
    with workflows_of(context).changing(slug) as opened:
        opened.apply(c.RequestApproval(transition=Transition.PLAN_BUILD, standing=opened.standing()), "tool")
        return opened.workflow


def _is_changed_under_the_build(context: Context, slug: str) -> bool:
    """Whether a person changed the plan while it is built: then what follows from it has to be made anew."""
    with workflows_of(context).changing(slug) as opened:
        approval = opened.workflow.approval(Key.BUILD)
        changed = isinstance(approval, UsedApproval) and void_parts(approval, opened.standing())
        return isinstance(opened.workflow.at, Building) and bool(changed)


def _is_reviewed(context: Context, request: PlanRequest) -> bool:
    return request.deliberate or context.settings.values.workflow.profile == "full"


def _is_planned(context: Context, slug: str, request: PlanRequest) -> bool:
    """Whether there is a plan that somebody may have corrected: another one would throw that away.

    What an agent left incomplete, or a critic sent back, it goes on with; what a person began they go on with.
    """
    with workflows_of(context).changing(slug) as opened:
        codes = [one.code for one in opened.standing().readiness.build]
        is_theirs = bool(opened.workflow.plan_rounds and _by_hand(opened))
        if is_theirs and any(code.startswith(_INCOMPLETE) for code in codes):
            return True
        if not is_theirs and any(code.startswith(_FOR_A_PLANNER) for code in codes):
            return False
        return bool(opened.workflow.plan_rounds) and not (_is_reviewed(context, request) and _unseen(opened))


def _lacks_only_reviews(context: Context, slug: str) -> bool:
    """Whether there is a whole plan that nobody has looked at as it is: reviewers are asked, and no planner."""
    with workflows_of(context).changing(slug) as opened:
        codes = {one.code for one in opened.standing().readiness.build if one.code.startswith(_FOR_A_PLANNER)}
        # What reviewers said of an earlier one does not count against what a person made of it.
        old = {code for code in codes if _by_hand(opened) and not code.startswith(_INCOMPLETE)}
        return codes <= {*_FOR_THE_REVIEWERS, *old} and _unseen(opened)


def _by_hand(opened: Opened) -> tuple[str, ...]:
    """What of the plan a person wrote last."""
    return tuple(name for name in opened.written_outside() if is_planners(name))


def _unseen(opened: Opened) -> bool:
    """Whether there is a plan of which a critic said nothing, or nothing as it is now."""
    last = _last_round(opened)
    if last is None:
        return False
    return last.critic is None or bool(last.seen and last.seen != opened.facts().planned_parts)


def _last_round(opened: Opened) -> PlanRound | None:
    return opened.workflow.plan_rounds[-1] if opened.workflow.plan_rounds else None


def _changed(context: Context, slug: str, tell: Tell, cancellation: Cancellation) -> Workflow:
    """Compose and control what somebody wrote; the build goes on when a person stands for it."""
    tell(f"{slug} is being built: nobody plans it anew, what you changed is composed and run on the base")
    _tell_rivals(context, slug, _compose(context, slug, digests_of(context.layout)), tell)
    control_on_base(context, slug, tell, cancellation)
    with workflows_of(context).changing(slug) as opened:
        return opened.workflow


def _enter(context: Context, slug: str) -> None:
    with workflows_of(context).changing(slug) as opened:
        match opened.workflow.at:
            case Planning():
                return
            case Clarifying():
                opened.apply(c.Enter(transition=Transition.CLARIFY_PLAN, standing=opened.standing()), "tool")
            case Reviewing():
                opened.apply(c.Enter(transition=Transition.REVIEW_PLAN, standing=opened.standing()), "tool")
            case _:
                raise WorkflowRefused(
                    "invalid_transition",
                    f"{slug} is at {opened.workflow.stage.value}: it can't be planned from there",
                    next_command=f"loopwright status {slug}",
                )


def _rounds(
    context: Context, slug: str, request: PlanRequest, said: Specs, tell: Tell, cancellation: Cancellation
) -> None:
    """Planner, and in the profile `full` architect and critic, until they agree or the rounds are used."""
    reviewed = _is_reviewed(context, request)
    notes = _taken_over(context, slug) or _sent_back(context, slug)
    is_there = reviewed and _lacks_only_reviews(context, slug)
    for number in range(1, request.max_rounds + 1):
        if is_there and number == 1:
            tell(f"round {number}: the plan is there, and not everybody has looked at it as it is")
        else:
            tell(f"round {number}: the planner works")
            with workflows_of(context).changing(slug) as opened:
                names = ", ".join(shown(opened.paths.document(name)) for name in _by_hand(opened))
            if names:
                tell(f"note: the planner writes anew what somebody wrote into {names}")
            _planned(context, slug, request, notes, tell, cancellation)
            # A plan is whole with what follows from it: whoever is asked next, or comes back later, finds all of it.
            _compose(context, slug, said)
        if reviewed:
            _reviewed(context, slug, request, tell, cancellation)
        with workflows_of(context).changing(slug) as opened:
            taken = opened.workflow.plan_rounds[-1]
        # A person may ask for more where nobody objects, and for an end where somebody does.
        remark = request.ask(taken) if request.ask is not None and number < request.max_rounds else None
        if remark is None and (request.ask is not None or taken.critic in (None, "approve")):
            return
        heard = context.prompts().part("person_says", remark=remark) if remark else ""
        notes = "\n".join(part for part in (_sent_back(context, slug, anyway=True), heard) if part)


def _reviewed(context: Context, slug: str, request: PlanRequest, tell: Tell, cancellation: Cancellation) -> None:
    """What architect and critic say of the plan, each on record at once: who comes later finds it."""
    with workflows_of(context).changing(slug) as opened:
        workflow, seen = opened.workflow, opened.facts().planned_parts
        names = ("spec.md", *PLAN_DOCUMENTS.values(), CHANGE_DOCUMENTS["design"], "change/slices.json")
        text = "\n\n".join((opened.read(name) or b"").decode("utf-8", "replace") for name in names)
        last = workflow.plan_rounds[-1]
        is_open = last.critic is None and (last.architect is None or last.seen == seen)
        number = last.number if is_open else last.number + 1
        notes = _notes_of(opened, last, Role.ARCHITECT) if is_open else None
    if notes is None:
        tell("the architect looks at it")
        prompt = context.prompts().prompt("architect_plan", plan=text)
        form = json_form(PlanOpinion)
        architect = _asked(context, workflow, request, Role.ARCHITECT, prompt, form, tell, cancellation).reply
        taken = PlanRound(number=number, architect=architect.verdict, seen=seen)
        _record(context, slug, taken, Role.ARCHITECT, architect)
    else:
        tell("the architect has looked at it as it is")
        taken, architect = last, PlanOpinion(verdict=last.architect or "", notes=notes)
    tell("the critic looks at it")
    prompt = context.prompts().prompt("critic_plan", plan=text, architect=architect.notes or architect.verdict)
    form = json_form(PlanOpinion)
    critic = _asked(context, workflow, request, Role.CRITIC, prompt, form, tell, cancellation).reply
    _record(context, slug, replace(taken, critic=critic.verdict), Role.CRITIC, critic)


def _sent_back(context: Context, slug: str, *, anyway: bool = False) -> str:
    """What the planner is told of a plan that a critic did not approve, in this run or in one before."""
    with workflows_of(context).changing(slug) as opened:
        last = _last_round(opened)
        if not anyway and (last is None or last.critic in (None, "approve")):
            return ""
        said = {who: _notes_of(opened, last, who) if last else None for who in (Role.ARCHITECT, Role.CRITIC)}
    book = context.prompts()
    architect, critic = said[Role.ARCHITECT], said[Role.CRITIC]
    heard = "" if critic is None else book.part("opinions", architect=architect or "", critic=critic)
    return "\n".join(part for part in (book.part("sent_back"), heard) if part)


def _page_of(number: int, who: Role) -> str:
    return f"plan-reviews/round-{number}-{who.value}.md"


def _notes_of(opened: Opened, taken: PlanRound, who: Role) -> str | None:
    """What they said in that round; None where they said nothing: a page may be of rounds before a review."""
    if (taken.architect if who is Role.ARCHITECT else taken.critic) is None:
        return None
    page = opened.read(_page_of(taken.number, who))
    return None if page is None else page.decode("utf-8", "replace").partition("\n\n")[2].removesuffix("\n")


def _taken_over(context: Context, slug: str) -> str:
    """What another tool planned before this was taken over, for the first planner here: it may hold, or not."""
    with workflows_of(context).changing(slug) as opened:
        workflow = opened.workflow
        if workflow.origin is None or workflow.plan_rounds:
            return ""
        names = (PLAN_DOCUMENTS["plan"], SLICES, CHANGE_DOCUMENTS["tasks"])
        texts = [data.decode("utf-8", "replace")[:_MOST_TAKEN] for name in names if (data := opened.read(name))]
    head = context.prompts().part("taken_over", tool=workflow.origin.tool)
    return "\n\n".join([head, *texts]) if texts else ""


def _planned(
    context: Context, slug: str, request: PlanRequest, notes: str, tell: Tell, cancellation: Cancellation
) -> None:
    """What the planner writes, on record at once: a turn that was paid for is never asked for again."""
    with workflows_of(context).changing(slug) as opened:
        workflow, spec = opened.workflow, _spec(opened)
    domains = spec.domains
    prompt = context.prompts().prompt(
        "planner_change",
        spec=spec.page.render().decode(),
        domain=domains[0],
        domains=", ".join(domains),
        blocker=notes,
    )
    form = json_form(PlanReply, lambda reply: wrong_with(reply, domains))
    said = _asked(context, workflow, request, Role.PLANNER, prompt, form, tell, cancellation)
    with workflows_of(context).changing(workflow.slug) as opened:
        pages = drafted(workflow.slug, said.reply, domains, f"spec.md, by {said.by}", documents_of(context))
        opened.write(pages, said.by or "tool")
        last = _last_round(opened)
        opened.apply(c.TakePlanRound(round=PlanRound(number=last.number + 1 if last is not None else 1)), "tool")


def _asked(
    context: Context,
    workflow: Workflow,
    request: PlanRequest,
    role: Role,
    prompt: str,
    form: AnswerForm[_T],
    tell: Tell,
    cancellation: Cancellation,
) -> AgentReply[_T]:
    """The answer of the agent in this role."""
    agent = request.agent or ""
    if role is not Role.PLANNER:
        agent = context.settings.values.agents.asked_as(role, agent)
    taken = workflow.turns_of(role.value)
    asked = AgentRequest(agent=agent, role=role, prompt=prompt, form=form, number=taken)
    call = StageCall(
        slug=workflow.slug, stage=Stage.PLAN, name=f"{workflow.slug}-{role.value}-{taken + 1}",
        spending=request.spending, tell=tell,
    )  # fmt: skip
    return ask_for_stage(context, call, asked, cancellation)


def _record(context: Context, slug: str, taken: PlanRound, who: Role, said: PlanOpinion) -> None:
    page = f"# {who.value}: {said.verdict}\n\n{said.notes}\n".encode()
    with workflows_of(context).changing(slug) as opened:
        opened.write({_page_of(taken.number, who): page}, "tool")
        opened.apply(c.TakePlanRound(round=taken), "tool")


def _write_skeletons(context: Context, slug: str, tell: Tell) -> None:
    """Only what is not there yet: whatever a person wrote stays."""
    with workflows_of(context).changing(slug) as opened:
        spec = _spec(opened)
        for wrong in filter(None, map(domain_problem, spec.domains)):
            tell(f"note: {wrong}; correct it in {opened.facts().spec_path}")
        tasks = opened.read(CHANGE_DOCUMENTS["tasks"]) or b""
        wanted = skeletons(slug, spec.domains, "spec.md", tasks, documents_of(context))
        missing = {name: data for name, data in wanted.items() if opened.read(name) is None}
        if missing:
            opened.write(missing, "tool")
        if not opened.workflow.plan_rounds:
            opened.apply(c.TakePlanRound(round=PlanRound(number=1)), "tool")


def _compose(context: Context, slug: str, said: Specs) -> list[Delta]:
    """What follows from spec, slices and deltas; a file that somebody made theirs is left alone."""
    with workflows_of(context).changing(slug) as opened:
        facts, spec, say = opened.facts(), _spec(opened), documents_of(context)
        deltas = _deltas(opened, tuple(facts.deltas))
        pages: dict[str, bytes] = {CHANGE_DOCUMENTS["spec_delta"]: composed(opened.workflow.change_id, deltas, say)}
        requirements = {domain: one.requirements for domain, one in facts.deltas.items()}
        pages[prd_of(slug)] = composing.prd(slug, spec, requirements, say).render()
        if isinstance(facts.slices, Slices):
            slices = facts.slices
            pages[PLAN_DOCUMENTS["development_plan"]] = composing.development_plan(slug, slices, say).render()
            pages[PLAN_DOCUMENTS["test_plan"]] = composing.test_plan(slug, slices, say).render()
            pages[test_spec_of(slug)] = composing.test_spec(slug, spec, slices, say).render()
            pages[CHANGE_DOCUMENTS["tasks"]] = composing.tasks(slug, slices, say).render()
        ours = {name: data for name, data in pages.items() if _is_ours(opened, name)}
        opened.write(ours, "tool")
        present = frozenset(name for name, digest in opened.workflow.documents.items() if digest)
        domains = tuple(facts.deltas) or spec.domains
        opened.write({GRAPH: composing.artifact_graph(slug, domains, present)}, "tool")
        base = base_for(said, facts.delta_parts, facts.deltas, opened.workflow.base)
        if isinstance(opened.workflow.at, Planning):
            opened.apply(c.NoteSpecs(base=base), "tool")
    return deltas


def _tell_rivals(context: Context, slug: str, deltas: list[Delta], tell: Tell) -> None:
    """Other active changes that touch the same are no reason to stop yet; who plans should know."""
    with workflows_of(context).changing(slug) as opened:
        change_id = opened.workflow.change_id
    for other, conflicts in rivals_of(context.layout, change_id, {one.domain: one for one in deltas}).items():
        names = ", ".join(f"'{one.requirement}'" for one in conflicts[:3])
        tell(f"note: {other} is active and touches {names} too; who is archived second must fit the first")


def _is_ours(opened: Opened, name: str) -> bool:
    data = opened.read(name)
    if data is None or name == CHANGE_DOCUMENTS["spec_delta"]:
        return True
    try:
        return composing.COMPOSED in read_page(data).frontmatter
    except NotAPage:
        return False


def _deltas(opened: Opened, domains: tuple[str, ...]) -> list[Delta]:
    found = (read_delta(opened.read(delta_of(domain)) or b"", domain) for domain in domains)
    return [one for one in found if isinstance(one, Delta)]


def _spec(opened: Opened) -> Spec:
    found = opened.facts().spec
    if isinstance(found, Spec):
        return found
    raise WorkflowRefused(
        "build_requires_workflow_plan_artifacts",
        f"{opened.facts().spec_sentence}",
        next_command=f"loopwright status {opened.workflow.slug}",
    )

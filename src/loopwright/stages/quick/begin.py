"""Begins a quick workflow. Its plan is one slice with the checks of the person, else with the project's own tests.

Typing `do` is the consent of the person to build exactly this plan; everything else is as in any workflow.
"""

from __future__ import annotations

import itertools
import shlex

import msgspec

from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Budget
from loopwright.stages.agent_choice import agent_to_do
from loopwright.stages.building.controls import control_on_base
from loopwright.stages.consents import give_consent
from loopwright.stages.context import Context, Tell, documents_of, workflows_of
from loopwright.stages.names import slug_of
from loopwright.stages.person import actor, require_own_words, require_person
from loopwright.wording.catalogue import Catalogue
from loopwright.workflow import commands as c
from loopwright.workflow.documents.page import NotAPage, new_page
from loopwright.workflow.documents.spec import INTENT, Spec, as_body
from loopwright.workflow.gather import SPEC
from loopwright.workflow.model import Approved, Clarifying, Key, Planning, Transition
from loopwright.workflow.package import SLICES
from loopwright.workflow.profiles import QUICK
from loopwright.workflow.slices import Check, Slice, Slices, render_slices
from loopwright.workspace.layout import record_choice
from loopwright.workspace.names import IN_WORKFLOW

# Everything in the folder of a quick workflow belongs to this machine.
_IGNORE = {".gitignore": b"*\n"}
_LONGEST_SLUG = 40
_LONGEST_TITLE = 120


class DoRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An idea, and what decides whether the work is right. Without checks, the project's own tests decide."""

    idea: str
    checks: tuple[str, ...] = ()
    # Empty: the default agent, else the only one that is installed.
    agent: str = ""
    budget: Budget = Budget()


def begin_quick(context: Context, request: DoRequest) -> str:
    """Begin the workflow with its spec and its slice, in one line of its journal; returns its name."""
    require_person(context.environment, "do")
    require_own_words(request.idea)
    idea = context.tools().redactor.clean(request.idea.strip()).text
    if not idea:
        raise WrongUsage("the idea is empty", hint='say what you want: loopwright do "add a --version option"')
    checks = _checks(context, request, idea)
    agent_to_do(context, request.agent, command=f"loopwright do {shlex.quote(idea)}")
    record_choice(context.layout)
    slug, catalogue = _free_name(context, idea), documents_of(context)
    contents = {SPEC: _spec(slug, idea, catalogue), SLICES: _slices(slug, idea, checks, catalogue), **_IGNORE}
    begin = c.Begin(
        slug=slug, idea=idea, profile=QUICK, change=IN_WORKFLOW,
        documents={name: sha256(data) for name, data in contents.items()},
    )  # fmt: skip
    with workflows_of(context).beginning(begin, actor(), contents):
        return slug


def consent_to_plan(context: Context, slug: str, tell: Tell, cancellation: Cancellation) -> None:
    """Record the consent of the person who typed `do` to the derived plan. The checks run on the base first."""
    require_person(context.environment, "do")
    with workflows_of(context).changing(slug) as opened:
        if isinstance(opened.workflow.at, Clarifying):
            standing = opened.standing()
            opened.apply(c.Approve(transition=Transition.CLARIFY_PLAN, standing=standing, by=actor()), actor())
            opened.apply(c.Enter(transition=Transition.CLARIFY_PLAN, standing=opened.standing()), "tool")
        snapshot = opened.snapshot()
    if isinstance(snapshot.workflow.at, Planning):
        control_on_base(context, snapshot, tell, cancellation)
        if not isinstance(snapshot.workflow.approval(Key.BUILD), Approved):
            give_consent(context, slug, Transition.PLAN_BUILD, by=actor())


def _checks(context: Context, request: DoRequest, idea: str) -> tuple[Check, ...]:
    """The checks. They may pass on the base: a new test that fails there is a proof, too."""
    clean = context.tools().redactor.clean
    given = tuple(command for text in request.checks if (command := clean(text.strip()).text))
    pairs = [(command, "") for command in given]
    pairs = pairs or [(test.command, test.cwd) for test in context.settings.values.project.test_commands]
    if not pairs:
        raise WorkflowRefused(
            "no_checks",
            "no test command is set, and none was found: nothing could decide whether the work is right",
            next_command=f'loopwright do {shlex.quote(idea)} --check "…", or set project.test_command in config.toml',
        )
    return tuple(
        Check(id=f"VS-1-C{number}", command=command, cwd=cwd, regression=True)
        for number, (command, cwd) in enumerate(pairs, start=1)
    )


def _free_name(context: Context, idea: str) -> str:
    """A short name made from the idea that no workflow has."""
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in idea.splitlines()[0]).split()
    short = ""
    for word in words:
        if short and len(short) + len(word) >= _LONGEST_SLUG:
            break
        short = f"{short} {word}"[:_LONGEST_SLUG]
    first = slug_of(short or "change")
    store = workflows_of(context)
    names = itertools.chain([first], (f"{first}-{number}" for number in itertools.count(2)))
    return next(name for name in names if not store.paths(name).folder.exists())


def _spec(slug: str, idea: str, catalogue: Catalogue) -> bytes:
    page = new_page(catalogue.message("Change: {slug}", slug=slug), workflow=slug)
    try:
        return Spec(page.with_section(INTENT, as_body(idea)), ()).render()
    except NotAPage as problem:
        raise WrongUsage(f"the idea cannot be the intent of a spec: {problem}", hint="shorten it") from problem


def _slices(slug: str, idea: str, checks: tuple[Check, ...], catalogue: Catalogue) -> bytes:
    first = idea.splitlines()[0]
    behavior = idea if idea != first else catalogue.message("as the idea says, and no more")
    piece = Slice(
        id="VS-1",
        title=first[:_LONGEST_TITLE],
        type="AFK",
        behavior=behavior,
        acceptance_criteria=(
            catalogue.message("a test that fails without the change passes with it"),
            catalogue.message("every test that passed before passes"),
        ),
        verification_signal=catalogue.message("the checks, and the results of single tests"),
        checks=checks,
    )
    return render_slices(slug, Slices((piece,)))

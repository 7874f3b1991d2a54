"""`loopwright do`: from an idea to a reviewed diff."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from loopwright.cli.init import accepts_weak_isolation
from loopwright.cli.language import translate
from loopwright.cli.loop.options import autopilot_budget_options
from loopwright.cli.loop.output import signal_code
from loopwright.cli.loop.start import drive_shown
from loopwright.cli.options import command_with_examples, context_of, echo, echo_json, in_context, put
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.do_ask import DoAction, DoChoice, ask_person
from loopwright.cli.workflow.do_output import EXIT_CODES, document, echo_result
from loopwright.errors import Interrupted, WorkflowRefused, WrongUsage
from loopwright.exit_codes import ExitCode
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Budget
from loopwright.stages.context import Context
from loopwright.verbs.init import has_own_settings, init
from loopwright.verbs.workflow import do
from loopwright.verbs.workflow.build import drive
from loopwright.verbs.workflow.do import Committed, DoOutcome, DoRequest, DoResult
from loopwright.verbs.workflow.stages import answer


class _Options(msgspec.Struct, frozen=True, kw_only=True):
    """Who works, how the work is accepted, and where it is shown."""

    agent: str
    budget: Budget
    commit: bool
    branch: bool
    if_proven: bool
    as_json: bool

    @property
    def is_attended(self) -> bool:
        """Whether a person sits at this terminal."""
        return not self.as_json and sys.stdin.isatty() and sys.stdout.isatty()

    @property
    def tell(self) -> Callable[[str], None]:
        """How progress is shown."""
        return (lambda _: None) if self.as_json else echo


@command_with_examples("""
  loopwright do "add a --version option"
  loopwright do "fix #123" --check "pytest -q tests/test_signer.py" --agent claude --usd 1
  loopwright do "greet people by name" --accept-if-proven --commit
  loopwright do --continue                      resumes the newest unfinished work
  loopwright do --continue fix-123

Exit codes: 0 delivered or discarded; 10 held by a risk, a flag or a protected change; 11 waits for you: it is proven,
or the agent asks; 12 failed; 14 unproven. Ctrl-C loses nothing: --continue resumes.
""")
@click.argument("idea", required=False)
@click.option("--check", "checks", multiple=True, metavar="COMMAND",
              help="Command that decides; can be repeated. Default: the project's own tests.")  # fmt: skip
@click.option("--agent", default="", help="Agent that works; default: agents.default, then the only one installed.")
@autopilot_budget_options
@click.option("--continue", "name", is_flag=False, flag_value="", default=None, metavar="[NAME]",
              help="Continue unfinished work: the newest, or the work with this name.")  # fmt: skip
@click.option("--accept-if-proven", "if_proven", is_flag=True,
              help="Accept proven work without a question, if no risk, flag or protected change holds it.")  # fmt: skip
@click.option("--commit", is_flag=True, help="Commit the accepted change; git hooks do not run.")
@click.option("--branch", is_flag=True, help="Deliver the accepted change as a branch.")
@in_context
def do_command(context: Context, idea: str | None, checks: tuple[str, ...], name: str | None, **options: Any) -> int:
    """Let an agent make a small change, judge it, and show you the diff. Your files change when you accept.

    Without a terminal nothing is accepted, unless --accept-if-proven is given.
    """
    if (idea is None) == (name is None):
        raise WrongUsage("give an idea, or --continue", hint='loopwright do "add a --version option"')
    chosen = _Options(**options)
    if idea is None and checks:
        raise WrongUsage("--check belongs to new work: the checks of this work are set", hint="leave out --check")
    if chosen.commit and chosen.branch:
        raise WrongUsage("--branch commits by itself", hint="use --commit or --branch, not both")
    do.require_person(context.environment, "do")
    context = _in_workspace(context, chosen)
    if idea is None:
        slug = do.find(context, name or "")
    else:
        request = DoRequest(idea=idea, checks=checks, agent=chosen.agent, budget=chosen.budget)
        slug = do.begin_quick(context, request)
    try:
        return _work_and_decide(context, slug, chosen)
    except click.Abort:
        chosen.tell(f"interrupted; nothing is lost: `loopwright do --continue {slug}`")
        return ExitCode.SIGINT
    except Interrupted as stop:
        chosen.tell(f"interrupted; nothing is lost: `loopwright do --continue {slug}`")
        if chosen.as_json:
            raise
        return signal_code(stop.signal_name)


def _in_workspace(context: Context, options: _Options) -> Context:
    """The context; a git repository without a workspace becomes one first."""
    if has_own_settings(context):
        return context
    if context.repository() is None:
        raise WorkflowRefused(
            "no_workspace",
            f"{context.project} is neither a workspace nor a git repository",
            next_command="git init, or loopwright init",
        )
    done = init(context, allows_weak=not options.as_json and accepts_weak_isolation(context))
    tests, source = done.detected.test_command or "none found", ", ".join(done.files.source) or "none found"
    options.tell(f"new workspace: .loopwright/config.toml (tests: {tests}; source: {source})")
    return context_of(context.project)


def _work_and_decide(context: Context, slug: str, options: _Options) -> int:
    """Build and show the work until a person has decided, or no person can be asked."""
    builds = do.must_be_built(context, slug)
    while True:
        if builds:
            _build(context, slug, options)
        result = _conclude(context, slug, options)
        if not options.as_json:
            echo_result(result)
        is_over = result.outcome in (DoOutcome.DELIVERED, DoOutcome.DISCARDED)
        accepts_alone = options.if_proven and result.outcome is DoOutcome.PROVEN
        if is_over or accepts_alone or not options.is_attended:
            return _finish(context, result, options)
        choice = ask_person(result)
        if choice.action is DoAction.LATER:
            return _finish(context, result, options)
        slug = _carry_out(context, result, choice, options)
        builds = choice.action in (DoAction.ANSWER, DoAction.COMMENT, DoAction.AGAIN)


def _carry_out(context: Context, result: DoResult, choice: DoChoice, options: _Options) -> str:
    """Do what the person wants; returns the name of the work that follows."""
    slug = result.view.workflow.slug
    match choice.action:
        case DoAction.ACCEPT | DoAction.BRANCH:
            as_branch = options.branch or choice.action is DoAction.BRANCH
            echo(do.accept(context, result, as_branch=as_branch).sentence)
        case DoAction.ANSWER:
            answer(context, slug, choice.item, choice.text)
        case DoAction.COMMENT:
            do.send_back(context, slug, choice.text)
        case DoAction.AGAIN:
            return do.again(context, slug, DoRequest(idea="", agent=options.agent, budget=options.budget))
        case DoAction.DISCARD:
            do.discard(context, slug)
        case DoAction.LATER:
            pass
    return slug


def _build(context: Context, slug: str, options: _Options) -> None:
    with stopping_on_signals() as cancellation:
        loop_id = do.prepare(context, slug, options.agent, options.budget, options.tell, cancellation)
        if options.as_json:
            drive(context, loop_id, cancellation)
        else:
            drive_shown(context, loop_id, cancellation, as_json=False)
        _raise_if_stopped(cancellation, slug)


def _conclude(context: Context, slug: str, options: _Options) -> DoResult:
    with stopping_on_signals() as cancellation:
        result = do.conclude(context, slug, options.tell, cancellation)
        _raise_if_stopped(cancellation, slug)
    return result


def _raise_if_stopped(cancellation: Cancellation, slug: str) -> None:
    if cancellation.reason is not None:
        raise Interrupted(cancellation.reason, hint=f"loopwright do --continue {slug}")


def _finish(context: Context, result: DoResult, options: _Options) -> int:
    """Accept what needs no question, commit what was accepted, and print the result."""
    if options.if_proven and (done := do.accept_if_proven(context, result, as_branch=options.branch)) is not None:
        result = replace(result, view=done.view, outcome=DoOutcome.DELIVERED, reasons=())
        options.tell(done.sentence)
        if not options.as_json:
            echo_result(result)
    committed, problem = _commit(context, result, options)
    if options.as_json:
        echo_json(document(result, committed, problem))
        return EXIT_CODES[result.outcome]
    if committed is not None:
        echo(f"committed {committed.commit[:12]}: {committed.subject}")
    if problem:
        echo(problem, fg="yellow")
    put(f"  → {_next(result)}", fg="green")
    return EXIT_CODES[result.outcome]


def _commit(context: Context, result: DoResult, options: _Options) -> tuple[Committed | None, str]:
    """The commit; or why the delivered work is not committed, if it should be."""
    if not options.commit or result.outcome is not DoOutcome.DELIVERED:
        return None, ""
    proposed = do.proposed_message(result.view.workflow)
    text = proposed
    if options.is_attended and not options.if_proven:
        subject = click.prompt(translate("Commit message"), default=proposed.splitlines()[0])
        text = proposed.replace(proposed.splitlines()[0], subject, 1)
    try:
        return do.commit_delivery(context, result.view.workflow.slug, text), ""
    except WorkflowRefused as refusal:
        return None, refusal.message


def _next(result: DoResult) -> str:
    """The command that comes next; discarded work can only be begun again."""
    if result.outcome is DoOutcome.DISCARDED:
        return f"loopwright do {shlex.quote(result.view.workflow.idea)}"
    return result.view.next

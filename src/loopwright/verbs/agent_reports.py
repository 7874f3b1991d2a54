"""What an agent may leave in a workspace: a progress note, a question for a person, and a self-report.

All three are claims or questions. They never open a gate, answer a question or end any work.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from loopwright.agents.mailbox import SELF_REPORT, DecisionRequest, scope_problem, write_file
from loopwright.errors import LoopRefused, WrongUsage
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import make_folder, write_durably
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.decisions import known_decision
from loopwright.loop.model import Decision, Held, Loop, Running
from loopwright.stages.building.settle import settle_build
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.stages.names import slug_of
from loopwright.verbs.loop.look import resolve
from loopwright.verbs.loop.turn import only_open_mailbox
from loopwright.verbs.reflect import ReportInput
from loopwright.workflow.model import Building

AGENT = "agent"
LONGEST_TEXT = 4000


class WorkReference(msgspec.Struct, frozen=True):
    """A loop, or the workflow that the loop builds. Without both: the only loop that runs."""

    slug: str | None = None
    loop: str | None = None


def note_progress(context: Context, work: WorkReference, text: str, *, by: str = AGENT) -> Loop:
    """Record a sentence for people in the history of the loop."""
    note = _checked_text(context, "the progress note", text)
    with loops_of(context).changing(_loop_of(context, work)) as opened:
        return opened.apply(e.ProgressNoted(text=note, by=by), AGENT)


def request_decision(
    context: Context,
    work: WorkReference,
    question: str,
    options: tuple[str, ...],
    scope_wanted: tuple[str, ...] = (),
) -> Decision:
    """Ask a person, and hold the loop until a person answers. A known question is not asked again.

    `scope_wanted` are paths and globs that the agent asks to change in addition to its scope.
    """
    for pattern in scope_wanted:
        if (wrong := scope_problem(pattern)) is not None:
            raise WrongUsage(wrong, hint="name files of the project, such as Makefile or config/**")
    request = DecisionRequest(
        question=_checked_text(context, "the question", question),
        options=tuple(_checked_text(context, "an option", option) for option in options),
        scope_wanted=tuple(_checked_text(context, "a path", pattern) for pattern in scope_wanted),
    )
    loop_id = _loop_of(context, work)
    with loops_of(context).changing(loop_id) as opened:
        if not isinstance(opened.loop.phase, Running | Held):
            raise LoopRefused(
                "nothing_running",
                f"loop {loop_id} does not run, so the answer would not reach an agent",
                hint="ask the person you work with directly",
            )
        after = opened.apply(c.AskDecisions(requests=(request,), at=stamp(context.clock())), AGENT)
    if after.workflow is not None:
        settle_build(context, after.workflow, loop_id)
    decision = known_decision(list(after.decisions), request)
    assert decision is not None  # noqa: S101 -- AskDecisions has recorded it
    return decision


def leave_self_report(context: Context, report: ReportInput) -> Path:
    """Write the report where the end of the turn looks for it, to merge it into the reflection of the turn.

    The hook reads it; for a turn that is taken by hand, the worker reads it.
    """
    data = context.tools().redactor.clean(codec.to_json(report)).data
    if (mailbox := only_open_mailbox(context)) is not None:
        write_file(mailbox, SELF_REPORT, data)
        return mailbox / SELF_REPORT
    chosen = context.environment.get("REFLECTION_INPUT") or context.settings.values.reflection.input
    path = context.project / Path(chosen).expanduser() if chosen else context.layout.reflection_input
    make_folder(path.parent)
    write_durably(path, data)
    return path


def _checked_text(context: Context, what: str, text: str) -> str:
    line = " ".join(text.split())
    if not line:
        raise WrongUsage(f"{what} is empty", hint="write a sentence; nothing was recorded")
    if len(line) > LONGEST_TEXT:
        raise WrongUsage(f"{what} has more than {LONGEST_TEXT} characters", hint="shorten it; nothing was recorded")
    return context.tools().redactor.clean(line).text


def _loop_of(context: Context, work: WorkReference) -> str:
    if work.loop is not None:
        return resolve(context, work.loop)
    if work.slug is not None:
        slug = slug_of(work.slug)
        with workflows_of(context).changing(slug) as opened:
            at = opened.workflow.at
        if isinstance(at, Building) and at.loop_id is not None:
            return at.loop_id
        raise LoopRefused(
            "nothing_running", f"no build of {slug} runs", hint=f"`loopwright status {slug}` shows its stage"
        )
    running = [name for name in loops_of(context).ids() if _is_running(context, name)]
    if len(running) == 1:
        return running[0]
    message = f"{len(running)} loops run: {', '.join(running[:5])}" if running else "no loop runs"
    raise LoopRefused("nothing_running", message, hint="name the loop or the workflow")


def _is_running(context: Context, loop_id: str) -> bool:
    path = context.layout.loop(loop_id).state
    return os.path.lexists(path) and isinstance(loops_of(context).load(loop_id).phase, Running | Held)

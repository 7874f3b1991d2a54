"""What an agent may leave in a workspace: how far it is, what only a person can decide, and what it thinks of its work.

All three are claims and questions. None opens a gate, answers anything or ends any work.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from loopwright.agents.mailbox import SELF_REPORT, DecisionRequest, write_file
from loopwright.errors import LoopRefused, UnknownLoop, WrongUsage
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import make_folder, shown, write_durably
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
MOST_SAID = 4000


class WorkReference(msgspec.Struct, frozen=True):
    """Which work is meant: a loop, or the workflow that it builds; neither is the one that is under way."""

    slug: str | None = None
    loop: str | None = None


def note_progress(context: Context, work: WorkReference, text: str, *, by: str = AGENT) -> Loop:
    """A sentence for people, in the loop's history."""
    said = _said(context, "progress", text)
    with loops_of(context).changing(_loop_of(context, work)) as opened:
        return opened.apply(e.ProgressNoted(text=said, by=by), AGENT)


def request_decision(context: Context, work: WorkReference, question: str, options: tuple[str, ...]) -> Decision:
    """Ask a person; the loop is held until one answers. What was asked before is not asked twice."""
    wanted = DecisionRequest(
        question=_said(context, "a question", question),
        options=tuple(_said(context, "an option", option) for option in options),
    )
    loop_id = _loop_of(context, work)
    with loops_of(context).changing(loop_id) as opened:
        if not isinstance(opened.loop.phase, Running | Held):
            raise LoopRefused(
                "nothing_running",
                f"the loop {loop_id} does not run: nobody would wait for the answer",
                hint="ask the person you work with",
            )
        after = opened.apply(c.AskDecisions(requests=(wanted,), at=stamp(context.clock())), AGENT)
    if after.workflow is not None:
        settle_build(context, after.workflow, loop_id)
    decision = known_decision(list(after.decisions), wanted)
    assert decision is not None  # noqa: S101 -- it was put there above
    return decision


def leave_self_report(context: Context, report: ReportInput) -> Path:
    """Where it is looked for at the end of the turn, and merged into that turn's reflection.

    The hook looks; or a worker, where one waits for work that is done by hand.
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


def _said(context: Context, what: str, text: str) -> str:
    words = " ".join(text.split())
    if not words:
        raise WrongUsage(f"{what} needs words", hint="say it in a sentence; nothing was written")
    if len(words) > MOST_SAID:
        raise WrongUsage(f"{what} has more than {MOST_SAID} characters", hint="shorten it; nothing was written")
    return context.tools().redactor.clean(words).text


def _loop_of(context: Context, work: WorkReference) -> str:
    if work.loop is not None:
        return _known(context, resolve(context, work.loop))
    if work.slug is not None:
        slug = slug_of(work.slug)
        with workflows_of(context).changing(slug) as opened:
            at = opened.workflow.at
        if isinstance(at, Building) and at.loop_id is not None:
            return at.loop_id
        raise LoopRefused(
            "nothing_running", f"{slug} is not being built now", hint=f"`loopwright status {slug}` says where it is"
        )
    under_way = [name for name in loops_of(context).ids() if _is_running(context, name)]
    if len(under_way) == 1:
        return under_way[0]
    said = f"{len(under_way)} loops are under way: {', '.join(under_way[:5])}" if under_way else "no loop is under way"
    raise LoopRefused("nothing_running", said, hint="name the loop, or the workflow, that is meant")


def _known(context: Context, loop_id: str) -> str:
    if loop_id in loops_of(context).ids():
        return loop_id
    raise UnknownLoop(f"there is no loop '{shown(loop_id)}'", hint="`loopwright loop list` shows all")


def _is_running(context: Context, loop_id: str) -> bool:
    path = context.layout.loop(loop_id).state
    return os.path.lexists(path) and isinstance(loops_of(context).load(loop_id).phase, Running | Held)

"""The lanes of a build in the profile `full`: an architect reviews, the builder tidies up, the checks run again.

Lanes are tasks of the build's loop, so that pauses, budgets, stops and dead workers are handled there. An architect
can only send the work back: its approval opens no gate.
"""

from __future__ import annotations

import msgspec

from loopwright.agents.port import NoAnswer, Reason, Role
from loopwright.agents.structured import AgentRequest, verdict_form
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as loop_commands
from loopwright.loop import events as loop_events
from loopwright.loop.actions.failing import HeldBack
from loopwright.loop.model import Hold, Holder, Loop, Spent, Task, TaskKind, TaskMode
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.stages.loop_control import new_task
from loopwright.stages.person import actor
from loopwright.workflow import events as e
from loopwright.workflow import lanes
from loopwright.workflow.gather import MANIFEST
from loopwright.workflow.lanes import Opinion
from loopwright.workflow.model import Building, Workflow
from loopwright.workflow.store import Opened
from loopwright.workflow.verification import Verification

PATCH = "work.patch"
_LANES = {TaskKind.DESLOP: "deslop", TaskKind.LOOK: "architect"}
# A review, tidying up and the checks; and all of that again after an objection.
_MORE = 12
_BOX = "$LOOPWRIGHT_MAILBOX/context"


class BuildLanes:
    """The lanes of one workflow's build."""

    def __init__(self, context: Context, slug: str) -> None:
        self._context = context
        self._slug = slug

    def record_checks(self, loop: Loop, verification: Verification, passed: bool) -> None:
        """Record a run of the checks, and the lanes that end with it."""
        with workflows_of(self._context).changing(self._slug) as opened:
            before = opened.workflow.verification
            ended, begins = lanes.after_checks(
                passed=passed,
                same_work=before is not None and before.tree == verification.tree,
                after_deslop=_is_after_deslop(loop),
                can_drop=loop.fallback is not None,
                was_dropped=opened.workflow.lanes.get("deslop") == lanes.DROPPED,
            )
            number = before.iteration if before is not None else 0
            numbered = msgspec.structs.replace(verification, iteration=number + begins)
            opened.apply(e.WorkVerified(verification=numbered), "tool")
            for lane, status in ended:
                opened.apply(e.LaneEnded(lane=lane, status=status), "tool")
            _write_notes(opened, {})

    def after_checks(self, loop: Loop) -> tuple[Task, ...]:
        """After passed checks an architect reviews the work, unless the builder has tidied it up after a review."""
        if self._context.settings.values.workflow.profile != "full" or _is_after_deslop(loop):
            return ()
        task = self._task(loop, TaskKind.LOOK, "an architect looks at what was built", "analysis")
        who = self._context.settings.values.agents.agent_for_role(Role.ARCHITECT, loop.agent)
        return (msgspec.structs.replace(task, tool=who),)

    def take_up(self, workflow: Workflow, loop: Loop) -> None:
        """Continue a build that ended without lanes that a new profile asks for."""
        tasks = self.after_checks(loop)
        if not tasks or not list(lanes.incomplete(workflow.lanes, full=True)):
            return
        with loops_of(self._context).changing(loop.loop_id) as opened_loop:
            for task in tasks:
                opened_loop.apply(loop_events.TaskAdded(task=task), actor())
            opened_loop.apply(loop_commands.Retry(max_iterations=loop.iteration + _MORE), actor())

    def look(self, task: Task) -> AgentRequest[msgspec.Struct] | None:
        """The question to the architect."""
        if task.kind is not TaskKind.LOOK:
            return None
        prompt = self._context.prompts().prompt(
            "architect_build", patch=f"{_BOX}/{PATCH}", manifest=f"{_BOX}/{MANIFEST}"
        )
        taken = workflows_of(self._context).snapshot(self._slug).workflow.turns_of(Role.ARCHITECT.value)
        return AgentRequest(
            agent=task.tool, role=Role.ARCHITECT, prompt=prompt, form=verdict_form(Opinion), number=taken
        )

    def after_look(self, loop: Loop, answer: msgspec.Struct | NoAnswer) -> tuple[Task, ...]:
        """The tasks that follow from the architect's verdict; an architect without a verdict has not approved."""
        if isinstance(answer, NoAnswer):
            raise self._held("architect", answer)
        if not isinstance(answer, Opinion):
            raise TypeError(type(answer))  # a review asks for nothing else
        with workflows_of(self._context).changing(self._slug) as opened:
            opened.apply(e.LaneEnded(lane="architect", status=answer.verdict), "tool")
            at = opened.workflow.at
            skips = isinstance(at, Building) and not at.deslop
            if answer.verdict == lanes.APPROVE and skips:
                for lane in ("deslop", "regression"):
                    opened.apply(e.LaneEnded(lane=lane, status=lanes.SKIPPED), "tool")
            _write_notes(opened, {"architect": answer.notes or answer.verdict})
        if answer.verdict != lanes.APPROVE:
            asked = answer.notes or "look at it again"
            return (self._task(loop, TaskKind.FIX, f"The architect asks: {asked}", "write"),)
        # An objection is cheaper before the work is tidied up. The review stage sees what that changes.
        return () if skips else (self._task(loop, TaskKind.DESLOP, "tidy up what was built", "write"),)

    def prompt(self, task: Task) -> str | None:
        """The prompt for tidying up; None for any other task."""
        if task.kind is not TaskKind.DESLOP:
            return None
        return self._context.prompts().prompt("builder_deslop", patch=f"{_BOX}/{PATCH}")

    def is_tried(self, loop: Loop, task: Task, failure: NoAnswer | None) -> bool:
        """Tidying up is only tried, and an agent that can't work is not asked again and again.

        If tidying up breaks something, its changes are dropped: the tree before it is verified, and a repair would
        cost agent calls. The loop returns to that tree and runs the checks again.
        """
        if task.kind is TaskKind.DESLOP:
            if failure is not None:
                raise self._held("deslop", failure)
            return True
        if failure is not None:
            tries = loop.spent_by_task.get(task.id, Spent()).retries
            in_vain = failure.reason is Reason.PERMISSION_DENIED
            if in_vain or tries >= self._context.settings.values.run.max_retries:
                raise self._held("execution", failure)
        return False

    def stopped(self, task: Task, hold: Hold, failure: NoAnswer) -> Hold:
        """End the lane of a task whose agent can't work at all."""
        lane = _LANES.get(task.kind, "execution")
        self._end(lane, failure)
        message = f"the lane {lane} is not complete: {hold.message}"
        return msgspec.structs.replace(hold, code=f"{lane}_{failure.reason.value}", message=message)

    def _held(self, lane: str, failure: NoAnswer) -> HeldBack:
        """The hold for an agent that failed: a person has to look before the agent is asked again."""
        self._end(lane, failure)
        reason = failure.reason.value
        message = f"the lane {lane} is not complete: {reason}: {self._clean(failure.detail)}"
        hold = Hold(holder=Holder.BLOCKER, code=f"{lane}_{reason}", message=message, since=stamp(self._context.clock()))
        return HeldBack(hold, turn_taken=True)

    def _end(self, lane: str, failure: NoAnswer) -> None:
        reason, detail = failure.reason.value, self._clean(failure.detail)
        if lane != "execution":  # the end of this lane begins an iteration, which was not reached
            with workflows_of(self._context).changing(self._slug) as opened:
                opened.apply(e.LaneEnded(lane=lane, status=reason), "tool")
                _write_notes(opened, {lane: f"{reason}: {detail}"})

    def _task(self, loop: Loop, kind: TaskKind, description: str, mode: TaskMode) -> Task:
        return new_task(self._context, loop.new_task_id(kind), description, loop.agent, mode)

    def _clean(self, text: str) -> str:
        return self._context.tools().redactor.clean(text).text


def _is_after_deslop(loop: Loop) -> bool:
    """Whether tidying up was the last task. Only the loop is asked, so that a repeated lane gets the same answer."""
    last = loop.tasks[-1] if loop.tasks else None
    return last is not None and last.kind is TaskKind.DESLOP and last.status == "completed"


def _write_notes(opened: Opened, notes: dict[str, str]) -> None:
    verified = opened.workflow.verification
    name = f"build-support/iteration-{verified.iteration if verified is not None else 0}"
    pages = {f"{name}-{lane}.md": f"# {lane}\n\n{text.strip()}\n".encode() for lane, text in notes.items()}
    opened.write({f"{name}.md": lanes.notes(opened.workflow.lanes), **pages}, "tool")

"""debug: possible causes from an agent, each tested by its own command against its own criteria."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from loopwright.agents.port import NoAnswer, Role
from loopwright.agents.structured import AgentRequest, json_form, read_answer
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.actions.asking import ask
from loopwright.loop.actions.failing import HeldBack
from loopwright.loop.actions.repair import MOST_EVIDENCE, fix_task
from loopwright.loop.budget import hold_after, left_for_a_turn
from loopwright.loop.choice import mark_of
from loopwright.loop.left_out_changes import left_out_part
from loopwright.loop.model import Criteria, Hypothesis, HypothesisStatus, Loop, Spent
from loopwright.loop.work_files import add_line, add_to_page
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import workshop
from loopwright.runner.turn_sandbox import TurnSandbox, run_in_turn_sandbox

_PROBE_S = 600.0


class ProposedHypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """A possible cause as a debugger proposes it; `testable_condition` is a shell command that prints the evidence."""

    description: str
    testable_condition: str
    evidence_criteria: Criteria
    logging_point: str = ""
    likelihood: int = 1
    fix: str = ""


class ProposedHypotheses(msgspec.Struct, frozen=True, kw_only=True):
    """The debugger's answer."""

    hypotheses: list[ProposedHypothesis]


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.FinishDebug:
    """Ask for causes, test each, and make the confirmed one a task."""
    redactor = context.tools().redactor
    with workshop(loop, context, redactor) as turn_sandbox:
        # The answer to a dead worker is recorded: no agent is asked, or paid, for it again.
        hypotheses = loop.debug.hypotheses
        if not hypotheses:
            request = AgentRequest(
                agent=context.agent_for_role(Role.DEBUGGER, loop.agent),
                role=Role.DEBUGGER,
                prompt=_prompt(loop, context),
                form=json_form(ProposedHypotheses),
            )
            answer = ask(loop, context, turn_sandbox, request)
            if isinstance(answer, NoAnswer):
                return _nothing(loop, action_id, f"{answer.reason}: {redactor.clean(answer.detail).text}")
            hypotheses = tuple(_hypotheses(_by_likelihood(answer.reply)))
            if not hypotheses:
                return _nothing(loop, action_id, "no possible cause was proposed")
            bug = ", ".join(loop.validation.failed_tests[:5]) or "the test command fails"
            context.record(loop, c.ProposeHypotheses(action_id=action_id, bug=bug, hypotheses=hypotheses))
        confirmed = _test_each(loop, context, turn_sandbox, action_id, hypotheses)
    if confirmed is None:
        return _nothing(loop, action_id, "no cause was confirmed")
    fix = _way_to_fix(loop, context, action_id, confirmed)
    task = fix_task(loop, context, f"Fix what {confirmed.id} found: {confirmed.description}. {fix}")
    return c.FinishDebug(action_id=action_id, fix=task, mark=mark_of(loop, cause=confirmed.description))


def _by_likelihood(answer: ProposedHypotheses) -> list[ProposedHypothesis]:
    """Sort by likelihood, the most likely first."""
    return sorted(answer.hypotheses, key=lambda proposal: proposal.likelihood)


def _hypotheses(proposed: list[ProposedHypothesis]) -> Iterator[Hypothesis]:
    for number, proposal in enumerate(proposed, start=1):
        yield Hypothesis(
            id=f"H{number}",
            description=proposal.description,
            testable_condition=proposal.testable_condition,
            logging_point=proposal.logging_point,
            evidence_criteria=proposal.evidence_criteria,
            likelihood=proposal.likelihood,
        )


def _way_to_fix(loop: Loop, context: WorkerContext, action_id: str, cause: Hypothesis) -> str:
    """The fix that the agent proposed, from the record of its answer; the state file has no field for it."""
    answers = (context.progress(loop) / "turns").glob(f"{action_id}-{Role.DEBUGGER.value}*/answer.yaml")
    for path in sorted(answers, key=lambda path: (len(path.parent.name), path.parent.name), reverse=True):
        try:
            proposed = _by_likelihood(read_answer(path.read_text(encoding="utf-8"), ProposedHypotheses))
        except (OSError, ValueError):
            continue
        for hypothesis, proposal in zip(_hypotheses(proposed), proposed, strict=True):
            if (hypothesis.id, hypothesis.description) == (cause.id, cause.description):
                return proposal.fix or proposal.description
    return cause.description


def verdict(hypothesis: Hypothesis, exit_code: int, output: str) -> tuple[HypothesisStatus, str]:
    """Judge the output by the hypothesis's own criteria: it must contain one of the two texts, and not the other."""
    confirm = hypothesis.evidence_criteria.confirm
    reject = hypothesis.evidence_criteria.reject
    confirms, rejects = bool(confirm) and confirm in output, bool(reject) and reject in output
    if confirms == rejects:
        which = "both texts are" if confirms else "neither text is"
        return "inconclusive", f"{which} in the output of its command (exit {exit_code})"
    if confirms:
        return "confirmed", f"its command printed '{confirm}'"
    return "rejected", f"its command printed '{reject}'"


def _test_each(
    loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, action_id: str, hypotheses: tuple[Hypothesis, ...]
) -> Hypothesis | None:
    """Test the most likely cause first; the first confirmed one is the cause."""
    for hypothesis in hypotheses:
        if hypothesis.status == "confirmed":
            return hypothesis
        if hypothesis.status != "pending":
            continue
        left_s = _seconds_left(loop, context)
        log = context.progress(loop) / "turns" / f"{action_id}-{hypothesis.id}.log"
        log.unlink(missing_ok=True)  # from a worker that died meanwhile
        ran = run_in_turn_sandbox(
            turn_sandbox,
            (context.shell, "-c", hypothesis.testable_condition),
            env=turn_sandbox.environment.for_step(()),
            log=log,
            network=False,
            timeout_s=min(_PROBE_S, left_s),
            cancellation=context.cancellation,
        )
        after = context.record(loop, e.CostCounted(spent=Spent(wall_s=round(ran.duration_s, 3))))
        context.cancellation.raise_if_requested()
        if ran.timed_out and left_s < _PROBE_S:
            raise HeldBack(hold_after(after, "wall_s", stamp(context.clock())), goes_on=True)
        output = log.read_bytes().decode("utf-8", "replace")
        status, reason = verdict(hypothesis, ran.exit_code, output)
        judged = c.JudgeHypothesis(
            action_id=action_id,
            hypothesis_id=hypothesis.id,
            status=status,
            evidence=output[-MOST_EVIDENCE:],
            verdict_reason=reason,
        )
        context.record(loop, judged)
        _write_down(loop, context, hypothesis, status, reason)
        if status == "confirmed":
            return hypothesis
    return None


def _seconds_left(loop: Loop, context: WorkerContext) -> float:
    """How long a test of a cause may run. Without time left the loop is held, and the causes stay recorded."""
    now = context.store.load(loop.loop_id)
    left_s = left_for_a_turn(now, "wall_s")
    if left_s is not None and left_s <= 0:
        raise HeldBack(hold_after(now, "wall_s", stamp(context.clock())), goes_on=True)
    return _PROBE_S if left_s is None else left_s


def _nothing(loop: Loop, action_id: str, error: str) -> c.FinishDebug:
    mark = mark_of(loop, cause="", error=error)
    return c.FinishDebug(action_id=action_id, fix=None, mark=mark, error=error)


def _prompt(loop: Loop, context: WorkerContext) -> str:
    failed = [result for result in loop.validation.results if result.status == "failed"][:10]
    failing = "\n".join(f"- {result.suite}: {result.test_name}: {result.error_message[:500]}" for result in failed)
    history = "\n".join(f"- {task.id} ({task.status}): {task.description}" for task in loop.tasks)
    told = (failing or context.book.part("tests_fail"), left_out_part(loop, context.book))
    return context.book.prompt("debugger", failing="\n\n".join(filter(None, told)), history=history)


def _write_down(loop: Loop, context: WorkerContext, hypothesis: Hypothesis, status: str, reason: str) -> None:
    now = stamp(context.clock())
    text = f"## {hypothesis.id} {status} at {now}\n\n{hypothesis.description}\n\n{reason}"
    add_to_page(context.progress(loop), "debug", context.tools().redactor.clean(text))
    add_line(
        context.progress(loop),
        "debug",
        {"at": now, "hypothesis": hypothesis.id, "status": status, "reason": reason, "iteration": loop.iteration},
    )

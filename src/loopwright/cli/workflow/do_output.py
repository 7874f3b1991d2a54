"""Shows the work of `loopwright do`: the diff, what proves it, cost and risk; and the same as JSON."""

from __future__ import annotations

from typing import Any

from loopwright.cli.language import catalogue, message, translate
from loopwright.cli.plain import echo, put
from loopwright.exit_codes import ExitCode
from loopwright.loop.patch_parts import parts_for, paths_in
from loopwright.stages.quick.commit import Committed
from loopwright.stages.quick.result import DoOutcome, DoResult
from loopwright.workflow.audit import proof_line
from loopwright.workflow.verdict import unread_sentence

EXIT_CODES = {
    DoOutcome.DELIVERED: ExitCode.DONE,
    DoOutcome.DISCARDED: ExitCode.DONE,
    DoOutcome.PROVEN: ExitCode.LOOP_HELD,
    DoOutcome.QUESTION: ExitCode.LOOP_HELD,
    DoOutcome.HELD: ExitCode.REVIEW_NEEDED,
    DoOutcome.FAILED: ExitCode.LOOP_FAILED,
    DoOutcome.UNPROVEN: ExitCode.UNPROVEN,
}
_SENTENCES = {
    DoOutcome.DELIVERED: ("delivered", "green"),
    DoOutcome.DISCARDED: ("discarded; your files are as they were", "yellow"),
    DoOutcome.PROVEN: ("proven; it waits for you", "green"),
    DoOutcome.QUESTION: ("the agent asks you", "yellow"),
    DoOutcome.HELD: ("a person must look at it", "yellow"),
    DoOutcome.FAILED: ("failed", "red"),
    DoOutcome.UNPROVEN: ("nothing proves it", "yellow"),
}
_COLORS = {"+": "green", "-": "red", "@": "cyan"}
_HEADS = ("diff ", "--- ", "+++ ", "new ", "deleted ")
# Digests of contents say nothing to a person.
_LEFT_OUT = "index "
# A longer diff is for `loopwright loop diff`.
_MOST_LINES = 2000


def echo_result(result: DoResult) -> None:
    """Print the diff, and then what a person decides by: the last lines stay in sight."""
    is_over = result.outcome in (DoOutcome.DELIVERED, DoOutcome.DISCARDED)
    if not is_over:
        _echo_diff(result)
    sentence, color = _SENTENCES[result.outcome]
    put(f"{result.view.workflow.slug}: ", nl=False, bold=True)
    echo(sentence, fg=color)
    if is_over:
        return
    for line in result.view.requirements:
        put(f"  {proof_line(line, catalogue())}")
    if result.view.rest_of_project:
        echo(f"  {result.view.rest_of_project}")
    if result.question is not None:
        put(f"  {result.question.id}: {result.question.question}", bold=True)
    for reason in result.reasons:
        echo(f"  ✗ {reason.message}  ", nl=False)
        put(reason.code, dim=True)
    _echo_notes(result)


def _echo_notes(result: DoResult) -> None:
    view, risk = result.view, result.risk
    verified = view.workflow.verification
    for flag in verified.flags if verified is not None else ():
        echo(f"  ! {flag}")
    for sentence in filter(None, (view.flaky, view.unreached, view.changed_command, view.weak_isolation)):
        echo(f"  ! {translate(sentence)}")
    if result.protected:
        put("  ! " + message("outside the scope: {paths}", paths=", ".join(result.protected)))
    if risk is not None:
        facts = {"score": risk.shown_score(), "least": f"{risk.threshold:.2f}", "reason": translate(risk.reason)}
        put("  " + message("risk {score} of {least}: {reason}", **facts))
    if unread := unread_sentence(view.workflow.review):
        echo(f"  {translate(unread)}")
    if view.turns:
        cost = f"cost so far: {view.usd:.2f} USD, {view.tokens:,} tokens, turns: {view.turns}"
        put(f"  {translate(cost)}")


def _echo_diff(result: DoResult) -> None:
    """The changes of protected files first, each marked as such."""
    paths, left = paths_in(result.patch), _MOST_LINES
    protected = [path for path in paths if path in result.protected]
    for path in (*protected, *(path for path in paths if path not in protected)):
        if path in result.protected:
            did = translate(result.protected[path])
            put(message("protected: {path} ({did})", path=path, did=did), fg="yellow", bold=True)
        part = parts_for(result.patch, (path,)).decode("utf-8", "replace")
        lines = [line for line in part.splitlines() if not line.startswith(_LEFT_OUT)]
        for line in lines[:left]:
            put(line, bold=True) if line.startswith(_HEADS) else put(line, fg=_COLORS.get(line[:1]))
        left = max(0, left - len(lines))
    if not left:
        echo(f"the diff is longer: `loopwright loop diff {result.view.workflow.slug}`", fg="yellow")


def document(result: DoResult, committed: Committed | None, problem: str) -> dict[str, Any]:
    """The result for programs."""
    view, question = result.view, result.question
    record, verified = view.document(), view.workflow.verification
    asked = {"id": question.id, "question": question.question, "options": question.options} if question else None
    return {
        "ok": result.outcome is DoOutcome.DELIVERED,
        "outcome": result.outcome.value,
        "exit_code": int(EXIT_CODES[result.outcome]),
        "slug": view.workflow.slug,
        "idea": view.workflow.idea,
        "stage": record["stage"],
        "requirements": record["requirements"],
        "tests": view.rest_of_project,
        "files": list(verified.files) if verified is not None else [],
        "outside_scope": result.protected,
        "flags": record["flags"],
        "reasons": [{"code": one.code, "message": one.message, "next": one.next} for one in result.reasons],
        "question": asked,
        "risk": result.risk.record() if result.risk is not None else None,
        "cost": record["cost"],
        "commit": committed.commit if committed is not None else None,
        "not_committed": problem or None,
        "next": view.next,
    }

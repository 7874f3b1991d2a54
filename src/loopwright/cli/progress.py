"""A run as it happens: plain lines for a pipe, NDJSON for programs. `live.py` draws the table for a terminal."""

from __future__ import annotations

import sys
from typing import Any

import click

from loopwright.cli.language import message, translate
from loopwright.kernel import codec
from loopwright.kernel.cells import neutralised
from loopwright.redaction.model import Redacted
from loopwright.runner import events

_WORDS = {"passed": "green", "failed": "red", "cancelled": "yellow", "skipped": "yellow"}


def json_progress(event: events.Event) -> None:
    """One JSON object per line, `type` first."""
    sys.stdout.buffer.write(codec.to_json_line(event, _text_of))
    sys.stdout.buffer.flush()


def _text_of(value: Any) -> Any:
    if isinstance(value, Redacted):
        return value.text
    raise NotImplementedError(type(value).__name__)


def plain_progress(event: events.Event) -> None:
    """Print the lines of an event, if it has any."""
    for line in lines_for(event):
        click.echo(line)


def lines_for(event: events.Event) -> list[str]:  # noqa: C901, PLR0912 -- one case per event
    """The lines about an event, for a person."""
    match event:
        case events.RunStarted(run_id):
            return [message("run {run_id}", run_id=run_id)]
        case events.PlanRead(goal, steps):
            counted = message("1 step") if len(steps) == 1 else message("{count} steps", count=len(steps))
            return [message("plan: {goal} ({counted})", goal=neutralised(goal.text), counted=counted)]
        case events.SandboxOpened(mode, base, isolation, network, notes):
            facts = {"mode": mode, "base": base[:12], "isolation": isolation, "network": network}
            head = message("sandbox: {mode} of {base}, isolation {isolation}, network {network}", **facts)
            return [head, *(f"  {message('note: {note}', note=_clean(note))}" for note in notes)]
        case events.StepStarted(step, action):
            return [f"{step}: {neutralised(action.text)}".rstrip(": ")]
        case events.CommandStarted(step, _, command):
            return [f"{step}: $ {_first_line(command)}"]
        case events.CommandEnded(step, number, exit_code, ending, duration):
            end = f"exit {exit_code}" if ending == "exited" else f"{ending.replace('_', ' ')} (exit {exit_code})"
            facts = {"number": str(number), "end": translate(end), "time": f"{duration:.2f}"}
            return [f"{step}: {message('command {number}: {end} after {time} s', **facts)}"]
        case events.CheckJudged(step, kind, outcome, detail):
            return [
                f"{step}: {message('check {kind}: {outcome}', kind=kind, outcome=translate(outcome))}: {_clean(detail)}"
            ]
        case events.StepEnded(step, outcome, duration, reason):
            word = click.style(translate(outcome), fg=_WORDS.get(outcome))
            ended = message("{outcome} after {time} s", outcome=word, time=f"{duration:.2f}")
            return [f"{step}: {ended}" + (f": {_clean(reason)}" if reason.data else "")]
        case events.SecretSeen(finding):
            return [click.style(message("secret masked: {finding}", finding=_clean(finding)), fg="red")]
        case events.Replanning(agent, attempt, attempts, needs):
            return [translate(f"asking {agent} for a new plan ({attempt} of {attempts}; needs {needs})")]
        case events.Replanned(agent, _, failure, usd, tokens):
            cost = message("usd {usd}, tokens {tokens}", usd=_or_unknown(usd, ".4f"), tokens=_or_unknown(tokens, ","))
            return [f"{agent}: {message('turn finished')}" + (f" ({failure})" if failure else "") + f": {cost}"]
        case events.ReplannerChanged(message=why):
            return [_clean(why)]
        case events.RunEnded(run_id, status, error_code, _, _, path, duration):
            color = "green" if status == "OK" else "red"
            word = click.style(status if error_code is None else f"{status} {error_code}", fg=color, bold=True)
            ended = message("run {run_id}: {status} after {time} s", run_id=run_id, status=word, time=f"{duration:.2f}")
            # A loop or a build says whether work is done; a run says only how its steps ended.
            judged = message("not judged: the run was not compared with the project before it")
            more = [f"  {judged}"] if status == "OK" else []
            return [ended, f"  {message('evidence: {path}', path=neutralised(path))}", *more]
        case events.GaveUp(run_id, attempts, error_code):
            text = f"{error_code}: no success; new plans tried: {attempts}; the last run is {run_id}"
            return [click.style(translate(text), fg="red")]
        case events.OutputSeen():
            return []


def _or_unknown(value: float | None, form: str) -> str:
    return message("unknown") if value is None else format(value, form)


def _clean(text: Redacted) -> str:
    return neutralised(translate(text.text))


def _first_line(text: Redacted) -> str:
    lines = neutralised(text.text).splitlines() or [""]
    return lines[0] + (" …" if len(lines) > 1 else "")

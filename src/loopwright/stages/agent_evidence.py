"""The evidence of a run as agents may read it: of a hidden check only the outcome stays.

A list of what is shown decides, not a list of what is hidden: a check may be hidden, renamed or gone since the run.
"""

from __future__ import annotations

from typing import Any

from loopwright.agents.shown_file import ShownFile
from loopwright.errors import DamagedFile, LoopwrightError
from loopwright.evidence.model import Evidence, StepRecord
from loopwright.evidence.store import SUMMARY
from loopwright.kernel import codec
from loopwright.loop.actions.run_tests import is_project_step
from loopwright.stages.agent_view import agent_view, hidden_name
from loopwright.stages.context import Context, loops_of, workflows_of

_NO_CHECKS = "no-checks"
# What a step tells about its check, besides its outcome and its time.
_TELLS = ("action", "cwd", "reason")
_LISTS = ("depends_on", "commands", "checks", "tests", "gaps", "runners", "state", "left_out")


def shown_evidence(context: Context, run_id: str) -> ShownFile:
    """The record of a run."""
    evidence, data = context.store.load(run_id)
    names = _hidden_steps(context, evidence)
    if not names:
        return ShownFile(data)
    document = codec.from_json(data, dict)
    masked = {**document, "steps": [_masked(step, names) for step in document["steps"]], "message": "", "findings": []}
    masked["files"] = {name: digest for name, digest in document["files"].items() if not name.startswith("logs/")}
    masked["changed_files"] = []
    view = agent_view(context).but(_names_in(evidence, names))
    return ShownFile(codec.to_json(view.masked_values(masked)))


def shown_summary(context: Context, run_id: str) -> ShownFile:
    """The summary of a run, if the run has one."""
    evidence, _ = context.store.load(run_id)
    text = (context.store.folder(run_id) / SUMMARY).read_bytes()
    view = agent_view(context).but(_names_in(evidence, _hidden_steps(context, evidence)))
    return view.document(SUMMARY, text)


def _masked(step: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    if step["id"] not in names:
        return step
    kept = {key: value for key, value in step.items() if key not in _LISTS} | dict.fromkeys(_TELLS, "")
    return {**kept, "id": names[step["id"]], "depends_on": [], "commands": [], "checks": []}


def _names_in(evidence: Evidence, names: dict[str, str]) -> dict[str, str]:
    """Everything by which the record names hidden checks and their tests."""
    found = dict(names)
    for step in evidence.steps:
        if step.id in names:
            tests = (test.id.text for test in step.tests)
            found |= dict.fromkeys((step.action.text, *_commands(step), *tests), names[step.id])
    return found


def _hidden_steps(context: Context, evidence: Evidence) -> dict[str, str]:
    """The steps of hidden checks, each with the name that agents may know."""
    shown, view = _shown_checks(context, evidence), agent_view(context)
    if shown is None:
        return {}

    def is_shown(step: StepRecord) -> bool:
        # Older versions ran hidden checks that need no file as tests of the project.
        return step.id in shown or (_is_of_project(step) and not any(map(view.names_a_check, _commands(step))))

    hidden = [step for step in evidence.steps_of_plan if not is_shown(step)]
    return {step.id: hidden_name(number) for number, step in enumerate(hidden, 1)}


def _commands(step: StepRecord) -> list[str]:
    return [command.command.text for command in step.commands]


def _is_of_project(step: StepRecord) -> bool:
    return step.id == _NO_CHECKS or is_project_step(step.id)


def _shown_checks(context: Context, evidence: Evidence) -> frozenset[str] | None:
    """The checks that agents may see; None for a run that judges no build, of which everything is shown."""
    while evidence.rerun_of is not None:
        try:
            evidence, _ = context.store.load(evidence.rerun_of)
        except DamagedFile:
            return frozenset()
    slug = evidence.workflow
    try:
        if slug is None and evidence.loop_id is not None:
            slug = loops_of(context).load(evidence.loop_id).workflow
        if slug is None:
            return None
        checks = workflows_of(context).snapshot(slug).facts.readable_slices.checks
    except LoopwrightError:
        # The plan is gone: which checks were hidden is unknown.
        return frozenset()
    return frozenset(check.id for check in checks if not check.hidden)

"""Every reason why a workflow can't go on, by its code: one sentence for a person, and what to type."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Blocker(msgspec.Struct, frozen=True):
    """A typed reason; `next` is the command that moves on, where there is one."""

    code: str
    message: str
    next: str = ""


class _Row(msgspec.Struct, frozen=True):
    message: str
    next: str


# `{slug}` is the workflow's; the others are named by whoever blocks. A code that ends with `_` gets a suffix.
_CLARIFY: Mapping[str, _Row] = {
    "unresolved_ambiguity": _Row("{count} questions are open: {items}", 'loopwright answer {slug} {first} "…"'),
    "clarify_current_round_required": _Row("no round of clarifying was held yet", "loopwright clarify {slug}"),
    "clarify_max_rounds_exceeded": _Row("{rounds} rounds were held, and {most} are the most", "{way}"),
    "clarify_ambiguity_score_above_threshold": _Row(
        "the ambiguity score is {score}, above {threshold}: {why}", "loopwright clarify {slug}"
    ),
    "clarify_non_goals_unresolved": _Row(
        "the section Non-Goals says nothing yet", "write it into {spec}, or loopwright clarify {slug}"
    ),
    "clarify_decision_boundaries_unresolved": _Row(
        "the section Decision Boundaries says nothing yet", "write it into {spec}, or loopwright clarify {slug}"
    ),
    "clarify_pressure_pass_incomplete": _Row(
        "no earlier answer was pressed on by a later question", "loopwright clarify {slug}"
    ),
    "spec_": _Row("{spec} can't be read: {problem}", "correct it; an older version is in {objects}"),
}
_APPROVALS: Mapping[str, _Row] = {
    "approval_void_": _Row(
        "what was approved for {transition} changed afterwards: {changed}",
        "loopwright approve {slug} --from {origin} --to {target}",
    ),
    "approval_missing_": _Row(
        "nobody approved {transition} yet", "loopwright approve {slug} --from {origin} --to {target}"
    ),
    "approval_rejected_": _Row(
        "{by} said no to {transition}: {reason}", "loopwright approve {slug} --from {origin} --to {target}"
    ),
}
_AGAIN = "loopwright plan {slug}"
_PLAN: Mapping[str, _Row] = {
    "architect_review_incomplete": _Row("the architect has not looked at the plan as it is", _AGAIN),
    "critic_verdict_": _Row("the critic says '{verdict}' to the plan", _AGAIN),
    "plan_package_": _Row("the plan's documents are {state}", _AGAIN),
    "acceptance_criteria_unresolved": _Row(
        "the spec's Testable Acceptance Criteria say nothing yet", "write them into {spec}, then loopwright plan {slug}"
    ),
    "verification_steps_unresolved": _Row("the test plan names no step that verifies anything", _AGAIN),
    "execution_inputs_unresolved": _Row(
        "the spec's Execution Inputs say nothing yet", "write them into {spec} (or: none)"
    ),
    "missing_prd": _Row("plans/prd-{slug}.md is missing", _AGAIN),
    "missing_test_spec": _Row("plans/test-spec-{slug}.md is missing", _AGAIN),
    "missing_plan_artifact_": _Row("{file} is {state}", _AGAIN),
    "plan_artifact_language_": _Row("{file} is not in the language of the workspace: {why}", "translate {file}"),
    "missing_change_artifacts": _Row("the folder of the change is not there", _AGAIN),
    "missing_change_artifact_": _Row("{file} is {state}", _AGAIN),
    "change_artifacts_": _Row("the change's documents are {state}", _AGAIN),
    "spec_delta_": _Row("the spec delta is not whole: {why}", "write it into {file}, or loopwright plan {slug}"),
    "spec_conflict_": _Row("the change does not fit the spec of {domain}: {why}", "{way}"),
    "vertical_slices_missing": _Row("there are no slices", _AGAIN),
    "vertical_slices_invalid": _Row("{file} can't be used: {problem}", "correct {file}, or loopwright plan {slug}"),
    "slice_without_check_": _Row("no command decides when {name} is done", "give it a check in {file}"),
    "vacuous_check_": _Row("the check {name} passes {when}: `{command}`", "make it fail without the work: {mend}"),
    "negative_control_missing_": _Row("the check {name} was not run on the base yet", _AGAIN),
}
_BUILD_AGAIN = "loopwright build {slug}"
_BUILD: Mapping[str, _Row] = {
    "decision_required_": _Row("an agent asks {name}: {question}", 'loopwright answer {slug} {name} "…"'),
    "lane_incomplete_": _Row("the lane {lane} of the build is not through", _BUILD_AGAIN),
    "verification_": _Row("the checks do not pass: {why}", _BUILD_AGAIN),
    "tests_broken_": _Row(
        "tests of the project that passed before the work do not pass now: {names} (run {run}); "
        "where that is intended, a person signs: loopwright sign {slug} {what}",
        _BUILD_AGAIN,
    ),
    "architect_": _Row("the architect says '{status}' to what was built", _BUILD_AGAIN),
    "deslop_": _Row("tidying up came to '{status}'", _BUILD_AGAIN),
    "regression_": _Row("the checks after tidying up: {status}", _BUILD_AGAIN),
    "delegation_active_": _Row("{name} is still in other hands: {scope}", "wait for it, or settle it in the ledger"),
    "sealed_file_changed_": _Row(
        "the work changed {path}, which judges it or can decide what its judges say: a person must look at that",
        'loopwright sign {slug} {path} --note "…"',
    ),
    "completion_audit_blocked": _Row("nothing shows that these are done: {missing}", _BUILD_AGAIN),
    "completion_audit_missing_evidence": _Row("no passed run on the final tree for: {missing}", _BUILD_AGAIN),
    "completion_audit_not_run": _Row("nothing was verified yet", _BUILD_AGAIN),
    "execution_record_": _Row("the execution record is not whole: {why}", _BUILD_AGAIN),
    "context_manifest_invalid": _Row("what the agent should read can't be used: {problem}", _BUILD_AGAIN),
    "partial_scope_remaining": _Row("the record says that this is left: {remaining}", _BUILD_AGAIN),
    "completion_claim_": _Row("the record claims '{claim}', which is not all of it", _BUILD_AGAIN),
    "implemented_scope_mismatch": _Row("planned and done differ: {difference}", _BUILD_AGAIN),
}
_BACK = "loopwright approve {slug} --from review --to {target}"
_REVIEW: Mapping[str, _Row] = {
    "review_status_": _Row("{why}", "loopwright review {slug}"),
    "review_verdict_": _Row("the review asks for changes: {why}", _BACK),
    "review_rework_required": _Row("the build has to be mended: {why}", _BACK),
    "plan_rework_required": _Row("the plan has to be mended: {why}", _BACK),
    "clarify_rework_required": _Row("the spec has to be mended: {why}", _BACK),
}
_ARCHIVE: Mapping[str, _Row] = {
    "workflow_not_done": _Row("it is at {stage}; only what is done is archived", "loopwright status {slug}"),
    "missing_spec_delta_path": _Row("there is no {path}", "write it, or take the domain out of {spec}"),
}
TABLE: Mapping[str, _Row] = {**_CLARIFY, **_APPROVALS, **_PLAN, **_BUILD, **_REVIEW, **_ARCHIVE}


def blocker(code: str, suffix: str = "", /, **facts: object) -> Blocker:
    """The blocker of this code, with its sentence filled in."""
    row = TABLE[code]
    return Blocker(f"{code}{suffix}", row.message.format(**facts), row.next.format(**facts))

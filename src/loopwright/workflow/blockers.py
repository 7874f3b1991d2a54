"""Every reason why a workflow can't proceed: its code, one sentence for a person, and the next command."""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

import msgspec

from loopwright.wording.choices import PersonChoice

# `{slug}` is the name of the workflow; the code that blocks names the other facts.
_AGAIN = "loopwright plan {slug}"
_BUILD_AGAIN = "loopwright build {slug}"
_APPROVE = "loopwright approve {slug} --from {origin} --to {target}"
_CLARIFY = "loopwright clarify {slug}"
_BACK = "loopwright approve {slug} --from review --to {target}"


class Stops(Enum):
    """The approvals that a blocker stops."""

    EVERYONE = auto()
    # A person may approve in spite of it. A policy may not.
    POLICY = auto()


_POLICY = Stops.POLICY


# fmt: off
class Family(Enum):
    """A kind of blocker: its code, a sentence and the next command. A code that ends with `_` gets a suffix.

    A family with `Stops.POLICY` stops only the approval of a policy: the approval of a person answers it.
    """

    UNRESOLVED_AMBIGUITY = (
        "unresolved_ambiguity", "open questions: {count} ({items})", 'loopwright answer {slug} {first} "…"',
    )
    ANSWER_NOT_ACCEPTED = (
        "answer_not_accepted_", "the answer to {item} does not count: {why}", 'loopwright answer {slug} {item} "…"',
    )
    CLARIFY_CURRENT_ROUND_REQUIRED = ("clarify_current_round_required", "the idea was not clarified yet", _CLARIFY)
    CLARIFY_MAX_ROUNDS_EXCEEDED = (
        "clarify_max_rounds_exceeded", "the limit of {most} rounds is reached ({rounds} used)", "{way}",
    )
    CLARIFY_AMBIGUITY_SCORE_ABOVE_THRESHOLD = (
        "clarify_ambiguity_score_above_threshold", "the ambiguity score is {score}, above {threshold}: {why}", _CLARIFY,
    )
    CLARIFY_NON_GOALS_UNRESOLVED = (
        "clarify_non_goals_unresolved", "the section Non-Goals is empty",
        "complete it in {spec}, or loopwright clarify {slug}",
    )
    CLARIFY_DECISION_BOUNDARIES_UNRESOLVED = (
        "clarify_decision_boundaries_unresolved", "the section Decision Boundaries is empty",
        "complete it in {spec}, or loopwright clarify {slug}",
    )
    CLARIFY_PRESSURE_PASS_INCOMPLETE = (
        "clarify_pressure_pass_incomplete", "no follow-up question has challenged an earlier answer yet", _CLARIFY,
    )
    SPEC = ("spec_", "{spec} can't be read: {problem}", "correct it; an older version is in {objects}")
    APPROVAL_VOID = ("approval_void_", "the approval of {transition} is void, because {why}", _APPROVE)
    APPROVAL_MISSING = ("approval_missing_", "{transition} is not approved yet", _APPROVE)
    APPROVAL_REJECTED = ("approval_rejected_", "{by} rejected {transition}: {reason}", _APPROVE, _POLICY)
    ARCHITECT_REVIEW_INCOMPLETE = (
        "architect_review_incomplete", "the architect has not reviewed the current plan", _AGAIN,
    )
    CRITIC_VERDICT = ("critic_verdict_", "the critic's verdict on the plan is '{verdict}'", _AGAIN)
    PLAN_PACKAGE = ("plan_package_", "the documents of the plan are {state}", _AGAIN)
    ACCEPTANCE_CRITERIA_UNRESOLVED = (
        "acceptance_criteria_unresolved", "the section Testable Acceptance Criteria of the spec is empty",
        "complete it in {spec}, then loopwright plan {slug}",
    )
    VERIFICATION_STEPS_UNRESOLVED = ("verification_steps_unresolved", "the test plan has no verification step", _AGAIN)
    EXECUTION_INPUTS_UNRESOLVED = (
        "execution_inputs_unresolved", "the section Execution Inputs of the spec is empty",
        "complete it in {spec} (or write: none)",
    )
    MISSING_PRD = ("missing_prd", "plans/prd-{slug}.md is missing", _AGAIN)
    MISSING_TEST_SPEC = ("missing_test_spec", "plans/test-spec-{slug}.md is missing", _AGAIN)
    MISSING_PLAN_ARTIFACT = ("missing_plan_artifact_", "{file} is {state}", _AGAIN)
    PLAN_ARTIFACT_LANGUAGE = (
        "plan_artifact_language_", "{file} is not in the language of the workspace: {why}", "translate {file}",
    )
    MISSING_CHANGE_ARTIFACTS = ("missing_change_artifacts", "the folder of the change is missing", _AGAIN)
    MISSING_CHANGE_ARTIFACT = ("missing_change_artifact_", "{file} is {state}", _AGAIN)
    CHANGE_ARTIFACTS = ("change_artifacts_", "the documents of the change are {state}", _AGAIN)
    SPEC_DELTA = (
        "spec_delta_", "the spec delta is incomplete: {why}", "write it into {file}, or loopwright plan {slug}",
    )
    SPEC_CONFLICT = ("spec_conflict_", "the change does not fit the spec of {domain}: {why}", "{way}")
    VERTICAL_SLICES_MISSING = ("vertical_slices_missing", "the plan has no slices", _AGAIN)
    VERTICAL_SLICES_INVALID = (
        "vertical_slices_invalid", "{file} can't be used: {problem}", "correct {file}, or loopwright plan {slug}",
    )
    SLICE_WITHOUT_CHECK = ("slice_without_check_", "no check decides when {name} is done", "add a check in {file}")
    VACUOUS_CHECK = (
        "vacuous_check_", "the check {name} passes {when}: `{command}`", "{mend}",
    )
    NEGATIVE_CONTROL_MISSING = ("negative_control_missing_", "the check {name} did not run on the base yet", _AGAIN)
    HIDDEN_FILE_VISIBLE = (
        "hidden_file_visible_",
        "the hidden check {name} names {path}, which is a file of the project: agents read it",
        "move the file to {folder}, then loopwright plan {slug}",
    )
    SCOPE_WANTED = (
        "scope_wanted_",
        "the plan wants to change {pattern}, which is protected or outside project.source: a person must approve it",
        "loopwright approve {slug} --from plan --to build", _POLICY,
    )
    DECISION_REQUIRED = (
        "decision_required_", "an agent asked {name}: {question}", 'loopwright answer {slug} {name} "…"',
    )
    LANE_INCOMPLETE = ("lane_incomplete_", "the lane {lane} of the build is not finished", _BUILD_AGAIN)
    VERIFICATION = ("verification_", "checks fail: {why}", _BUILD_AGAIN)
    TESTS_BROKEN = (
        "tests_broken_",
        "{failing}; if that is intended, a person can sign: loopwright sign {slug} {what}",
        _BUILD_AGAIN,
    )
    TESTS_UNREAD = (
        "tests_unread",
        (
            "the project's tests failed before the work (run {base_run}) and fail now (run {run}), and no report tells "
            "which: a person must look, or set a project.test_command that reports its tests"
        ),
        "loopwright sign {slug} {what}",
    )
    ARCHITECT = ("architect_", "the architect's verdict on the build is '{status}'", _BUILD_AGAIN)
    DESLOP = ("deslop_", "the result of tidying up is '{status}'", _BUILD_AGAIN)
    REGRESSION = ("regression_", "checks after tidying up: {status}", _BUILD_AGAIN)
    DELEGATION_ACTIVE = (
        "delegation_active_", "{name} is delegated and not finished: {scope}", "wait for it, or close it in the ledger",
    )
    CHANGED_TEST = (
        "changed_test_",
        (
            "the work {did} the test {path}; {failing}: a person must {look} (`{diff}`)"
        ),
        "{diff}",
    )
    UNPROVEN_REQUIREMENT = (
        "unproven_requirement_",
        "{name} ({requirement}) is unproven: {why}",
        "loopwright loop diff {slug}; then add such a check to the plan, or a person signs",
    )
    UNALTERED_PROOF = (
        "unaltered_proof_",
        (
            "the proof of {name} ({requirement}) rests on checks that could not be altered to see them fail: "
            "a person must look at them"
        ),
        _APPROVE, _POLICY,
    )
    FLAGGED = (
        "flagged", "code of the work could deceive a check ({flag}): a person must look at it", _APPROVE, _POLICY,
    )
    BASE_NOT_JUDGED = (
        "base_not_judged_",
        (
            "{name} did not come to its end before the work (run {run}), so nothing is compared: "
            "correct it, or a person signs"
        ),
        "loopwright sign {slug} {name}",
    )
    NOTHING_CHANGED = (
        "nothing_changed", "no change is left to deliver: all files are as they were before the work", _BUILD_AGAIN,
    )
    JUDGING_RULES_CHANGED = (
        "judging_rules_changed", "the judging rules changed since this work was judged", _BUILD_AGAIN,
    )
    SEALED_FILE_CHANGED = (
        "sealed_file_changed_", "the work {did} {path}; {why}: a person must look at it", "{way}",
    )
    PROCESS_STATE_CHANGED = (
        "process_state_changed",
        "the work changes state of the test process that it did not change before: {names}; a person must look at it",
        "loopwright loop diff {slug}; then loopwright sign {slug} {what}",
    )
    COMPLETION_AUDIT_BLOCKED = ("completion_audit_blocked", "no evidence that these are done: {missing}", _BUILD_AGAIN)
    COMPLETION_AUDIT_MISSING_EVIDENCE = (
        "completion_audit_missing_evidence", "no passing run on the final tree for: {missing}", _BUILD_AGAIN,
    )
    COMPLETION_AUDIT_NOT_RUN = ("completion_audit_not_run", "nothing was verified yet", _BUILD_AGAIN)
    EXECUTION_RECORD = ("execution_record_", "the execution record is incomplete: {why}", _BUILD_AGAIN)
    CONTEXT_MANIFEST_INVALID = (
        "context_manifest_invalid", "the list of files for the agent is invalid: {problem}", _BUILD_AGAIN,
    )
    PARTIAL_SCOPE_REMAINING = (
        "partial_scope_remaining", "the execution record lists unfinished scope: {remaining}", _BUILD_AGAIN,
    )
    COMPLETION_CLAIM = ("completion_claim_", "the execution record claims only '{claim}'", _BUILD_AGAIN)
    IMPLEMENTED_SCOPE_MISMATCH = (
        "implemented_scope_mismatch", "planned and implemented scope differ: {difference}", _BUILD_AGAIN,
    )
    REVIEW_STATUS = ("review_status_", "{why}", "loopwright review {slug}")
    REVIEW_VERDICT = ("review_verdict_", "the review asks for changes: {why}", _BACK)
    REVIEW_REWORK_REQUIRED = ("review_rework_required", "the build must be fixed: {why}", _BACK)
    PLAN_REWORK_REQUIRED = ("plan_rework_required", "the plan must be fixed: {why}", _BACK)
    CLARIFY_REWORK_REQUIRED = ("clarify_rework_required", "the spec must be fixed: {why}", _BACK)
    RISK_ABOVE_FLOOR = ("risk_above_floor", "a person must decide about this risk: {why}", _APPROVE, _POLICY)
    EVIDENCE_CHANGED = (
        "evidence_changed_", "the run {run} no longer proves anything: {why}", "loopwright verify {run}",
    )
    SPEC_UNCHANGED = (
        "spec_unchanged", "the review sent the spec back, and the spec has not changed since: {why}", _CLARIFY,
    )
    PLAN_UNCHANGED = (
        "plan_unchanged", "the review sent the plan back, and the plan has not changed since: {why}", _AGAIN,
    )
    WORKFLOW_NOT_DONE = (
        "workflow_not_done", "the workflow is at {stage}; only a change that is done can be archived",
        "loopwright status {slug}",
    )
    NO_SPEC_CHANGED = (
        "no_spec_changed", "`loopwright do` began {slug}: it changes no spec, so there is nothing to archive",
        "loopwright status {slug}",
    )
    MISSING_SPEC_DELTA_PATH = (
        "missing_spec_delta_path", "{path} is missing", "write it, or remove the domain from {spec}",
    )

    # fmt: on
    def __init__(self, code: str, message: str, next_command: str, stops: Stops = Stops.EVERYONE) -> None:
        self.code = code
        self.message = message
        self.next = next_command
        self.stops = stops


class Blocker(msgspec.Struct, frozen=True):
    """A reason why a workflow can't proceed; `next` is the command that comes next, if one exists."""

    code: str
    message: str
    next: str = ""
    # Everything that a person can do about it, if that is more than one command; `next` is the first.
    choices: tuple[PersonChoice, ...] = ()

    @property
    def family(self) -> Family | None:
        """The kind of blocker, by its code; `None` for a code that this version does not know."""
        return family_of(self.code)


@lru_cache(maxsize=256)
def family_of(code: str) -> Family | None:
    """The family that a code belongs to: the longest of those that it begins with."""
    matching = (family for family in Family if _is_of(code, family))
    return max(matching, key=lambda family: len(family.code), default=None)


def _is_of(code: str, family: Family) -> bool:
    return code.startswith(family.code) if family.code.endswith("_") else code == family.code


def blocker(family: Family, suffix: str = "", /, **facts: object) -> Blocker:
    """A blocker of this family, with its sentence filled in."""
    return Blocker(f"{family.code}{suffix}", family.message.format(**facts), family.next.format(**facts))

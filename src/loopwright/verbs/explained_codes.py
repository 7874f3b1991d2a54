"""What the codes of loops, workflows, agents and `doctor` mean, in plain words, and what to do. Only data.

`explain.py` has the error codes of commands, and the blockers have their own table.
"""

from __future__ import annotations

import msgspec


class Explained(msgspec.Struct, frozen=True):
    """A code; one that ends with `_` gets a suffix."""

    code: str
    means: str
    then: str


_DECIDE = "read the diff with `loopwright loop diff LOOP`, then resume the loop or accept its work"
_LOOK = "look at it with `loopwright loop show LOOP`, then `loopwright loop resume LOOP`"
_SHOW = "loopwright loop show LOOP"
_STATUS = "loopwright status SLUG"
_FIX_AGENT = "fix the cause, then `loopwright loop resume LOOP`, or `loopwright build SLUG` for a build"
_LOGS = "read what the agent printed with `loopwright loop logs LOOP --agent`, then resume the loop"
_REPEAT = "look again with `loopwright loop show LOOP`, then decide"
_DOCTOR = "loopwright doctor --fix"
_INSTALL = "loopwright install --agent NAME"

# Why a loop is held, or has failed.
_HOLDS = (
    Explained("unproven", "the work broke no test, but no test failed before it and passes now", _DECIDE),
    Explained("changed_test_", "the tests pass only with the work's change to this test", _DECIDE),
    Explained(
        "protected_changes", "the work changed protected files; the message says if the tests need them", _DECIDE
    ),
    Explained("vacuous_tests", "the tests that prove the work pass whatever they expect", _DECIDE),
    Explained("unaltered_tests", "nothing could be changed to see the tests fail that prove the work", _DECIDE),
    Explained("moved_expectation", "the work changed, in the source, the value with which a test compares", _DECIDE),
    Explained("flagged", "code of the work could deceive a test; the message names the place", _DECIDE),
    Explained("known_failures", "the work broke no test and proves something, but earlier failures remain", _DECIDE),
    Explained("base_not_judged", "the tests did not come to their end before the work", "correct the test command"),
    Explained("nothing_changed", "all files are as they were before the work", "loopwright loop resume LOOP"),
    Explained("no_progress", "several iterations in a row changed nothing", _LOOK),
    Explained("task_failed", "the tests pass, but a task failed", _LOOK),
    Explained("secret_leak", "the work contains what looks like a secret; it was not stored", _LOOK),
    Explained("no_test_command", "no test command is set, so nothing can decide", "set project.test_command"),
    Explained("setup_failed", "a command of sandbox.setup failed, so no test ran", "correct sandbox.setup"),
    Explained("tasks_unreadable", "the task list of the loop cannot be read", "loopwright loop check LOOP --fix"),
    Explained("imported", "the loop comes from another tool and was not judged here", _LOOK),
    Explained("restored", "the log of the loop was lost, and the loop was built again from other files", _LOOK),
    Explained("paused", "a person paused the loop", "loopwright loop resume LOOP"),
    Explained("choice_required", "a person chooses the next action of this loop", "loopwright loop choose LOOP ACTION"),
    Explained("iterations_used", "all iterations are used", "loopwright loop retry LOOP --max-iterations NUMBER"),
    Explained("stopped", "a person stopped the loop", "loopwright loop retry LOOP"),
    Explained(
        "budget_", "a limit is used up; the end of the code names it", "loopwright loop resume LOOP --usd NUMBER"
    ),
    Explained("execution_", "the agent that builds could not work; the end of the code is the reason", _FIX_AGENT),
    Explained("held_", "the loop is held, and this command does not lift the hold", _SHOW),
)

# Why a turn of an agent gave no answer.
_REASONS = (
    Explained("agent_missing", "no agent is set, or its program is not installed or not known", "loopwright doctor"),
    Explained("agent_too_old", "the program of the agent is too old", "install a newer version of it"),
    Explained("not_logged_in", "the program of the agent is not logged in", "log in, then resume the loop"),
    Explained("rate_limited", "the agent reached a limit of its provider", "wait, or `loopwright loop resume LOOP`"),
    Explained("budget_used", "the turn reached a limit of its budget", "loopwright loop resume LOOP --usd NUMBER"),
    Explained(
        "permission_denied", "the program of the agent did not let it change anything", "correct agents.NAME.args"
    ),
    Explained("refused", "the agent refused the task", "describe the task in another way, or name another agent"),
    Explained("crashed", "the program of the agent ended without an answer", _LOGS),
    Explained("hung", "the agent did not answer within its time limit", _LOGS),
    Explained("invalid_answer", "the agent did not answer in the required form, even after a second request", _LOGS),
)

# Why a command about a loop is refused.
_LOOP_REFUSALS = (
    Explained("exists", "a loop with this id already exists", "choose another id"),
    Explained("no_loop", "the loop does not exist", "loopwright loop list"),
    Explained("no_task", "the loop has no such task, or no task is left", _SHOW),
    Explained("no_iterations", "a loop needs at least one iteration", "set --max-iterations"),
    Explained("too_few_iterations", "the loop has already used that many iterations", "set a higher limit"),
    Explained(
        "nothing_to_do", "the loop has no task, and no description to plan from", "loopwright loop task add LOOP TEXT"
    ),
    Explained("task_exists", "a task with this id already exists", "choose another id"),
    Explained("task_in_progress", "an agent works on this task now", "wait until the task is done, or stop the loop"),
    Explained("not_the_tasks", "an order must name every task exactly once", _SHOW),
    Explained(
        "illegal_move", "the command does not fit the status of the loop", "use a command that the message lists"
    ),
    Explained("not_legal_now", "this action is not possible now", "choose an action that the message lists"),
    Explained("busy", "an action of the loop is under way", "wait, or pause the loop"),
    Explained("not_running", "the loop has left that action, so its result does not count", _SHOW),
    Explained("not_started", "the background process of the loop did not start", "read the log that the message names"),
    Explained("not_validated", "no tests have passed on the current work", "loopwright loop resume LOOP"),
    Explained("has_worker", "another process drives the loop", "loopwright loop watch LOOP"),
    Explained("nothing_running", "no loop runs that could get the report", "loopwright loop list"),
    Explained("nothing_to_accept", "the loop does not wait for a person to accept its work", _SHOW),
    Explained("nothing_to_leave_out", "the tests pass on no part of the work without its protected changes", _DECIDE),
    Explained(
        "protected_part_fails",
        "the tests or checks fail with these protected changes",
        "leave the changes out with --without-protected, or let the agent continue",
    ),
    Explained("no_decision", "there is no such question", _SHOW),
    Explained("answered_already", "the question is already answered", _SHOW),
    Explained("empty_answer", "the answer is empty", "write an answer"),
    Explained("nobody_to_ask", "the question belongs to no running build or loop", "ask in the answer of the turn"),
    Explained("no_open_turn", "no turn waits to be taken by hand", _SHOW),
    Explained("not_built_yet", "the workflow has no build yet", "loopwright build SLUG"),
    Explained("no_hypotheses", "the agent proposed no possible cause", _LOOK),
    Explained("no_hypothesis", "there is no such possible cause", _SHOW),
    Explained("confirmed_already", "another cause is already confirmed", _REPEAT),
    Explained("fix_without_cause", "a fix needs a confirmed cause", _REPEAT),
)

# Why a command about a workflow is refused.
_WORKFLOW_REFUSALS = (
    Explained("workflow_not_initialized", "the workflow does not exist", "loopwright clarify SLUG --idea TEXT"),
    Explained("workflow_exists", "a workflow with this name already exists", _STATUS),
    Explained("invalid_transition", "the command does not fit the stage of the workflow", _STATUS),
    Explained("approval_from_stage_mismatch", "the workflow is not at the stage that --from names", _STATUS),
    Explained("approved_transition_required", "a person must approve this step first", _STATUS),
    Explained("rollback_rationale_required", "going back to an earlier stage needs a reason", "add --rationale TEXT"),
    Explained("clarify_readiness_blocked", "the spec is not clear enough yet", _STATUS),
    Explained("plan_review_gate_blocked", "the plan cannot be built yet", _STATUS),
    Explained("plan_package_incomplete", "documents of the plan are missing", "loopwright plan SLUG"),
    Explained("build_review_gate_blocked", "the work cannot be reviewed yet", _STATUS),
    Explained("review_gate_blocked", "the work cannot be delivered yet", _STATUS),
    Explained("review_done_scope_blocked", "the build does not cover the whole scope of the plan", _STATUS),
    Explained("review_not_approved", "the review did not approve the work", _STATUS),
    Explained("review_build_fix_not_requested", "the review did not send the work back to the build", _STATUS),
    Explained("review_plan_fix_not_requested", "the review did not send the work back to the plan", _STATUS),
    Explained("review_clarify_fix_not_requested", "the review did not send the work back to the spec", _STATUS),
    Explained(
        "review_by_person", "a person has reviewed this version of the work", "loopwright review SLUG --verdict VERDICT"
    ),
    Explained("archive_blocked", "the change cannot be archived yet", _STATUS),
    Explained("archive_scope_blocked", "the build does not cover the whole scope of the plan", _STATUS),
    Explained("archive_requires_done_workflow", "only a change that is done can be archived", _STATUS),
    Explained("autopilot_phase_blocked", "the autopilot stopped at a blocker or a limit", _STATUS),
    Explained("autopilot_requires_resolved_spec", "the spec has open questions that only a person can answer", _STATUS),
    Explained("autopilot_review_failed", "the review did not approve the work", _STATUS),
    Explained("build_requires_workflow_plan_artifacts", "the workflow has no plan yet", "loopwright plan SLUG"),
    Explained("build_requires_approved_plan_artifacts", "there is no approved plan to build", _STATUS),
    Explained(
        "build_from_review_artifact_required",
        "the command names neither a workflow nor a review report",
        "loopwright build SLUG",
    ),
    Explained("build_from_review_artifact_missing", "the review report does not exist", _STATUS),
    Explained("invalid_clarify_profile", "there is no such profile", "use --profile standard or deep"),
    Explained("unknown_question", "there is no such question in the spec", _STATUS),
    Explained("unknown_decision", "there is no such question of an agent", _STATUS),
    Explained("decision_answered", "the question is already answered", _STATUS),
    Explained("answer_not_accepted", "the answer does not count; the message says why", "answer again"),
    Explained("nothing_to_sign", "this does not wait for a signature", _STATUS),
    Explained("nothing_delivered", "the workflow has no delivery to undo", _STATUS),
    Explained("delivery_blocked", "your files could not be changed", "do what the message says, then approve again"),
    Explained("undo_blocked", "the delivery cannot be undone; the message says why", _STATUS),
    Explained(
        "verification_impossible", "the checks could not run", "correct what the message names, then build again"
    ),
    Explained("no_checks", "no check decides whether the work is done", "add a check, or set project.test_command"),
    Explained("no_workspace", "the folder is neither a workspace nor a git repository", "loopwright init"),
    Explained("nothing_to_continue", "no unfinished work of `loopwright do` has this name", "loopwright status"),
    Explained("not_committed", "the work is delivered, but `do --commit` could not commit it", "git status"),
    Explained("context_manifest_missing", "the list of files for the agent is missing", "loopwright build SLUG"),
    Explained("not_in_the_manifest", "the file is not in the list of files for the agent", "read another file"),
    Explained("file_is_gone", "a file of the list for the agent does not exist any more", "loopwright build SLUG"),
    Explained("import_incomplete", "parts of the other workspace could not be imported", "read the rows of the report"),
    Explained("unknown_change", "there is no such change", "loopwright status"),
    Explained("unknown_domain", "there is no spec of this domain", "loopwright specs list"),
    Explained("spec_unreadable", "the spec cannot be read", "correct the lines that the message names"),
    Explained("spec_requirement_broken", "a requirement of the living specs is broken", "loopwright specs verify"),
    Explained("spec_check_unavailable", "a check of the living specs could not run", "loopwright specs verify"),
)

# What `loopwright doctor` finds.
_FINDINGS = (
    Explained("workflow_busy", "a command is changing the workflow, so it was not checked", "repeat the command later"),
    Explained("workflow_unreadable", "the workflow cannot be read", _STATUS),
    Explained("workflow_stray_file", "a file lies where the folders of workflows belong", "move the file away"),
    Explained("workflow_journal_damaged", "the journal of the workflow is damaged", _DOCTOR),
    Explained("workflow_without_journal", "the folder of a workflow has no journal", _DOCTOR),
    Explained("workflow_leftover", "the folder is left over from an interrupted command", _DOCTOR),
    Explained("workflow_state_stale", "the stored status of the workflow is old", _DOCTOR),
    Explained("delivery_cut_short", "a delivery was interrupted", _DOCTOR),
    Explained("archive_cut_short", "archiving was interrupted", _DOCTOR),
    Explained("undo_cut_short", "an undo was interrupted", "loopwright undo SLUG"),
    Explained("undo_impossible", "versions that an undo needs are missing", "restore them from git"),
    Explained("document_object_damaged", "a kept version of a document is damaged", _DOCTOR),
    Explained("document_lost", "a document is missing, and so is its kept version", "restore it from git"),
    Explained("change_folder_gone", "the folder of a change is missing", _DOCTOR),
    Explained("change_without_workflow", "the folder of a change belongs to no workflow", "loopwright doctor"),
    Explained("branch_left_over", "a branch of a removed delivery exists", "delete the branch if you do not need it"),
    Explained("foreign_workspace", "another tool has a workspace here", "loopwright import"),
    Explained("specs_in_two_places", "specs lie in two folders", "keep one of the folders"),
    Explained("prompts_own", "you use prompts of your own", "loopwright prompts list"),
    Explained("installed_", "a part that `loopwright install` wrote; the end of the code is its state", _INSTALL),
)

EXPLAINED = (*_HOLDS, *_REASONS, *_LOOP_REFUSALS, *_WORKFLOW_REFUSALS, *_FINDINGS)


_LANES = ("execution_", "architect_", "deslop_")


def explained(code: str) -> tuple[Explained, ...]:
    """The rows about a code: exact ones, else those with the longest start of it. A lane may end with a reason."""
    exact = tuple(row for row in EXPLAINED if row.code.rstrip("_") == code)
    if exact:
        return exact
    starts = sorted((row for row in EXPLAINED if _is_start(row, code)), key=lambda row: len(row.code))
    ends = (row for row in _REASONS for lane in _LANES if code == f"{lane}{row.code}")
    return (*starts[-1:], *ends)


def _is_start(row: Explained, code: str) -> bool:
    return row.code.endswith("_") and code.startswith(row.code)

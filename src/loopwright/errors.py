"""The exception tree. Each leaf has a stable code, a message and a hint: what happened, and what to do next.

LoopwrightError
├── WrongUsage             invalid arguments, or options that exclude each other
├── SettingsInvalid        an invalid settings file, variable or flag
├── PromptInvalid          a custom prompt that can't replace the built-in prompt
├── StorageFailed          a disk that is full, read-only or missing
│   └── DamagedFile        a Loopwright file whose content can't be trusted
├── ToolMissing            git or a shell is not installed
├── GitFailed              a git command failed
├── PlanError
│   ├── MissingPlan
│   └── InvalidPlan
├── SandboxError
│   ├── SandboxCreateFailed
│   ├── SandboxEscape
│   ├── IsolationUnavailable
│   └── IsolationTooWeak
├── SecretLeak
├── Latched
├── MaxRetries
├── ReplanUnproven         a new plan passed without the steps that had failed
├── Interrupted
├── UnknownRun             no run has that name
├── UnknownRevision        no commit has that name, or two commits share no history
├── EvidenceMismatch       the evidence and the files differ
├── NotReproduced          a rerun had a different result
├── LoopRefused            the loop's rules refuse the command
├── LoopConflict           another process changed the loop first
├── UnknownLoop            no loop has that name
├── WorkflowRefused        the workflow's rules refuse the command
├── WorkflowConflict       another process changed the workflow first
├── UnknownReflection      no reflection has that name
├── UnknownAgent           no agent has that name
├── AgentFailed            an agent could not take its turn
├── InsideAgent            an agent ran a command that is reserved for people
├── InputInvalid           an input file has invalid content
├── GateClosed             the experiments do not allow the closed loop yet
└── SelftestFailed         this machine fails the self-test

A command that fails is a value, not an exception. These exceptions mean that Loopwright can't or must not continue.
"""

from __future__ import annotations

from typing import ClassVar


class LoopwrightError(Exception):
    """Loopwright can't or must not continue: what happened, and what to do next."""

    code: ClassVar[str] = "LOOPWRIGHT_ERROR"

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class WrongUsage(LoopwrightError):
    """The arguments are invalid or contradict each other."""

    code = "WRONG_USAGE"


class SettingsInvalid(LoopwrightError):
    """A settings file, an environment variable or a flag has an unknown name or an invalid value."""

    code = "SETTINGS_INVALID"


class PromptInvalid(LoopwrightError):
    """A custom prompt can't be used."""

    code = "PROMPT_INVALID"


class StorageFailed(LoopwrightError):
    """A file could not be written or read."""

    code = "STORAGE_FAILED"


class DamagedFile(StorageFailed):
    """A file that Loopwright wrote is damaged."""

    code = "DAMAGED_FILE"


class ToolMissing(LoopwrightError):
    """A required program is not installed."""

    code = "TOOL_MISSING"


class GitFailed(LoopwrightError):
    """A git command failed."""

    code = "GIT_FAILED"


class PlanError(LoopwrightError):
    """The plan can't be run."""


class MissingPlan(PlanError):
    """There is no plan file."""

    code = "MISSING_PLAN"


class InvalidPlan(PlanError):
    """The plan file is invalid; the message lists every problem."""

    code = "INVALID_PLAN"


class SandboxError(LoopwrightError):
    """The sandbox could not be created, or a step left the sandbox."""


class SandboxCreateFailed(SandboxError):
    """Neither sandbox mode works."""

    code = "SANDBOX_CREATE_FAILED"


class SandboxEscape(SandboxError):
    """A step's working folder is outside the sandbox."""

    code = "SANDBOX_ESCAPE"


class IsolationUnavailable(SandboxError):
    """Isolation is required, and this machine does not provide isolation."""

    code = "ISOLATION_UNAVAILABLE"


class IsolationTooWeak(SandboxError):
    """An agent could reach the person's session, and the person did not accept that."""

    code = "isolation_too_weak"


class SecretLeak(LoopwrightError):
    """Loopwright stopped before it stored or showed a secret."""

    code = "SECRET_LEAK"


class Latched(LoopwrightError):
    """An earlier failure must be looked at by a person first."""

    code = "LATCHED"


class MaxRetries(LoopwrightError):
    """The run used all its attempts."""

    code = "MAX_RETRIES"


class ReplanUnproven(LoopwrightError):
    """A new plan passed, but it lacks steps that had failed."""

    code = "REPLAN_UNPROVEN"


class Interrupted(LoopwrightError):
    """A signal stopped the command."""

    code = "INTERRUPTED"

    def __init__(self, signal_name: str, *, hint: str) -> None:
        super().__init__(f"stopped by {signal_name}", hint=hint)
        self.signal_name = signal_name


class UnknownRun(LoopwrightError):
    """No recorded run has that name."""

    code = "UNKNOWN_RUN"


class UnknownRevision(LoopwrightError):
    """No commit has that name, or the two commits have no common ancestor."""

    code = "UNKNOWN_REVISION"


class EvidenceMismatch(LoopwrightError):
    """The evidence and the files differ."""

    code = "EVIDENCE_MISMATCH"


class NotReproduced(LoopwrightError):
    """A rerun had a different result than the recorded run."""

    code = "NOT_REPRODUCED"


class LoopRefused(LoopwrightError):
    """The loop's rules refuse the command; `blocker` is the reason's code."""

    code = "LOOP_REFUSED"

    def __init__(self, blocker: str, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.blocker = blocker


class LoopConflict(LoopwrightError):
    """Another process changed the loop first."""

    code = "LOOP_CONFLICT"


class UnknownLoop(LoopwrightError):
    """No loop in this workspace has that name."""

    code = "UNKNOWN_LOOP"


class WorkflowRefused(LoopwrightError):
    """The workflow's rules refuse the command: an error code, and each blocker as (code, message, next command)."""

    code = "WORKFLOW_REFUSED"

    def __init__(
        self, error: str, message: str, *, next_command: str, blockers: tuple[tuple[str, str, str], ...] = ()
    ) -> None:
        super().__init__(message, hint=next_command)
        self.error = error
        self.blockers = blockers

    @classmethod
    def see_status(cls, slug: str, error: str, message: str) -> WorkflowRefused:
        """A refusal after which the status of the workflow shows what to do."""
        return cls(error, message, next_command=f"loopwright status {slug}")


class WorkflowConflict(LoopwrightError):
    """Another process changed the workflow first."""

    code = "WORKFLOW_CONFLICT"


class UnknownReflection(LoopwrightError):
    """No reflection in this workspace has that name."""

    code = "UNKNOWN_REFLECTION"


class UnknownAgent(LoopwrightError):
    """No agent has that name."""

    code = "UNKNOWN_AGENT"


class AgentFailed(LoopwrightError):
    """An agent could not take its turn; `reason` is a failure code."""

    code = "AGENT_FAILED"

    def __init__(self, reason: str, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class InsideAgent(LoopwrightError):
    """A command reserved for people was run inside an agent's process tree."""

    code = "INSIDE_AGENT"


class InputInvalid(LoopwrightError):
    """A file that the caller named has invalid content."""

    code = "INPUT_INVALID"


class GateClosed(LoopwrightError):
    """The recorded experiments do not allow the closed loop yet."""

    code = "GATE_CLOSED"


class SelftestFailed(LoopwrightError):
    """This machine fails the self-test."""

    code = "SELFTEST_FAILED"

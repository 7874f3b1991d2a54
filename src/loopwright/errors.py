"""The exception tree. Each leaf has a stable code, a sentence for a person and the way on.

LoopwrightError
├── WrongUsage             the call itself makes no sense
├── SettingsInvalid        a settings file, variable or flag
├── PromptInvalid          a text for agents that can't take the place of ours
├── StorageFailed          a disk that is full, read-only or gone
│   └── DamagedFile        a file of ours that can't be trusted any more
├── ToolMissing            git or a shell is not there
├── GitFailed              git ran and said no
├── PlanError
│   ├── MissingPlan
│   └── InvalidPlan
├── SandboxError
│   ├── SandboxCreateFailed
│   ├── SandboxEscape
│   └── IsolationUnavailable
├── SecretLeak
├── Latched
├── MaxRetries
├── Interrupted
├── UnknownRun             no run of that name
├── UnknownRevision        no commit of that name, or none in common
├── EvidenceMismatch       what is recorded and what is there differ
├── NotReproduced          a rerun came out otherwise
├── LoopRefused            a loop can't do that now
├── LoopConflict           a loop changed while somebody looked at it
├── UnknownLoop            no loop of that name
├── WorkflowRefused        a workflow can't do that now
├── WorkflowConflict       a workflow changed while somebody looked at it
├── UnknownReflection      no reflection of that name
├── UnknownAgent           no agent of that name
├── AgentFailed            an agent could not take its turn
├── InsideAgent            a person's command, typed by an agent
├── InputInvalid           a file that was given is not what it should be
├── GateClosed             the closed loop may not open yet
└── SelftestFailed         this machine does not keep the contract

"The command failed" is never here: that is a value. These say that we could not, or must not, go on.
"""

from __future__ import annotations

from typing import ClassVar


class LoopwrightError(Exception):
    """Something that we can't or must not do, with the sentence and the hint that belong to it."""

    code: ClassVar[str] = "LOOPWRIGHT_ERROR"

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class WrongUsage(LoopwrightError):
    """The call itself makes no sense."""

    code = "WRONG_USAGE"


class SettingsInvalid(LoopwrightError):
    """A settings file, an environment variable or a flag says what we do not know."""

    code = "SETTINGS_INVALID"


class PromptInvalid(LoopwrightError):
    """A text of the user's for agents can't be used as it is."""

    code = "PROMPT_INVALID"


class StorageFailed(LoopwrightError):
    """The disk did not take what we had to write."""

    code = "STORAGE_FAILED"


class DamagedFile(StorageFailed):
    """A file of ours is not what we wrote."""

    code = "DAMAGED_FILE"


class ToolMissing(LoopwrightError):
    """A program that we need is not installed."""

    code = "TOOL_MISSING"


class GitFailed(LoopwrightError):
    """Git ran and refused."""

    code = "GIT_FAILED"


class PlanError(LoopwrightError):
    """The plan can't be run as it stands."""


class MissingPlan(PlanError):
    """There is no plan file."""

    code = "MISSING_PLAN"


class InvalidPlan(PlanError):
    """The plan file is not a plan; every problem is named at once."""

    code = "INVALID_PLAN"


class SandboxError(LoopwrightError):
    """The sandbox could not be made, or was left."""


class SandboxCreateFailed(SandboxError):
    """Neither mode works."""

    code = "SANDBOX_CREATE_FAILED"


class SandboxEscape(SandboxError):
    """A step's folder lies outside the sandbox."""

    code = "SANDBOX_ESCAPE"


class IsolationUnavailable(SandboxError):
    """Confinement was demanded and this machine can't give it."""

    code = "ISOLATION_UNAVAILABLE"


class SecretLeak(LoopwrightError):
    """A secret was about to be stored or shown."""

    code = "SECRET_LEAK"


class Latched(LoopwrightError):
    """An earlier failure waits for a person."""

    code = "LATCHED"


class MaxRetries(LoopwrightError):
    """The reflection loop used up its tries."""

    code = "MAX_RETRIES"


class Interrupted(LoopwrightError):
    """A signal asked us to stop."""

    code = "INTERRUPTED"

    def __init__(self, signal_name: str, *, hint: str) -> None:
        super().__init__(f"stopped by {signal_name}", hint=hint)
        self.signal_name = signal_name


class UnknownRun(LoopwrightError):
    """No run of that name is recorded here."""

    code = "UNKNOWN_RUN"


class UnknownRevision(LoopwrightError):
    """Git knows no commit of that name, or none that both sides have."""

    code = "UNKNOWN_REVISION"


class EvidenceMismatch(LoopwrightError):
    """Recorded and real differ."""

    code = "EVIDENCE_MISMATCH"


class NotReproduced(LoopwrightError):
    """A rerun came out otherwise than the record."""

    code = "NOT_REPRODUCED"


class LoopRefused(LoopwrightError):
    """A loop's rules say no; `blocker` is the typed reason."""

    code = "LOOP_REFUSED"

    def __init__(self, blocker: str, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.blocker = blocker


class LoopConflict(LoopwrightError):
    """Somebody else changed the loop first."""

    code = "LOOP_CONFLICT"


class UnknownLoop(LoopwrightError):
    """No loop of that name is in this workspace."""

    code = "UNKNOWN_LOOP"


class WorkflowRefused(LoopwrightError):
    """A workflow's rules say no: the contract's error, and each blocker as (code, sentence, what to type)."""

    code = "WORKFLOW_REFUSED"

    def __init__(
        self, error: str, message: str, *, next_command: str, blockers: tuple[tuple[str, str, str], ...] = ()
    ) -> None:
        super().__init__(message, hint=next_command)
        self.error = error
        self.blockers = blockers


class WorkflowConflict(LoopwrightError):
    """Somebody else changed the workflow first."""

    code = "WORKFLOW_CONFLICT"


class UnknownReflection(LoopwrightError):
    """No reflection of that name is in this workspace."""

    code = "UNKNOWN_REFLECTION"


class UnknownAgent(LoopwrightError):
    """No agent of that name is known here."""

    code = "UNKNOWN_AGENT"


class AgentFailed(LoopwrightError):
    """An agent could not take its turn; `reason` is one of the contract's failures."""

    code = "AGENT_FAILED"

    def __init__(self, reason: str, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class InsideAgent(LoopwrightError):
    """A command that only a person may give came from inside an agent's process tree."""

    code = "INSIDE_AGENT"


class InputInvalid(LoopwrightError):
    """A file that the caller named can't be read as what it should be."""

    code = "INPUT_INVALID"


class GateClosed(LoopwrightError):
    """The recorded experiments do not let the closed loop open."""

    code = "GATE_CLOSED"


class SelftestFailed(LoopwrightError):
    """This machine does not keep the contract."""

    code = "SELFTEST_FAILED"

"""The exit codes of all commands: what each means, and which error ends with which code. Lists are made from here."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    WRONG_USAGE = 2
    REVIEW_NEEDED = 10
    LOOP_HELD = 11
    LOOP_FAILED = 12
    EVIDENCE_MISMATCH = 13
    UNPROVEN = 14
    SANDBOX_ESCAPE = 98
    SECRET_LEAK = 99
    SIGINT = 130
    SIGTERM = 143


MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "refused or failed, with an error code on stderr",
    ExitCode.WRONG_USAGE: "wrong usage",
    ExitCode.REVIEW_NEEDED: "review needed: by a risk, a flag or a protected change",
    ExitCode.LOOP_HELD: "a loop is held, or work of `do` waits for you",
    ExitCode.LOOP_FAILED: "a loop or work of `do` failed, or ran out of iterations",
    ExitCode.EVIDENCE_MISMATCH: "verify: evidence does not match",
    ExitCode.UNPROVEN: "nothing proves that the work is done, so a person decides",
    ExitCode.SANDBOX_ESCAPE: "sandbox escape",
    ExitCode.SECRET_LEAK: "secret leak",
    ExitCode.SIGINT: "interrupted by SIGINT",
    ExitCode.SIGTERM: "interrupted by SIGTERM",
}
# Every other error ends with 1.
_BY_ERROR = {
    "WRONG_USAGE": ExitCode.WRONG_USAGE,
    "EVIDENCE_MISMATCH": ExitCode.EVIDENCE_MISMATCH,
    "REPLAN_UNPROVEN": ExitCode.UNPROVEN,
    "SANDBOX_ESCAPE": ExitCode.SANDBOX_ESCAPE,
    "SECRET_LEAK": ExitCode.SECRET_LEAK,
    "INTERRUPTED": ExitCode.SIGINT,
}


def exit_code_of(error: str, signal_name: str | None = None) -> ExitCode:
    """The exit code for an error code. An interruption has a different exit code for SIGTERM."""
    return ExitCode.SIGTERM if signal_name == "SIGTERM" else _BY_ERROR.get(error, ExitCode.FAILED)

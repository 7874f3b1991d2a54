"""Why a program gave no answer: by the code that it said, and only where it said none by how it ended. Pure."""

from __future__ import annotations

from datetime import datetime

from loopwright.agents.port import NoAnswer, Ran, Reason, Turn

# What a shell exits with when there is no such program.
NOT_FOUND = 127
BY_STATUS = {401: Reason.NOT_LOGGED_IN, 403: Reason.NOT_LOGGED_IN, 429: Reason.RATE_LIMITED}


def no_answer(
    turn: Turn,
    ran: Ran,
    program: str,
    by_code: Reason | None,
    said: str,
    session: str | None,
    reset_at: datetime | None,
) -> NoAnswer:
    """A limit is one also where its program waited for its end until its time was over, or died of it."""
    late = f"no answer within {turn.timeout_s:g} s"
    if by_code is None and ran.timed_out:
        return NoAnswer(Reason.HUNG, late, None, session)
    reason = by_code or (Reason.AGENT_MISSING if ran.exit_code == NOT_FOUND else Reason.CRASHED)
    how = late if ran.timed_out else f"{program} exited with {ran.exit_code}: {ran.last_words}"
    return NoAnswer(reason, said or how, reset_at if reason is Reason.RATE_LIMITED else None, session)

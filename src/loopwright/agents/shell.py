"""The shell as one who does tasks: a task's description is the script. No model, no cost."""

from __future__ import annotations

from loopwright.agents.port import Answer, NoAnswer, Reason, Starter, Turn


class ShellAgent:
    """Runs what it is asked."""

    name = "bash"

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """The prompt is the script."""
        ran = start(("bash", "-c", turn.prompt), env={}, timeout_s=turn.timeout_s)
        if ran.timed_out:
            return NoAnswer(Reason.HUNG, f"not done within {turn.timeout_s:g} s")
        if ran.exit_code != 0:
            return NoAnswer(Reason.CRASHED, f"it exited with {ran.exit_code}")
        return Answer("", ran.duration_s, tokens=0, cost_usd=0.0)

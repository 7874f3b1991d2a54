"""Runs an isolated command, and never takes a failure of the isolation for a failure of the command."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.errors import SandboxCreateFailed
from loopwright.kernel import process
from loopwright.kernel.process import Cancellation, Ended, Freezer, Sink
from loopwright.sandbox.port import Launch

# bwrap hides each local socket of the machine, and fails if a socket vanishes meanwhile. The next try lists them again.
_TRIES = 5
_SHOWN_BYTES = 300


def run_isolated(
    launch: Callable[[], Launch],
    family: str,
    *,
    on_stdout: Sink,
    on_stderr: Sink,
    timeout_s: float,
    cancellation: Cancellation | None,
    freezer: Freezer | None,
) -> Ended:
    """Run a command as `process.stream` does. A command that never began is started again, a few times."""
    said = b""

    def keep(data: bytes) -> None:
        nonlocal said
        said = (said + data)[-_SHOWN_BYTES:]
        on_stderr(data)

    for _ in range(_TRIES):
        ended = process.stream(
            launch().command(family),
            on_stdout=on_stdout, on_stderr=keep, timeout_s=timeout_s, cancellation=cancellation, freezer=freezer,
        )  # fmt: skip
        if ended.began:
            return ended
    reason = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    raise SandboxCreateFailed(
        f"the sandbox could not start a command in {_TRIES} tries: {reason or 'no reason given'}",
        hint="run `loopwright doctor`",
    )

"""Chooses the strongest isolation that works on this machine, and never less than requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopwright.errors import IsolationUnavailable
from loopwright.sandbox.model import Confinement, SandboxView
from loopwright.sandbox.port import Isolation
from loopwright.sandbox.probe import Escapes, attempt


def choose(
    requested: str, adapters: Sequence[Isolation], view: SandboxView, shell: str, env: Mapping[str, str]
) -> tuple[Isolation, Confinement]:
    """Try each adapter in order; the last adapter provides no isolation."""
    unconfined = adapters[-1]
    if requested == "none":
        return unconfined, _nothing(requested, "not isolated: not requested")
    reasons: list[str] = []
    for adapter in adapters[:-1]:
        reason = adapter.missing()
        if reason is None:
            escapes = attempt(adapter, view, shell, env, network=requested == "auto")
            reason = _shortfall(requested, escapes)
            if reason is None:
                return adapter, _confinement(requested, adapter, escapes)
        reasons.append(f"{adapter.name}: {reason}")
    why = "; ".join(reasons)
    if requested == "strict":
        raise IsolationUnavailable(
            f"strict isolation is required, but this machine does not provide it ({why})",
            hint="install bubblewrap, or choose --isolation auto; then `loopwright unlatch` and `loopwright run`",
        )
    return unconfined, _nothing(requested, f"not isolated: {why}")


def _shortfall(requested: str, escapes: Escapes) -> str | None:
    if not escapes.started:
        return f"does not start on this machine ({escapes.error_output or 'no reason given'})"
    if escapes.stuck:
        return "writing inside the sandbox failed"
    if escapes.wrote_outside:
        return "a write outside the sandbox succeeded"
    if escapes.saw_home:
        return "the home folder was readable"
    if escapes.read_environment:
        return "Loopwright's own environment was readable"
    if requested == "strict" and escapes.reached_network:
        return "the network was reachable"
    return None


def _confinement(requested: str, adapter: Isolation, escapes: Escapes) -> Confinement:
    closed = requested == "strict"
    return Confinement(
        requested=requested,
        used=adapter.name,
        writes_confined=not escapes.wrote_outside,
        home_hidden=not escapes.saw_home,
        network="closed unless a step says so" if closed else "open",
        processes="pid namespace" if adapter.mounts else "subreaper",
        why=""
        if adapter.mounts
        else "modes and times of files outside the sandbox are not protected; local sockets only with strict",
    )


def _nothing(requested: str, why: str) -> Confinement:
    return Confinement(
        requested=requested,
        used="none",
        writes_confined=False,
        home_hidden=False,
        network="open",
        processes="subreaper",
        why=why,
    )

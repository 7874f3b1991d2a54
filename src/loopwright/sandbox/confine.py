"""Chooses the strongest isolation that works on this machine, and never less than requested."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from loopwright.errors import IsolationTooWeak, IsolationUnavailable
from loopwright.sandbox import machine_view, session_attempts
from loopwright.sandbox.model import CLOSED, OPEN, Confinement, SandboxView
from loopwright.sandbox.port import Isolation
from loopwright.sandbox.probe import Escapes, attempt, can_have_own_network

# One judging opens several sandboxes in a row. The machine may change later.
_LONGEST_S = 60.0
# What this process measured for its judges since an agent last got a sandbox, and when. The isolation held.
_measured: dict[tuple[object, ...], tuple[float, Escapes]] = {}


def choose(
    requested: str,
    adapters: Sequence[Isolation],
    view: SandboxView,
    shell: str,
    env: Mapping[str, str],
    *,
    accepts_weak: bool = False,
    is_judge: bool = False,
) -> tuple[Isolation, Confinement]:
    """Try each adapter in order; the last adapter provides no isolation.

    A judge's measurement of the same isolation counts for the next judge, if this process made it within the last
    minute and opened no other sandbox since. A judge has a network of its own: an agent could leave an answer at a
    server of this machine.
    """
    if is_judge:
        return _choose_for_judge(requested, adapters, view, shell, env)
    # What was measured before an agent works says nothing about the time after it.
    _measured.clear()
    isolation, confinement = _choose(requested, adapters, view, shell, env)
    _measured.clear()
    return isolation, replace(confinement, is_accepted=accepts_weak)


def _choose_for_judge(
    requested: str, adapters: Sequence[Isolation], view: SandboxView, shell: str, env: Mapping[str, str]
) -> tuple[Isolation, Confinement]:
    isolation, confinement = _choose(requested, adapters, view, shell, env)
    if isolation is not adapters[-1] and confinement.network == OPEN and can_have_own_network(isolation, view, env):
        confinement = replace(confinement, network=CLOSED)
    return isolation, confinement


def require_strong(confinement: Confinement) -> None:
    """Raise `IsolationTooWeak` if an agent could act as the person, unless the person accepted that and watches."""
    if not confinement.reachable or confinement.is_accepted:
        return
    raise IsolationTooWeak(
        f"no agent may work unattended with isolation {confinement.used}: "
        f"it could reach {', '.join(confinement.reachable)} of your session, and act as you",
        hint="install bubblewrap, then `loopwright doctor`; or set sandbox.allow_weak and watch in a terminal",
    )


def _choose(
    requested: str, adapters: Sequence[Isolation], view: SandboxView, shell: str, env: Mapping[str, str]
) -> tuple[Isolation, Confinement]:
    unconfined = adapters[-1]
    if requested == "none":
        return unconfined, _nothing(requested, "not isolated: not requested")
    reasons: list[str] = []
    for adapter in adapters[:-1]:
        reason = adapter.missing()
        if reason is None:
            escapes = _measure(requested, adapter, view, shell, env)
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


def _measure(requested: str, adapter: Isolation, view: SandboxView, shell: str, env: Mapping[str, str]) -> Escapes:
    """The escape attempts, or those before if nothing that they depend on changed."""
    now, sockets = time.monotonic(), machine_view.local_sockets()
    key = (requested, adapter, view.project, view.sandbox_root, shell, tuple(sorted(env.items())), sockets)
    measured_at, escapes = _measured.get(key, (now - 2 * _LONGEST_S, None))
    if escapes is None or now - measured_at > _LONGEST_S:
        escapes = attempt(adapter, view, shell, env, network=requested == "auto")
        if _shortfall(requested, escapes) is None:
            _measured[key] = now, escapes
    return escapes


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
        network=CLOSED if closed else OPEN,
        processes="pid namespace" if adapter.mounts else "subreaper",
        why=_weakness(escapes),
        reachable=escapes.session,
    )


def _weakness(escapes: Escapes) -> str:
    """What the isolation leaves open, for a person."""
    if escapes.session:
        return f"weak isolation: a command can reach {', '.join(escapes.session)} of your session"
    return "modes and times of files outside the sandbox are not protected" if escapes.changed_times else ""


def _nothing(requested: str, why: str) -> Confinement:
    return Confinement(
        requested=requested,
        used="none",
        writes_confined=False,
        home_hidden=False,
        network=OPEN,
        processes="subreaper",
        why=why,
        reachable=tuple(session_attempts.REACHED.values()),
    )

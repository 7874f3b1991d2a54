"""Asks an agent, and keeps what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from loopwright.kernel.process import Cancellation
from loopwright.runner.ask_agent import AgentReply, AgentRequest
from loopwright.stages.asking import StageCall, ask_for_stage
from loopwright.stages.context import Context
from loopwright.stages.stores import workflows_of
from loopwright.workflow.store import Opened

_T = TypeVar("_T")
_R = TypeVar("_R")


def ask_and_keep(
    context: Context,
    call: StageCall,
    request: AgentRequest[_T],
    cancellation: Cancellation,
    keep: Callable[[Opened, AgentReply[_T]], _R],
) -> _R:
    """Ask an agent outside of the workflow's lock, then keep its answer under it."""
    reply = ask_for_stage(context, call, request, cancellation)
    with workflows_of(context).changing(call.slug) as opened:
        return keep(opened, reply)

"""What a loop's worker works with. A stage makes it from the workspace's settings and adapters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from loopwright.agents.port import Agent
from loopwright.agents.prompts.book import Book
from loopwright.kernel.clock import Clock, stamp
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.loop.commands import Proposal
from loopwright.loop.model import Hold, Holder, Loop, Task
from loopwright.loop.port import Briefing, Judging, Lanes, Reflections
from loopwright.loop.store import LoopStore
from loopwright.runner.request import Environment, SandboxOptions, Tools
from loopwright.sandbox.model import FreshRequest
from loopwright.sandbox.port import Confine, SandboxRequest
from loopwright.workspace.settings_model import AgentSettings, LoopSettings, ProjectSettings

# The actor of what a worker records.
WORKER = "worker"
# Lets a person choose the next action. Without a person nothing is chosen.
Ask = Callable[[Loop], None]


class WorkerContext(msgspec.Struct, frozen=True):
    """Settings, adapters, and the ways to ask a person and to be stopped."""

    store: LoopStore
    request: Callable[[], FreshRequest]
    # How a run of steps uses a sandbox, and how processes in a sandbox are isolated.
    options: Callable[[SandboxRequest], SandboxOptions]
    confine: Confine
    shell: str
    setup: tuple[str, ...]
    environment: Environment
    timeout_s: float
    log_bytes: int
    tools: Callable[[], Tools]
    open_agent: Callable[[str], Agent]
    agent_settings: Callable[[str], AgentSettings]
    settings: LoopSettings
    project: ProjectSettings
    max_retries: int
    waits_for_quota: bool
    # For a limit without a known end: the first wait, and the longest.
    quota_wait_s: float
    quota_longest_s: float
    # The agents that may take over from another, in this order; empty if failover is off.
    order: tuple[str, ...]
    # The agent for a role, given the loop's agent.
    agent_for_role: Callable[[str, str], str]
    clock: Clock
    cancellation: Cancellation
    freezer: Freezer
    ask: Ask
    book: Book
    # What a build brings.
    judge: Callable[[Loop], Judging] | None = None
    brief: Callable[[Loop, Task], Briefing] | None = None
    lanes: Lanes | None = None
    tasks_after_checks: Callable[[Loop], tuple[Task, ...]] | None = None
    # Called from any thread when the loop changes while its worker is busy.
    on_change: Callable[[Loop], None] | None = None
    # Keeps reflections of builders. If set, builders are also asked how sure they are.
    reflections: Reflections | None = None

    def agent_of(self, loop: Loop) -> str:
        """The agent of a loop; for a loop that was made without an agent, the default agent."""
        return loop.agent or self.open_agent("").name

    def blocked(self, code: str, message: str) -> Hold:
        """The hold of a loop that a person has to look at, from now on."""
        return Hold(holder=Holder.BLOCKER, code=code, message=message, since=stamp(self.clock()))

    def record(self, loop: Loop, proposal: Proposal) -> Loop:
        """The loop after a proposal of its worker; `LoopRefused` if the rules refuse it."""
        with self.store.changing(loop.loop_id) as opened:
            return opened.apply(proposal, WORKER)

    def progress(self, loop: Loop) -> Path:
        """The folder of the loop's pages and work."""
        return self.store.paths(loop.loop_id).progress

"""What a loop's worker works with: made by a verb from the workspace's settings and adapters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from loopwright.agents.port import Agent
from loopwright.agents.prompts.book import Book
from loopwright.kernel.clock import Clock
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.loop.model import Loop, Task
from loopwright.loop.port import Briefing, Judging, Lanes, Reflections
from loopwright.loop.store import LoopStore
from loopwright.runner.request import Environment, SandboxOptions, Tools
from loopwright.sandbox.model import FreshRequest
from loopwright.sandbox.port import Confine, SandboxRequest
from loopwright.workspace.settings_model import AgentSettings, LoopSettings

# The actor of what a worker records.
WORKER = "worker"
# Lets a person choose what is next; where nobody is there to ask, nothing is chosen.
Ask = Callable[[Loop], None]


class WorkerContext(msgspec.Struct, frozen=True):
    """Settings, adapters and the ways to ask and to be stopped."""

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
    max_retries: int
    waits_for_quota: bool
    # Where a limit does not say when it ends: how long the first wait is, and the longest.
    quota_wait_s: float
    quota_longest_s: float
    # Who may take over from an agent at its limit, in turn; nobody where that is not allowed.
    order: tuple[str, ...]
    # Who is asked in a role, when this one does the rest.
    agent_for_role: Callable[[str, str], str]
    clock: Clock
    cancellation: Cancellation
    freezer: Freezer
    ask: Ask
    book: Book
    # Globs of files that judge, by the settings.
    seal: tuple[str, ...] = ()
    # What a build brings.
    judge: Callable[[Loop], Judging] | None = None
    brief: Callable[[Loop, Task], Briefing] | None = None
    lanes: Lanes | None = None
    tasks_after_checks: Callable[[Loop], tuple[Task, ...]] | None = None
    # Called from any thread when the loop changes while its worker is busy.
    on_change: Callable[[Loop], None] | None = None
    # Who keeps what builders say of their work; where somebody does they are asked how sure they are, too.
    reflections: Reflections | None = None

    def agent_of(self, loop: Loop) -> str:
        """Who works on a loop; one that was made before there was an agent takes the one that there is now."""
        return loop.agent or self.open_agent("").name

    def progress(self, loop: Loop) -> Path:
        """The loop's folder of pages and work."""
        return self.store.paths(loop.loop_id).progress

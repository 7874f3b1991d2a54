"""Every setting: its name, type, default and one line of help. The reference in the docs is made from this."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

DEFAULT_ENVIRONMENT = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TERM",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip


Positive = Annotated[int, msgspec.Meta(ge=1)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]


def _setting(default: Any, help_text: str) -> Any:
    if isinstance(default, list | dict):
        return field(default_factory=lambda: type(default)(default), metadata={"help": help_text})
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class WorkspaceSettings:
    """Where files go and which language people read."""

    layout: Literal["unified", "interop"] = _setting("unified", "arrangement on disk")
    language: Literal["auto", "en", "zh"] = _setting("auto", "language of messages")
    document_language: Literal["any", "en", "zh"] = _setting("any", "language that documents must be in")


@dataclass(frozen=True)
class SandboxSettings:
    """The copy of the project in which steps run."""

    mode: Literal["auto", "worktree", "copy"] = _setting("auto", "how the sandbox is made")
    isolation: Literal["none", "auto", "strict"] = _setting("auto", "confinement of the steps")
    root: str = _setting("", "folder for sandboxes, outside the project; empty: <tmp>/loopwright-<uid>")
    exclude: list[str] = _setting([], "more patterns that never enter a copy, as in .gitignore")
    provide: list[str] = _setting([], "folders that git does not hold (node_modules, .venv), mounted read-only")
    setup: list[str] = _setting([], "commands that run once in each new sandbox, before the steps")
    keep: bool = _setting(False, "keep the sandbox folder after a run")
    env: list[str] = _setting(list(DEFAULT_ENVIRONMENT), "names of environment variables that steps may see")


@dataclass(frozen=True)
class RunSettings:
    """Executing a plan."""

    timeout_s: Positive = _setting(600, "seconds that a step may take when it names no limit itself")
    jobs: Positive = _setting(1, "independent steps at once")
    max_retries: Positive = _setting(2, "new plans that --replan-with may try")
    latch: bool = _setting(True, "after a failure, refuse to run until `loopwright unlatch`")
    log_limit_mb: Positive = _setting(4096, "megabytes of one command's output that are kept; the rest is counted")


@dataclass(frozen=True)
class SecretsSettings:
    """Secrets that must not reach a file or a screen."""

    rules: dict[str, Literal["stop", "mask", "off"]] = _setting({}, "what a rule's hit does, by rule id")
    extra_rules: list[dict[str, str]] = _setting([], "more rules: {id, pattern, keyword}")
    allow: list[str] = _setting([], "fingerprints of values that are known not to be secrets")


@dataclass(frozen=True)
class RiskSettings:
    """The risk floor."""

    ruleset: Literal["classic", "default"] = _setting("default", "which shipped rules")
    threshold: float = _setting(0.5, "score from which review is needed")
    rules: list[dict[str, str]] = _setting([], "more rules of this project")


@dataclass(frozen=True)
class ReflectionSettings:
    """What an agent's session leaves behind."""

    mode: Literal["off", "solo", "orchestrated"] = _setting("off", "capture; REFLECTION_MODE wins")
    dir: str = _setting("", "folder of reflections; empty: the layout's")
    input: str = _setting("", "file of the self-report; empty: the layout's")


@dataclass(frozen=True)
class LoopSettings:
    """Iterating towards a goal."""

    max_iterations: Positive = _setting(10, "actions before a loop gives up")
    freeze_s: NotNegative = _setting(60, "seconds of pause after which an agent's turn is ended")
    no_progress: Positive = _setting(3, "iterations without any change before a loop is held")
    test_command: str = _setting("", "what decides whether the work is right")
    coverage: str = _setting("", "path of the coverage report that the test command writes")


@dataclass(frozen=True)
class BudgetSettings:
    """What unattended work may cost; 0 is no limit."""

    usd: float = _setting(0.0, "US dollars")
    tokens: NotNegative = _setting(0, "tokens")
    wall_s: NotNegative = _setting(0, "seconds")
    turns: NotNegative = _setting(0, "agent turns")


@dataclass(frozen=True)
class AgentSettings:
    """One agent's own settings, under [agents.NAME]."""

    kind: str = _setting("", "adapter; empty: the one of the same name")
    model: str = _setting("", "model name that is handed to the agent")
    args: list[str] = _setting([], "more arguments")
    env: list[str] = _setting([], "names of environment variables that the agent may see")
    command: str = _setting("", "kind command: the shell command; reads $LOOPWRIGHT_PROMPT, writes $LOOPWRIGHT_ANSWER")
    turns: str = _setting("", "kind scripted: file of the written turns")
    timeout_s: Positive = _setting(1800, "seconds that a turn may take")


@dataclass(frozen=True)
class AgentsSettings:
    """Who does the work."""

    default: str = _setting("", "agent that is used when none is named")
    order: list[str] = _setting([], "agents to try in turn")
    failover: bool = _setting(False, "let the next agent in order take over")
    quota: Literal["wait", "stop"] = _setting("wait", "what to do at a rate limit")
    named: dict[str, AgentSettings] = field(default_factory=dict, metadata={"help": "[agents.NAME] tables"})


@dataclass(frozen=True)
class WorkflowSettings:
    """From an idea to a change."""

    profile: Literal["lean", "full"] = _setting("lean", "how many agent calls a stage makes")
    clarify: Literal["standard", "deep"] = _setting("standard", "how much ambiguity may be left")
    deliver: Literal["patch", "branch"] = _setting("patch", "how a finished change reaches your branch")
    seal: list[str] = _setting([], "globs of files that judge a build")


@dataclass(frozen=True)
class AutopilotSettings:
    """All stages in a row."""

    may_approve: list[str] = _setting(["plan", "build", "review"], "approvals that autopilot may grant")


@dataclass(frozen=True)
class ServerSettings:
    """HTTP, WebSocket and dashboard."""

    host: str = _setting("127.0.0.1", "address to listen on")
    port: int = _setting(8787, "port to listen on")
    webhooks: list[str] = _setting([], "addresses that are told of events")


@dataclass(frozen=True)
class Values:
    """All sections."""

    workspace: WorkspaceSettings = field(default_factory=WorkspaceSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    run: RunSettings = field(default_factory=RunSettings)
    secrets: SecretsSettings = field(default_factory=SecretsSettings)
    risk: RiskSettings = field(default_factory=RiskSettings)
    reflection: ReflectionSettings = field(default_factory=ReflectionSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    agents: AgentsSettings = field(default_factory=AgentsSettings)
    workflow: WorkflowSettings = field(default_factory=WorkflowSettings)
    autopilot: AutopilotSettings = field(default_factory=AutopilotSettings)
    server: ServerSettings = field(default_factory=ServerSettings)

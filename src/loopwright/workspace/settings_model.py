"""Every setting: its name, type, default and one line of help. The reference in the docs is made from this."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

DEFAULT_ENVIRONMENT = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TERM",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip


class WorkspaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where files go and which language people read."""

    layout: Annotated[Literal["unified", "interop"], Meta(description="arrangement on disk")] = "unified"
    language: Annotated[Literal["auto", "en", "zh"], Meta(description="language of messages")] = "auto"
    document_language: Annotated[Literal["any", "en", "zh"], Meta(description="language that documents must be in")] = (
        "any"
    )


class SandboxSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The copy of the project in which steps run."""

    mode: Annotated[Literal["auto", "worktree", "copy"], Meta(description="how the sandbox is made")] = "auto"
    isolation: Annotated[Literal["none", "auto", "strict"], Meta(description="confinement of the steps")] = "auto"
    root: Annotated[
        str, Meta(description="folder for sandboxes, outside the project; empty: <tmp>/loopwright-<uid>")
    ] = ""
    exclude: Annotated[
        list[str], Meta(description="more patterns that do not enter a copy, as in .gitignore; !pattern brings back in")
    ] = []
    provide: Annotated[
        list[str], Meta(description="folders that git does not hold (node_modules, .venv), mounted read-only")
    ] = []
    setup: Annotated[list[str], Meta(description="commands that run once in each new sandbox, before the steps")] = []
    keep: Annotated[bool, Meta(description="keep the sandbox folder after a run")] = False
    env: Annotated[list[str], Meta(description="names of environment variables that steps may see")] = msgspec.field(
        default_factory=lambda: list(DEFAULT_ENVIRONMENT)
    )


class RunSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Executing a plan."""

    timeout_s: Annotated[int, Meta(ge=1, description="seconds that a step may take when it names no limit itself")] = (
        600
    )
    jobs: Annotated[int, Meta(ge=1, description="independent steps at once")] = 1
    max_retries: Annotated[int, Meta(ge=1, description="new plans that --replan-with may try")] = 2
    latch: Annotated[bool, Meta(description="after a failure, refuse to run until `loopwright unlatch`")] = True
    log_limit_mb: Annotated[
        int, Meta(ge=1, description="megabytes of one command's output that are kept; the rest is counted")
    ] = 4096


class SecretsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Secrets that must not reach a file or a screen."""

    rules: Annotated[
        dict[str, Literal["stop", "mask", "off"]], Meta(description="what a rule's hit does, by rule id")
    ] = {}
    extra_rules: Annotated[list[dict[str, str]], Meta(description="more rules: {id, pattern, keyword}")] = []
    allow: Annotated[list[str], Meta(description="fingerprints of values that are known not to be secrets")] = []


class RiskRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule of the project's own, under [[risk.rules]]: what it means is of this surface, too."""

    surface: Annotated[
        Literal["auth", "data", "infra", "build", "ui", "test", "docs", "none"],
        Meta(description="where what it means belongs"),
    ]
    words: Annotated[list[str], Meta(description="words of a path, in small letters, at word borders")] = []
    paths: Annotated[list[str], Meta(description="globs: * and ? inside a part, ** for any number of parts")] = []
    weight: Annotated[
        float | None,
        Meta(description="0 to 1, for these files, or for the surface where it has neither words nor paths"),
    ] = None
    lower: Annotated[bool, Meta(description="this rule lowers; it is then named in every verdict")] = False
    because: Annotated[str, Meta(max_length=200, description="why it lowers, for the verdict")] = ""


class RiskSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The risk floor."""

    ruleset: Annotated[Literal["classic", "default"], Meta(description="which shipped rules")] = "default"
    threshold: Annotated[float, Meta(ge=0, le=1, description="score from which review is needed, 0 to 1")] = 0.5
    rules: Annotated[
        list[RiskRule], Meta(description="more rules of this project: {surface, words, paths, weight, lower, because}")
    ] = []


class ReflectionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent's session leaves behind."""

    mode: Annotated[
        Literal["off", "solo", "orchestrated"],
        Meta(
            description="not off: builders are asked how sure they are; the mode of `loopwright reflect`, too; "
            "REFLECTION_MODE wins, and the hook obeys that alone"
        ),
    ] = "off"
    dir: Annotated[str, Meta(description="folder of reflections; empty: the layout's")] = ""
    input: Annotated[str, Meta(description="file of the self-report; empty: the layout's")] = ""


class LoopSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Iterating towards a goal."""

    max_iterations: Annotated[int, Meta(ge=1, description="actions before a loop gives up")] = 10
    freeze_s: Annotated[int, Meta(ge=0, description="seconds of pause after which an agent's turn is ended")] = 60
    no_progress: Annotated[int, Meta(ge=1, description="iterations without any change before a loop is held")] = 3
    test_command: Annotated[
        str, Meta(description="the project's tests: they judge a loop, and no build may break them")
    ] = ""
    reports: Annotated[
        str, Meta(description="path or glob of the JUnit XML that it writes; empty: the usual places")
    ] = ""
    coverage: Annotated[
        str, Meta(description="path of the coverage report that it writes; empty: the usual places")
    ] = ""


class BudgetSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What unattended work may cost; 0 is no limit."""

    usd: Annotated[float, Meta(description="US dollars")] = 0.0
    tokens: Annotated[int, Meta(ge=0, description="tokens")] = 0
    wall_s: Annotated[int, Meta(ge=0, description="seconds")] = 0
    turns: Annotated[int, Meta(ge=0, description="agent turns")] = 0
    retries: Annotated[int, Meta(ge=0, description="failed tries of tasks that are followed by another, in all")] = 0
    task_usd: Annotated[float, Meta(ge=0, description="US dollars for one task")] = 0.0
    task_tokens: Annotated[int, Meta(ge=0, description="tokens for one task")] = 0
    task_wall_s: Annotated[int, Meta(ge=0, description="seconds for one task")] = 0
    task_turns: Annotated[int, Meta(ge=0, description="agent turns for one task")] = 0
    task_iterations: Annotated[int, Meta(ge=0, description="how often one task is taken up")] = 0
    task_retries: Annotated[
        int,
        Meta(ge=0, description="how often one task is tried again; 0: as run.max_retries says, and then it has failed"),
    ] = 0


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens; what is not said costs as much as other input."""

    input: Annotated[float, Meta(ge=0)]
    output: Annotated[float, Meta(ge=0)]
    cached: Annotated[float, Meta(ge=0)] | None = None
    written: Annotated[float, Meta(ge=0)] | None = None


_YEAR_S = 366 * 24 * 3600


class AgentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One agent's own settings, under [agents.NAME]."""

    kind: Annotated[str, Meta(description="adapter; empty: the one of the same name")] = ""
    model: Annotated[str, Meta(description="model name that is handed to the agent")] = ""
    args: Annotated[list[str], Meta(description="more arguments")] = []
    env: Annotated[list[str], Meta(description="names of environment variables that the agent may see")] = []
    command: Annotated[
        str,
        Meta(
            description="kind command: the shell command; reads $LOOPWRIGHT_PROMPT and the JSON Schema in "
            "$LOOPWRIGHT_SCHEMA where there is one, writes $LOOPWRIGHT_ANSWER"
        ),
    ] = ""
    turns: Annotated[str, Meta(description="kind scripted: file of the written turns")] = ""
    network: Annotated[
        Literal["model", "always", "research", "never"],
        Meta(
            description="what its programs reach: model (its model's address alone, where that is known and the isolation "
            "can do it, else all), always all, all only for RESEARCH, or never anything"
        ),
    ] = "model"
    hosts: Annotated[
        list[str], Meta(description="more addresses that it may reach: host or host:port, for instance of a registry")
    ] = []
    timeout_s: Annotated[
        Annotated[int, Meta(ge=1, le=_YEAR_S)] | None,
        Meta(description="seconds that a turn may take; without it 1800, and 86400 for kind interactive"),
    ] = None
    prices: Annotated[
        dict[str, Price],
        Meta(
            description="US dollars for a million tokens by model: {input, output, cached, written}; before our table"
        ),
    ] = {}


# Who can be asked beside whom a command names; a replanner is always named.
RoleName = Literal[
    "clarifier", "planner", "architect", "critic", "builder", "debugger", "reviewer", "smell_reviewer"
]  # fmt: skip


class AgentsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who does the work."""

    default: Annotated[str, Meta(description="agent that is used when none is named")] = ""
    order: Annotated[list[str], Meta(description="agents to try in turn")] = []
    failover: Annotated[bool, Meta(description="let the next agent in order take over")] = False
    quota: Annotated[Literal["wait", "stop"], Meta(description="what to do at a rate limit")] = "wait"
    quota_wait_s: Annotated[
        int,
        Meta(
            ge=1,
            description="seconds until a limit that does not say when it ends is tried again; twice as long each time",
        ),
    ] = 300
    quota_longest_s: Annotated[int, Meta(ge=1, description="the longest of these waits")] = 3600
    language: Annotated[
        Literal["auto", "en", "zh"],
        Meta(description="language that agents are asked in; auto: that of workspace.document_language, else English"),
    ] = "auto"
    roles: Annotated[
        dict[RoleName, str],
        Meta(
            description="who is asked in a role, where that is not who does the rest: clarifier, planner, architect, "
            "critic, builder, debugger, reviewer, smell_reviewer"
        ),
    ] = {}
    named: Annotated[dict[str, AgentSettings], Meta(description="[agents.NAME] tables")] = {}

    def asked_as(self, role: str, otherwise: str) -> str:
        """Who is asked in this role: whom the settings name for it, else who does the rest of the work."""
        wanted = role.replace(" ", "_")
        return next((who for name, who in self.roles.items() if name == wanted and who), otherwise)

    def begun_by(self, role: str) -> str:
        """Who does the work that this role begins, where the command names nobody."""
        return self.asked_as(role, self.default)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Every agent that is named to do something."""
        names = (self.default, *self.order, *self.roles.values())
        return tuple(dict.fromkeys(name for name in names if name))


class WorkflowSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From an idea to a change."""

    profile: Annotated[Literal["lean", "full"], Meta(description="how many agent calls a stage makes")] = "lean"
    clarify: Annotated[Literal["standard", "deep"], Meta(description="how much ambiguity may be left")] = "standard"
    deliver: Annotated[Literal["patch", "branch"], Meta(description="how a finished change reaches your branch")] = (
        "patch"
    )
    seal: Annotated[list[str], Meta(description="globs of files that judge a build")] = []
    gate_blocks: Annotated[
        int,
        Meta(
            ge=0,
            le=8,
            description="how often a building agent that wants to end is told to go on, per turn; needs `install`",
        ),
    ] = 1


class AutopilotSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All stages in a row."""

    may_approve: Annotated[list[str], Meta(description="approvals that autopilot may grant")] = msgspec.field(
        default_factory=lambda: ["plan", "build", "review"]
    )


class ServerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """HTTP, WebSocket and dashboard."""

    host: Annotated[str, Meta(description="address to listen on")] = "127.0.0.1"
    port: Annotated[int, Meta(description="port to listen on")] = 8787
    webhooks: Annotated[list[str], Meta(description="addresses that are told of events")] = []


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All sections."""

    workspace: WorkspaceSettings = WorkspaceSettings()
    sandbox: SandboxSettings = SandboxSettings()
    run: RunSettings = RunSettings()
    secrets: SecretsSettings = SecretsSettings()
    risk: RiskSettings = RiskSettings()
    reflection: ReflectionSettings = ReflectionSettings()
    loop: LoopSettings = LoopSettings()
    budget: BudgetSettings = BudgetSettings()
    agents: AgentsSettings = AgentsSettings()
    workflow: WorkflowSettings = WorkflowSettings()
    autopilot: AutopilotSettings = AutopilotSettings()
    server: ServerSettings = ServerSettings()

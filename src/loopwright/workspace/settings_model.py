"""Every setting: name, type, default and one line of help. The reference page is generated from this module."""

from __future__ import annotations

import shlex
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

DEFAULT_ENVIRONMENT = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TERM",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip


class WorkspaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where files are stored, and the language of messages."""

    layout: Annotated[Literal["unified", "interop"], Meta(description="where files are stored")] = "unified"
    language: Annotated[Literal["auto", "en", "zh"], Meta(description="language of messages")] = "auto"
    document_language: Annotated[Literal["any", "en", "zh"], Meta(description="required language of documents")] = "any"


class TestCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of several test commands of a project: for monorepos."""

    # pytest would collect every class of this name.
    __test__: ClassVar[bool] = False

    command: Annotated[str, Meta(min_length=1, description="the command")]
    cwd: Annotated[str, Meta(description="folder in which the command runs; empty: the top folder")] = ""
    when: Annotated[
        list[str], Meta(description="globs: run the command only if such a file changed; empty: always")
    ] = []
    network: Annotated[bool, Meta(description="let the tests use the network; a loopback always works")] = False

    @property
    def in_a_shell(self) -> str:
        """The command as a person types it in the top folder."""
        return " ".join(("(cd", shlex.quote(self.cwd), "&&", f"{self.command})")) if self.cwd else self.command


# The value of `project.test_command` for a project that a person wants to be left untested.
NO_TESTS = "none"


class ProjectSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which files are the product, which are its tests, and the command that tests it."""

    source: Annotated[
        list[str], Meta(description="globs of source files, which the work may change; empty: found by their names")
    ] = []
    tests: Annotated[
        list[str], Meta(description="globs of tests: the work may add tests, not change them; empty: the usual names")
    ] = []
    docs: Annotated[
        list[str], Meta(description="globs of documents, which the work may change; empty: the usual names")
    ] = []
    test_command: Annotated[
        str | list[TestCommand],
        Meta(
            description="command for the project's tests, or a list of {command, cwd, when, network}: the tests judge a loop, and "
            'no build may break them; "none": nothing tests the project'
        ),
    ] = ""
    protect: Annotated[list[str], Meta(description="globs of files that the work may never change by itself")] = []

    @property
    def test_commands(self) -> tuple[TestCommand, ...]:
        """The commands; empty if none is set."""
        if not isinstance(self.test_command, str):
            return tuple(self.test_command)
        is_set = self.test_command.strip() not in ("", NO_TESTS)
        return (TestCommand(self.test_command),) if is_set else ()

    @property
    def command_text(self) -> str:
        """The commands as a person types them."""
        return "; ".join(command.in_a_shell for command in self.test_commands)

    @property
    def is_untested(self) -> bool:
        """Whether no test command is set, and no person said that there is none."""
        return not self.test_commands and not self.has_no_tests

    @property
    def has_no_tests(self) -> bool:
        """Whether a person said that nothing tests the project."""
        return self.test_command == NO_TESTS


class SandboxSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The copy of the project in which steps run."""

    mode: Annotated[Literal["auto", "worktree", "copy"], Meta(description="how the sandbox is created")] = "auto"
    isolation: Annotated[Literal["none", "auto", "strict"], Meta(description="isolation of the steps")] = "auto"
    allow_weak: Annotated[
        bool, Meta(description="let agents work in isolation that leaves your session reachable, while you watch")
    ] = False
    root: Annotated[
        str, Meta(description="folder for sandboxes, outside the project; empty: <tmp>/loopwright-<uid>")
    ] = ""
    exclude: Annotated[
        list[str], Meta(description="more patterns to leave out of a copy, as in .gitignore; !pattern includes again")
    ] = []
    provide: Annotated[list[str], Meta(description="folders outside git (node_modules, .venv), mounted read-only")] = []
    setup: Annotated[list[str], Meta(description="commands to run once in each new sandbox, before the steps")] = []
    keep: Annotated[bool, Meta(description="keep the sandbox folder after a run")] = False
    env: Annotated[list[str], Meta(description="environment variables that steps may see, by name")] = msgspec.field(
        default_factory=lambda: list(DEFAULT_ENVIRONMENT)
    )


class RunSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Executing a plan."""

    timeout_s: Annotated[int, Meta(ge=1, description="time limit in seconds for a step without its own limit")] = 600
    jobs: Annotated[int, Meta(ge=1, description="number of independent steps to run at once")] = 1
    max_retries: Annotated[int, Meta(ge=1, description="number of new plans that --replan-with may try")] = 2
    latch: Annotated[bool, Meta(description="after a failure, refuse to run until `loopwright unlatch`")] = True
    log_limit_mb: Annotated[
        int, Meta(ge=1, description="limit in megabytes for the stored output of one command; the rest is only counted")
    ] = 4096


class SecretsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Secrets that must not reach a file or a terminal."""

    rules: Annotated[
        dict[str, Literal["stop", "mask", "off"]], Meta(description="what a rule does when it matches, by rule id")
    ] = {}
    extra_rules: Annotated[list[dict[str, str]], Meta(description="more rules: {id, pattern, keyword}")] = []
    allow: Annotated[list[str], Meta(description="fingerprints of values that are not secrets")] = []


class RiskRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One project rule under [[risk.rules]]: files that match the rule also belong to its surface."""

    surface: Annotated[
        Literal["auth", "data", "infra", "build", "ui", "test", "docs", "none"],
        Meta(description="surface of the matching files"),
    ]
    words: Annotated[list[str], Meta(description="words in a path, in lower case, at word borders")] = []
    paths: Annotated[list[str], Meta(description="globs: * and ? within a part, ** for any number of parts")] = []
    weight: Annotated[
        float | None,
        Meta(description="0 to 1, for the matching files; without words and paths, for the whole surface"),
    ] = None
    lower: Annotated[bool, Meta(description="allow this rule to lower the risk; every verdict then names it")] = False
    because: Annotated[str, Meta(max_length=200, description="why it lowers the risk, for the verdict")] = ""


class RiskSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The risk floor."""

    ruleset: Annotated[Literal["classic", "default"], Meta(description="the shipped rules to use")] = "default"
    threshold: Annotated[float, Meta(ge=0, le=1, description="score that requires a review, 0 to 1")] = 0.5
    rules: Annotated[
        list[RiskRule], Meta(description="additional project rules: {surface, words, paths, weight, lower, because}")
    ] = []


class ReflectionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent's session leaves as a reflection."""

    mode: Annotated[
        Literal["off", "solo", "orchestrated"],
        Meta(
            description="not off: builders are asked for their confidence; also the mode of `loopwright reflect`; "
            "REFLECTION_MODE wins, and the hook reads only REFLECTION_MODE"
        ),
    ] = "off"
    dir: Annotated[str, Meta(description="folder for reflections; empty: the layout's folder")] = ""
    input: Annotated[str, Meta(description="file with the self-report; empty: the layout's file")] = ""


class LoopSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Work towards a goal in iterations."""

    max_iterations: Annotated[int, Meta(ge=1, description="number of actions before a loop gives up")] = 10
    freeze_s: Annotated[int, Meta(ge=0, description="seconds of pause after which an agent's turn is ended")] = 60
    no_progress: Annotated[int, Meta(ge=1, description="iterations without a change before a loop is held")] = 3
    reports: Annotated[
        str, Meta(description="path or glob of the JUnit XML that the test command writes; empty: the usual paths")
    ] = ""
    coverage: Annotated[
        str, Meta(description="path of the coverage report that the test command writes; empty: the usual paths")
    ] = ""
    side_by_side: Annotated[
        Literal["auto", "always", "never"],
        Meta(description="test base and work at the same time; auto: if a core is free"),
    ] = "auto"


class BudgetSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits for unattended work; 0 means no limit."""

    usd: Annotated[float, Meta(description="US dollars")] = 0.0
    tokens: Annotated[int, Meta(ge=0, description="tokens")] = 0
    wall_s: Annotated[int, Meta(ge=0, description="seconds")] = 0
    turns: Annotated[int, Meta(ge=0, description="agent turns")] = 0
    retries: Annotated[int, Meta(ge=0, description="retries of failed tasks, in total")] = 0
    task_usd: Annotated[float, Meta(ge=0, description="US dollars for one task")] = 0.0
    task_tokens: Annotated[int, Meta(ge=0, description="tokens for one task")] = 0
    task_wall_s: Annotated[int, Meta(ge=0, description="seconds for one task")] = 0
    task_turns: Annotated[int, Meta(ge=0, description="agent turns for one task")] = 0
    task_iterations: Annotated[int, Meta(ge=0, description="iterations for one task")] = 0
    task_retries: Annotated[
        int,
        Meta(ge=0, description="retries of one task before the task fails; 0: run.max_retries applies"),
    ] = 0


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens; missing prices default to the price of input."""

    input: Annotated[float, Meta(ge=0)]
    output: Annotated[float, Meta(ge=0)]
    cached: Annotated[float, Meta(ge=0)] | None = None
    written: Annotated[float, Meta(ge=0)] | None = None


_YEAR_S = 366 * 24 * 3600


class AgentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One agent's own settings, under [agents.NAME]."""

    kind: Annotated[str, Meta(description="adapter; empty: the adapter with the agent's name")] = ""
    model: Annotated[str, Meta(description="model name passed to the agent")] = ""
    args: Annotated[list[str], Meta(description="additional arguments")] = []
    env: Annotated[list[str], Meta(description="environment variables that the agent may see, by name")] = []
    command: Annotated[
        str,
        Meta(
            description="kind command: the shell command; reads $LOOPWRIGHT_PROMPT and, if set, the JSON Schema in "
            "$LOOPWRIGHT_SCHEMA, and writes $LOOPWRIGHT_ANSWER"
        ),
    ] = ""
    turns: Annotated[str, Meta(description="kind scripted: file with the scripted turns")] = ""
    network: Annotated[
        Literal["model", "always", "research", "never"],
        Meta(
            description="network access: model (only the model's address if it is known and the isolation supports it, "
            "else everything), always (everything), research (everything, only for RESEARCH) or never"
        ),
    ] = "model"
    hosts: Annotated[
        list[str], Meta(description="additional addresses to allow, such as a registry: host or host:port")
    ] = []
    timeout_s: Annotated[
        Annotated[int, Meta(ge=1, le=_YEAR_S)] | None,
        Meta(description="time limit for a turn in seconds; default 1800, for kind interactive 86400"),
    ] = None
    prices: Annotated[
        dict[str, Price],
        Meta(
            description="US dollars per million tokens by model: {input, output, cached, written}; overrides the price list"
        ),
    ] = {}


# Roles that a setting can assign to an agent. A replanner is always named on the command line.
RoleName = Literal[
    "clarifier", "planner", "architect", "critic", "builder", "debugger", "reviewer", "smell_reviewer"
]  # fmt: skip


class AgentsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The agents that do the work."""

    default: Annotated[str, Meta(description="agent to use if a command names none")] = ""
    order: Annotated[list[str], Meta(description="agents to try, in this order")] = []
    failover: Annotated[bool, Meta(description="let the next agent in agents.order take over")] = False
    quota: Annotated[Literal["wait", "stop"], Meta(description="what to do at a rate limit")] = "wait"
    quota_wait_s: Annotated[
        int,
        Meta(
            ge=1,
            description="seconds before the first retry at a rate limit without an end time; doubles each time",
        ),
    ] = 300
    quota_longest_s: Annotated[int, Meta(ge=1, description="longest of these waits, in seconds")] = 3600
    language: Annotated[
        Literal["auto", "en", "zh"],
        Meta(description="language of prompts; auto: workspace.document_language, else English"),
    ] = "auto"
    roles: Annotated[
        dict[RoleName, str],
        Meta(
            description="agent per role, if it differs from the agent that does the work: clarifier, planner, architect, "
            "critic, builder, debugger, reviewer, smell_reviewer"
        ),
    ] = {}
    named: Annotated[dict[str, AgentSettings], Meta(description="[agents.NAME] tables")] = {}

    def agent_for_role(self, role: str, otherwise: str) -> str:
        """The agent set for this role; `otherwise` if none is set."""
        role_name = role.replace(" ", "_")
        return next((agent for name, agent in self.roles.items() if name == role_name and agent), otherwise)

    def default_for_role(self, role: str) -> str:
        """The agent for work that starts in this role, if the command names no agent."""
        return self.agent_for_role(role, self.default)

    @property
    def in_use(self) -> tuple[str, ...]:
        """Every agent that a setting names."""
        names = (self.default, *self.order, *self.roles.values())
        return tuple(dict.fromkeys(name for name in names if name))


class WorkflowSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From an idea to a change."""

    profile: Annotated[Literal["lean", "full"], Meta(description="how many agent calls a stage makes")] = "lean"
    clarify: Annotated[Literal["standard", "deep"], Meta(description="how much ambiguity may remain")] = "standard"
    deliver: Annotated[Literal["patch", "branch"], Meta(description="how a finished change reaches your branch")] = (
        "patch"
    )
    gate_blocks: Annotated[
        int,
        Meta(
            ge=0,
            le=8,
            description="how often per turn a building agent that wants to stop is told to continue; needs `install`",
        ),
    ] = 1


class AutopilotSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Runs all stages in a row."""

    may_approve: Annotated[list[str], Meta(description="approvals that autopilot may grant")] = msgspec.field(
        default_factory=lambda: ["plan", "build", "review"]
    )


class ServerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """HTTP, WebSocket and dashboard."""

    host: Annotated[str, Meta(description="address to listen on")] = "127.0.0.1"
    port: Annotated[int, Meta(description="port to listen on")] = 8787
    webhooks: Annotated[list[str], Meta(description="addresses that receive events")] = []


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All sections."""

    workspace: WorkspaceSettings = WorkspaceSettings()
    project: ProjectSettings = ProjectSettings()
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

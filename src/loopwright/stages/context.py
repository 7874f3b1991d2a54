"""The context of every verb: workspace, settings and adapters. `wiring` makes it; verbs name no adapter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from loopwright.agents.credentials import secret_texts
from loopwright.agents.needs import HasNeeds
from loopwright.agents.port import Agent
from loopwright.agents.prompts.book import Book
from loopwright.errors import AgentFailed, GitFailed, LoopwrightError, SettingsInvalid, ToolMissing
from loopwright.evidence.store import RunStore
from loopwright.kernel import git
from loopwright.kernel.clock import Clock
from loopwright.loop.store import LoopStore
from loopwright.redaction.build import build_redactor, relaxed_rules
from loopwright.redaction.environment_values import looks_like_a_key
from loopwright.redaction.redactor import Learned, Redactor
from loopwright.runner.request import Environment, RunLimits, SandboxOptions, Tools
from loopwright.sandbox.confine import choose
from loopwright.sandbox.model import Confinement, FreshRequest, SandboxView
from loopwright.sandbox.place import default_root, prepare_root
from loopwright.sandbox.port import Isolation, SandboxRequest
from loopwright.wording.catalogue import Catalogue, catalogue_of
from loopwright.wording.language import language_of
from loopwright.workflow.facts import Gates
from loopwright.workflow.store import WorkflowStore
from loopwright.workspace.layout import Layout
from loopwright.workspace.settings import Settings
from loopwright.workspace.settings_model import DEFAULT_ENVIRONMENT, AgentSettings

Tell = Callable[[str], None]


def ignore_progress(text: str) -> None:
    """A `Tell` for callers that show no progress."""
    del text


class Context(msgspec.Struct, frozen=True):
    """A workspace, its settings, the caller's environment and the adapters."""

    layout: Layout
    settings: Settings
    environment: Mapping[str, str]
    clock: Clock
    isolations: tuple[Isolation, ...]
    open_agent: Callable[[str], Agent]
    known_agents: Callable[[], tuple[Agent, ...]]
    # The prompts for agents, read once; `PromptInvalid` if a file of the user or the workspace cannot be used.
    prompts: Callable[[], Book]
    # Secrets that appeared since the start, such as a login that an agent's program refreshed.
    learned: Learned = msgspec.field(default_factory=Learned)
    # Whether a person watches in a terminal.
    is_attended: bool = False
    # A cache of what git says about the repository of the project.
    repositories: git.Repositories = msgspec.field(default_factory=git.Repositories)

    @property
    def accepts_weak_isolation(self) -> bool:
        """Whether agents may work in isolation that leaves the person's session reachable: only under their eyes."""
        sandbox = self.settings.values.sandbox
        return self.is_attended and (sandbox.allow_weak or sandbox.isolation == "none")

    def confine(self, view: SandboxView) -> tuple[Isolation, Confinement]:
        """Choose and measure the isolation of a sandbox for agents."""
        return choose(
            self.settings.values.sandbox.isolation, self.isolations, view, self.shell(),
            self.step_environment().for_step(()), accepts_weak=self.accepts_weak_isolation,
        )  # fmt: skip

    @property
    def project(self) -> Path:
        """The top folder of the project."""
        return self.layout.root

    @property
    def store(self) -> RunStore:
        """The runs of the workspace."""
        return RunStore(self.layout)

    def configured_sandbox_root(self) -> Path:
        """The folder for sandboxes, which may not exist yet."""
        configured = self.settings.values.sandbox.root
        return Path(configured).expanduser() if configured else default_root()

    def sandbox_root(self) -> Path:
        """The folder for sandboxes, created and checked."""
        return prepare_root(self.configured_sandbox_root(), self.project)

    def sandbox_request(self) -> FreshRequest:
        """A sandbox with a copy of the current project."""
        settings = self.settings.values.sandbox
        return FreshRequest(
            project=self.project,
            sandbox_root=self.sandbox_root(),
            mode=settings.mode,
            exclude=tuple(settings.exclude),
            provide=tuple(settings.provide),
            state_folders=self.layout.state_folders(),
            repositories=self.repositories,
        )

    def sandbox_options(self) -> SandboxOptions | LoopwrightError:
        """Where and how steps run, by the settings; or the reason why they cannot run."""
        try:
            return self.sandbox_options_for(self.sandbox_request())
        except LoopwrightError as problem:
            return problem

    def sandbox_options_for(self, sandbox: SandboxRequest) -> SandboxOptions:
        """The same for a given sandbox."""
        settings = self.settings.values.sandbox
        return SandboxOptions(
            sandbox, settings.isolation, tuple(settings.setup), settings.keep, self.limits(), self.shell()
        )

    def step_environment(self) -> Environment:
        """The variables of the caller, and the names that steps may see."""
        return Environment(self.environment, tuple(self.settings.values.sandbox.env))

    def limits(self) -> RunLimits:
        """Limits of time, parallel steps and log size."""
        settings = self.settings.values.run
        return RunLimits(settings.timeout_s, settings.jobs, settings.log_limit_mb << 20)

    def shell(self) -> str:
        """bash, else sh."""
        path = self.environment.get("PATH")
        for name in ("bash", "sh"):
            if shutil.which(name, path=path):
                return name
        raise ToolMissing("neither bash nor sh is on PATH", hint="install bash, or fix PATH")

    def tools(self) -> Tools:
        """New tools for one run: a redactor learns exemptions, which must not apply to the next run."""
        secrets = self.settings.values.secrets
        return Tools(
            store=self.store,
            redactor=self._redactor(),
            isolations=self.isolations,
            clock=self.clock,
            relaxed_rules=relaxed_rules(secrets),
        )

    def failover_agents(self) -> tuple[str, ...]:
        """The agents that may take over from a failed agent, in order; empty if failover is off."""
        self.require_agents()
        agents = self.settings.values.agents
        return tuple(agents.order) if agents.failover else ()

    def agent_settings(self, name: str) -> AgentSettings:
        """The settings of the agent of this name; the defaults if there are none."""
        return self.settings.values.agents.named.get(name, AgentSettings())

    def require_agents(self) -> None:
        """Raise if the settings name an unknown agent: at the start, not when the agent is needed."""
        agents = self.settings.values.agents
        order = agents.order if agents.failover else ()
        for key, names in (("roles", agents.roles.values()), ("order", order)):
            for name in filter(None, names):
                try:
                    self.open_agent(name)
                except AgentFailed as problem:
                    message = f"agents.{key} names an unknown agent: {problem.message}"
                    raise SettingsInvalid(message, hint=problem.hint) from problem

    def _redactor(self) -> Redactor:
        """A redactor that also masks the logins of agents: credential files, and variables with keys under any name."""
        values = self.settings.values
        needs = [agent.needs for agent in self.known_agents() if isinstance(agent, HasNeeds)]
        texts = dict.fromkeys(text for need in needs for text in secret_texts(need, self.environment))
        credentials = {f"AGENT_CREDENTIAL_{number}_TOKEN": text for number, text in enumerate(texts)}
        passed_on = {name for agent in values.agents.named.values() for name in agent.env}
        keys = {name for need in needs for name in need.keys}
        # A region or a model name appears in every log: only a value like a key is masked.
        own = passed_on - set(DEFAULT_ENVIRONMENT)
        keys |= {name for name in own if looks_like_a_key(self.environment.get(name, ""))}
        return build_redactor(values.secrets, {**self.environment, **credentials}, keys, self.learned)

    def repository(self) -> git.UserRepository | None:
        """The git repository of the project; None if there is none, or git refuses to read it."""
        try:
            return self.repositories.discover(self.project) if git.is_installed() else None
        except GitFailed:
            return None


def loops_of(context: Context) -> LoopStore:
    """The loops of the workspace."""
    return LoopStore(context.layout, context.clock)


def workflows_of(context: Context) -> WorkflowStore:
    """The workflows of the workspace."""
    values = context.settings.values
    gates = Gates(
        full=values.workflow.profile == "full",
        document_language=values.workspace.document_language,
        seal=(*values.project.protect, *_program_folders(context)),
        project=values.project,
        is_untested=values.project.is_untested,
    )
    return WorkflowStore(context.layout, context.clock, gates)


def _program_folders(context: Context) -> Iterator[str]:
    """Project folders on PATH: a new program there could replace a program that a check runs."""
    for entry in context.environment.get("PATH", "").split(os.pathsep):
        if entry.startswith("/") and context.project in Path(entry).parents:
            yield f"{Path(entry).relative_to(context.project)}/**"


def documents_of(context: Context) -> Catalogue:
    """The catalogue for the documents that Loopwright writes."""
    settings = context.settings.values.workspace
    setting = settings.language if settings.document_language == "any" else settings.document_language
    return catalogue_of(language_of(setting, context.environment))


def language_instruction(context: Context) -> str:
    """The instruction about the language of documents for an agent; empty if any language is allowed."""
    match context.settings.values.workspace.document_language:
        case "en":
            return f"\n\n{context.prompts().part('write_english')}"
        case "zh":
            return f"\n\n{context.prompts().part('write_chinese')}"
        case _:
            return ""

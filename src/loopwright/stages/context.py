"""What every verb works with. `wiring` makes it; a verb names no adapter."""

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
from loopwright.sandbox.model import FreshRequest
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


def tell_nothing(text: str) -> None:
    """For callers that want no progress."""
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
    # What agents are told, read once; `PromptInvalid` where somebody's own text can't be used.
    prompts: Callable[[], Book]
    # Secrets that came to be since the call began, as a login that an agent's program refreshed.
    learned: Learned = msgspec.field(default_factory=Learned)
    # What is known of the project's git repository.
    repositories: git.Repositories = msgspec.field(default_factory=git.Repositories)

    @property
    def project(self) -> Path:
        """The project's top folder."""
        return self.layout.root

    @property
    def store(self) -> RunStore:
        """The workspace's runs."""
        return RunStore(self.layout)

    def wanted_sandbox_root(self) -> Path:
        """Where sandboxes go, whether it is there or not."""
        configured = self.settings.values.sandbox.root
        return Path(configured).expanduser() if configured else default_root()

    def sandbox_root(self) -> Path:
        """Where sandboxes go, made and checked."""
        return prepare_root(self.wanted_sandbox_root(), self.project)

    def sandbox_request(self) -> FreshRequest:
        """A sandbox of the project as it is now."""
        wanted = self.settings.values.sandbox
        return FreshRequest(
            project=self.project,
            sandbox_root=self.sandbox_root(),
            mode=wanted.mode,
            exclude=tuple(wanted.exclude),
            provide=tuple(wanted.provide),
            state_folders=self.layout.state_folders(),
            repositories=self.repositories,
        )

    def sandbox_options(self) -> SandboxOptions | LoopwrightError:
        """Where steps run, as the settings say; or why they can't."""
        try:
            return self.sandbox_options_for(self.sandbox_request())
        except LoopwrightError as problem:
            return problem

    def sandbox_options_for(self, sandbox: SandboxRequest) -> SandboxOptions:
        """The same around a sandbox that is known already."""
        wanted = self.settings.values.sandbox
        return SandboxOptions(sandbox, wanted.isolation, tuple(wanted.setup), wanted.keep, self.limits(), self.shell())

    def step_environment(self) -> Environment:
        """The caller's variables and the allow-list."""
        return Environment(self.environment, tuple(self.settings.values.sandbox.env))

    def limits(self) -> RunLimits:
        """How long and how much."""
        wanted = self.settings.values.run
        return RunLimits(wanted.timeout_s, wanted.jobs, wanted.log_limit_mb << 20)

    def shell(self) -> str:
        """bash, else sh."""
        path = self.environment.get("PATH")
        for name in ("bash", "sh"):
            if shutil.which(name, path=path):
                return name
        raise ToolMissing("there is no bash and no sh on PATH", hint="install bash, or correct PATH")

    def tools(self) -> Tools:
        """Fresh tools for one run: a redactor learns exemptions, and must not carry them over."""
        secrets = self.settings.values.secrets
        return Tools(
            store=self.store,
            redactor=self._redactor(),
            isolations=self.isolations,
            clock=self.clock,
            relaxed_rules=relaxed_rules(secrets),
        )

    def stand_ins(self) -> tuple[str, ...]:
        """Who may take over from an agent that can't go on, in turn; nobody where the user does not allow it."""
        self.require_agents()
        agents = self.settings.values.agents
        return tuple(agents.order) if agents.failover else ()

    def agent_settings(self, name: str) -> AgentSettings:
        """The settings of the agent of this name; the defaults if there are none."""
        return self.settings.values.agents.named.get(name, AgentSettings())

    def require_agents(self) -> None:
        """Raise where the settings name an agent that is none: before anything begins, not when it is its turn."""
        agents = self.settings.values.agents
        order = agents.order if agents.failover else ()
        for key, names in (("roles", agents.roles.values()), ("order", order)):
            for name in filter(None, names):
                try:
                    self.open_agent(name)
                except AgentFailed as problem:
                    said = f"agents.{key} names an agent that is not there: {problem.message}"
                    raise SettingsInvalid(said, hint=problem.hint) from problem

    def _redactor(self) -> Redactor:
        """Knows by what agents log in: their credential files, and the variables of their keys whatever their names."""
        values = self.settings.values
        needs = [agent.needs for agent in self.known_agents() if isinstance(agent, HasNeeds)]
        texts = dict.fromkeys(text for one in needs for text in secret_texts(one, self.environment))
        lent = {f"AGENT_CREDENTIAL_{number}_TOKEN": text for number, text in enumerate(texts)}
        let_in = {name for agent in values.agents.named.values() for name in agent.env}
        keys = {name for one in needs for name in one.keys} | {name for name in let_in if self._may_be_a_key(name)}
        return build_redactor(values.secrets, {**self.environment, **lent}, keys, self.learned)

    def _may_be_a_key(self, name: str) -> bool:
        """A variable that only an agent is let see, with a value like a key's: a region or a model is in every log."""
        return name not in DEFAULT_ENVIRONMENT and looks_like_a_key(self.environment.get(name, ""))

    def repository(self) -> git.UserRepository | None:
        """The project's git repository, where there is one that git lets us read."""
        try:
            return self.repositories.discover(self.project) if git.is_installed() else None
        except GitFailed:
            return None


def loops_of(context: Context) -> LoopStore:
    """The workspace's loops."""
    return LoopStore(context.layout, context.clock)


def workflows_of(context: Context) -> WorkflowStore:
    """The workspace's workflows."""
    values = context.settings.values
    gates = Gates(
        full=values.workflow.profile == "full",
        document_language=values.workspace.document_language,
        seal=(*values.workflow.seal, *_program_folders(context)),
        has_test_command=bool(values.loop.test_command),
    )
    return WorkflowStore(context.layout, context.clock, gates)


def _program_folders(context: Context) -> Iterator[str]:
    """Project folders on PATH: a new program there can stand in for the one that judges."""
    for entry in context.environment.get("PATH", "").split(os.pathsep):
        if entry.startswith("/") and context.project in Path(entry).parents:
            yield f"{Path(entry).relative_to(context.project)}/**"


def documents_of(context: Context) -> Catalogue:
    """What our own documents are written with."""
    wanted = context.settings.values.workspace
    setting = wanted.language if wanted.document_language == "any" else wanted.document_language
    return catalogue_of(language_of(setting, context.environment))


def demand_of(context: Context) -> str:
    """What an agent that writes documents is told; nothing where any language will do."""
    match context.settings.values.workspace.document_language:
        case "en":
            return f"\n\n{context.prompts().part('write_english')}"
        case "zh":
            return f"\n\n{context.prompts().part('write_chinese')}"
        case _:
            return ""

"""Each known agent on this machine: path, version, login, and what its sandbox gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from loopwright.agents.needs import Credential, HasNeeds, Needs
from loopwright.agents.port import WorksOutside
from loopwright.agents.program import Unusable, look_for_program
from loopwright.kernel.files import shown
from loopwright.runner.admission import no_address
from loopwright.stages.context import Context
from loopwright.stages.upkeep.symptom import Symptom
from loopwright.workspace.settings_model import AgentSettings

_BY_HAND = "you take its turns with `loopwright loop turn`; your work is not isolated, but the checks are"


def check_agents(context: Context) -> Iterator[Symptom]:
    """The state of every agent; a missing program is a problem only if the settings name the agent."""
    for agent in context.known_agents():
        if isinstance(agent, HasNeeds):
            yield _state(context, agent.name, agent.needs)
        elif isinstance(agent, WorksOutside):
            yield Symptom(f"agent {agent.name}", "ok", _BY_HAND)


def _state(context: Context, name: str, needs: Needs) -> Symptom:
    agents, what = context.settings.values.agents, f"agent {name}"
    severity: Literal["note", "problem"] = "problem" if name in agents.in_use else "note"
    program = look_for_program(needs, context.environment)
    if isinstance(program, Unusable):
        return Symptom(what, severity, program.why, program.fix)
    login = needs.is_logged_in(context.environment)
    program_text = f"{shown(program.path)} {program.shown_version or '(version not reported)'}"
    if needs.has_login and login is None:
        own = agents.named.get(name, AgentSettings())
        # A login may exist in a variable of the user, or in a way that Loopwright does not know.
        unknown = needs.says_no_login or bool(own.env)
        return Symptom(what, "note" if unknown else severity, f"{program_text}; no login found", needs.login)
    login_text = f"login: {shown(login)}" if login else "no login needed"
    admitted = _admitted(context, name, needs)
    return Symptom(what, "ok", f"{program_text}; {login_text}; its sandbox gets: {admitted}")


def _admitted(context: Context, name: str, needs: Needs) -> str:
    own = context.agent_settings(name)
    variables = [variable for variable in (*needs.variables, *own.env) if context.environment.get(variable)]
    files = [_lent(context, name, credential) for credential in needs.credentials]
    written = [key.place for key in needs.written if key.is_let_in]
    return ", ".join((*dict.fromkeys((*variables, *filter(None, files), *written)), *_network(context, name, needs)))


def _lent(context: Context, name: str, credential: Credential) -> str:
    """A credential file, with the logins in it that the agent gets."""
    if not credential.exists(context.environment):
        return ""
    held = credential.held(context.environment)
    if held is None:
        return credential.file
    listed = ", ".join(held)
    if len(held) == 1:
        return f"{credential.file} (of {listed})"
    return f"{credential.file} (of {listed}; set agents.{name}.model to pass only one)"


def _network(context: Context, name: str, needs: Needs) -> tuple[str, ...]:
    own = context.agent_settings(name)
    match own.network:
        case "never":
            return (f"network closed by agents.{name}.network",)
        case "always":
            return (f"network open by agents.{name}.network",)
        case "research":
            return (f"network open for research by agents.{name}.network",)
        case "model":
            addresses = needs.addresses(context.environment, tuple(own.hosts))
            return tuple(map(str, addresses)) or (f"network open: {no_address(name)}",)

"""What the sandbox lets in for one turn: the agent's program, its credentials, and the network to its model."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from loopwright.agents.credentials import Lent, lend, take_back
from loopwright.agents.needs import HasNeeds
from loopwright.agents.port import Agent, NoAnswer, Reason
from loopwright.agents.program import Program, find_program
from loopwright.kernel.address import LOOPBACK, Address, parse_address
from loopwright.runner.turn_sandbox import TurnSandbox
from loopwright.sandbox import forwarder
from loopwright.sandbox.model import SandboxView
from loopwright.sandbox.probe import can_have_own_network, own_interpreter
from loopwright.workspace.settings_model import AgentSettings

if TYPE_CHECKING:
    from loopwright.runner.network.model_proxy import ModelProxy

_PROXY_PORTS = (3128, 3129)
_NOT_THROUGH_PROXY = f"{LOOPBACK},localhost"
_FIRST_FREE = 1024


class Admission(msgspec.Struct, frozen=True):
    """What the sandbox lets in for one turn."""

    turn_sandbox: TurnSandbox
    # Variables that the turn's programs may see, in addition to those of every step.
    variables: tuple[str, ...]
    addresses: tuple[Address, ...] = ()
    program: Program | None = None
    home: Path | None = None
    # The credentials in the private home. The program may refresh them there.
    lent: Lent | None = None

    def learn(self) -> None:
        """Mask the tokens that the program has refreshed so far."""
        if self.lent is not None and (secrets := self.lent.changed_secrets()):
            self.turn_sandbox.redactor.learn(secrets)


class NetworkAccess(msgspec.Struct, frozen=True):
    """The network of a turn's programs, and its description for the record."""

    description: str
    network: bool
    addresses: tuple[Address, ...] = ()


@contextmanager
def admitted(agent: Agent, turn_sandbox: TurnSandbox, settings: AgentSettings) -> Iterator[Admission | NoAnswer]:
    """What the sandbox lets in during a turn. The credentials are removed from the private home afterwards."""
    named = tuple(settings.env)
    own = tuple(address for text in settings.hosts if (address := parse_address(text)) is not None)
    if not isinstance(agent, HasNeeds):
        # A program with network access uses the forwarder, which runs on our interpreter.
        yield Admission(
            _showing(turn_sandbox, _ourselves(turn_sandbox.sandbox.view)) if own else turn_sandbox, named, own
        )
        return
    needs, caller = agent.needs, turn_sandbox.environment.caller
    program = find_program(needs, caller)
    if isinstance(program, NoAnswer):
        yield program
        return
    if needs.has_login and not needs.says_no_login and needs.is_logged_in(caller) is None and not settings.env:
        yield NoAnswer(Reason.NOT_LOGGED_IN, f"{needs.program} is not logged in; {needs.login}")
        return
    home = turn_sandbox.open_home(agent.name)
    inside = _showing(turn_sandbox, (*program.parts, *_ourselves(turn_sandbox.sandbox.view)), home)
    lend(needs, caller, home)
    try:
        addresses = needs.addresses(caller, tuple(settings.hosts))
        yield Admission(inside, (*named, *needs.variables), addresses, program, home, Lent(needs, home))
    finally:
        take_back(needs, caller, home)


def _showing(turn_sandbox: TurnSandbox, programs: tuple[Path, ...], home: Path | None = None) -> TurnSandbox:
    """The turn sandbox with these programs visible in it."""
    view = replace(turn_sandbox.sandbox.view, agent_home=home, programs=programs)
    return replace(turn_sandbox, sandbox=replace(turn_sandbox.sandbox, view=view))


def _ourselves(view: SandboxView) -> tuple[Path, ...]:
    """Our interpreter, for the forwarder; and our installation, for hooks and the MCP server."""
    ours = (Path(sys.prefix), Path(__file__).parents[2])
    # Files of the project are visible as the sandbox's own copies, or not at all.
    return (Path(sys.base_prefix), *(path for path in ours if view.project not in (path, *path.parents)))


def way_out(agent: str, admission: Admission, settings: AgentSettings, *, may_use_web: bool) -> NetworkAccess:
    """The network for this turn: only the model's address if possible. The record describes the result."""
    sandbox = admission.turn_sandbox.sandbox
    match settings.network:
        case "never":
            return NetworkAccess("closed", network=False)
        case "research":
            return NetworkAccess("open", network=True) if may_use_web else NetworkAccess("closed", network=False)
        case "model" if admission.program is not None and not admission.addresses:
            return NetworkAccess(f"open: {no_address(agent)}", network=True)
        case "model" if admission.addresses and sandbox.isolation.mounts:
            if can_have_own_network(sandbox.isolation, sandbox.view, admission.turn_sandbox.environment.for_step(())):
                listed = ", ".join(map(str, admission.addresses))
                return NetworkAccess(f"only {listed}", network=False, addresses=admission.addresses)
    return NetworkAccess("open", network=True)


def no_address(agent: str) -> str:
    """Why the network is open, and how to close it."""
    return f"the model's address is unknown; set agents.{agent}.hosts to allow only that address"


@cache
def _forwarder() -> tuple[str, ...]:
    """The forwarder as text: the sandbox may hide our installation, but shows our interpreter."""
    text = Path(forwarder.__file__).read_text(encoding="utf-8")
    return (own_interpreter(), "-I", "-S", "-c", text)


@contextmanager
def forwarded(
    way: NetworkAccess, mailbox: Path, argv: tuple[str, ...], env: Mapping[str, str], caller: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], dict[str, str], ModelProxy | None]]:
    """The command and environment to start. The network access is open during the block."""
    if not way.addresses:
        yield argv, dict(env), None
        return
    near = [address.port for address in way.addresses if address.host == LOOPBACK]
    # Programs in a sandbox can't listen on low ports, so they reach a model on such a port through the proxy.
    ports = [port for port in near if port >= _FIRST_FREE]
    listen = next(port for port in _PROXY_PORTS if port not in ports)
    start = (*_forwarder(), str(mailbox), str(listen), ",".join(map(str, ports)))
    url = f"http://{LOOPBACK}:{listen}"
    through = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), url)
    straight = {"NO_PROXY": _NOT_THROUGH_PROXY, "no_proxy": _NOT_THROUGH_PROXY} if ports == near else {}
    aside = {**straight, "NODE_USE_ENV_PROXY": "1"}
    proxy = _open_proxy(mailbox, way.addresses, caller)
    try:
        yield (*start, *argv), {**env, **through, **aside}, proxy
    finally:
        proxy.close()


def _open_proxy(mailbox: Path, addresses: tuple[Address, ...], caller: Mapping[str, str]) -> ModelProxy:
    # Loaded here: otherwise every command would load the HTTP parser at its start.
    module = importlib.import_module("loopwright.runner.network.model_proxy")
    proxy: ModelProxy = module.open_model_proxy(mailbox, addresses, caller)
    return proxy

"""opencode as an agent: `opencode run` with its events on standard output, and its settings in a private home."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from loopwright.agents.model_choice import chosen_model, model_in
from loopwright.agents.needs import Credential, Needs, logins_in
from loopwright.agents.opencode.settings import (
    PROVIDERS,
    OpencodeUserSettings,
    fetched_ripgrep,
    permission,
    read_user_settings,
    unmarked,
)
from loopwright.agents.opencode.stream import OpencodeStream, shown
from loopwright.agents.port import Answer, NoAnswer, Ran, Reason, Starter, Turn, Usage
from loopwright.agents.private_files import private_folder, write_private_file
from loopwright.agents.program_turn import BY_STATUS, no_answer, take_in_session, with_prompt
from loopwright.agents.structured import with_schema_in_prompt
from loopwright.agents.usage import FILE, Tokens, add_usage, cost_of, forget_usage, is_session, read_usage
from loopwright.errors import StorageFailed
from loopwright.kernel.files import read_regular_file
from loopwright.workspace.settings_model import AgentSettings

NAME = "opencode"
_AUTH = f"{NAME}/auth.json"
NEEDS = Needs(
    program=NAME,
    oldest=(1, 18, 10),
    install="npm install -g opencode-ai@latest",
    login="run `opencode auth login`, or set the key variable of your model's provider, for example OPENAI_API_KEY",
    variables=tuple(name for provider in PROVIDERS.values() for name in provider.keys),
    keys=tuple(name for provider in PROVIDERS.values() for name in provider.keys),
    # The logins of all providers are in one file.
    credentials=(Credential(".local/share", _AUTH, "XDG_DATA_HOME", tuple(PROVIDERS)),),
    hosts=tuple(host for provider in PROVIDERS.values() for host in provider.hosts),
    # Without a login the program asks a model of its own choice, or none.
    says_no_login=False,
)
# No updates, no download of model lists or language servers.
_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
}
# It fetches a package for its settings folder at every start, unless a lock file lists the package.
_LOCK = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
# It has no switch against fetching the package into a project's `.opencode` as well. Where it can reach only its model,
# that wastes seconds: npm is set offline, and our plugin (watch.js) unsets that for the commands of the work.
_OFFLINE = {"npm_config_offline": "${NODE_USE_ENV_PROXY:+true}"}
_WATCH = "opencode_watch.js"
_LARGEST_RIPGREP = 64 << 20
_BY_ERROR = {"ProviderAuthError": Reason.NOT_LOGGED_IN}
_WELL = ("stop", "length")


class OpencodeAgent:
    """`opencode run`. A builder may do everything, since the sandbox confines it; other roles have no tool to write."""

    def __init__(self, name: str, settings: AgentSettings, environment: Mapping[str, str]) -> None:
        self.name = name
        self._settings = settings
        self._user: OpencodeUserSettings = read_user_settings(environment)
        self.model = chosen_model(settings) or self._user.model
        self.needs = _needs(self._user, self.model, environment)
        self._ripgrep = fetched_ripgrep(environment)

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Take a turn. If the program does not know the old session, start a new one."""
        forget_usage(turn.mailbox)
        home = turn.home or turn.mailbox
        self._set_up(turn, home)
        with unmarked(turn.folder):
            return take_in_session(turn, lambda session: self._taken(turn, start, session, home))

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the stream has reported so far."""
        return read_usage(mailbox / FILE, is_over=is_over)

    def knows(self, home: Path, folder: Path, session: str) -> bool:
        """Sessions are in the program's own database; an unknown session is replaced by a new one."""
        del folder
        return is_session(session) and session.startswith("ses_") and (home / NAME / "opencode.db").is_file()

    def shown(self, line: bytes) -> str | None:
        """One line of the stream as a person reads it."""
        return shown(line)

    def _set_up(self, turn: Turn, home: Path) -> None:
        may = permission(
            writes=turn.may_write,
            may_use_web=turn.may_use_web,
            is_confined=turn.is_confined,
            mailbox=turn.mailbox,
        )
        folder = private_folder(home, "config", NAME)
        private_folder(folder, "node_modules")
        write_private_file(folder / "opencode.json", json.dumps(self._user.document(self.model, may)).encode())
        write_private_file(folder / "package-lock.json", json.dumps(_LOCK).encode())
        write_private_file(private_folder(folder, "plugin") / _WATCH, Path(__file__).with_name("watch.js").read_bytes())
        if self._ripgrep is not None:
            with suppress(OSError, StorageFailed):
                data = read_regular_file(self._ripgrep, most=_LARGEST_RIPGREP)
                write_private_file(private_folder(home, "cache", NAME, "bin") / "rg", data, 0o700)

    def _taken(self, turn: Turn, start: Starter, session: str | None, home: Path) -> tuple[Answer | NoAnswer, bool]:
        stream = OpencodeStream(partial(add_usage, turn.mailbox), self._price, session)
        if session is not None:
            add_usage(turn.mailbox, Usage(session=session))
        asked = with_schema_in_prompt(turn)
        # The hosts of the settings may include a registry.
        offline = {} if self._settings.hosts else _OFFLINE
        argv = with_prompt(asked, (str(turn.program or NAME), *self._arguments(session)), offline)
        ran = start(argv, env={**_QUIET, **self._folders(home)}, timeout_s=turn.timeout_s, on_line=stream.read)
        return outcome(turn, stream, ran, datetime.now(UTC)), stream.has_begun

    def _folders(self, home: Path) -> dict[str, str]:
        names = {"XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache"}
        return {"XDG_DATA_HOME": str(home), **{name: str(home / folder) for name, folder in names.items()}}

    def _arguments(self, session: str | None) -> tuple[str, ...]:
        return (
            # Without a title it would ask its model for one.
            "run", "--format", "json", "--title", "loopwright",
            *(("--session", session) if session is not None else ()),
            *(("--model", self.model) if self.model and not model_in(self._settings.args) else ()),
            *self._settings.args,
        )  # fmt: skip

    def _price(self, tokens: Tokens) -> float | None:
        return cost_of(self.model.rpartition("/")[2], tokens, self._settings.prices)


def outcome(turn: Turn, stream: OpencodeStream, ran: Ran, now: datetime) -> Answer | NoAnswer:
    """The answer, or why there is none, by the program's codes; an exit code of 0 proves nothing."""
    if ran.timed_out or stream.error or stream.reason not in _WELL or ran.exit_code != 0:
        by_code = _by_code(stream)
        failed = no_answer(turn, ran, NAME, by_code, stream.failure, stream.session, stream.reset_after(now))
        return replace(failed, denials=tuple(stream.denials), stop_reason=stream.reason)
    return Answer(
        text=stream.text,
        duration_s=ran.duration_s,
        tokens=stream.tokens.total,
        cost_usd=stream.usd,
        session=stream.session,
        cost_source=stream.price,
        denials=tuple(stream.denials),
        stop_reason=stream.reason,
        files=tuple(stream.files),
    )


def _by_code(stream: OpencodeStream) -> Reason | None:
    if stream.reason == "content-filter":
        return Reason.REFUSED
    return BY_STATUS.get(stream.status or 0) or _BY_ERROR.get(stream.error)


def _needs(user: OpencodeUserSettings, model: str, environment: Mapping[str, str]) -> Needs:
    """The needs of the model's provider; without a known provider, the needs of the user's logins."""
    name = model.partition("/")[0]
    provider = user.provider(name, environment) if name else None
    if provider is None:
        return _by_logins(user, name, environment)
    login = _login_of(name)
    lent = (login,) if name not in user.providers or login.exists(environment) else ()
    keys = provider.keys
    return replace(
        NEEDS,
        login=f"set {keys[0]}, or run `opencode auth login`" if keys else NEEDS.login,
        variables=(*keys, *provider.variables),
        keys=keys,
        credentials=lent,
        hosts=provider.hosts,
        written=user.written,
    )


def _by_logins(user: OpencodeUserSettings, provider: str, environment: Mapping[str, str]) -> Needs:
    """Without a chosen model the program uses a provider with a key or a login. Only those are let in.

    The login of a provider with an unknown address is lent only if the model names it, or if there is no other.
    """
    source = NEEDS.credentials[0].source(environment)
    logins = logins_in(source) if source is not None else {}
    names = (*PROVIDERS, *user.providers)
    known = {name: described for name in names if (described := user.provider(name, environment))}
    chosen = [each for name, each in known.items() if name in logins or any(map(environment.get, each.keys))]
    lent = (provider,) if provider in logins else tuple(name for name in logins if name in known) or tuple(logins)
    base = replace(NEEDS, credentials=(_login_of(*lent),) if lent else NEEDS.credentials, written=user.written)
    if not chosen:
        return base
    keys = tuple(dict.fromkeys(key for each in chosen for key in each.keys))
    more = tuple(dict.fromkeys(name for each in chosen for name in each.variables))
    hosts = tuple(host for each in chosen for host in each.hosts)
    return replace(base, variables=(*keys, *more), keys=keys, hosts=hosts or NEEDS.hosts)


def _login_of(*names: str) -> Credential:
    return replace(NEEDS.credentials[0], entries=names)

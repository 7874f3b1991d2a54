"""Codex as an agent: `codex exec`, its session file, and the user's settings for the model and its provider."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

import msgspec
from msgspec.structs import replace

from loopwright.agents.codex.stream import CodexStream, session_file, shown
from loopwright.agents.harness import HARNESSES
from loopwright.agents.model_choice import chosen_model
from loopwright.agents.needs import Credential, Needs
from loopwright.agents.port import Answer, NoAnswer, Ran, Reason, Starter, Turn, Usage
from loopwright.agents.private_files import write_private_file
from loopwright.agents.program_turn import BY_STATUS, RunningStreams, no_answer, take_in_session, with_prompt
from loopwright.agents.structured import strict_form, with_schema_in_prompt
from loopwright.agents.usage import Tokens, add_usage, cost_of, forget_usage
from loopwright.agents.written_keys import WrittenKey, names_a_key, written_keys
from loopwright.kernel.address import Address, parse_address
from loopwright.kernel.files import read_regular_file
from loopwright.workspace.settings_model import AgentSettings

_FILE = "config.toml"
_PROVIDERS = "model_providers"
_TAKEN = ("model", "model_provider", "model_reasoning_effort", "openai_base_url", "chatgpt_base_url")
_MOST_BYTES = 1 << 20
# Fields that hold names of variables.
_NAMING = ("env_key", "env_http_headers")


class CodexUserSettings(msgspec.Struct, frozen=True):
    """The settings from the user's file. A provider in it has an address and a variable for its key.

    `written` are the keys in the file itself, of all providers; `provider` is the provider of the model.
    """

    top: Mapping[str, Any] = {}
    provider: Mapping[str, Any] = {}
    written: tuple[WrittenKey, ...] = ()

    @property
    def key_variable(self) -> str | None:
        """The variable with the provider's key."""
        name = self.provider.get("env_key")
        return name if isinstance(name, str) else None

    @property
    def header_variables(self) -> Mapping[str, str]:
        """The variables for the provider's headers, by header."""
        named = self.provider.get("env_http_headers")
        return {header: name for header, name in named.items() if isinstance(name, str)} if _is_table(named) else {}

    @property
    def address(self) -> Address | None:
        """The address of the model, if it is not the default."""
        text = self.provider.get("base_url") or self.top.get("openai_base_url")
        return parse_address(text) if isinstance(text, str) else None

    @property
    def model(self) -> str:
        """The model that the user chose."""
        return str(self.top.get("model") or "")

    def text_for(self, folder: Path) -> str:
        """The file for a private home: no questions, and the working folder is trusted."""
        own = {"approval_policy": "never", **self.top}
        tables: dict[str, Any] = {"projects": {str(folder): {"trust_level": "trusted"}}}
        name = self.top.get("model_provider")
        if isinstance(name, str) and self.provider:
            tables[_PROVIDERS] = {name: self.provider}
        return "\n".join(_lines((), {**own, **tables})) + "\n"


def read_user_settings(environment: Mapping[str, str]) -> CodexUserSettings:
    """The settings in the user's own `config.toml`; an unreadable file counts as missing."""
    chosen, home = environment.get("CODEX_HOME"), environment.get("HOME")
    if not chosen and not home:
        return CodexUserSettings()
    path = Path(chosen) / _FILE if chosen else Path(home or "/") / ".codex" / _FILE
    try:
        document = tomllib.loads(read_regular_file(path, most=_MOST_BYTES).decode())
    except (OSError, ValueError):
        return CodexUserSettings()
    top = {name: document[name] for name in _TAKEN if isinstance(document.get(name), str)}
    named = document.get(_PROVIDERS)
    providers = {name: table for name, table in named.items() if _is_table(table)} if _is_table(named) else {}
    used = top.get("model_provider", "")
    return CodexUserSettings(top, providers.get(used, {}), tuple(_written_in(providers, used)))


def _written_in(providers: Mapping[str, Mapping[str, Any]], used: str) -> Iterator[WrittenKey]:
    for name, provider in providers.items():
        table = {field: value for field, value in provider.items() if field not in _NAMING}
        yield from written_keys(table, f"{_FILE}: {_PROVIDERS}.{name}", is_let_in=name == used)


def _is_table(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, dict)


def _lines(place: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    """A table as TOML: its own values, then the tables in it."""
    values = {key: value for key, value in table.items() if not isinstance(value, dict)}
    if place and values:
        yield f"[{'.'.join(_text(name) for name in place)}]"
    for key, value in values.items():
        yield f"{_text(key)} = {_text(value)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _lines((*place, key), value)


def _text(value: Any) -> str:
    """A string, number, boolean or list as TOML, where they look as in JSON."""
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")


_AUTH = "auth.json"
NEEDS = Needs(
    program="codex",
    oldest=(0, 150, 0),
    install="npm install -g @openai/codex",
    login="run `codex login`, or set CODEX_API_KEY",
    variables=("CODEX_API_KEY", "OPENAI_API_KEY"),
    keys=("CODEX_API_KEY", "OPENAI_API_KEY"),
    credentials=(Credential(".codex", _AUTH, "CODEX_HOME"),),
    hosts=(Address("api.openai.com"), Address("chatgpt.com"), Address("auth.openai.com")),
    # Without a login it retries for minutes.
    says_no_login=False,
)
_BY_CODE = {
    "usage_limit_exceeded": Reason.RATE_LIMITED,
    "unauthorized": Reason.NOT_LOGGED_IN,
    "cyber_policy": Reason.REFUSED,
}


class CodexAgent:
    """`codex exec`. Its own sandbox is off inside our isolation, and on without it."""

    harness = HARNESSES["codex"]

    def __init__(self, name: str, settings: AgentSettings, environment: Mapping[str, str]) -> None:
        self.name = name
        self._settings = settings
        self._user: CodexUserSettings = read_user_settings(environment)
        self.model = chosen_model(settings) or self._user.model
        self.needs = _needs(self._user)
        self._running = RunningStreams()

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Take a turn. If the program does not know the old session, start a new one."""
        forget_usage(turn.mailbox)
        home = turn.home or turn.mailbox
        write_private_file(home / "config.toml", self._user.text_for(turn.folder_inside or turn.folder).encode())
        return take_in_session(turn, lambda session: self._taken(turn, start, session, home))

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the session's file has reported so far: more than the events."""
        return self._running.used(mailbox, is_over=is_over)

    def knows(self, home: Path, folder: Path, session: str) -> bool:
        """Sessions are files, independent of the folder."""
        del folder
        return session_file(home, session) is not None

    def shown(self, line: bytes) -> str | None:
        """One line of the stream as a person reads it."""
        return shown(line)

    def _taken(self, turn: Turn, start: Starter, session: str | None, home: Path) -> tuple[Answer | NoAnswer, bool]:
        stream = CodexStream(home, partial(add_usage, turn.mailbox), self._price, session)
        if session is not None:
            add_usage(turn.mailbox, Usage(session=session))
        strict = strict_form(turn.schema) if turn.schema is not None else None
        asked = with_schema_in_prompt(turn) if strict is None else turn
        argv = with_prompt(asked, (str(turn.program or "codex"), *self._arguments(turn, strict, session)))
        command, env = ("sh", "-c", _START, "codex", *argv), {"CODEX_HOME": str(home)}
        with self._running.of(turn.mailbox, stream):
            ran = start(command, env=env, timeout_s=turn.timeout_s, on_line=stream.read)
        began = stream.is_completed or stream.failure is not None or bool(stream.text)
        answer = outcome(turn, stream, ran, self._price(stream.tokens))
        if isinstance(answer, Answer):
            answer = replace(answer, is_structured=strict is not None)
        return answer, began

    def _arguments(self, turn: Turn, strict: Mapping[str, object] | None, session: str | None) -> tuple[str, ...]:
        schema = turn.mailbox / "schema.json"
        if strict is not None:
            write_private_file(schema, json.dumps(strict).encode())
        confinement = "danger-full-access" if turn.is_confined else _own_confinement(turn)
        return (
            "exec", *(("resume",) if session is not None else ()),
            "--json", "--disable", "plugins", "--skip-git-repo-check",
            # Codex runs only trusted hooks of a project. In our isolation they can do no more than the builder itself.
            *(("--dangerously-bypass-hook-trust",) if turn.is_confined and turn.may_write else ()),
            "-c", f'sandbox_mode="{confinement}"',
            "-c", f"tools.web_search={'true' if turn.may_use_web else 'false'}",
            *(("--output-schema", str(schema)) if strict is not None else ()),
            *(("--model", self._settings.model) if self._settings.model else ()),
            *self._settings.args,
            *((session,) if session is not None else ()), "-",
        )  # fmt: skip

    def _price(self, tokens: Tokens) -> float | None:
        return cost_of(self.model, tokens, self._settings.prices)


# Codex starts no command when its home is below the temporary folder. A key in the environment counts when there is no
# login.
_START = (
    'mkdir -p "${TMPDIR:-/tmp}/codex" && export TMPDIR="${TMPDIR:-/tmp}/codex"; '
    f'if [ ! -e "$CODEX_HOME/{_AUTH}" ] && [ -z "$CODEX_API_KEY" ] && [ -n "$OPENAI_API_KEY" ]; '
    'then export CODEX_API_KEY="$OPENAI_API_KEY"; fi; exec "$@"'
)


def outcome(turn: Turn, stream: CodexStream, ran: Ran, usd: float | None) -> Answer | NoAnswer:
    """The answer, or why there is none, by the program's codes; an exit code of 0 proves nothing."""
    if ran.timed_out or stream.failure is not None or not stream.is_completed:
        # The program reported a used-up limit, and then nothing more.
        is_limited = stream.failure is None and not stream.is_completed and stream.reset_at is not None
        by_code = BY_STATUS.get(stream.status or 0) or _BY_CODE.get(stream.code)
        by_code = by_code or (Reason.RATE_LIMITED if is_limited else None)
        return no_answer(turn, ran, "codex", by_code, stream.failure or "", stream.session, stream.reset_at)
    return Answer(
        text=stream.text,
        duration_s=ran.duration_s,
        tokens=stream.tokens.total,
        cost_usd=usd,
        session=stream.session,
        cost_source="unknown" if usd is None else "computed",
        stop_reason="completed",
        files=tuple(stream.files),
    )


def _own_confinement(turn: Turn) -> str:
    return "workspace-write" if turn.may_write else "read-only"


def _needs(user: CodexUserSettings) -> Needs:
    """A provider of the user's own has its own keys and address; one without a key needs no login."""
    base = replace(NEEDS, written=user.written)
    if not user.provider:
        return base if user.address is None else replace(base, hosts=(*NEEDS.hosts, user.address))
    headers = user.header_variables
    own_key = (user.key_variable,) if user.key_variable is not None else ()
    keys = (*own_key, *(name for header, name in headers.items() if names_a_key(header)))
    is_openai = bool(user.provider.get("requires_openai_auth"))
    variables = tuple(dict.fromkeys((*keys, *headers.values())))
    return replace(
        base,
        login=f"set {keys[0]}, the key variable of your provider in config.toml" if keys else NEEDS.login,
        variables=(*NEEDS.variables, *variables) if is_openai else variables,
        keys=(*NEEDS.keys, *keys) if is_openai else keys,
        credentials=NEEDS.credentials if is_openai else (),
        hosts=(*((user.address,) if user.address is not None else ()), *(NEEDS.hosts if is_openai else ())),
    )

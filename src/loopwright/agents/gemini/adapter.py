"""Gemini CLI as an agent: `gemini` with JSON events, and the settings of its private home."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from loopwright.agents.gemini.stream import GeminiStream, session_file, shown, was_blocked
from loopwright.agents.harness import HARNESSES
from loopwright.agents.model_choice import chosen_model
from loopwright.agents.needs import Credential, Needs
from loopwright.agents.port import Answer, NoAnswer, Ran, Reason, Starter, Turn, Usage
from loopwright.agents.private_files import private_folder, write_private_file
from loopwright.agents.program_turn import BY_STATUS, RunningStreams, no_answer, take_in_session, with_prompt
from loopwright.agents.structured import with_schema_in_prompt
from loopwright.agents.usage import Tokens, add_usage, cost_of, forget_usage
from loopwright.kernel.address import Address
from loopwright.kernel.codec import json_object
from loopwright.kernel.files import clear_path, read_regular_file
from loopwright.workspace.settings_model import AgentSettings

_FILE = ".gemini/settings.json"
_MOST_BYTES = 1 << 20
# Its default is ten tries: an overloaded model would take minutes to fail.
_TRIES = 4
_WEB = ("google_web_search", "web_fetch")
# Not available: a turn has no person to ask.
_NEVER = ("ask_user", "save_memory")


class GeminiUserSettings(msgspec.Struct, frozen=True):
    """The settings from the user's file."""

    login: str
    model: str = ""
    tries: int = _TRIES
    context_files: tuple[str, ...] = ()

    def document(self, *, may_use_web: bool) -> dict[str, Any]:
        """The settings for a private home: no update, no telemetry, no questions, and every folder is trusted."""
        return {
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": self.tries},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "ide": {"enabled": False},
            "security": {"auth": {"selectedType": self.login}, "folderTrust": {"enabled": False}},
            "tools": {"exclude": list(_NEVER)} if may_use_web else {"exclude": [*_NEVER, *_WEB]},
            **({"model": {"name": self.model}} if self.model else {}),
            **({"context": {"fileName": list(self.context_files)}} if self.context_files else {}),
        }


def read_user_settings(environment: Mapping[str, str]) -> GeminiUserSettings:
    """The settings in the user's own `settings.json` and environment; an unreadable file counts as missing."""
    home = environment.get("GEMINI_CLI_HOME") or environment.get("HOME")
    document: Mapping[str, Any] = {}
    if home:
        try:
            document = json_object(read_regular_file(Path(home) / _FILE, most=_MOST_BYTES)) or {}
        except OSError:
            document = {}
    auth, general, model = _at(document, "security", "auth"), _at(document, "general"), _at(document, "model")
    login, tries, name = auth.get("selectedType"), general.get("maxAttempts"), model.get("name")
    files = _at(document, "context").get("fileName")
    listed = [files] if isinstance(files, str) else files if isinstance(files, list) else []
    return GeminiUserSettings(
        login if isinstance(login, str) and login else _usual_login(environment, home),
        name if isinstance(name, str) else "",
        tries if isinstance(tries, int) and not isinstance(tries, bool) and tries > 0 else _TRIES,
        tuple(file for file in listed if isinstance(file, str)),
    )


def _usual_login(environment: Mapping[str, str], home: str | None) -> str:
    """The program's own choice if the user made none."""
    if environment.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
        return "vertex-ai"
    has_login = home is not None and (Path(home) / ".gemini" / "oauth_creds.json").is_file()
    return "oauth-personal" if has_login and not environment.get("GEMINI_API_KEY") else "gemini-api-key"


def _at(document: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    node: Any = document
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


FOLDER = ".gemini"
_LOGIN = "set GEMINI_API_KEY, or run `gemini` and log in there"
NEEDS = Needs(
    program="gemini",
    oldest=(0, 55, 1),
    install="npm install -g @google/gemini-cli",
    login=_LOGIN,
    variables=("GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_API_VERSION"),
    keys=("GEMINI_API_KEY",),
    hosts=(Address("generativelanguage.googleapis.com"),),
    address_variables=("GOOGLE_GEMINI_BASE_URL",),
)
# The needs of other login types.
_BY_LOGIN: Mapping[str, Needs] = {
    "oauth-personal": replace(
        NEEDS,
        variables=("GEMINI_MODEL", "GOOGLE_CLOUD_PROJECT", "CODE_ASSIST_ENDPOINT"),
        keys=(),
        credentials=(Credential("", f"{FOLDER}/oauth_creds.json", "GEMINI_CLI_HOME"),),
        hosts=(
            Address("cloudcode-pa.googleapis.com"), Address("oauth2.googleapis.com"), Address("www.googleapis.com"),
        ),
        address_variables=("CODE_ASSIST_ENDPOINT",),
    ),
    "vertex-ai": replace(
        NEEDS,
        login="set GOOGLE_API_KEY, which the login type vertex-ai needs",
        variables=(
            "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
            "GEMINI_MODEL", "GOOGLE_VERTEX_BASE_URL",
        ),
        keys=("GOOGLE_API_KEY",),
        hosts=(Address("aiplatform.googleapis.com"),),
        address_variables=("GOOGLE_VERTEX_BASE_URL",),
    ),
}  # fmt: skip
# No relaunch of itself as a second process, which only costs time.
_QUIET = {
    "GEMINI_CLI_NO_RELAUNCH": "true",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "NO_COLOR": "1",
}
# Telemetry goes to a local file: only there the program reports that the provider blocked an answer after its start.
_TELEMETRY = "loopwright-telemetry.log"
_TELEMETRY_SETTINGS = {
    "GEMINI_TELEMETRY_ENABLED": "true",
    "GEMINI_TELEMETRY_TARGET": "local",
    "GEMINI_TELEMETRY_USE_COLLECTOR": "false",
    "GEMINI_TELEMETRY_LOG_PROMPTS": "false",
    "GEMINI_TELEMETRY_TRACES_ENABLED": "false",
}
# Our own MCP server, if the project has it: none of its tools decides anything, so readers may call them as well.
_POLICY = '[[rule]]\nmcpName = "loopwright"\ntoolName = "*"\ndecision = "allow"\npriority = 100\n'
_NO_LOGIN = 41
# The exit code is the lower eight bits of the HTTP status of the model's last answer.
_BY_EXIT = {
    _NO_LOGIN: Reason.NOT_LOGGED_IN,
    401 & 0xFF: Reason.NOT_LOGGED_IN,
    403 & 0xFF: Reason.NOT_LOGGED_IN,
    429 & 0xFF: Reason.RATE_LIMITED,
    499 & 0xFF: Reason.RATE_LIMITED,
}
_BY_REASON = {"API_KEY_INVALID": Reason.NOT_LOGGED_IN, "API_KEY_SERVICE_BLOCKED": Reason.NOT_LOGGED_IN}


class GeminiAgent:
    """`gemini`, headless. A builder may do everything, since the sandbox confines it; other roles can't write."""

    harness = HARNESSES["gemini"]

    def __init__(self, name: str, settings: AgentSettings, environment: Mapping[str, str]) -> None:
        self.name = name
        self._settings = settings
        self._user: GeminiUserSettings = read_user_settings(environment)
        self.model = chosen_model(settings) or environment.get("GEMINI_MODEL", "") or self._user.model
        self.needs = _BY_LOGIN.get(self._user.login, NEEDS)
        self._running = RunningStreams()

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Take a turn. If the program does not know the old session, start a new one."""
        forget_usage(turn.mailbox)
        home = turn.home or turn.mailbox
        text = json.dumps(self._user.document(may_use_web=turn.may_use_web))
        write_private_file(private_folder(home, FOLDER) / "settings.json", text.encode())
        write_private_file(private_folder(home, FOLDER, "policies") / "loopwright.toml", _POLICY.encode())
        return take_in_session(turn, lambda session: self._taken(turn, start, session, home))

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the session's file has reported so far: more than the events."""
        return self._running.used(mailbox, is_over=is_over)

    def knows(self, home: Path, folder: Path, session: str) -> bool:
        """Sessions are files, by working folder: ours is always the same."""
        del folder
        return session_file(home, session) is not None

    def shown(self, line: bytes) -> str | None:
        """One line of the stream as a person reads it."""
        return shown(line)

    def _taken(self, turn: Turn, start: Starter, session: str | None, home: Path) -> tuple[Answer | NoAnswer, bool]:
        own = session or str(uuid.uuid4())
        stream = GeminiStream(home, own, partial(add_usage, turn.mailbox), self._price)
        # Before the program starts: after a crash the next turn can resume this session.
        add_usage(turn.mailbox, Usage(session=own))
        going = ("--resume", own) if session is not None else ("--session-id", own)
        asked = with_schema_in_prompt(turn)
        argv = with_prompt(asked, (str(turn.program or "gemini"), *self._arguments(turn), *going))
        telemetry = private_folder(home, FOLDER) / _TELEMETRY
        clear_path(telemetry)
        env = {
            **_QUIET,
            **_TELEMETRY_SETTINGS,
            "GEMINI_TELEMETRY_OUTFILE": str(telemetry),
            "GEMINI_CLI_HOME": str(home),
        }
        with self._running.of(turn.mailbox, stream):
            ran = start(argv, env=env, timeout_s=turn.timeout_s, on_line=stream.read)
        stream.is_blocked = stream.is_blocked or was_blocked(telemetry)
        clear_path(telemetry)
        return outcome(turn, stream, ran, self._cost(stream), datetime.now(UTC)), stream.has_begun

    def _arguments(self, turn: Turn) -> tuple[str, ...]:
        return (
            "--output-format", "stream-json",
            "--approval-mode", "yolo" if turn.may_write else "default",
            "--include-directories", str(turn.mailbox),
            *(("--model", self._settings.model) if self._settings.model else ()),
            *self._settings.args,
        )  # fmt: skip

    def _cost(self, stream: GeminiStream) -> float | None:
        """The cost of all models of the turn; None if a model has no price."""
        costs = [self._price(model, tokens) for model, tokens in stream.by_model.items() if tokens.total]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if costs and len(known) == len(costs) else None

    def _price(self, model: str, tokens: Tokens) -> float | None:
        return cost_of(model, tokens, self._settings.prices)


def outcome(turn: Turn, stream: GeminiStream, ran: Ran, usd: float | None, now: datetime) -> Answer | NoAnswer:
    """The answer, or why there is none, by the program's codes; an exit code of 0 proves nothing."""
    if ran.timed_out or stream.status != "success" or stream.is_blocked:
        by_code = _by_code(stream, ran)
        detail = stream.failure or ("the provider blocked the model's answer" if stream.is_blocked else "")
        failed = no_answer(turn, ran, "gemini", by_code, detail, stream.session, stream.reset_after(now))
        return replace(failed, denials=tuple(stream.denials))
    return Answer(
        text=stream.text,
        duration_s=ran.duration_s,
        tokens=stream.tokens.total,
        cost_usd=usd,
        session=stream.session,
        cost_source="unknown" if usd is None else "computed",
        denials=tuple(stream.denials),
        stop_reason="completed",
        files=tuple(stream.files),
    )


def _by_code(stream: GeminiStream, ran: Ran) -> Reason | None:
    if stream.is_blocked:
        return Reason.REFUSED
    return _BY_REASON.get(stream.reason) or BY_STATUS.get(stream.code or 0) or _BY_EXIT.get(ran.exit_code)

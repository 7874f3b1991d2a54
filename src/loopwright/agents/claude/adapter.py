"""Claude Code as an agent: `claude -p` with its events on standard output, and its settings in a private home."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from loopwright.agents.claude.stream import ClaudeStream, denials_in, shown, tokens_in
from loopwright.agents.harness import HARNESSES
from loopwright.agents.model_choice import chosen_model
from loopwright.agents.needs import Credential, Needs
from loopwright.agents.port import Answer, CostSource, NoAnswer, Ran, Reason, Starter, Turn, Usage
from loopwright.agents.program_turn import BY_STATUS, no_answer, take_in_session, with_prompt
from loopwright.agents.usage import FILE, Tokens, add_usage, cost_of, forget_usage, read_usage
from loopwright.kernel.address import Address
from loopwright.workspace.settings_model import AgentSettings

NEEDS = Needs(
    program="claude",
    oldest=(2, 1, 197),
    install="npm install -g @anthropic-ai/claude-code@latest",
    login="run `claude` and log in there, or set ANTHROPIC_API_KEY",
    variables=(
        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL", "CLAUDE_CODE_MAX_RETRIES",
    ),
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    credentials=(Credential(".claude", ".credentials.json", "CLAUDE_CONFIG_DIR"),),
    hosts=(Address("api.anthropic.com"), Address("platform.claude.com"), Address("console.anthropic.com")),
    address_variables=("ANTHROPIC_BASE_URL",),
)  # fmt: skip
# No updates, no telemetry, and no request for a session title, which no person reads.
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
}
# Its default is ten retries: a wrong key would take minutes to fail.
_DEFAULTS = {"CLAUDE_CODE_MAX_RETRIES": "4"}
# It refuses a limit of 0.
_LEAST_USD = 0.000001
_READS = ("Read", "Glob", "Grep")
_RUNS = ("Bash", "Task", "TodoWrite", "Skill")
# Not in the list of allowed tools: the permission mode allows edits in the folder and reports others as denied.
_EDITS = ("Edit", "Write", "NotebookEdit")
_WEB = ("WebFetch", "WebSearch")
# Our own MCP server, if the project has it: none of its tools decides anything.
_OURS = "mcp__loopwright"
_BY_ERROR = {
    "authentication_failed": Reason.NOT_LOGGED_IN,
    "oauth_org_not_allowed": Reason.NOT_LOGGED_IN,
    "rate_limit": Reason.RATE_LIMITED,
    # The account is empty: a person has to act, as for any quota.
    "billing_error": Reason.RATE_LIMITED,
}
_BY_SUBTYPE = {
    # The turn's budget, or a limit that the user's `args` set.
    "error_max_budget_usd": Reason.BUDGET_USED,
    "error_max_turns": Reason.BUDGET_USED,
    "error_max_structured_output_retries": Reason.INVALID_ANSWER,
}


class ClaudeAgent:
    """`claude -p`. A builder may edit and run commands, since the sandbox confines it; other roles only read."""

    needs = NEEDS
    harness = HARNESSES["claude"]

    def __init__(self, name: str, settings: AgentSettings, environment: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._settings = settings
        self.model = chosen_model(settings) or (environment or {}).get("ANTHROPIC_MODEL", "")

    def take(self, turn: Turn, start: Starter) -> Answer | NoAnswer:
        """Take a turn. If the program does not know the old session, start a new one."""
        forget_usage(turn.mailbox)
        return take_in_session(turn, lambda session: self._taken(turn, start, session))

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the stream has reported so far."""
        return read_usage(mailbox / FILE, is_over=is_over)

    def knows(self, home: Path, folder: Path, session: str) -> bool:
        """Sessions are files, by the folder of the work."""
        place = re.sub(r"[^A-Za-z0-9]", "-", str(folder))[:100]
        return any(path.parent.name.startswith(place) for path in home.glob(f"projects/*/{session}.jsonl"))

    def shown(self, line: bytes) -> str | None:
        """One line of the stream as a person reads it."""
        return shown(line)

    def _taken(self, turn: Turn, start: Starter, session: str | None) -> tuple[Answer | NoAnswer, bool]:
        price = partial(_price, self._settings)
        stream = ClaudeStream(partial(add_usage, turn.mailbox), price)
        own = session or str(uuid.uuid4())
        going = ("--resume", own) if session is not None else ("--session-id", own)
        # Before the program starts: after a crash the next turn can resume this session.
        add_usage(turn.mailbox, Usage(session=own))
        argv = with_prompt(turn, (str(turn.program or "claude"), *self._arguments(turn), *going), _DEFAULTS)
        env = {**_QUIET, "CLAUDE_CONFIG_DIR": str(turn.home or turn.mailbox)}
        ran = start(argv, env=env, timeout_s=turn.timeout_s, on_line=stream.read)
        # The program's own cost wins, also without an answer: our table may not know the model.
        reported, source = _cost(stream.result or {}, session is not None, None)
        if source == "reported" and reported is not None and reported > stream.usd:
            add_usage(turn.mailbox, Usage(usd=reported - stream.usd))
        return outcome(turn, stream, ran, own, session is not None, price), stream.has_spoken or bool(stream.error)

    def _arguments(self, turn: Turn) -> tuple[str, ...]:
        writes = turn.may_write
        allowed = (*_READS, *(_RUNS if writes else ()), *(_WEB if turn.may_use_web else ()))
        tools = (*allowed, *(_EDITS if writes else ()))
        return (
            "-p", "--output-format", "stream-json", "--verbose",
            "--permission-mode", "acceptEdits" if writes else "dontAsk",
            "--tools", ",".join(tools), "--allowedTools", ",".join((*allowed, _OURS)), "--add-dir", str(turn.mailbox),
            *(("--json-schema", json.dumps(turn.schema)) if turn.schema is not None else ()),
            *(("--model", self._settings.model) if self._settings.model else ()),
            *_capped(turn),
            *self._settings.args,
        )  # fmt: skip


def _capped(turn: Turn) -> tuple[str, ...]:
    """The program's own limit. It counts this process only, also in a resumed session, and stops asking its model."""
    usd = turn.budget.usd
    return ("--max-budget-usd", f"{usd:.6f}") if usd is not None and usd >= _LEAST_USD else ()


def outcome(
    turn: Turn,
    stream: ClaudeStream,
    ran: Ran,
    session: str,
    is_resumed: bool,
    price: Callable[[str, Tokens], float | None],
) -> Answer | NoAnswer:
    """The answer, or why there is none, by the program's codes; an exit code of 0 proves nothing."""
    session = stream.session or session
    result = stream.result or {}
    is_well = result.get("subtype") == "success" and not result.get("is_error")
    if ran.timed_out or not is_well or result.get("stop_reason") == "refusal":
        failed = no_answer(turn, ran, "claude", _by_code(stream), _failure_message(stream), session, stream.ends_at)
        return replace(failed, denials=denials_in(result), stop_reason=str(result.get("stop_reason") or ""))
    tokens = tokens_in(result.get("usage"))
    usd, source = _cost(result, is_resumed, price(stream.model, tokens))
    structured = result.get("structured_output")
    return Answer(
        text=str(result.get("result") or "") if structured is None else json.dumps(structured, ensure_ascii=False),
        duration_s=ran.duration_s,
        tokens=tokens.total,
        cost_usd=usd,
        session=session,
        cost_source=source,
        denials=denials_in(result),
        stop_reason=str(result.get("stop_reason") or ""),
        files=tuple(stream.files),
        is_structured=structured is not None,
    )


def _by_code(stream: ClaudeStream) -> Reason | None:
    result = stream.result or {}
    subtype = str(result.get("subtype") or "")
    if result.get("stop_reason") == "refusal":
        return Reason.REFUSED
    # The program reported a limit, and then nothing more.
    is_limited = stream.result is None and stream.status is None and stream.reset_at is not None
    return (
        _BY_SUBTYPE.get(subtype)
        or BY_STATUS.get(stream.status or 0)
        or _BY_ERROR.get(stream.error)
        or (Reason.RATE_LIMITED if is_limited else None)
    )


def _failure_message(stream: ClaudeStream) -> str:
    result = stream.result
    if result is None:
        return f"the model answered with status {stream.status}" if stream.status is not None else ""
    errors = result.get("errors")
    message = result.get("result") or (errors[0] if isinstance(errors, list) and errors else result.get("subtype"))
    return str(message or "")


def _cost(result: Mapping[str, Any], is_resumed: bool, computed: float | None) -> tuple[float | None, CostSource]:
    """The reported cost wins. For a resumed session the total includes earlier turns, so only the new part counts."""
    since = result.get("model_usage_since_last_result")
    if isinstance(since, dict) and since:
        costs = [usage.get("costUSD") for usage in since.values() if isinstance(usage, dict)]
        reported = [float(cost) for cost in costs if isinstance(cost, int | float)]
        if len(reported) == len(since):
            return sum(reported), "reported"
    total = result.get("total_cost_usd")
    if isinstance(total, int | float) and not is_resumed:
        return float(total), "reported"
    return computed, "unknown" if computed is None else "computed"


def _price(settings: AgentSettings, model: str, tokens: Tokens) -> float | None:
    return cost_of(model, tokens, settings.prices)

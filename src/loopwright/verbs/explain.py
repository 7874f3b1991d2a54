"""`loopwright explain`: the tables behind the behaviour, as they are used."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.analysis.registration_table import preregistered_rows
from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.environment_values import ENVIRONMENT_RULE
from loopwright.reflection.rule_sets import RULE_SETS
from loopwright.reflection.rule_table import rule_rows
from loopwright.runner.latest import OTHERWISE, TABLE
from loopwright.workflow.blockers import Family, family_of
from loopwright.workflow.clarity import OPEN_ITEMS_WEIGHT, SECTION_WEIGHTS
from loopwright.workspace.settings import agent_help_of, help_of
from loopwright.workspace.settings_model import AgentSettings, Values

Table = list[dict[str, str]]

_ERRORS = (
    ("MISSING_PLAN", "1", "there is no plan file", "loopwright init writes one"),
    ("INVALID_PLAN", "1", "the plan can't be read or makes no sense", "correct the named lines"),
    ("SANDBOX_CREATE_FAILED", "1", "neither worktree nor copy works", "the message says why for both"),
    ("ISOLATION_UNAVAILABLE", "1", "strict isolation, and this machine can't", "loopwright doctor"),
    ("STEP_FAILED", "1", "an exit code is not 0, a check failed, a time-out", "read the blocker card"),
    ("SECRET_LEAK", "99", "a secret in plan, output or change", "take it out; nothing of it was kept"),
    ("SANDBOX_ESCAPE", "98", "a step's cwd is outside the sandbox", "correct the plan"),
    ("LATCHED", "1", "an earlier failure waits for a person", "loopwright unlatch"),
    ("MAX_RETRIES", "1", "--replan-with used up its tries", "a person decides"),
    ("INTERRUPTED", "130 / 143", "SIGINT / SIGTERM", "loopwright run"),
    ("STORAGE_FAILED", "1", "the disk is full or read-only", "free space; loopwright gc"),
    ("DAMAGED_FILE", "1", "a file of ours is not what was written", "loopwright doctor --fix"),
    ("SETTINGS_INVALID", "1", "an unknown key or a wrong value", "correct it"),
    ("PROMPT_INVALID", "1", "a prompt of your own can't be used", "correct it; loopwright prompts list"),
    ("TOOL_MISSING", "1", "a program is not installed", "install it"),
    ("GIT_FAILED", "1", "git ran and refused", "loopwright doctor"),
    ("UNKNOWN_RUN", "1", "no run of that name, or nothing to repeat", "name another"),
    ("UNKNOWN_REVISION", "1", "no commit of that name, or no history in common", "git fetch, or name another"),
    ("EVIDENCE_MISMATCH", "13", "recorded and real differ", "find out who changed it"),
    ("NOT_REPRODUCED", "1", "a rerun came out otherwise", "look for what is not pinned"),
    ("LOOP_REFUSED", "1", "a loop can't do that now", "the message names the legal moves"),
    ("LOOP_CONFLICT", "1", "somebody else changed the loop first", "look again, then decide"),
    ("UNKNOWN_LOOP", "1", "no loop of that name is there", "loopwright loop list"),
    ("UNKNOWN_REFLECTION", "1", "no reflection of that name is there", "loopwright reflect list"),
    ("UNKNOWN_AGENT", "1", "no agent of that name is known", "the message lists those that are"),
    ("AGENT_FAILED", "1", "an agent could not take its turn", "the message names the reason"),
    ("INSIDE_AGENT", "1", "a person's command came from an agent", "a person types it"),
    ("INPUT_INVALID", "1", "a file that was named is not what it should be", "the message says which part"),
    ("GATE_CLOSED", "1", "P1, P2 and P3 are not all recorded and passing", "loopwright analyze all"),
    ("SELFTEST_FAILED", "1", "this machine does not keep the contract", "loopwright doctor"),
    ("INTERNAL_ERROR", "1", "loopwright itself failed", "report it with the file that is named"),
    ("WRONG_USAGE", "2", "the call makes no sense", "see --help"),
)
ERROR_TABLE: Table = [dict(zip(("code", "exit", "when", "then"), row, strict=True)) for row in _ERRORS]

_EXIT_CODES: Table = [
    {"exit": "0", "meaning": "done"},
    {"exit": "1", "meaning": "refused or failed, with a typed code on stderr"},
    {"exit": "2", "meaning": "wrong usage"},
    {"exit": "10", "meaning": "risk: review needed"},
    {"exit": "11", "meaning": "a loop is held"},
    {"exit": "12", "meaning": "a loop failed or ran out of iterations"},
    {"exit": "13", "meaning": "verify: evidence does not match"},
    {"exit": "98", "meaning": "sandbox escape"},
    {"exit": "99", "meaning": "secret leak"},
    {"exit": "130", "meaning": "interrupted by SIGINT"},
    {"exit": "143", "meaning": "interrupted by SIGTERM"},
]

_ISOLATION: Table = [
    {"level": "none", "gives": "a private copy, a small environment, no process survives"},
    {
        "level": "auto",
        "gives": "the strongest that this machine has: writes in the sandbox only, home hidden; network open",
    },
    {"level": "strict", "gives": "the same without network unless a step says `network: true`; else an error"},
]


def _needs() -> Table:
    rows = [{"the log says": ", ".join(row.words), "needs": row.needs, "because": row.reason} for row in TABLE]
    return [*rows, {"the log says": "anything else", "needs": OTHERWISE.needs, "because": OTHERWISE.reason}]


def _secrets() -> Table:
    rows = [{"rule": rule.id, "provider": rule.provider} for rule in SHIPPED_RULES]
    return [*rows, {"rule": ENVIRONMENT_RULE, "provider": "values of your own variables that look secret"}]


def _settings() -> Table:
    defaults, agent = Values(), AgentSettings()
    return [
        {
            "setting": f"{section}.{key}",
            "default": str(getattr(getattr(defaults, section), key)),
            "meaning": help_of(section, key),
        }
        for section in Values.__struct_fields__
        for key in getattr(defaults, section).__struct_fields__
    ] + [
        {"setting": f"agents.NAME.{key}", "default": str(getattr(agent, key)), "meaning": agent_help_of(key)}
        for key in agent.__struct_fields__
    ]


def _ambiguity() -> Table:
    rows = [{"part": f"{name} is empty", "share": f"{weight:.2f}"} for name, weight in SECTION_WEIGHTS.items()]
    return [*rows, {"part": "open questions, by their share of all", "share": f"{OPEN_ITEMS_WEIGHT:.2f}"}]


def _blockers() -> Table:
    return [_blocker(family) for family in Family]


def _blocker(family: Family) -> dict[str, str]:
    code = f"{family.code}…" if family.code.endswith("_") else family.code
    return {"code": code, "says": family.message, "next": family.next}


TOPICS: dict[str, Callable[[], Table]] = {
    "ambiguity": _ambiguity,
    "blockers": _blockers,
    "errors": lambda: ERROR_TABLE,
    "exit-codes": lambda: _EXIT_CODES,
    "isolation": lambda: _ISOLATION,
    "needs": _needs,
    "preregistered": preregistered_rows,
    "risk": lambda: [row for rules in RULE_SETS.values() for row in rule_rows(rules)],
    "secrets": _secrets,
    "settings": _settings,
}


def explain(topic: str) -> Table:
    """The table of a topic; an error code or the id of a rule gives its one row."""
    if topic in TOPICS:
        return TOPICS[topic]()
    rows = [row for row in ERROR_TABLE if row["code"] == topic.upper().replace("-", "_")]
    if not rows and (family := family_of(topic)) is not None:
        return [_blocker(family)]
    return rows or [row for row in _secrets() if row["rule"] == topic]

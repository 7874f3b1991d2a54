"""`loopwright explain`: the tables that Loopwright itself uses."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.agents.port import Reason
from loopwright.analysis.registration_table import preregistered_rows
from loopwright.exit_codes import MEANINGS, exit_code_of
from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.environment_values import ENVIRONMENT_RULE
from loopwright.reflection.rule_sets import RULE_SETS
from loopwright.reflection.rule_table import rule_rows
from loopwright.runner.latest import OTHERWISE, TABLE
from loopwright.verbs.explained_codes import EXPLAINED, explained
from loopwright.workflow.blockers import Family, family_of
from loopwright.workflow.clarity import OPEN_ITEMS_WEIGHT, SECTION_WEIGHTS
from loopwright.workspace.settings import agent_help_of, help_of
from loopwright.workspace.settings_model import AgentSettings, Values

Table = list[dict[str, str]]

_ERRORS = (
    ("MISSING_PLAN", "there is no plan file", "write one with loopwright init"),
    ("INVALID_PLAN", "the plan is unreadable or invalid", "fix the listed lines"),
    ("SANDBOX_CREATE_FAILED", "worktree and copy both failed", "read both reasons in the message"),
    ("ISOLATION_UNAVAILABLE", "strict isolation is set, but this machine lacks it", "loopwright doctor"),
    ("isolation_too_weak", "an agent could reach your session and act as you", "loopwright doctor"),
    ("STEP_FAILED", "an exit code is not 0, a check failed, or a step timed out", "read the blocker card"),
    ("SECRET_LEAK", "a secret in plan, output or change", "remove the secret; it was not stored"),
    ("SANDBOX_ESCAPE", "the cwd of a step is outside the sandbox", "fix the plan"),
    ("LATCHED", "an earlier failure needs a person", "loopwright unlatch"),
    ("MAX_RETRIES", "--replan-with reached its limit", "read the blocker card and decide"),
    ("REPLAN_UNPROVEN", "a new plan passed without steps that had failed", "compare the plans and decide"),
    ("INTERRUPTED", "SIGINT / SIGTERM", "loopwright run"),
    ("STORAGE_FAILED", "the disk is full or read-only", "free space; loopwright gc"),
    ("DAMAGED_FILE", "a file of Loopwright is damaged", "loopwright doctor --fix"),
    ("SETTINGS_INVALID", "an unknown key or an invalid value", "fix the setting"),
    ("PROMPT_INVALID", "one of your prompts cannot be used", "fix it; loopwright prompts list"),
    ("TOOL_MISSING", "a program is not installed", "install it"),
    ("GIT_FAILED", "a git command failed", "loopwright doctor"),
    ("UNKNOWN_RUN", "there is no such run, or it cannot be repeated", "choose another run"),
    ("UNKNOWN_REVISION", "there is no such commit, or no common history", "git fetch, or choose another revision"),
    ("EVIDENCE_MISMATCH", "files differ from the recorded evidence", "do not rely on them; find the cause"),
    ("NOT_REPRODUCED", "a rerun had another result", "look for unpinned versions"),
    ("LOOP_REFUSED", "the loop cannot do that now", "use a command that the message lists"),
    ("WORKFLOW_REFUSED", "the workflow cannot do that now", "use the command that the message names"),
    ("WORKFLOW_CONFLICT", "the workflow changed in the meantime", "look again, then decide"),
    ("LOOP_CONFLICT", "the loop changed in the meantime", "look again, then decide"),
    ("UNKNOWN_LOOP", "there is no such loop", "loopwright loop list"),
    ("UNKNOWN_REFLECTION", "there is no such reflection", "loopwright reflect list"),
    ("UNKNOWN_AGENT", "there is no such agent", "use an agent that the message lists"),
    ("AGENT_FAILED", "an agent could not take its turn", "read the reason in the message"),
    ("INSIDE_AGENT", "an agent typed a command that is for people only", "let a person type it"),
    ("INPUT_INVALID", "an input file is invalid", "fix the part that the message names"),
    ("GATE_CLOSED", "P1, P2 and P3 are not all recorded and passed", "loopwright analyze all"),
    ("SELFTEST_FAILED", "Loopwright does not work correctly on this machine", "loopwright doctor"),
    ("INTERNAL_ERROR", "Loopwright itself failed", "report it with the named file"),
    ("WRONG_USAGE", "the command line is wrong", "see --help"),
)


def _exits(error: str) -> str:
    """The exit codes of an error: an interruption has one for each signal."""
    signals = ("SIGINT", "SIGTERM") if error == "INTERRUPTED" else (None,)
    return " / ".join(str(int(exit_code_of(error, signal_name))) for signal_name in signals)


ERROR_TABLE: Table = [
    {"code": error, "exit": _exits(error), "when": when, "then": then} for error, when, then in _ERRORS
]

_EXIT_CODES: Table = [{"exit": str(int(code)), "meaning": meaning} for code, meaning in MEANINGS.items()]

_ISOLATION: Table = [
    {"level": "none", "gives": "a private copy, a small environment, no leftover processes"},
    {
        "level": "auto",
        "gives": "the strongest isolation of this machine: writes only in the sandbox, home hidden; network open",
    },
    {"level": "strict", "gives": "the same, but no network unless a step sets `network: true`; otherwise an error"},
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
    rows = [
        {"part": f"{name} is empty or repeats another section", "share": f"{weight:.2f}"}
        for name, weight in SECTION_WEIGHTS.items()
    ]
    return [
        *rows,
        {"part": "open questions and answers that do not count, by their share", "share": f"{OPEN_ITEMS_WEIGHT:.2f}"},
    ]


def _blocker(family: Family) -> dict[str, str]:
    return {"code": _shown(family.code), "says": family.message, "next": family.next}


TOPICS: dict[str, Callable[[], Table]] = {
    "ambiguity": _ambiguity,
    "blockers": lambda: [_blocker(family) for family in Family],
    "codes": lambda: [{"code": _shown(row.code), "means": row.means, "then": row.then} for row in EXPLAINED],
    "errors": lambda: ERROR_TABLE,
    "exit-codes": lambda: _EXIT_CODES,
    "isolation": lambda: _ISOLATION,
    "needs": _needs,
    "preregistered": preregistered_rows,
    "risk": lambda: [row for rules in RULE_SETS.values() for row in rule_rows(rules)],
    "secrets": _secrets,
    "settings": _settings,
}


# What stands for the facts of a blocker in its explanation, in words. A family may say it better.
_FACTS = {
    "slug": "SLUG", "name": "NAME", "item": "A-1", "first": "A-1", "items": "A-1", "count": "NUMBER", "path": "FILE",
    "file": "FILE", "what": "NAME", "run": "RUN", "base_run": "RUN", "spec": "SPEC", "folder": "FOLDER",
    "domain": "DOMAIN", "lane": "LANE", "pattern": "FILE", "origin": "STAGE", "target": "STAGE", "stage": "STAGE",
    "transition": "this step", "by": "a person", "most": "NUMBER", "rounds": "NUMBER", "score": "NUMBER",
    "threshold": "NUMBER", "state": "missing or not valid", "status": "not approved", "verdict": "not approved",
    "question": "QUESTION", "requirement": "its sentence", "did": "changed", "look": "compare the two versions",
    "diff": "loopwright loop diff SLUG FILE", "way": "loopwright status SLUG", "claim": "a part",
    "failing": "checks or tests fail", "objects": "the folder of kept versions", "command": "its command",
}  # fmt: skip
_OF_FAMILY = {
    Family.VACUOUS_CHECK: {
        "when": "before the work, or whatever its tests expect",
    },
    Family.REVIEW_STATUS: {"why": "the review is missing, or no longer about this work"},
    Family.SEALED_FILE_CHANGED: {"did": "changed the protected or flagged file"},
    Family.APPROVAL_VOID: {"why": "what was approved has changed"},
    Family.TESTS_BROKEN: {"failing": "project tests that passed before the work fail now", "what": "project-tests"},
    Family.TESTS_UNREAD: {"what": "project-tests"},
    Family.PROCESS_STATE_CHANGED: {"what": "process-state"},
}
_SIGNED = (
    "look with `loopwright loop diff SLUG`; `loopwright build SLUG` sends the work back, `loopwright sign` takes it"
)
_APPROVED = "look with `loopwright loop diff SLUG`, then approve the step or build again"
_THEN = {
    Family.CHANGED_TEST: _SIGNED, Family.SEALED_FILE_CHANGED: _SIGNED, Family.PROCESS_STATE_CHANGED: _SIGNED,
    Family.UNPROVEN_REQUIREMENT: _SIGNED, Family.VACUOUS_CHECK: _SIGNED,
    Family.FLAGGED: _APPROVED, Family.UNALTERED_PROOF: _APPROVED,
}  # fmt: skip
_REST = "see the message"
_REASONS = frozenset(reason.value for reason in Reason)


class _SampleFacts(dict[str, str]):
    """The words for the facts of a blocker. For any other fact, the message of the blocker has the details."""

    def __missing__(self, fact: str) -> str:
        return _REST


def _plain_row(family: Family) -> dict[str, str]:
    """A blocker in plain words, and what to do about it."""
    facts = _SampleFacts({**_FACTS, **_OF_FAMILY.get(family, {})})
    then = _THEN.get(family) or family.next.format_map(facts)
    return {"code": _shown(family.code), "means": family.message.format_map(facts), "then": then}


def _rows_of_code(code: str) -> Table:
    """The rows of a code of a loop, a workflow or an agent. The same code may belong to a loop and to a build."""
    family, rows = family_of(code) or family_of(f"{code}_"), explained(code)
    if family is not None:
        # Of two that begin with the same word, the longer one is meant.
        rows = tuple(row for row in rows if len(row.code) >= len(family.code) or row.code in _REASONS)
        if any(row.code == code != family.code for row in rows):
            family = None
    blockers = [_plain_row(family)] if family is not None else []
    return [*blockers, *({"code": _shown(row.code), "means": row.means, "then": row.then} for row in rows)]


def _shown(code: str) -> str:
    return f"{code}…" if code.endswith("_") else code


def explain(topic: str) -> Table:
    """The table of a topic, or the rows of a code or a secret rule."""
    if topic in TOPICS:
        return TOPICS[topic]()
    rows = [row for row in ERROR_TABLE if row["code"].upper() == topic.upper().replace("-", "_")]
    return rows or _rows_of_code(topic) or [row for row in _secrets() if row["rule"] == topic]

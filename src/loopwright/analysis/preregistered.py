"""What was decided before any data was looked at: numbers, kill conditions and heuristics, as data.

Nothing here is computed from results. A change needs a new row in `REASONS`: a test compares the digest.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from loopwright.kernel.codec import to_json
from loopwright.kernel.digest import sha256
from loopwright.reflection.rule_set import FRAGMENT
from loopwright.reflection.rule_sets import CLASSIC


class Experiment(StrEnum):
    """The three experiments."""

    CALIBRATION = "P1"
    GIT_HISTORY = "P2"
    BOARD_HISTORY = "P3"


class CatchingGate(StrEnum):
    """Who would have caught a failure."""

    CI = "ci"
    REVIEW = "human review"
    REFLECTION = "only self-reflection"


class Series(StrEnum):
    """Where a confidence comes from; analyses never mix two of them."""

    AFTER = "after"
    HOOK = "hook"
    REPORTED = "reported"
    BEFORE = "before"
    ADVERSARIAL = "adversarial"


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """The thresholds. The first six are the contract's, the others are ours; docs/analysis.md says why."""

    near_empty_share: float = 0.05
    high_confidence: float = 0.8
    chance: float = 0.5
    interval: float = 0.95
    detectable_share: float = 0.20
    outcome_days: int = 30
    least_records: int = 10
    soon_days: int = 14
    landing_days_before: int = 1
    landing_days_after: int = 14
    wide_files: int = 500
    bins: int = 10
    baseline_sample: int = 500
    culprit_cover: float = 0.5
    chance_draws: int = 19
    chance_days: int = 56
    chance_seed: int = 2026


MEANINGS: Final = {
    "near_empty_share": "P2 is killed when a smaller share of the failures is 'only self-reflection'",
    "high_confidence": "self-rated high: at least this confidence",
    "chance": "P1 is killed when the lower end of the AUC's interval is not above this",
    "interval": "how sure every interval is",
    "detectable_share": "P3 is killed when a smaller share of completed tasks has a signal",
    "outcome_days": "how long after landing or completion a signal counts, and how old work must be to be judged",
    "least_records": "fewer than this are not enough data",
    "soon_days": "P2: a fix this long after a feature landed is soon after it",
    "landing_days_before": "P1: work may have landed this long before it was reported on; P3: so may a sign of right",
    "landing_days_after": "P1: work that lands later than this after its report is not recognised",
    "wide_files": "a change of more files (a reformatting, an import) is linked to no other by its files",
    "bins": "bars of the reliability diagram",
    "baseline_sample": "P2: this many changes, evenly spread, are asked for their lines, of each group",
    "culprit_cover": "P2: a feature that only shared files blame has this share of the fix's telling files, at least",
    "chance_draws": "P2: so often all fixes are moved; more than the most of 19 comes by chance once in 20 times",
    "chance_days": "P2: a fix is moved to the moment of another change at most this far away",
    "chance_seed": "P2: the same history gives the same moves",
}


class Heuristics(msgspec.Struct, frozen=True, kw_only=True):
    """The patterns by which messages and paths are read; all are matched without regard to case."""

    # A title such as `fix(api)!: …`; what stands before the colon is its kind.
    typed_title: str = r"^(?:[^\w\s\[]{1,4}\s+|:[a-z_]{1,30}:\s*)?(?P<type>[a-z]+)(?:\([^()]*\))?!?:\s"
    feature_types: tuple[str, ...] = ("feat", "feature", "enh", "enhancement")
    fix_types: tuple[str, ...] = ("fix", "bug", "bugfix", "hotfix")
    revert_types: tuple[str, ...] = ("revert",)
    other_types: tuple[str, ...] = (
        "bench", "bld", "build", "chore", "ci", "deps", "doc", "docs", "maint", "perf", "refactor", "release", "style",
        "test", "tests", "tst", "wip",
    )  # fmt: skip
    fix_title: str = r"^(?:[^\w\s\[]{1,4}\s+|:[a-z_]{1,30}:\s*|\[[^\]]{1,40}\]\s*|[\w./-]{1,60}:\s+)?(?:hot|bug)?fix(?:es|ed|ing)?\b|\bhot-?fix\b"
    feature_title: str = r"^(?:[^\w\s\[]{1,4}\s+|:[a-z_]{1,30}:\s*|\[[^\]]{1,40}\]\s*|[\w./-]{1,60}:\s+)?(?:add|implement|introduce|support|enable)(?:s|ed)?\b"
    squash_title: str = r"\((?:#|!|gh-)\d+\)\s*$"
    revert_title: str = (
        r'^(?:\[[^\]]{1,40}\]\s*|[\w./-]{1,60}:\s+)?revert(?:s|ed)?:?\s+["“]?(?P<title>.*?)["”]?\s*(?:\((?:#|!)\d+\))?$'
    )
    reland_title: str = r'^(?:revert\s+["“]?revert\b|re-?appl(?:y|ies)\b|re-?land\b)'
    reverted_commit: str = r"\bthis reverts (?:commit|merge request|pull request)\s+(?P<id>[0-9a-f]{7,64})\b"
    fixed_commit: str = r"^fixes:\s+(?P<id>[0-9a-f]{7,64})\b"
    # A merge that brings in many people's work is no feature of its own.
    integration_merge: str = (
        r"^merge (?:tag|remote-tracking branch|commit)\b|^merge (?:branch )?['\"]?(?:main|master|develop|trunk)\b"
    )
    merged_branch: str = (
        r"^merge pull request #\d+ from [^/\s]+/(?P<a>\S+)|^merge branch ['\"](?P<b>[^'\"]+)['\"]|^merged in (?P<c>\S+)"
    )
    fix_branch: str = r"^(?:[\w.-]+/)?(?:hot|bug)?fix(?:es)?[/_-]"
    other_branch: str = (
        r"^(?:[\w.-]+/)?(?:chore|ci|build|docs?|deps|dependabot|renovate|release|refactor|test|style)[/_-]"
    )
    # What a machine checks: words in a fix's title or in the reason for a revert.
    ci_words: str = (
        r"\b(?:ci|builds?|compil\w+|lint\w*|type-?check\w*|type errors?|mypy|tsc|eslint|ruff|clippy|tests?|flak[ey]\w*"
        r"|snapshots?|(?:missing |broken |circular )imports?|import errors?|syntax errors?|undefined (?:name|variable)s?"
        r"|warnings?)\b"
    )
    # What the doer could know and the diff does not show.
    hidden_words: str = (
        r"\b(?:regress\w*|edge[- ]cases?|corner[- ]cases?|race(?:s| conditions?)?|deadlocks?|leak\w*|prod(?:uction)?"
        r"|outages?|incidents?|time-?outs?|performance|slow\w*|forg[eo]t\w*|missed|overlooked|incomplete|unhandled"
        r"|assum\w+|unexpected\w*|downstream|side[- ]effects?|workarounds?|temporary|hack\w*)\b"
    )
    test_paths: str = r"(?:^|/)(?:tests?|__tests__|specs?|e2e)/|[._-](?:test|spec)s?\.[^/]+$|(?:^|/)test_[^/]+$"
    build_paths: str = (
        r"(?:^|/)(?:\.github|\.gitlab|\.circleci|\.woodpecker|\.ci|ci)/"
        r"|(?:^|/)(?:makefile|dockerfile|jenkinsfile|cmakelists\.txt|package\.json|pyproject\.toml|setup\.(?:py|cfg)"
        r"|cargo\.toml|go\.mod|pom\.xml|tsconfig[^/]*\.json|[^/]+\.gradle(?:\.kts)?|\.gitlab-ci\.yml)$"
    )
    prose_paths: str = (
        r"\.(?:md|rst|adoc|txt)$|(?:^|/)docs?/[^/]+\.(?:html|png|svg)$"
        r"|(?:^|/)(?:changelog|changes|history|news|licen[cs]e|authors|readme)[^/]*$"
    )
    noise_paths: str = (
        r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock|pdm\.lock"
        r"|cargo\.lock|go\.sum|gemfile\.lock|composer\.lock|flake\.lock)$"
    )


# The baseline is the contract's own table: `default` rules may get better, and a baseline must not move.
SURFACE_RULES: Final = CLASSIC
SURFACE_WEIGHTS: Final = dict(CLASSIC.weights)


class TaskFiles(msgspec.Struct, frozen=True, kw_only=True):
    """How tasks are recognised in files under version control."""

    globs: tuple[str, ...] = (
        "tasks.md", "**/tasks.md", "TODO.md", "**/TODO.md", "tasks/**/*.md", "backlog/**/*.md", ".tasks/**/*.md",
    )  # fmt: skip
    checkbox: str = r"^\s*(?:[-*+]|\d+[.)])\s+\[(?P<mark>[ xX])\]\s+(?P<text>\S.*?)\s*$"
    status_line: str = r"^(?:status|state):\s*[\"']?(?P<status>[A-Za-z _-]+?)[\"']?\s*$"
    done_folders: tuple[str, ...] = ("archive", "closed", "complete", "completed", "done")
    done_words: tuple[str, ...] = (
        "closed", "complete", "completed", "delivered", "done", "finished", "merged", "released", "resolved", "shipped",
    )  # fmt: skip


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """The usual names of a board export's columns, in snake case; the first that is there is taken."""

    task: tuple[str, ...] = (
        "id", "key", "issue_key", "issue_id", "task_id", "task_ref", "identifier", "number", "iid", "url", "title", "name",
        "summary",
    )  # fmt: skip
    status: tuple[str, ...] = ("status", "state", "column", "list", "list_name", "stage", "section")
    completed: tuple[str, ...] = (
        "completed_at", "completed", "completed_on", "completed_date", "completion_date", "closed_at", "closed",
        "closed_date", "closed_on", "date_closed", "done_at", "done", "done_date", "finished_at", "merged_at", "resolved_at",
        "resolved", "resolution_date", "resolutiondate",
    )  # fmt: skip
    wrong: tuple[str, ...] = (
        "reopened_at", "reopened", "reopened_on", "last_reopened_at", "reverted_at", "reverted", "rolled_back_at",
        "rollback_at", "bug_reported_at", "bug_created_at", "bug_at", "defect_at", "regression_at", "incident_at",
        "ci_failed_at", "tests_failed_at",
    )  # fmt: skip
    right: tuple[str, ...] = (
        "verified_at", "verified", "accepted_at", "validated_at", "qa_passed_at", "ci_passed_at", "tests_passed_at",
        "checks_passed_at", "deployed_at",
    )  # fmt: skip
    verdict: tuple[str, ...] = (
        "ci_status",
        "ci_conclusion",
        "ci_result",
        "checks",
        "checks_status",
        "test_result",
        "tests",
    )
    verdict_at: tuple[str, ...] = (
        "ci_at",
        "ci_completed_at",
        "checks_at",
        "checks_completed_at",
        "tested_at",
        "tests_at",
    )
    events: tuple[str, ...] = ("events", "history", "changelog", "timeline")
    event_kind: tuple[str, ...] = ("kind", "type", "event", "action", "to", "status", "to_string")
    event_at: tuple[str, ...] = ("at", "date", "time", "timestamp", "created_at", "created", "occurred_at")
    conclusive: tuple[str, ...] = (
        "error", "fail", "failed", "failing", "failure", "green", "ok", "pass", "passed", "passing", "red", "success",
    )  # fmt: skip
    passing: tuple[str, ...] = ("green", "ok", "pass", "passed", "passing", "success")
    wrong_events: tuple[str, ...] = (
        "reopened", "reopen", "reverted", "revert", "rolled_back", "rollback", "bug", "bug_reported", "defect",
        "regression", "incident", "ci_failed", "tests_failed", "check_failed",
    )  # fmt: skip
    right_events: tuple[str, ...] = (
        "verified", "accepted", "validated", "qa_passed", "ci_passed", "tests_passed", "checks_passed", "deployed",
    )  # fmt: skip
    lists: tuple[str, ...] = ("items", "issues", "tasks", "cards", "nodes", "records", "data", "results", "values")


class RegisteredReason(msgspec.Struct, frozen=True):
    """Why the numbers or heuristics are what they are since that day, bound to what they were."""

    date: str
    digest: str
    why: str


NUMBERS: Final = Numbers()
HEURISTICS: Final = Heuristics()
TASK_FILES: Final = TaskFiles()
COLUMNS: Final = Columns()
# The series whose AUC decides: the first with enough data, never the one with the best result.
DECIDING_ORDER: Final = tuple(Series)

KILL: Final = {
    Experiment.CALIBRATION: (
        f"P1 is killed when the AUC is not above chance on the records that were self-rated high (confidence >= "
        f"{NUMBERS.high_confidence:g}): the lower end of its {NUMBERS.interval:.0%} interval is <= {NUMBERS.chance:g}."
    ),
    Experiment.GIT_HISTORY: (
        "P2 is killed when the bucket 'only self-reflection' is near-empty: "
        f"under {NUMBERS.near_empty_share:.0%} of the failures. It does not pass on what chance alone would put there."
    ),
    Experiment.BOARD_HISTORY: (
        f"P3 is killed when under {NUMBERS.detectable_share:.0%} of the completed tasks have a machine-detectable "
        f"right or wrong signal within {NUMBERS.outcome_days} days."
    ),
}


def current_digest() -> str:
    """The digest of everything above that a result depends on."""
    parts = (NUMBERS, HEURISTICS, TASK_FILES, COLUMNS, [str(series) for series in DECIDING_ORDER])
    return sha256(to_json((*parts, SURFACE_WEIGHTS, surface_fragments())))


def surface_fragments() -> dict[str, list[str]]:
    """What the baseline's table looks for in a path, by surface."""
    return {name: sorted(kinds[FRAGMENT]) for name, kinds in SURFACE_RULES.surfaces.items()}


REASONS: Final = (
    RegisteredReason(
        "2026-11-15",
        "7e5f40cca66b73b7bc9b46b2f41027e78a2ece5676eb51314ddef5983fe36c53",
        "First registration: the contract's six numbers; the others were chosen before any analysis was run.",
    ),
    RegisteredReason(
        "2026-11-15",
        "747b8733a9969f722500d17b6f1796ad766e93a81a7ed1f62f8bc9bfd0b5e268",
        "P2 passed on random commits: one shared file among many blamed a feature, and the files that it lacked counted "
        "as hidden. Shared files blame only what covers half of the fix (culprit_cover), and what chance alone gives is "
        "measured (chance_draws, chance_days, chance_seed). Chosen on random histories only, before any real one was "
        "analysed under them.",
    ),
)

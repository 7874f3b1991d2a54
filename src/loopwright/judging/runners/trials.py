"""Which reporters a test command can't stand. Decided by runs on the base, used for both trees. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from loopwright.judging.runners.table import ALL, FALLBACKS, REPORTERS

# Addresses, numbers, and the names of sandboxes and temporary folders.
_VARIES = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{12,}\b|\btmp\w+|\d+")
_PYTEST_END = re.compile(r"^=*\s*\d+ (?:passed|failed|errors?|skipped)\b.* in \d+\.\d+s", re.MULTILINE)


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the command on the base."""

    without: frozenset[str]
    exited_with_0: bool
    # Whether a runner reported, and whether its report has a failed test: that explains a failed command.
    has_report: bool
    has_failures: bool
    # The end of the output.
    output: str


class Choice(msgspec.Struct, frozen=True):
    """The reporters to leave out: for good, or in the next run on the base."""

    without: frozenset[str]
    is_settled: bool


def choose(trials: Sequence[Trial]) -> Choice:
    """Settle which reporters both trees go without, or name the next run. Most commands need one run."""
    if not trials:
        return Choice(FALLBACKS, is_settled=False)
    first, by_set = trials[0], {trial.without: trial for trial in trials}
    if not first.has_report and _PYTEST_END.search(first.output):
        return _fallback(first, by_set)
    if first.exited_with_0 or first.has_failures:
        return Choice(first.without, is_settled=True)
    plain = by_set.get(ALL)
    if plain is None:
        return Choice(ALL, is_settled=False)
    return Choice(first.without, is_settled=True) if _alike(first, plain) else _culprit(first, plain, by_set)


def _fallback(first: Trial, by_set: dict[frozenset[str], Trial]) -> Choice:
    """The command runs pytest and keeps our plugin out."""
    without = first.without - FALLBACKS
    tried = by_set.get(without)
    if tried is None:
        return Choice(without, is_settled=False)
    return Choice(without if tried.has_report else first.without, is_settled=True)


def _culprit(first: Trial, plain: Trial, by_set: dict[frozenset[str], Trial]) -> Choice:
    """The one reporter without which the command works as without any; else all of them."""
    for reporter in REPORTERS:
        if reporter.name not in first.without:
            without = first.without | {reporter.name}
            trial = by_set.get(without)
            if trial is None:
                return Choice(without, is_settled=False)
            if trial.has_failures or _alike(trial, plain):
                return Choice(without, is_settled=True)
    return Choice(ALL, is_settled=True)


def _alike(trial: Trial, plain: Trial) -> bool:
    if trial.exited_with_0 or plain.exited_with_0:
        return trial.exited_with_0 == plain.exited_with_0
    return _VARIES.sub("0", trial.output) == _VARIES.sub("0", plain.output)

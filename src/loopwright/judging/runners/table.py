"""How each test runner is asked for a report: variables, as data. The user's own values are kept and extended."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

# The folder for reports; the support files read it, and remove it from the environment of what a test starts.
REPORTS = "LOOPWRIGHT_REPORTS"
# In the folder for reports: the test files to run. Written only if some are left out.
SELECTION = "selection.json"
# Runners that can leave out test files without a change of the command.
SELECTING = frozenset({"pytest", "unittest"})
_PLAIN = re.compile(r"[\w./:@=+-]+")


class Variable(msgspec.Struct, frozen=True):
    """One variable. Its value may name `{support}` and `{reports}`; `between` joins it with the user's value."""

    name: str
    value: str
    # None: the user's value wins.
    between: str | None = " "


class Reporter(msgspec.Struct, frozen=True):
    """One way to get results per test. It is used or left out as a whole."""

    name: str
    variables: tuple[Variable, ...]
    # Used only where the other reporters report nothing.
    is_fallback: bool = False


REPORTERS = (
    # A sitecustomize for unittest, and the entry point of a plugin for pytest. `-p` in PYTEST_ADDOPTS would end pytest
    # where PYTHONPATH is ignored (`python -I`); this way there is no report.
    Reporter("python", (Variable("PYTHONPATH", "{support}", os.pathsep),)),
    Reporter("tox", (Variable("TOX_OVERRIDE", f"testenv.pass_env+={REPORTS},PYTHONPATH,NODE_OPTIONS,CI", ";"),)),
    # Prints what node prints by default, and ends `node --test --test-reporter=X` without a destination.
    Reporter(
        "node-test",
        (Variable("NODE_OPTIONS", "--test-reporter={support}/loopwright_node.mjs --test-reporter-destination=stdout"),),
    ),
    # mocha, jest and vitest.
    Reporter("node", (Variable("NODE_OPTIONS", "--require={support}/loopwright_preload.cjs"),)),
    # The text of `go test -v` is read. With -json, `go vet` would exit with 0 in spite of findings.
    Reporter("go", (Variable("GOFLAGS", "-v"),)),
    # Without it, snapshots of jest, vitest and others are written by the run that should compare them.
    Reporter("ci", (Variable("CI", "1", None),)),
    # For commands that set PYTHONPATH themselves. Two calls of pytest overwrite each other's file.
    Reporter("pytest-junit", (Variable("PYTEST_ADDOPTS", "--junitxml={reports}/pytest.xml"),), is_fallback=True),
)
FALLBACKS = frozenset(reporter.name for reporter in REPORTERS if reporter.is_fallback)
ALL = frozenset(reporter.name for reporter in REPORTERS)


def reporting_variables(
    support: Path, reports: Path, environment: Mapping[str, str], without: frozenset[str] = FALLBACKS
) -> dict[str, str]:
    """The variables that make test runners report, given the step's own environment. The paths are those inside."""
    added: dict[str, str] = {} if without == ALL else {REPORTS: str(reports)}
    for reporter in REPORTERS:
        if reporter.name not in without:
            for variable in reporter.variables:
                known = added.get(variable.name, environment.get(variable.name, ""))
                added[variable.name] = _joined(variable, _filled(variable, support, reports), known)
    return added


def _filled(variable: Variable, support: Path, reports: Path) -> str:
    if variable.between != " ":
        return variable.value.format(support=support, reports=reports)
    # Node and pytest split their options at spaces; both know double quotes.
    words = (word.format(support=support, reports=reports) for word in variable.value.split(" "))
    return " ".join(word if _PLAIN.fullmatch(word) else json.dumps(word, ensure_ascii=False) for word in words)


def _joined(variable: Variable, ours: str, known: str) -> str:
    if not known:
        return ours
    return known if variable.between is None else f"{ours}{variable.between}{known}"

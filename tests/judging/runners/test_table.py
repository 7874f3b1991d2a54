"""The variables that ask for reports, next to those of the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.judging.runners.table import ALL, FALLBACKS, REPORTERS, reporting_variables

SUPPORT, REPORTS = Path("/tmp/support"), Path("/tmp/reports")
TEST_REPORTER = "--test-reporter=/tmp/support/loopwright_node.mjs --test-reporter-destination=stdout"
PRELOAD = "--require=/tmp/support/loopwright_preload.cjs"
PASSED_ON = "testenv.pass_env+=LOOPWRIGHT_REPORTS,PYTHONPATH,NODE_OPTIONS,CI"


@pytest.mark.parametrize(
    ("environment", "without", "expected"),
    [
        (
            {},
            FALLBACKS,
            {
                "LOOPWRIGHT_REPORTS": "/tmp/reports",
                "PYTHONPATH": "/tmp/support",
                "TOX_OVERRIDE": PASSED_ON,
                "NODE_OPTIONS": f"{PRELOAD} {TEST_REPORTER}",
                "GOFLAGS": "-v",
                "CI": "1",
            },
        ),
        (
            {"PYTHONPATH": "src:lib", "TOX_OVERRIDE": "testenv.deps=a", "NODE_OPTIONS": "--no-warnings", "CI": "yes",
             "GOFLAGS": "-mod=vendor", "PYTEST_ADDOPTS": "-x", "PATH": "/bin"},
            frozenset(),
            {
                "LOOPWRIGHT_REPORTS": "/tmp/reports",
                "PYTHONPATH": "/tmp/support:src:lib",
                "TOX_OVERRIDE": f"{PASSED_ON};testenv.deps=a",
                "NODE_OPTIONS": f"{PRELOAD} {TEST_REPORTER} --no-warnings",
                "GOFLAGS": "-v -mod=vendor",
                "CI": "yes",
                "PYTEST_ADDOPTS": "--junitxml=/tmp/reports/pytest.xml -x",
            },
        ),
        ({"NODE_OPTIONS": "--no-warnings"}, ALL - {"node"}, {
            "LOOPWRIGHT_REPORTS": "/tmp/reports", "NODE_OPTIONS": f"{PRELOAD} --no-warnings"}),
        ({"GOFLAGS": "-mod=vendor"}, ALL, {}),
    ],
    ids=["nothing set", "everything set", "one reporter", "no reporter"],
)  # fmt: skip
def test_values_of_the_user_are_kept_and_extended(environment, without, expected):
    assert reporting_variables(SUPPORT, REPORTS, environment, without) == expected


def test_a_path_with_a_space_stays_one_word():
    added = reporting_variables(Path("/a b"), REPORTS, {}, ALL - {"node"})
    assert added["NODE_OPTIONS"] == '"--require=/a b/loopwright_preload.cjs"'


def test_each_reporter_can_be_left_out_by_its_name():
    assert len({reporter.name for reporter in REPORTERS}) == len(REPORTERS)
    for reporter in REPORTERS:
        changed = {variable.name for variable in reporter.variables}
        assert changed <= set(reporting_variables(SUPPORT, REPORTS, {}, ALL - {reporter.name}))

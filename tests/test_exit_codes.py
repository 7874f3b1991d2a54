"""Every list of exit codes comes from one table."""

from __future__ import annotations

import click

from loopwright.cli.main import loopwright
from loopwright.errors import LoopwrightError
from loopwright.exit_codes import MEANINGS, ExitCode, exit_code_of
from loopwright.verbs.explain import explain


def test_every_exit_code_has_a_meaning():
    assert list(MEANINGS) == list(ExitCode)


def test_explain_and_the_main_help_list_every_exit_code():
    help_page = " ".join(loopwright.get_help(click.Context(loopwright, info_name="loopwright")).split())
    listed = {row["exit"]: row["meaning"] for row in explain("exit-codes")}
    assert listed == {str(int(code)): meaning for code, meaning in MEANINGS.items()}
    for code, meaning in listed.items():
        assert f"{code} {meaning}" in help_page
    assert "14 nothing proves that the work is done" in help_page


def test_the_table_of_errors_names_the_exit_code_that_a_script_gets():
    table = {row["code"]: row["exit"] for row in explain("errors")}
    assert table.pop("INTERRUPTED") == "130 / 143"
    assert table == {error: str(int(exit_code_of(error))) for error in table}
    assert exit_code_of(LoopwrightError.code) == ExitCode.FAILED

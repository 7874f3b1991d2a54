"""Which test commands judge a change, by their patterns."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from loopwright.loop.actions.run_tests import commands_for
from loopwright.workspace.settings_model import TestCommand as Command

API = Command(command="api", when=["api/**"])
WEB = Command(command="web", when=["web/**"])
ALL = Command(command="all")


@pytest.mark.parametrize(
    ("commands", "files", "judging"),
    [
        ((API, WEB), ("api/a.py",), (API,)),
        ((API, WEB), ("api/a.py", "web/w.py"), (API, WEB)),
        ((API, WEB), ("api/a.py", "shared/s.py"), (API, WEB)),
        ((API, WEB), ("shared/s.py",), (API, WEB)),
        ((API, WEB, ALL), ("api/a.py",), (API, ALL)),
        ((API, WEB), (), (API, WEB)),
    ],
)
def test_a_file_that_no_pattern_names_is_judged_by_all_commands(commands, files, judging):
    context = SimpleNamespace(project=SimpleNamespace(test_commands=commands, has_no_tests=False))
    assert commands_for(context, files) == judging

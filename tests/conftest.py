"""Fixtures, and the rule that CI skips nothing."""

from __future__ import annotations

import os
import shutil

import pytest

from loopwright.testing.project import Project

_HOW_TO_GET = {"bwrap": "apt install bubblewrap", "strace": "apt install strace", "tmux": "apt install tmux"}


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.fixture
def make_project(tmp_path):
    made = []

    def make(files=None, *, commit=True):
        made.append(Project(tmp_path / str(len(made)), files, commit=commit))
        return made[-1]

    return make


def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        tool = mark.args[0]
        if tool == "root" and os.geteuid() != 0:
            pytest.skip("needs root, to mount a small file system")
        if tool != "root" and shutil.which(tool) is None:
            pytest.skip(f"needs {tool} ({_HOW_TO_GET.get(tool, 'install it')})")


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    if os.environ.get("NO_SKIPS") and terminalreporter.stats.get("skipped"):
        terminalreporter.write_line("NO_SKIPS: a skipped test is a failure here", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("NO_SKIPS") and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = 1

"""Fixtures, and the rule that CI skips nothing."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from loopwright.testing.project import Project
from loopwright.testing.templates import Templates

# A collection of garbage walks through all collected tests; with the usual limit that is a seventh of a worker's work.
gc.set_threshold(50_000, 20, 100)

# Tests read English, whatever the language of the desk is; those of other languages say so themselves.
os.environ["LC_ALL"] = "C.UTF-8"
os.environ.pop("LANGUAGE", None)

# How long an example takes to be made or to run says how busy the machine is, and nothing of the code.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

# The tool makes its files durable, and a disk needs milliseconds for each: most of a walk would be waiting for it.
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 2 << 30


def _has_room(folder):
    """Whether temporary folders fit in: containers often have a /dev/shm of 64 MB."""
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= _ROOM_BYTES


if _has_room(_MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

_HOW_TO_GET = {
    "bwrap": "apt install bubblewrap",
    "libfaketime": "apt install libfaketime",
    "strace": "apt install strace",
    "tmux": "apt install tmux",
}


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    """Stages of workflows, shared by all workers of this session."""
    folder = tmp_path_factory.getbasetemp()
    return Templates((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "templates")


@pytest.fixture
def project_folder(tmp_path):
    """A folder for one project; nothing works there after the test."""
    yield tmp_path
    _end_what_works_below(tmp_path)


@pytest.fixture
def project(project_folder, templates):
    return Project(project_folder, templates=templates)


def _end_what_works_below(folder):
    """End a worker that a test left alone, or what a killed one had begun: these would go on for hours."""
    below = f"{folder}/"
    for name in os.listdir("/proc"):
        with suppress(OSError, ValueError):
            if f"{os.readlink(f'/proc/{name}/cwd')}/".startswith(below) and int(name) != os.getpid():  # noqa: PTH115
                os.kill(int(name), signal.SIGKILL)


@pytest.fixture
def make_project(tmp_path, templates):
    made = []

    def make(files=None, *, commit=True):
        made.append(Project(tmp_path / str(len(made)), files, commit=commit, templates=templates))
        return made[-1]

    return make


@pytest.fixture
def cold_starts(monkeypatch):
    """Every `loopwright` of the test is started, as a user does it; the others are forks of a warm interpreter."""
    monkeypatch.setenv("COLD_STARTS", "1")


def pytest_collection_finish(session):
    """Tests and modules stay to the end: no collection looks at them again."""
    gc.freeze()


def pytest_runtest_setup(item):
    for mark in item.iter_markers("shows"):
        item.user_properties.append(("shows", json.dumps([item.callspec.params["agent"], *mark.args])))
    for mark in item.iter_markers("needs"):
        tool = mark.args[0]
        if tool == "root" and os.geteuid() != 0:
            pytest.skip("needs root, to mount a small file system")
        if tool != "root" and not (faketime() if tool == "libfaketime" else shutil.which(tool)):
            pytest.skip(f"needs {tool} ({_HOW_TO_GET.get(tool, 'install it')})")


def faketime():
    """The library that gives a program another clock; it is no program itself."""
    return next((str(path) for path in Path("/usr").glob("lib*/**/faketime/libfaketime.so.1")), None)


@pytest.fixture
def faketime_library():
    return faketime()


def _say_faults(reporter):
    """What the fault tests counted, as one table."""
    numbers = Counter()
    for report in reporter.stats.get("passed", ()):
        for name, value in report.user_properties:
            if name == "faults" and report.when == "call":
                numbers.update(json.loads(value))
    if numbers:
        reporter.section("faults")
    for what, number in sorted(numbers.items()):
        reporter.write_line(f"{number:>7,}  {what}")


def _keep_what_was_shown(reporter, path):
    """Keep what the tests that passed show of the agents, to be compared with the table of the docs."""
    reports = [report for kind in ("passed", "failed") for report in reporter.stats.get(kind, ())]
    if not any(name == "shows" for report in reports for name, _ in report.user_properties):
        return  # no test of an agent was among them
    passed = [report for report in reports if report.when == "call" and report.passed]
    shown = [json.loads(value) for report in passed for name, value in report.user_properties if name == "shows"]
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(sorted((agent, item) for agent, *items in shown for item in items)))


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    _say_faults(terminalreporter)
    if not config.option.collectonly:
        _keep_what_was_shown(terminalreporter, config.rootpath / ".cache" / "shown.json")
    if os.environ.get("NO_SKIPS") and terminalreporter.stats.get("skipped"):
        terminalreporter.write_line("NO_SKIPS: a skipped test is a failure here", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("NO_SKIPS") and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = 1

"""A plugin for pytest that writes the result of each test. Its one change: failures do not end the run early."""

from __future__ import annotations

from typing import Any

import pytest
from loopwright_session import Session, is_selected, open_session
from loopwright_state import UNKNOWN, watch

_NO_TESTS = 5
_SELECTED, _STATE = "loopwright_selected", "loopwright_state"
# Now, because a conftest.py imports the project before the session starts.
_CHANGED = watch()
# Earlier versions call the parameter of a hook by another name.
_NAMES_COLLECTED_PATHS = int(pytest.__version__.partition(".")[0]) >= 7
_RUNS_ON = (0, 1, _NO_TESTS)  # exit codes of a session that went to its end: passed, failed, no tests


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: Any) -> None:
    """Start the report, before xdist starts its workers: these inherit no folder and stay silent."""
    config = session.config
    if hasattr(config, "workerinput"):
        _select(config, config.workerinput.get(_SELECTED, []))
        config.pluginmanager.register(_WorkerState(config), "loopwright-state")
    if hasattr(config, "workerinput") or getattr(config.option, "collectonly", False):
        return
    root = str(getattr(config, "rootpath", None) or config.rootdir)
    report = open_session("pytest", pytest.__version__, root, _CHANGED)
    if report is not None:
        # Without this option one file that can't be imported hides the results of all other files.
        config.option.continue_on_collection_errors = True
        # `-x` hides the results of the tests after the first failure: they could not be compared.
        config.option.maxfail = 0
        config.pluginmanager.register(_Recorder(report), "loopwright-recorder")
        _select(config, report.selected)


def _select(config: Any, selected: list[str]) -> None:
    if selected:
        selector = _Selector if _NAMES_COLLECTED_PATHS else _OldSelector
        config.pluginmanager.register(selector(selected), "loopwright-selector")


class _WorkerState:
    """Tells the controller of xdist what changed in a worker: the tests run there."""

    def __init__(self, config: Any) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._config.workeroutput[_STATE] = [UNKNOWN] if _CHANGED is None else _CHANGED()


class _OldSelector:
    """Leaves out the tests of all files but these."""

    def __init__(self, selected: list[str]) -> None:
        self._selected = selected

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker of xdist inherits no folder, and collects by itself."""
        node.workerinput[_SELECTED] = self._selected

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """A file that the command names is collected in any case."""
        others = [item for item in items if not is_selected(_path_of(item), self._selected)]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if is_selected(_path_of(item), self._selected)]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> None:
        """The next command of a recipe runs, although this one had no selected test."""
        if int(exitstatus) == _NO_TESTS:
            session.exitstatus = 0


class _Selector(_OldSelector):
    """Does not even import the other files: in a large project that takes longer than the tests."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Any) -> bool | None:
        """Modules of packages are imported with every test in them."""
        path = str(collection_path).replace("\\", "/")
        is_needed = path.endswith("/__init__.py") or is_selected(path, self._selected) or collection_path.is_dir()
        return None if is_needed else True


def _path_of(item: Any) -> str:
    return str(getattr(item, "path", None) or item.fspath).replace("\\", "/")


class _Recorder:
    def __init__(self, report: Session) -> None:
        self._report = report
        self._open: dict[str, _Test] = {}
        self._collected: set[str] = set()
        self._finished = 0
        self._interrupted = ""

    def pytest_collectreport(self, report: Any) -> None:
        # Each worker of xdist reports the same files.
        if report.outcome != "passed" and report.nodeid not in self._collected:
            self._collected.add(report.nodeid)
            message = "can't be loaded" if report.failed else _skip_reason(report)
            self._report.add(report.nodeid, "", "", report.outcome, 0, message, _trace(report))

    def pytest_runtest_logreport(self, report: Any) -> None:
        test = self._open.setdefault(report.nodeid, _Test())
        test.take(report)
        if report.when not in ("setup", "call"):
            self._close(report.nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self._finished += 1

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self._interrupted = f"interrupted: {excinfo.value!r}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of xdist ended. One that was killed can't tell what changed."""
        self._report.changed_elsewhere += getattr(node, "workeroutput", {}).get(_STATE, [UNKNOWN])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> None:
        for nodeid in list(self._open):
            self._close(nodeid)
        self._report.end(self._why_early(session, int(exitstatus)))

    def _why_early(self, session: Any, code: int) -> str:
        stopped = self._interrupted or session.shouldstop or getattr(session, "shouldfail", False)
        if stopped:
            return str(stopped)
        if code not in _RUNS_ON:
            return f"pytest exited with {code}"
        # The controller of xdist collects nothing itself.
        left = session.testscollected - self._finished
        is_distributed = session.config.pluginmanager.hasplugin("dsession")
        return f"{left} tests did not run" if left > 0 and not is_distributed else ""

    def _close(self, nodeid: str) -> None:
        test = self._open.pop(nodeid)
        file, group, name = _parts(nodeid)
        self._report.add(file, group, name, test.status or "failed", test.seconds, test.message, test.trace)


class _Test:
    """What the phases of one test said so far. A failure in any phase or subtest stays."""

    def __init__(self) -> None:
        self.status = ""
        self.seconds = 0.0
        self.message = ""
        self.trace = ""

    def take(self, report: Any) -> None:
        self.seconds += getattr(report, "duration", 0.0)
        if report.outcome == "rerun":
            self.status = ""
        elif report.failed:
            self._set("failed", _message(report), _trace(report))
        elif self.status == "failed" or hasattr(report, "context"):
            return  # a subtest alone decides only if it fails
        elif report.skipped:
            is_expected = hasattr(report, "wasxfail")
            self._set("xfailed" if is_expected else "skipped", report.wasxfail if is_expected else _skip_reason(report))
        elif report.when == "call":
            self._set("xpassed" if hasattr(report, "wasxfail") else "passed")

    def _set(self, status: str, message: str = "", trace: str = "") -> None:
        self.status, self.message, self.trace = status, str(message), trace


def _parts(nodeid: str) -> tuple[str, str, str]:
    """File, classes and name. Parameters may contain the separator."""
    path, bracket, parameters = nodeid.partition("[")
    file, _, rest = path.partition("::")
    group, _, name = rest.rpartition("::")
    return file, group, name + bracket + parameters


def _message(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message) if crash is not None else str(report.longrepr).strip().rpartition("\n")[2]


def _skip_reason(report: Any) -> str:
    where = report.longrepr
    return str(where[2] if isinstance(where, tuple) and len(where) > 2 else where)


def _trace(report: Any) -> str:
    return str(report.longrepr) if report.failed else ""

"""Writes the result of each test that a unittest suite runs, whatever runner and result class are used."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from time import monotonic
from traceback import format_exception, format_exception_only
from typing import Any

from loopwright_session import Session, is_selected, open_session
from loopwright_state import watch as watch_state

_NOT_LOADED = "unittest.loader._FailedTest."


def watch(suite_module: Any) -> None:
    """Make the outermost call of a suite a session."""
    suite = suite_module.BaseTestSuite
    call = suite.__call__

    def run(self: Any, *args: Any, **options: Any) -> Any:
        result = args[0] if args else options.get("result")
        session = None
        if result is not None:
            session = open_session("unittest", platform.python_version(), "", changed)
        if session is None:
            return call(self, *args, **options)
        if session.selected:
            _leave_out(self, session.selected)
        recorder = _Recorder(session)
        restore = recorder.attach(result)
        # An exception leaves the report without its end line: it is incomplete.
        value = call(self, *args, **options)
        restore()
        session.end("stopped after a failure" if getattr(result, "shouldStop", False) else "")
        return value

    suite.__call__ = run
    # Now, because the test loader imports the project before a suite runs. In pytest no suite is a session.
    changed = watch_state() if "_pytest" not in sys.modules else None


def _leave_out(suite: Any, selected: list[str]) -> None:
    """Remove the tests of other files: neither they nor the fixtures of their classes run."""
    kept = []
    for test in suite:
        if hasattr(test, "__iter__"):
            _leave_out(test, selected)
            kept.append(test)
        elif not _parts(test)[0] or is_selected(_parts(test)[0], selected):
            kept.append(test)
    suite._tests = kept  # noqa: SLF001  # there is no public way to remove a test


class _Recorder:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._began = 0.0
        self._running: Any = None
        self._outcome: tuple[str, str, str] | None = None

    def attach(self, result: Any) -> Callable[[], None]:
        """Listen to the result object itself: its class may not call the methods of `TestResult`."""
        listeners: dict[str, Callable[..., None]] = {
            "startTest": self._start,
            "addSuccess": lambda test: self._note(test, "passed"),
            "addError": lambda test, err: self._note(test, "failed", err),
            "addFailure": lambda test, err: self._note(test, "failed", err),
            "addSkip": lambda test, reason: self._note(test, "skipped", message=str(reason)),
            "addExpectedFailure": lambda test, err: self._note(test, "xfailed"),
            "addUnexpectedSuccess": lambda test: self._note(test, "failed", message="unexpected success"),
            "addSubTest": self._subtest,
            "stopTest": self._stop,
        }
        if getattr(result, "failfast", False):
            result.failfast = False  # it hides the results of the tests after the first failure
        attached = [name for name in listeners if hasattr(result, name)]
        for name in attached:
            setattr(result, name, _with_listener(getattr(result, name), listeners[name]))

        def restore() -> None:
            for name in attached:
                delattr(result, name)

        return restore

    def _start(self, test: Any) -> None:
        self._running, self._outcome, self._began = test, None, monotonic()

    def _note(self, test: Any, status: str, err: Any = None, message: str = "") -> None:
        last, trace = _texts(err) if err else (message, "")
        if self._running is None:
            self._write(test, (status, last, trace))  # the set-up of a class or module: no test started
        elif self._outcome is None or self._outcome[0] != "failed":
            self._outcome = (status, last, trace)

    def _subtest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._note(test, "failed", err)

    def _stop(self, test: Any) -> None:
        self._write(test, self._outcome or ("failed", "ended without a result", ""))
        self._running = None

    def _write(self, test: Any, outcome: tuple[str, str, str]) -> None:
        seconds = monotonic() - self._began if self._running is not None else 0.0
        try:
            file, group, name = _parts(test)
            self._session.add(file, group, name, outcome[0], seconds, outcome[1], outcome[2])
        except Exception:
            self._session.lose()


def _texts(error: Any) -> tuple[str, str]:
    """The message and the trace of an exception. The product may break what makes them."""
    try:
        return format_exception_only(*error[:2])[-1].strip(), "".join(format_exception(*error))
    except Exception:
        return "", ""


def _with_listener(method: Callable[..., Any], listener: Callable[..., None]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        try:
            listener(*args, **options)
        except Exception:
            pass  # such a test has "ended without a result"; the user's run goes on
        return method(*args, **options)

    return call


def _parts(test: Any) -> tuple[str, str, str]:
    method = getattr(test, "_testMethodName", "")
    name = str(test.id())
    if name.startswith(_NOT_LOADED) or not method:
        return "", "", name.removeprefix(_NOT_LOADED)
    kind = type(test)
    module = sys.modules.get(kind.__module__)
    return str(getattr(module, "__file__", "") or ""), kind.__qualname__, method

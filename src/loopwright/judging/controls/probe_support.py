"""Tries assertions with changed expectations. Probed test files hold this module as text: only the standard library.

A probe goes on after its changed assertion failed. Where the product could swallow the failure, the probe raises it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from loopwright.judging.controls.probe_blocks import ProbedBlock, SoftAssertion, SoftBlock

# A test in a loop tells no more after so many rounds.
_MOST_ROUNDS = 50
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_PACKAGES = ("site-packages", "dist-packages")
_RUNNING = "PYTEST_CURRENT_TEST"
# The product may replace functions of these modules.
_open, _write, _close, _environ, _frame = os.open, os.write, os.close, os.environ, sys._getframe


class Stray(BaseException):
    """An exception that no test expects."""


class Probes:
    """The probes of one file."""

    def __init__(
        self, name: str, path: str, place: str, records: str, tests: dict[int, str], twins: dict[str, Any]
    ) -> None:
        """`name` is the name of this object in each probed module; `tests` are tests by their first lines.

        `twins` has, for some assertions, the first and the last line, and the texts of the twins of their forms.
        """
        self.name = name
        self.tests = tests
        self._twins = twins
        self._path = path
        place = os.path.abspath(place)
        self._root = place[: -len(path)] if place.endswith(os.sep + path) else ""
        self._records = os.path.join(os.path.dirname(place), records)
        self._written: set[tuple[str, str, str]] = set()
        self._rounds: dict[tuple[str, str], int] = {}
        self._products: dict[str, bool] = {}
        self._busy = threading.local()
        # See `go_on`.
        self._soft: frozenset[str] = frozenset()
        self._assertions: frozenset[str] = frozenset()
        self._branches: frozenset[int] = frozenset()
        self._handled: frozenset[int] = frozenset()
        # The tests that went on after an assertion of theirs failed.
        self._failed: set[str] = set()
        self._is_forked = False
        # A test may run other tests, in a process of their own.
        self._outer = _environ.get(_RUNNING, "")
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._fork)

    def go_on(self, tests: Any, assertions: Any, branches: Any, handled: Any) -> None:
        """Let these tests, by their ids, go on after an assertion that fails.

        `assertions` are those with a probe. `branches` are lines that right work may leave out, `handled` those where
        a failure does not end the test.
        """
        self._soft, self._assertions = frozenset(tests), frozenset(assertions)
        self._branches, self._handled = frozenset(branches), frozenset(handled)

    # A form may come with its twin. If that is true, the expected value equals its changed form, and the form says
    # nothing. What equals what may be the word of the work, so the record of each twin is compared with the base.

    def condition(self, key: str, *altered: Any) -> None:
        """Try changed forms of a condition: each must be false, or raise."""
        self._try(key, _holds, altered, _frame(1))

    def call(self, key: str, *altered: Any) -> None:
        """Try changed calls of an assertion: each must raise."""
        self._try(key, lambda form: not _raises(form), altered, _frame(1))

    def handlers(self, key: str, types: Callable[[], object]) -> None:
        """Look whether exceptions of the product that a test handles include a failed assertion."""
        self._try(key, lambda form: _catches(form()), (types,), _frame(1))

    def expects(self, key: str, manager: Callable[[], Any]) -> Any:
        """Try a block that expects an exception or a warning: with none, and with a stray one, it must raise."""
        self._try(key, lambda form: _lets_pass(form, None) or _lets_pass(form, Stray()), (manager,), _frame(1))
        return SoftBlock(self, key, manager()) if self._soft else manager()

    def guard(self, key: str, value: Any, *altered: Any) -> Any:
        """Record whether a condition that fails the test if it is true can do so: each changed form must be true."""
        self._try(key, lambda form: not value and not _fires(form), altered, _frame(1))
        return value and not self._passes_over(key, _frame(1))

    def branch(self, key: str, value: Any, *altered: Any) -> Any:
        """The same for a condition that fails the test if it is false: each changed form must be false."""
        self._try(key, lambda form: bool(value) and _holds(form), altered, _frame(1))
        return value or self._passes_over(key, _frame(1)) or value

    def end(self, test: str, args: tuple[Any, ...]) -> None:
        """Record that a test came to its end; `test` is its name in the file."""
        name = self._id_of(test, args)
        self._record("soft" if name in self._failed else "end", name, "failed")

    def stop(self, test: str, args: tuple[Any, ...], error: BaseException) -> None:
        """Record the line of the tests in which a test ended early."""
        name = self._id_of(test, args)
        if name in self._soft:
            self._record("soft", name, "failed")
        if name not in self._failed:
            self._stop_at("stop", name, error)
        elif not self._is_in_branch(error):
            self._stop_at("later", name, error)

    def _stop_at(self, word: str, test: str, error: BaseException) -> None:
        trace, last = error.__traceback__, None
        while trace is not None:
            last = trace if self.name in trace.tb_frame.f_globals else last
            trace = trace.tb_next
        if last is not None:
            there = last.tb_frame.f_globals[self.name]
            there._record(f"{word}:{last.tb_lineno}", test, "failed")
            if isinstance(error, Exception):
                there._try_twins(last.tb_frame, last.tb_lineno, test)

    def _is_in_branch(self, error: BaseException) -> bool:
        trace = error.__traceback__
        while trace is not None:
            probes = trace.tb_frame.f_globals.get(self.name)
            if probes is not None and trace.tb_lineno in probes._branches:
                return True
            trace = trace.tb_next
        return False

    def soft(self, key: str) -> Any:
        """The context of an assertion: if that fails, the test may go on."""
        return SoftAssertion(self, key)

    def goes_on(self, key: str, error: BaseException, frame: Any) -> bool:
        """Whether a test goes on after this failure of an assertion, which is recorded."""
        if type(error).__name__ == "SkipTest" or not self._may_go_on(key, frame):
            return False
        test = self._position(frame)[0]
        owner = self._owner(frame)
        if test not in owner._failed:
            owner._failed.add(test)
            owner._stop_at("stop", test, error)
        return True

    def _passes_over(self, key: str, frame: Any) -> bool:
        """The same for a condition that fails a test; its failure is recorded already."""
        if not self._soft or not self._may_go_on(key, frame):
            return False
        test, owner = self._position(frame)[0], self._owner(frame)
        if test not in owner._failed:
            owner._failed.add(test)
            self._record(f"stop:{frame.f_lineno}", test, "failed")
        return True

    def _may_go_on(self, key: str, frame: Any) -> bool:
        """Record that an assertion failed. A failure that the product or the test could handle takes its own way."""
        if getattr(self._busy, "now", False):
            return False
        test, is_risky, failing = self._position(frame)
        if test not in self._soft or failing == "sampled" or self._is_handled(frame):
            return False
        if key in self._assertions:
            self._record(key, test, "raised" if is_risky else failing)
        return not is_risky

    def _is_handled(self, frame: Any) -> bool:
        """Whether a test, or a function that it calls, handles or expects failures where it is now."""
        while frame is not None:
            probes = frame.f_globals.get(self.name)
            if probes is not None and frame.f_lineno in probes._handled:
                return True
            if probes is not None and probes.test_of(frame):
                return False
            frame = frame.f_back
        return False

    def _owner(self, frame: Any) -> Any:
        """The probes of the file of the running test."""
        while frame is not None:
            probes = frame.f_globals.get(self.name)
            if probes is not None and probes.test_of(frame):
                return probes
            frame = frame.f_back
        return self

    def block(self, key: str, manager: Any) -> Any:
        """The context manager of a block with assertions; that of a product must let a failure through."""
        code = _code_of(manager)
        if code is None or not self._is_product(code.co_filename):
            return manager
        test, _, failing = self._position(_frame(1))
        return ProbedBlock(manager, lambda swallows: self._record(key, test, "passed" if swallows else failing))

    def _try(self, key: str, is_weak: Callable[[Any], bool], forms: tuple[Any, ...], frame: Any) -> None:
        if getattr(self._busy, "now", False):
            return  # a changed assertion came here
        test, is_risky, failing = self._position(frame)
        rounds = self._rounds[key, test] = self._rounds.get((key, test), 0) + 1
        if rounds > _MOST_ROUNDS:
            return
        twins: list[bool] = []
        self._busy.now = True
        try:
            passed = _passes(is_weak, forms, twins)
        except BaseException:
            passed = False
        finally:
            self._busy.now = False
        if not passed:
            self._record_twins(key, test, twins, "raised" if is_risky else failing)
        if not passed and is_risky:
            self._record(key, test, "raised")
            raise AssertionError(key)
        self._record(key, test, "passed" if passed else failing)

    def _try_twins(self, frame: Any, line: int, test: str) -> None:
        """Try the twins of an assertion by which a test failed: work may change what is equal."""
        reached = {key: twins for key, (first, last, twins) in self._twins.items() if first <= line <= last}
        if not reached:
            return
        space = {**frame.f_globals, **frame.f_locals}
        self._busy.now = True
        try:
            for key, twins in reached.items():
                self._record_twins(key, test, [_is_true(text, space) for text in twins], "failed")
        finally:
            self._busy.now = False

    def _record_twins(self, key: str, test: str, twins: list[bool], failing: str) -> None:
        for number, is_equal in enumerate(twins):
            self._record(f"{key}~{number}", test, "passed" if is_equal else failing)

    def _fork(self) -> None:
        # A runner may start a process for each test; that is no process of the test.
        self._is_forked = self._is_forked or bool(self._position(_frame(1))[0])

    def _position(self, frame: Any) -> tuple[str, bool, str]:
        """The running test, whether code outside the tests would see a failure first, and the word for a failure."""
        is_risky, is_in_loop, is_in_branch, inner = self._is_forked, False, False, ""
        while frame is not None:
            space = frame.f_globals
            if self.name in space:
                # A file of the tests.
                is_in_branch = is_in_branch or frame.f_lineno in space[self.name]._branches
                test = space[self.name].test_of(frame)
                inner = inner or space[self.name].test_around(frame)
                if test:
                    caller = frame.f_back.f_globals.get("__name__", "") if frame.f_back is not None else ""
                    word = "branched" if is_in_branch and test in self._soft else "failed"
                    return test, is_risky, "sampled" if caller.startswith("hypothesis.") else word
            elif space is not globals():
                is_risky = is_risky or self._is_product(frame.f_code.co_filename)
                is_in_loop = is_in_loop or space.get("__name__") == "asyncio.events"
            frame = frame.f_back
        in_thread = threading.current_thread() is not threading.main_thread()
        return self._running() or inner, self._is_forked or in_thread or is_in_loop, "failed"

    def test_of(self, frame: Any) -> str:
        """The id of the test that runs in a frame; empty if the frame is not that of a test."""
        code = frame.f_code
        owner, _, name = self.tests.get(code.co_firstlineno, "").rpartition(".")
        if not name or name != code.co_name:
            return ""
        kind = frame.f_globals.get(owner)
        # Locals of a frame stay alive if they are looked at, so this is only for tests that subclasses inherit.
        if isinstance(kind, type) and type.__subclasses__(kind) and "self" in frame.f_locals:
            owner = type(frame.f_locals["self"]).__qualname__
        return self._id(owner, name)

    def test_around(self, frame: Any) -> str:
        """The id of the test that defines the function of a frame, for functions that run in a thread."""
        owner, _, name = getattr(frame.f_code, "co_qualname", "").partition(".<locals>")[0].rpartition(".")
        known = f"{owner}.{name}" if owner else name
        return self._id(owner, name) if known in self.tests.values() else ""

    def _id_of(self, test: str, args: tuple[Any, ...]) -> str:
        """The id of a test by its name in the file. A subclass runs the test under its own name."""
        owner, _, name = test.rpartition(".")
        return self._id(type(args[0]).__qualname__ if owner and args else owner, name)

    def _id(self, owner: str, name: str) -> str:
        return self._running() or "::".join(part for part in (self._path, owner, name) if part)

    def _running(self) -> str:
        """The id of the running test, if the runner is pytest."""
        running = _environ.get(_RUNNING, "")
        if running == self._outer:
            return ""
        test = running.rpartition(" ")[0]
        file, separator, name = test.partition("::")
        # The runner may have started in a folder of the project.
        return self._path + separator + name if self._path.endswith("/" + file) else test

    def _is_product(self, file: str) -> bool:
        known = self._products.get(file)
        if known is None:
            known = self._products[file] = self._is_in_project(file) and not self._is_probed(file)
        return known

    def _is_in_project(self, file: str) -> bool:
        """Whether a file belongs to the project, not to Python or to an installed package of others."""
        parts = file.replace("\\", "/").split("/")
        for packages in _PACKAGES:
            if packages in parts:
                name = parts[parts.index(packages) + 1]
                own = (os.path.join(self._root, folder, name) for folder in ("", "src"))
                return bool(self._root) and any(map(os.path.exists, own))
        return not file.startswith((_LIBRARY, "<frozen"))

    def _is_probed(self, file: str) -> bool:
        modules = [module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == file]
        return any(self.name in vars(module) for module in modules) or os.path.basename(file) == "conftest.py"

    def _record(self, key: str, test: str, outcome: str) -> None:
        if (key, test, outcome) in self._written:
            return
        self._written.add((key, test, outcome))
        try:
            place = _open(self._records, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError:
            return
        try:
            _write(place, (json.dumps([key, test, outcome]) + "\n").encode())
        finally:
            _close(place)


def _passes(is_weak: Callable[[Any], bool], forms: tuple[Any, ...], twins: list[bool]) -> bool:
    """Whether an assertion also passes with one of its forms, without those whose twins are true."""
    passed = False
    for given in forms:
        form, *twin = given if isinstance(given, tuple) else (given,)
        is_equal = bool(twin) and _holds(twin[0])
        if twin:
            twins.append(is_equal)
        passed = passed or (not is_equal and is_weak(form))
    return passed


def _is_true(text: str, space: dict[str, Any]) -> bool:
    try:
        return bool(eval(text, space))  # noqa: S307  an expression of the test itself
    except BaseException:
        return False


def _holds(altered: Callable[[], object]) -> bool:
    try:
        return bool(altered())
    except BaseException:
        return False


def _fires(altered: Callable[[], object]) -> bool:
    try:
        return bool(altered())
    except BaseException:
        return True


def _raises(altered: Callable[[], object]) -> bool:
    try:
        altered()
    except BaseException:
        return True
    return False


def _catches(types: object) -> bool:
    if isinstance(types, tuple):
        return any(map(_catches, types))
    return isinstance(types, type) and types in AssertionError.__mro__


def _lets_pass(make: Callable[[], Any], error: BaseException | None) -> bool:
    try:
        with make():
            if error is not None:
                raise error
    except BaseException:
        return False
    return True


def _code_of(manager: Any) -> Any:
    """The code that ends a block; None if it is not written in Python."""
    generator = getattr(manager, "gen", None)
    for name in ("gi_code", "ag_code"):
        if hasattr(generator, name):
            return getattr(generator, name)
    for name in ("__exit__", "__aexit__"):
        code = getattr(getattr(type(manager), name, None), "__code__", None)
        if code is not None:
            return code
    return None

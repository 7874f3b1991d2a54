"""Lists what changed in the state of this process since this module was loaded: by such state tests measure.

Runs inside the user's test programs, also on old versions of Python, and never fails there. It looks at attributes of
the standard library and of pytest, at environment variables, and at settings of the interpreter. Only names are listed.
"""

from __future__ import annotations

import _signal
import builtins
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from operator import is_not
from types import FunctionType, ModuleType
from typing import Any

MOST_NAMES = 200
LONGEST_NAME = 120
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
_FRAMEWORKS = frozenset({"_pytest", "pytest", "pluggy"})
_BASE = ("builtins", "typing", "collections.abc")
_MISSING = object()
_SIMPLE = (str, bytes, int, float, complex, bool, type(None))
# Runners, captures and plain imports change these.
_USUAL = frozenset(
    {"sys." + name for name in ("stdin", "stdout", "stderr", "argv", "path", "path_importer_cache", "ps1", "ps2")}
    | {"sys.last_" + name for name in ("exc", "type", "value", "traceback")}
)
_USUAL_VARIABLES = frozenset({"LOOPWRIGHT_REPORTS", "PYTEST_CURRENT_TEST", "PYTEST_VERSION"})
_DECIMAL = (28, "ROUND_HALF_EVEN", -999999, 999999, 1, 0, ("DivisionByZero", "InvalidOperation", "Overflow"))


def watch() -> Callable[[], list[str] | None]:
    """Note the state now. The result lists what is different later; None if that can't be told."""
    try:
        project = os.getcwd() + os.sep
        owners, settings = _owners(), _settings(project)
        functions = {function: parts for _, attributes in owners.values() for function, parts in _functions(attributes)}
        variables = dict(os.environ)
        # A script may import the project before its runner: then only what the project defines itself can be told.
        known = frozenset() if _is_loaded(project) else frozenset(owners)
    except Exception:
        return lambda: None

    def changed() -> list[str] | None:
        try:
            found = {*_changed_attributes(owners), *_changed_functions(functions), *_foreign_attributes(project, known)}
            now = _settings(project)
            found.update(name for name, value in settings.items() if now.get(name) != value)
            found.update(_changed_variables(variables))
            return sorted({name[:LONGEST_NAME] for name in found - _USUAL})[:MOST_NAMES]
        except Exception:
            return None

    return changed


def _is_library(name: str, module: Any) -> bool:
    """Whether tests measure by this module: one of the standard library or of pytest, not one of the project."""
    if name == "__main__" or not isinstance(module, ModuleType):
        return False
    if name.partition(".")[0] in _FRAMEWORKS:
        return True
    file = getattr(module, "__file__", None)
    if not file:
        return getattr(getattr(module, "__spec__", None), "origin", "") in ("built-in", "frozen")
    return str(file).startswith(_LIBRARY) and not any(part in file for part in _INSTALLED)


def _is_loaded(project: str) -> bool:
    files = (getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if name != "__main__")
    return any(_is_of_project(str(file), project) for file in files if file)


def _owners(without: frozenset[str] = frozenset()) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Each module and each of its classes, with a copy of its attributes."""
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    for name, module in list(sys.modules.items()):
        if name not in without and _is_library(name, module):
            attributes = dict(vars(module))
            found[name] = (module, attributes)
            for key, value in attributes.items():
                if isinstance(value, type) and value.__module__ == name:
                    found[name + "." + key] = (value, dict(vars(value)))
    return found


def _functions(attributes: Mapping[str, Any]) -> Iterator[tuple[Any, tuple[Any, Any]]]:
    for value in attributes.values():
        if type(value) is FunctionType:
            yield value, (value.__code__, value.__defaults__)


def _changed_attributes(owners: Mapping[str, tuple[Any, dict[str, Any]]]) -> Iterator[str]:
    names = vars(builtins)  # a new name matters if it hides another one
    for owner, (thing, before) in owners.items():
        is_module = isinstance(thing, ModuleType)
        if is_module and sys.modules.get(owner, thing) is not thing:
            yield owner
        now = vars(thing)
        if any(map(is_not, before.values(), map(now.get, before))):
            for key, value in before.items():
                if _matters(key, value, now.get(key, _MISSING)):
                    yield owner + "." + key
        if len(now) != len(before):
            hidden = names if is_module else {key: None for base in thing.__mro__[1:-1] for key in vars(base)}
            new = (key for key in list(now) if key not in before and key in hidden)
            yield from (owner + "." + key for key in new if callable(now[key]))


def _matters(key: str, before: Any, now: Any) -> bool:
    """Whether another value stands for a name. Modules fill their own caches: private data, and what was None."""
    if now is before or before is None or isinstance(before, ModuleType):
        return False
    if type(now) is type(before) and isinstance(before, _SIMPLE) and now == before:
        return False
    if type(now) is type(before) is tuple and repr(now) == repr(before):
        return False
    return callable(before) or not key.startswith("_") or key == "__builtins__"


def _changed_functions(functions: Mapping[Any, tuple[Any, Any]]) -> Iterator[str]:
    for function, (code, defaults) in functions.items():
        if function.__code__ is not code or function.__defaults__ is not defaults:
            yield str(function.__module__) + "." + str(function.__qualname__)


def _foreign_attributes(project: str, known: frozenset[str]) -> Iterator[str]:
    """Functions and classes of the project inside a library that was loaded later."""
    for owner, (_, attributes) in _owners(known).items():
        for key, value in attributes.items():
            if _is_of_project(_file_of(value), project):
                yield owner + "." + key


def _file_of(value: Any) -> str:
    """The file that defines a function or a class; empty for other values."""
    if type(value) is FunctionType:
        return str(value.__code__.co_filename)
    if not isinstance(value, type) or value.__module__ in _BASE:
        return ""
    return str(getattr(sys.modules.get(value.__module__), "__file__", None) or "")


def _is_of_project(file: str, project: str) -> bool:
    return file.startswith(project) and not any(part in file for part in _INSTALLED)


def _changed_variables(before: Mapping[str, str]) -> Iterator[str]:
    now = dict(os.environ)
    for name in {*before, *now} - _USUAL_VARIABLES:
        if before.get(name) != now.get(name):
            yield "env:" + name


def _settings(project: str) -> dict[str, Any]:
    """The settings of the interpreter. What an unloaded module would set has its usual value."""
    found: dict[str, Any] = {"sys.switchinterval": sys.getswitchinterval()}
    found["sys.recursionlimit"] = sys.getrecursionlimit()
    found["sys.int_max_str_digits"] = getattr(sys, "get_int_max_str_digits", int)()
    found["sys.trace"], found["sys.profile"] = sys.gettrace() is None, sys.getprofile() is None
    found["os.getcwd"] = os.getcwd()
    for name, read in _READERS.items():
        try:
            found[name] = read()
        except Exception:
            found[name] = None
    for number in range(1, _signal.NSIG):
        try:
            found["signal." + str(number)] = _signal.getsignal(number)
        except ValueError:
            continue
    for name in ("meta_path", "path_hooks"):
        entries = (entry if isinstance(entry, type) else type(entry) for entry in getattr(sys, name))
        found["sys." + name] = [kind.__name__ for kind in entries if _is_of_project(_file_of(kind), project)]
    return found


def _decimal_context() -> tuple[Any, ...]:
    decimal = sys.modules.get("decimal")
    return _DECIMAL if decimal is None else _context_parts(decimal.getcontext())


def _default_decimal_context() -> tuple[Any, ...]:
    decimal = sys.modules.get("decimal")
    return _DECIMAL if decimal is None else _context_parts(decimal.DefaultContext)


def _context_parts(context: Any) -> tuple[Any, ...]:
    traps = tuple(sorted(signal.__name__ for signal, is_on in context.traps.items() if is_on))
    return (context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, traps)


def _gc() -> tuple[Any, ...]:
    return (gc.isenabled(), gc.get_threshold())


def _locale() -> str:
    module = __import__("_locale")  # not every Python has it
    return str(module.setlocale(module.LC_ALL, None))


def _socket_timeout() -> Any:
    socket = sys.modules.get("_socket")
    return socket.getdefaulttimeout() if socket is not None else None


def _policy() -> Any:
    """The kind of an asyncio policy other than the default, which is made when it is needed."""
    events = sys.modules.get("asyncio.events")
    policy = getattr(events, "_event_loop_policy", None)
    return None if policy is None or type(policy).__module__.startswith("asyncio.") else type(policy).__qualname__


_READERS: dict[str, Callable[[], Any]] = {
    "decimal.context": _decimal_context,
    "decimal.DefaultContext": _default_decimal_context,
    "gc": _gc,
    "locale": _locale,
    "socket.defaulttimeout": _socket_timeout,
    "asyncio.policy": _policy,
}

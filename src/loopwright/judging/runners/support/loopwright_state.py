"""Lists what changed in the state of this process since this module was loaded: by such state tests measure.

Runs inside the user's test programs, also on old versions of Python, and never fails there. It looks at attributes of
the standard library and of pytest, at environment variables, and at settings of the interpreter. Only names are listed.

The product may replace what this module uses. So functions are bound here before the product runs. They are functions
in C, which use no others, and the built-in names are a copy.
"""

from __future__ import annotations

import builtins
import gc
import os
import sys
from _signal import NSIG, getsignal
from collections.abc import Callable, Iterator, Mapping
from decimal import DefaultContext, getcontext
from operator import is_not
from os import getcwd
from sys import getprofile, getrecursionlimit, getswitchinterval, gettrace
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

try:
    from _locale import LC_ALL, setlocale
except ImportError:  # not every Python has it
    LC_ALL, setlocale = 0, int
try:
    from _socket import getdefaulttimeout
except ImportError:
    getdefaulttimeout = int
# Functions of this module look built-in names up here.
__builtins__ = dict(vars(builtins))
# Stands for the state that a process could not tell. Readers of the report know it.
UNKNOWN = "unknown"
# Stands for names that were left out, and counts against the work: they may be what the product wants to hide.
TOO_MANY = "left-out"
# Of all names together. A line of the report has room for them, also if each character becomes six.
_MOST_CHARACTERS = 150_000
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
_FRAMEWORKS = frozenset({"_pytest", "pytest", "pluggy", "xdist", "execnet"})
_REPORTERS = "loopwright_"
_BASE = ("builtins", "typing", "collections.abc")
_MISSING = object()
_dict_of_module = ModuleType.__dict__["__dict__"].__get__
_dict_of_class = type.__dict__["__dict__"].__get__
_bases_of = type.__dict__["__mro__"].__get__
_MODULES = sys.modules
# The variables, behind an object whose methods are Python code.
_ENVIRONMENT = vars(os.environ)
_VARIABLES = _ENVIRONMENT["_data"]
_gc_is_enabled, _gc_threshold = gc.isenabled, gc.get_threshold
_digits_limit = getattr(sys, "get_int_max_str_digits", int)
_PLAIN = (str, bytes, int, float, bool, tuple, list)
_SIMPLE = (str, bytes, int, float, complex, bool, type(None))
# Runners, captures and plain imports change these.
_USUAL = frozenset(
    {"sys." + name for name in ("stdin", "stdout", "stderr", "argv", "path", "path_importer_cache", "ps1", "ps2")}
    | {"sys.last_" + name for name in ("exc", "type", "value", "traceback")}
)
_USUAL_VARIABLES = frozenset({"LOOPWRIGHT_REPORTS", "PYTEST_CURRENT_TEST", "PYTEST_VERSION"})


class Difference(NamedTuple):
    """One name whose value changed. The table has the value from before, if that can be replaced."""

    name: str
    table: Any = None
    key: Any = None
    value: Any = None


class State:
    """What a process had at one moment."""

    def __init__(self) -> None:
        self._project = getcwd() + os.sep
        self._owners, self._settings = _owners(), _settings(self._project)
        attributes = [attributes for _, attributes in self._owners.values()]
        self._functions = {function: parts for known in attributes for function, parts in _functions(known)}
        self._variables = dict(_VARIABLES)
        # A script may import the project before its runner: then only what the project defines itself can be told.
        self._known = (
            frozenset() if self.has_loaded(frozenset({id(_MODULES.get("__main__"))})) else frozenset(self._owners)
        )

    def has_loaded(self, known: frozenset[int]) -> bool:
        """Whether the process has loaded a module of the project, other than these. A module may have two names."""
        files = [_file_of_module(module) for module in list(_MODULES.values()) if id(module) not in known]
        return any(_is_of_project(file, self._project) for file in files)

    def names(self) -> list[str]:
        """The names of what is different now."""
        foreign = (lambda: _foreign_attributes(self._project, self._known),)
        found = {difference.name for difference in self._differences(foreign)}
        return sorted(found - _USUAL)

    def differences(self) -> list[Difference]:
        """The same, without functions and classes of the project in libraries that were loaded later."""
        return self._differences(())

    def accept(self, differences: list[Difference]) -> None:
        """Take these values for those from before, unless the project made them."""
        for _, table, key, value in differences:
            if table is not None and not _is_of_project(_file_of(value), self._project):
                table[key] = value

    def _differences(self, more: tuple[Callable[[], Iterator[Difference]], ...]) -> list[Difference]:
        """All differences. A part that can't be told is named as well: it may be what the product wants to hide."""
        found: list[Difference] = []
        parts: tuple[Callable[[], Iterator[Difference]], ...] = (
            lambda: _changed_attributes(self._owners),
            lambda: _changed_functions(self._functions),
            lambda: _changed_settings(self._settings, _settings(self._project)),
            lambda: _changed_variables(self._variables),
        )
        for part in (*parts, *more):
            try:
                found.extend(part())
            except Exception:
                found.append(Difference(UNKNOWN))
        return found


def watch() -> Callable[[], list[str]] | None:
    """Note the state now. The result lists what is different later; None if the state can't be noted."""
    try:
        state = State()
        # Only now: it imports this module.
        __import__("loopwright_importlib_bootstrap").leave_out_installed(state)
    except Exception:
        return None
    return state.names


def limited(names: set[str]) -> list[str]:
    """As many of these names as a report may have, in their order, and a mark if some are left out."""
    listed: list[str] = []
    left = _MOST_CHARACTERS
    for name in sorted(names):
        left -= len(name)
        if left < 0:
            return [*listed, TOO_MANY]
        listed.append(name)
    return listed


def _is_library(name: str, module: Any) -> bool:
    """Whether tests measure by this module: one of the standard library or of pytest, not one of the project."""
    if name == "__main__" or not _is_module(module):
        return False
    if name.partition(".")[0] in _FRAMEWORKS or name.startswith(_REPORTERS):
        return True
    file = _file_of_module(module)
    if not file:
        spec = _attributes(module).get("__spec__")
        return getattr(spec, "origin", "") in ("built-in", "frozen")
    return file.startswith(_LIBRARY) and not any(part in file for part in _INSTALLED)


def _attributes(value: Any) -> Mapping[str, Any]:
    """The attributes of a module or a class, without its own code. Some classes in C have none until they are used."""
    return (_dict_of_module if _is_module(value) else _dict_of_class)(value) or {}


def _is_module(value: Any) -> bool:
    """Whether a value is a module, whatever class it says it has."""
    return issubclass(type(value), ModuleType)


def _module_of(value: Any) -> str:
    """The name of the module that defines a class; empty for other values."""
    name = _attributes(value).get("__module__") if issubclass(type(value), type) else ""
    return name if isinstance(name, str) else ""


def _file_of_module(module: Any) -> str:
    """The file of a module, without the code by which a module may load itself."""
    file = _attributes(module).get("__file__") if _is_module(module) else None
    return file if isinstance(file, str) else ""


def _owners(without: frozenset[str] = frozenset()) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Each module and each of its classes, with a copy of its attributes."""
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    for name, module in list(_MODULES.items()):
        if name not in without and _is_library(name, module):
            attributes = dict(_attributes(module))
            found[name] = (module, attributes)
            for key, value in attributes.items():
                if _module_of(value) == name:
                    found[name + "." + key] = (value, dict(_attributes(value)))
    return found


def _functions(attributes: Mapping[str, Any]) -> Iterator[tuple[Any, tuple[Any, Any]]]:
    for value in attributes.values():
        if type(value) is FunctionType:
            yield value, (value.__code__, value.__defaults__)


def _changed_attributes(owners: Mapping[str, tuple[Any, dict[str, Any]]]) -> Iterator[Difference]:
    names = vars(builtins)  # a new name matters if it hides another one
    for owner, (thing, before) in owners.items():
        is_module = _is_module(thing)
        if is_module and _MODULES.get(owner, thing) is not thing:
            yield Difference(owner)
        now = _attributes(thing)
        if any(map(is_not, before.values(), map(now.get, before))):
            for key, value in list(before.items()):
                if _matters(key, value, now.get(key, _MISSING)):
                    yield Difference(owner + "." + key, before, key, now.get(key, _MISSING))
        if len(now) != len(before):
            above = () if is_module else _bases_of(thing)[1:-1]
            hidden = names if is_module else {key for base in above for key in _attributes(base)}
            new = (key for key in list(now) if key not in before and key in hidden)
            yield from (Difference(owner + "." + key, before, key, now[key]) for key in new if callable(now[key]))


def _matters(key: str, before: Any, now: Any) -> bool:
    """Whether another value stands for a name. Modules fill their own caches: private data, and what was None."""
    if now is before or before is None or isinstance(before, ModuleType):
        return False
    if type(now) is type(before) and isinstance(before, _SIMPLE) and now == before:
        return False
    if type(now) is type(before) is tuple and repr(now) == repr(before):
        return False
    return callable(before) or not key.startswith("_") or key == "__builtins__"


def _changed_functions(functions: Mapping[Any, tuple[Any, Any]]) -> Iterator[Difference]:
    for function, (code, defaults) in functions.items():
        now = (function.__code__, function.__defaults__)
        if now[0] is not code or now[1] is not defaults:
            yield Difference(str(function.__module__) + "." + str(function.__qualname__), functions, function, now)


def _foreign_attributes(project: str, known: frozenset[str]) -> Iterator[Difference]:
    """Functions and classes of the project inside a library that was loaded later."""
    for owner, (_, attributes) in _owners(known).items():
        for key, value in attributes.items():
            if _is_of_project(_file_of(value), project):
                yield Difference(owner + "." + key)


def _file_of(value: Any) -> str:
    """The file that defines a function or a class; empty for other values."""
    if type(value) is FunctionType:
        return str(value.__code__.co_filename)
    name = _module_of(value)
    return _file_of_module(_MODULES.get(name)) if name not in _BASE else ""


def _is_of_project(file: str, project: str) -> bool:
    return file.startswith(project) and not any(part in file for part in _INSTALLED)


def _changed_variables(before: Mapping[Any, Any]) -> Iterator[Difference]:
    now = dict(_VARIABLES)
    if _ENVIRONMENT.get("_data") is not _VARIABLES:
        yield Difference("os.environ")
    for key in {*before, *now}:
        name = key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
        if not _is_same(before.get(key), now.get(key)) and name not in _USUAL_VARIABLES:
            yield Difference("env:" + name, before, key, now.get(key))


def _changed_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    names = [name for name, value in before.items() if not _is_same(value, now.get(name))]
    return (Difference(name, before, name, now.get(name)) for name in names)


def _is_same(before: Any, now: Any) -> bool:
    """Whether two values are equal, without asking a value of the product."""
    return now is before or (type(now) is type(before) and type(before) in _PLAIN and now == before)


def _settings(project: str) -> dict[str, Any]:
    """The settings of the interpreter. What an unloaded module would set has its usual value."""
    found: dict[str, Any] = {"sys.switchinterval": getswitchinterval(), "sys.recursionlimit": getrecursionlimit()}
    found["sys.int_max_str_digits"] = _digits_limit()
    found["sys.trace"], found["sys.profile"] = gettrace() is None, getprofile() is None
    for name, read in _READERS.items():
        try:
            found[name] = read()
        except Exception:
            found[name] = None
    for number in range(1, NSIG):
        try:
            found["signal." + str(number)] = getsignal(number)
        except ValueError:
            continue
    for name in ("meta_path", "path_hooks"):
        entries = (entry if isinstance(entry, type) else type(entry) for entry in getattr(sys, name))
        found["sys." + name] = [kind.__name__ for kind in entries if _is_of_project(_file_of(kind), project)]
    return found


def _context_parts(context: Any) -> tuple[Any, ...]:
    _, (precision, rounding, low, high, capitals, clamp, _, traps) = context.__reduce__()
    return (precision, rounding, low, high, capitals, clamp, sorted(signal.__name__ for signal in traps))


def _policy() -> Any:
    """The kind of an asyncio policy other than the default, which is made when it is needed."""
    events = _MODULES.get("asyncio.events")
    policy = _attributes(events).get("_event_loop_policy") if _is_module(events) else None
    return None if policy is None or type(policy).__module__.startswith("asyncio.") else type(policy).__qualname__


_READERS: dict[str, Callable[[], Any]] = {
    "os.getcwd": getcwd,
    "decimal.context": lambda: _context_parts(getcontext()),
    "decimal.DefaultContext": lambda: _context_parts(DefaultContext),
    "gc": lambda: (_gc_is_enabled(), _gc_threshold()),
    "locale": lambda: setlocale(LC_ALL, None),
    "socket.defaulttimeout": getdefaulttimeout,
    "asyncio.policy": _policy,
}

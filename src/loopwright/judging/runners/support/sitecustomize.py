"""Starts the recorders of test results in each Python process, then the sitecustomize that this file hides."""

from __future__ import annotations

# The parts of importlib that every process has loaded already.
import _frozen_importlib
import _frozen_importlib_external
import os
import sys

TYPE_CHECKING = False  # the module typing would cost every Python process 30 ms
if TYPE_CHECKING:
    from typing import Any

_SUITE = "unittest.suite"
_PLUGIN = "loopwright_pytest"
_HERE = os.path.dirname(os.path.abspath(__file__))


class _Own:
    """Finds the recorders in this folder: the work may have a file of the same name, earlier on the path."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The recorder; None for other modules."""
        del target
        is_own = path is None and name.startswith("loopwright_")
        return _frozen_importlib_external.PathFinder.find_spec(name, [_HERE]) if is_own else None


class _Watch:
    """Waits for the import of unittest, which most processes never need."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module of suites, with the recorder added when it is loaded."""
        if name != _SUITE:
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return _with_recorder(spec)
        return None


def _with_recorder(spec: Any) -> Any:
    load = spec.loader.exec_module

    def exec_module(module: Any) -> None:
        load(module)
        _record(module)

    try:
        spec.loader.exec_module = exec_module
    except AttributeError:
        pass  # a loader without attributes: unittest works as usual, without a report
    return spec


def _record(module: Any) -> None:
    try:
        __import__("loopwright_unittest").watch(module)  # only now: it imports what most processes never need
    except Exception:
        pass


def _start() -> None:
    if not os.environ.get("LOOPWRIGHT_REPORTS"):
        return
    sys.meta_path.insert(0, _Own())
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        # pytest then ignores the entry point of the plugin.
        named = os.environ.get("PYTEST_PLUGINS", "")
        if _PLUGIN not in named:
            os.environ["PYTEST_PLUGINS"] = ",".join(filter(None, (named, _PLUGIN)))
    if _SUITE in sys.modules:
        _record(sys.modules[_SUITE])
    else:
        sys.meta_path.insert(0, _Watch())


def _load_hidden() -> None:
    """Load the next sitecustomize on the path, as Python would without this file."""
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    spec = _frozen_importlib_external.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_load_hidden()

"""Leaves out what an installed package changes while it is imported: that is no state of the work.

Packages lie outside the project and can't be changed there. What they change when the product calls them counts.

The name of this file makes its frames ones of the import system: a package that warns while it is imported still names
the file that imports it.
"""

from __future__ import annotations

import builtins
import os
import sys
from typing import Any

from loopwright_state import State

# Functions of this module look built-in names up here.
__builtins__ = dict(vars(builtins))
_MODULES = sys.modules
_NAMES = ("site-packages", "dist-packages")
_PREFIXES = (sys.prefix + os.sep, sys.base_prefix + os.sep)
_FOLDERS = tuple(
    entry + os.sep for entry in sys.path if os.path.basename(entry) in _NAMES and entry.startswith(_PREFIXES)
)


def leave_out_installed(state: State) -> None:
    """Accept from now on what installed packages change while they are imported."""
    sys.meta_path.insert(0, _Finder(state))


class _Finder:
    """Finds modules with the finders behind it, and looks at the state before and after an installed one is loaded."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._is_loading = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module that the next finder finds. Inside an import of an installed package there is nothing to do."""
        finders = list(sys.meta_path)
        if self._is_loading or self not in finders:
            return None
        for finder in finders[finders.index(self) + 1 :]:
            spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                self._listen(spec)
                return spec
        return None

    def _listen(self, spec: Any) -> None:
        loader, origin = spec.loader, spec.origin
        parts = getattr(loader, "__dict__", None)
        if type(origin) is not str or not origin.startswith(_FOLDERS) or type(parts) is not dict:
            return
        load = loader.exec_module

        def exec_module(module: Any) -> None:
            parts.pop("exec_module", None)
            self._load(load, module)

        parts["exec_module"] = exec_module

    def _load(self, load: Any, module: Any) -> None:
        if self._is_loading:
            load(module)
            return
        self._is_loading = True
        before = {difference.name for difference in self._state.differences()}
        loaded = frozenset(map(id, list(_MODULES.values())))
        try:
            load(module)
        finally:
            self._is_loading = False
            # A package may load parts of the project, such as plug-ins: then these may have made the change.
            if not self._state.has_loaded(loaded):
                self._state.accept([new for new in self._state.differences() if new.name not in before])

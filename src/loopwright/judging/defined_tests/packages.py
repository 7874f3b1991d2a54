"""The paths under which Go imports the packages of a project: reports name tests by them."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import dirname, relpath

from loopwright.judging.syntax.go_source import SUFFIX
from loopwright.kernel.relative_folder import folders_above

_MODULE = re.compile(rb"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)


class GoPackages:
    """Finds the package of a file by the `go.mod` above it."""

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._modules: dict[str, str | None] = {}

    def package_of(self, path: str) -> str:
        """The path of a Go file's package; empty for another file, or without a module."""
        for above in folders_above(path) if path.endswith(SUFFIX) else ():
            module = self._module_in(above)
            if module is not None:
                inside = relpath(dirname(path) or ".", above or ".")
                return module if inside == "." else f"{module}/{inside}"
        return ""

    def _module_in(self, folder: str) -> str | None:
        if folder not in self._modules:
            found = _MODULE.search(self._read(f"{folder}/go.mod" if folder else "go.mod") or b"")
            self._modules[folder] = found[1].decode("utf-8", "replace") if found is not None else None
        return self._modules[folder]

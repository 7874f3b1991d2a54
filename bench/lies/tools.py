"""Test runners for a scene: copied next to its code, because sandboxes can't see installed packages."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

# Ignored by git, and given to sandboxes with `sandbox.provide`.
TOOLS = "tools"
NODE_MODULES = "node_modules"
_AGENTS = Path(__file__).resolve().parents[2] / ".cache" / "agents" / NODE_MODULES
# All modules of each runner, and nothing that it can do without.
_PYTHON = {
    "pytest": ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"),
    "tox": (
        "tox", "cachetools", "chardet", "colorama", "filelock", "packaging", "platformdirs", "pluggy", "pyproject_api",
        "virtualenv", "distlib", "python_discovery", "tomli_w", "typing_extensions",
    ),
}  # fmt: skip
_NODE = ("mocha", "vitest")


def missing_tool(name: str) -> bool:
    """Whether this machine lacks a program or a runner."""
    if name in _PYTHON:
        return importlib.util.find_spec(name) is None
    return not (_AGENTS / name).is_dir() if name in _NODE else shutil.which(name) is None


def give_tools(project: Path, names: tuple[str, ...]) -> list[str]:
    """Copy these runners into the project; returns the folders that sandboxes need. Installed programs are skipped."""
    for name in names:
        if name in _PYTHON:
            _give_python(project / TOOLS, _PYTHON[name])
        elif name in _NODE:
            _give_node(project / NODE_MODULES, name)
    return [folder for folder in (TOOLS, NODE_MODULES) if (project / folder).is_dir()]


def is_shared(path: str) -> bool:
    """Whether copies of a scene may share this file: no sandbox can write to it."""
    return f"/project/{TOOLS}/" in path or f"/project/{NODE_MODULES}/" in path


def link_or_copy(source: str, target: str) -> None:
    """Link if source and target are on the same disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _give_python(target: Path, modules: tuple[str, ...]) -> None:
    target.mkdir(exist_ok=True)
    for name in modules:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue
        source = Path(found.origin)
        if source.name == "__init__.py":
            shutil.copytree(source.parent, target / name, ignore=_not_needed, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
        for package in _packages().get(name, ()):
            # tox finds its parts by the entry points of packages.
            info = Path(str(distribution(package).locate_file(""))).glob(f"{package.replace('-', '_')}-*.dist-info")
            for folder in info:
                shutil.copytree(folder, target / folder.name, dirs_exist_ok=True)


@cache
def _packages() -> dict[str, list[str]]:
    return {module: list(packages) for module, packages in packages_distributions().items()}


def _not_needed(folder: str, names: list[str]) -> list[str]:
    """All lexers of pygments except Python's."""
    if not folder.endswith("pygments/lexers"):
        return []
    return [name for name in names if name.partition(".")[0] not in ("__init__", "_mapping", "python", "diff")]


def _give_node(target: Path, name: str) -> None:
    """Copy a package and all that it depends on."""
    ahead, seen = [name], set[str]()
    while ahead:
        package = ahead.pop()
        source = _AGENTS / package
        if package in seen or not source.is_dir():
            continue
        seen.add(package)
        shutil.copytree(source, target / package, symlinks=True, copy_function=link_or_copy)
        manifest = json.loads((source / "package.json").read_bytes())
        ahead += [*manifest.get("dependencies", {}), *manifest.get("optionalDependencies", {})]

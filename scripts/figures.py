"""Prints how much a reader must keep in mind: size, types per walk, import depth and duplicate names.

`figures.py [FOLDER]` measures another checkout. The limits are in docs/adr/0015-a-layer-for-stages.md.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
_WALK = re.compile(r"^## The walk of (?:`loopwright )?([a-z ]+)`?$")
# `make test` writes it.
_TEST_SECONDS = ".cache/test-seconds"
_LOADED = re.compile(r"^[a-z_.]+(:[a-z_]+)?$")
_STEP = re.compile(r"^\d+\. `([a-z_/]+\.py)`")


class Source:
    """The package as a graph of modules."""

    def __init__(self, top: Path) -> None:
        self._top = top
        folder = top / "src" / "loopwright"
        self.files = sorted(folder.rglob("*.py"))
        self._trees = {_module(path.relative_to(folder)): ast.parse(path.read_text("utf-8")) for path in self.files}

    @cached_property
    def lines(self) -> int:
        """The lines of all files."""
        return sum(_lines(path) for path in self.files)

    def below(self, package: str) -> list[Path]:
        """The files of a package."""
        return [path for path in self.files if f"/loopwright/{package}/" in str(path)]

    @cached_property
    def classes(self) -> dict[str, set[str]]:
        """The classes of each module."""
        return {
            name: {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
            for name, tree in self._trees.items()
        }

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The first-party imports of each module, without imports that only type checkers see."""
        return {name: set(self._imported(tree)) for name, tree in self._trees.items()}

    def _imported(self, tree: ast.AST) -> Iterator[str]:
        for node in ast.iter_child_nodes(tree):
            match node:
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    continue
                case ast.Import(names=names):
                    yield from (name.name for name in names if name.name in self._trees)
                case ast.ImportFrom(module=str(module), names=names):
                    for name in names:
                        full_name = f"{module}.{name.name}"
                        candidates = (full_name, module)
                        yield from (part for part in candidates if part in self._trees and part != "loopwright")
            yield from self._imported(node)

    def reached(self, module: str) -> set[str]:
        """The modules that a module imports, or loads by a name in a table of commands."""
        package = module.rpartition(".")[0]
        constants = (node.value for node in ast.walk(self._trees[module]) if isinstance(node, ast.Constant))
        names = {value.partition(":")[0] for value in constants if isinstance(value, str) and _LOADED.match(value)}
        loaded = {full for name in names for full in (name, f"{package}.{name}") if full in self._trees}
        return self.imports[module] | loaded

    def gaps(self) -> Iterator[str]:
        """Steps of the walks that name no file, or a file that no earlier step of the walk imports."""
        for command, modules in self.walks().items():
            reached: set[str] = set()
            for number, module in enumerate(modules, start=1):
                if module not in self._trees:
                    yield f"`{command}`, step {number}: {module} does not exist"
                    continue
                if number > 1 and module not in reached:
                    yield f"`{command}`, step {number}: no earlier step imports {module}"
                reached |= self.reached(module)

    def longest_chain(self) -> list[str]:
        """The longest chain of imports."""
        known: dict[str, list[str]] = {}

        def below(name: str) -> list[str]:
            if name not in known:
                known[name] = [name]  # a package that imports itself ends here
                known[name] = [name, *max((below(imported) for imported in self.imports[name]), key=len, default=[])]
            return known[name]

        return max((below(name) for name in self._trees), key=len)

    def double_names(self) -> dict[str, list[str]]:
        """Public class names that are defined more than once."""
        places: dict[str, list[str]] = defaultdict(list)
        for module, names in self.classes.items():
            for name in names:
                places[name].append(module)
        return {
            name: sorted(modules) for name, modules in sorted(places.items()) if len(modules) > 1 and name[0] != "_"
        }

    def types_in(self, modules: list[str]) -> set[tuple[str, str]]:
        """Public types that these modules define or use."""
        return {pair for module in modules for pair in self._types(module) if pair[1][0] != "_"}

    def _types(self, module: str) -> Iterator[tuple[str, str]]:
        yield from ((module, name) for name in self.classes[module])
        packages: dict[str, str] = {}
        for node in ast.walk(self._trees[module]):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    if (full_name := f"{node.module}.{name.name}") in self._trees:
                        packages[name.asname or name.name] = full_name
                    elif name.name in self.classes.get(node.module, ()):
                        yield node.module, name.name
        for node in ast.walk(self._trees[module]):
            match node:
                case ast.Attribute(value=ast.Name(id=alias), attr=name) if name in self.classes.get(
                    packages.get(alias, ""), ()
                ):
                    yield packages[alias], name

    def walks(self) -> dict[str, list[str]]:
        """The walks of docs/ARCHITECTURE.md, as lists of files."""
        walks: dict[str, list[str]] = {}
        steps: list[str] = []
        for line in (self._top / "docs" / "ARCHITECTURE.md").read_text("utf-8").splitlines():
            if line.startswith("## "):
                title = _WALK.match(line)
                steps = walks.setdefault(title[1], []) if title else []
            elif step := _STEP.match(line):
                steps.append(_module(Path(step[1])))
        return walks


def _module(path: Path) -> str:
    parts = ["loopwright", *path.with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def rows(source: Source) -> Iterator[tuple[str, str, str]]:
    """The name, the figure and the limit of each measurement."""
    verbs, chain, double = source.below("verbs"), source.longest_chain(), source.double_names()
    yield "files in src", f"{len(source.files)}", "720"
    yield "lines in src", f"{source.lines:,}", "97,000"
    yield "files in verbs", f"{len(verbs)}", "55"
    yield "lines in verbs", f"{sum(map(_lines, verbs)):,}", "4,500"
    yield "longest import chain", f"{len(chain) - 1}", "24"
    yield "public class names defined twice", f"{len(double)}", "15"
    for command, modules in source.walks().items():
        limit = "192" if command == "build" else ""
        yield f"types to follow `{command}`", f"{len(source.types_in(modules))}", limit


def costs() -> Iterator[tuple[str, str, str]]:
    """What commands cost on the shipped sample; only for this checkout."""
    sys.path.insert(0, str(HERE / "bench"))
    counts = importlib.import_module("counts")
    with tempfile.TemporaryDirectory(prefix="loopwright-figures-") as folder:
        project = counts.sample_project(Path(folder))
        for command in counts.COMMANDS:
            counted = counts.counts_of(project, command.arguments)
            for what, limit in command.limits.items():
                yield f"`{command.name}` on the sample: {what}", f"{counted.get(what, 0)}", f"{limit}"


def test_time() -> Iterator[tuple[str, str, str]]:
    """How long the last complete `make test` of this checkout took; limits are for 2 quiet cores."""
    if (HERE / _TEST_SECONDS).exists():
        yield "seconds of the last `make test`", (HERE / _TEST_SECONDS).read_text("utf-8").strip(), "360"


def main() -> None:
    """Print the table, and the details of two rows."""
    top = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE
    source = Source(top)
    for name, figure, limit in (*rows(source), *((*costs(), *test_time()) if top == HERE else ())):
        print(f"{name:36} {figure:>8}  {f'limit {limit}' if limit else ''}".rstrip())
    print("\nLongest chain:", " > ".join(name.removeprefix("loopwright.") for name in source.longest_chain()))
    for gap in source.gaps():
        print(f"\nGap in ARCHITECTURE.md: {gap}")
    print("\nDefined twice:", ", ".join(source.double_names()))


if __name__ == "__main__":
    main()

"""Finds the source, tests and documents of a project by the names of its files. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from loopwright.judging.globs import matches

# Tests of the usual runners, and what belongs to them.
TESTS = (
    "test/**", "tests/**", "**/test/**", "**/tests/**", "**/__tests__/**", "**/__snapshots__/**", "**/testdata/**",
    "e2e/**", "spec/**", "**/fixtures/**", "**/golden/**", "**/goldens/**",
    "**/test_*.py", "**/*_test.py", "**/tests.py", "**/test.py", "**/*.test.*", "**/*.spec.*", "**/*.test-d.*",
    "**/test.js", "**/test.mjs", "**/test.cjs", "**/test.ts", "**/*_test.go", "**/*_test.rb", "**/*_spec.rb",
    "**/*Test.java", "**/*Tests.java", "**/*IT.java", "**/*Test.kt", "**/*Test.php", "**/*Tests.cs", "**/*.bats",
    "**/tests.rs", "**/test.rs", "**/*_test.rs", "**/*_tests.rs", "**/*_test.exs", "**/*_test.dart", "**/*_test.ts",
    "**/*_test.js", "**/*_test.c*", "**/*Test.cs", "**/*Test.scala", "**/*Spec.scala", "**/*Tests.swift",
    "**/*_spec.lua",
    "**/test.sh",
)  # fmt: skip
DOCS = (
    "**/*.md", "**/*.rst", "docs/**/*.txt", "doc/**/*.txt", "docs/**/*.png", "docs/**/*.svg", "docs/**/*.[1-9]",
    "doc/**/*.[1-9]", "man/**/*.[1-9]", "LICENSE*", "CHANGELOG*", "CHANGES*", "NEWS*", "AUTHORS*", "README*", "NOTICE*",
)  # fmt: skip
CODE_KINDS = (
    ".py", ".pyi", ".pyx", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".go",
    ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".mm", ".swift", ".kt", ".java", ".scala", ".clj", ".cs", ".fs",
    ".rb", ".php", ".pl", ".pm", ".lua", ".r", ".jl", ".ex", ".exs", ".erl", ".hs", ".ml", ".mli", ".dart", ".zig",
    ".nim",
)  # fmt: skip
SHELL_KINDS = (".sh", ".bash")
# Folders of programs that run checks, build or deploy: their files may decide what a check says.
_NOT_SOURCE = frozenset(
    [
        "docs", "doc", "examples", "example", "scripts", "script", "tools", "tool", "bin", "ci", "build", "dist",
        "bench", "benchmarks", "hack", "contrib", "vendor", "third_party", "node_modules", "venv", "env",
    ]
)  # fmt: skip
_SOURCE = frozenset(["src", "lib", "app", "source"])
# A folder with one of these is a project of its own: next to its source it holds what builds and judges the source.
_PROJECT_MARKS = (
    "package.json", "pyproject.toml", "setup.py", "setup.cfg", "go.mod", "Cargo.toml", "pom.xml", "build.gradle*",
    "composer.json", "Gemfile", "*.csproj", "mix.exs", "Package.swift", "pubspec.yaml", "CMakeLists.txt", "Makefile",
    "tox.ini", "noxfile.py", "manage.py",
)  # fmt: skip
# Files next to the source that build or judge it.
_NOT_SOURCE_FILES = (
    "setup.py", "noxfile.py", "conftest.py", "fabfile.py", "tasks.py", "build.rs", "mix.exs", "Package.swift",
    "*.config.*", "*.conf.*", "[Gg]ulpfile.*", "[Gg]runtfile.*",
    "check.*", "checks.*", "check[-_]*.*", "*[-_]check.*", "verify.*", "verify[-_]*.*", "smoke*.*", "test*.sh",
    "run[-_]test*.*", "run[-_]check*.*", "runtests.*",
)  # fmt: skip
# So many folders that differ in one part of their path become one pattern.
_ALIKE = 3


class ProjectFiles(msgspec.Struct, frozen=True):
    """The patterns of a project, as `init` writes them into the settings."""

    source: tuple[str, ...]
    tests: tuple[str, ...] = TESTS
    docs: tuple[str, ...] = DOCS


def find_project_files(paths: Iterable[str], scripts: frozenset[str] = frozenset()) -> ProjectFiles:
    """The folders that hold code, and in a flat project its source files by name.

    Next to other code a shell script may be what judges the code; in a project of shell scripts it is the product.
    `scripts` decide whether a check passes. Next to other source, a folder of mostly such scripts holds judges and what
    these import.
    """
    known = frozenset(paths)
    source = _source_in(known, CODE_KINDS) or _source_in(known, SHELL_KINDS)
    others = tuple(pattern for pattern in source if not _holds_judges(pattern, known, scripts))
    return ProjectFiles(others or source)


def only_product(files: Iterable[str], source: tuple[str, ...], tests: tuple[str, ...]) -> frozenset[str]:
    """The one file of code in the source; empty if there are more, as one of them may judge another."""
    code = [path for path in files if path.endswith((*CODE_KINDS, *SHELL_KINDS)) and matches(path, source)]
    product = frozenset(path for path in code if not matches(path, tests))
    return product if len(product) == 1 else frozenset()


def _holds_judges(pattern: str, known: frozenset[str], scripts: frozenset[str]) -> bool:
    """Whether at least half of the modules of a pattern decide whether a check passes."""
    if not scripts:
        return False
    code = [path for path in known if path.endswith((*CODE_KINDS, *SHELL_KINDS)) and matches(path, (pattern,))]
    modules = [path for path in code if not path.endswith("/__init__.py")]
    return bool(modules) and 2 * len(scripts.intersection(modules)) >= len(modules)


def _source_in(known: frozenset[str], endings: tuple[str, ...]) -> tuple[str, ...]:
    projects = frozenset(_projects(known))
    folders: dict[str, None] = {}
    files: list[str] = []
    for path in sorted(known):
        if not path.endswith(endings) or matches(path, TESTS) or path.startswith("."):
            continue
        parent, _, name = path.rpartition("/")
        root = _source_folder(path, known, projects)
        if root:
            folders[f"{root}/**"] = None
        elif (not parent or parent in projects) and root is not None and not matches(name, _NOT_SOURCE_FILES):
            files.append(path)
    return (*_alike_as_one(tuple(folders)), *files)


def _projects(known: frozenset[str]) -> Iterator[str]:
    """The folders that are projects of their own, and the folders that contain one."""
    for path in known:
        parent, _, name = path.rpartition("/")
        while parent and matches(name, _PROJECT_MARKS):
            yield parent
            parent = parent.rpartition("/")[0]


def _source_folder(path: str, known: frozenset[str], projects: frozenset[str]) -> str | None:
    """The highest folder of a file that holds the product; empty if the file is in a project's own folder.

    None if a folder on the way holds other programs. A folder of loose Python files may hold scripts that judge; a
    package in it is source.
    """
    *parents, _ = path.split("/")
    is_loose = False
    for depth, name in enumerate(parents, start=1):
        folder = "/".join(parents[:depth])
        if name in _NOT_SOURCE or name.startswith("."):
            return None
        if name in _SOURCE or f"{folder}/__init__.py" in known:
            return folder
        if folder not in projects:
            if not path.endswith(".py"):
                return folder
            is_loose = True
    return None if is_loose else ""


def _alike_as_one(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns like `packages/a/src/**` and `packages/b/src/**`, if there are many, as `packages/*/src/**`."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for pattern in patterns:
        first, *rest = pattern.split("/")
        key = (first, "*", *rest[1:]) if len(rest) > 1 else (pattern,)
        groups.setdefault(key, []).append(pattern)
    return tuple(
        found for key, alike in groups.items() for found in (("/".join(key),) if len(alike) >= _ALIKE else tuple(alike))
    )

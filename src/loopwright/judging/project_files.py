"""Finds the source, tests and documents of a project. Pure.

A folder is source only if something says so: its name, a manifest, its language, or source that imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from loopwright.judging.defined_tests.test_modules import holds_tests
from loopwright.judging.folder_names import FolderKind, is_source_anywhere, kind_of_folder
from loopwright.judging.globs import matches
from loopwright.judging.imported_folders import imported_folders
from loopwright.judging.manifest_names import ReadAll, named_in_manifests

# Tests of the usual runners, and what belongs to them.
TESTS = (
    "test/**", "tests/**", "**/test/**", "**/tests/**", "**/__tests__/**", "**/__snapshots__/**", "**/testdata/**",
    "e2e/**", "spec/**", "t/**", "xt/**", "Test/**", "Tests/**", "**/cypress/**", "**/fixtures/**", "**/golden/**",
    "**/goldens/**", "**/*.snap", "**/*-snapshots/**", "**/__mocks__/**", "**/setupTests.*", "**/*Tests/**",
    "**/*.Test/**", "**/*[-_]tests/**", "**/test-fixtures/**", "**/testhelpers/**", "**/testutil*/**",
    "**/test[-_]utils/**", "**/test[-_]helpers/**", "**/test[-_]helper*.*", "**/testutil*.*",
    "**/src/*Test/**", "**/src/test[A-Z]*/**", "**/src/it/java/**", "**/src/it/kotlin/**",
    # Products have folders of this name, too: no code.
    "**/snapshots/**/*.txt", "**/snapshots/**/*.json", "**/snapshots/**/*.svg", "**/snapshots/**/*.png",
    "**/snapshots/**/*.html", "**/snapshots/**/*.xml", "**/snapshots/**/*.y*ml", "**/snapshots/**/*.ambr",
    "**/snapshots/**/*.out", "**/snapshots/**/snap_*.py",
    "**/config/test.*", "**/config/environments/test.*", "test.rb",
    "**/test_*.py", "**/*_test.py", "**/tests.py", "**/test.py", "**/*.test.*", "**/*.spec.*", "**/*.test-d.*",
    "**/test.js", "**/test.mjs", "**/test.cjs", "**/test.ts", "**/tests.[jt]s", "**/tests.[cm][jt]s", "spec.[jt]s",
    "spec.[cm][jt]s", "specs.[jt]s", "**/*_test.go", "**/*_test.rb", "**/*_spec.rb",
    "**/*Test.java", "**/*Tests.java", "**/*IT.java", "**/*Test.kt", "**/*Test.php", "**/*Tests.cs", "**/*.bats",
    "**/tests.rs", "**/test.rs", "**/*_test.rs", "**/*_tests.rs", "**/*_test.exs", "**/*_test.dart", "**/*_test.ts",
    "**/*_test.js", "**/*_test.c*", "**/*Test.cs", "**/*Test.scala", "**/*Spec.scala", "**/*Tests.swift",
    "**/*_spec.lua", "**/*_spec.[jt]s", "**/*_spec.[cm][jt]s", "**/*_spec.[jt]sx", "**/*.cy.*", "**/*.t",
    "**/*_testing.go", "**/testing.go",
    "**/test.sh",
)  # fmt: skip
DOCS = (
    "**/*.md", "**/*.rst", "docs/**/*.txt", "doc/**/*.txt", "docs/**/*.png", "docs/**/*.svg", "docs/**/*.[1-9]",
    "doc/**/*.[1-9]", "man/**/*.[1-9]", "LICENSE*", "CHANGELOG*", "CHANGES*", "Changes", "NEWS*", "AUTHORS*", "README*",
    "NOTICE*",
)  # fmt: skip
CODE_KINDS = (
    ".py", ".pyi", ".pyx", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".go",
    ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".mm", ".swift", ".kt", ".java", ".scala", ".clj", ".cs", ".fs",
    ".rb", ".php", ".pl", ".pm", ".lua", ".r", ".jl", ".ex", ".exs", ".erl", ".hs", ".ml", ".mli", ".dart", ".zig",
    ".nim",
)  # fmt: skip
SHELL_KINDS = (".sh", ".bash")
# A folder with one of these is a project of its own: next to its source it holds what builds and judges the source.
_PROJECT_MARKS = (
    "package.json", "pyproject.toml", "setup.py", "setup.cfg", "go.mod", "Cargo.toml", "pom.xml", "build.gradle*",
    "composer.json", "Gemfile", "*.csproj", "mix.exs", "Package.swift", "pubspec.yaml", "CMakeLists.txt", "Makefile",
    "tox.ini", "noxfile.py", "manage.py",
)  # fmt: skip
# Files next to the source that build or judge it.
_NOT_SOURCE_FILES = (
    "setup.py", "noxfile.py", "conftest.py", "fabfile.py", "tasks.py", "build.rs", "mix.exs", "Package*.swift",
    "*.config.*", "*.conf.*", "[Gg]ulpfile.*", "[Gg]runtfile.*",
    "check.*", "checks.*", "check[-_]*.*", "*[-_]check.*", "verify.*", "verify[-_]*.*", "smoke*.*", "test*.sh",
    "run[-_]test*.*", "run[-_]check*.*", "runtests.*",
)  # fmt: skip
_NO_SOURCE = (FolderKind.TESTS, FolderKind.PERHAPS_TESTS, FolderKind.OTHER)
_UNDECIDED = (FolderKind.UNKNOWN, FolderKind.PERHAPS_TESTS)
# Frameworks whose settings and migrations are part of the product.
_SERVER_MARKS = ("Gemfile", "mix.exs", "artisan")
_DOTNET = ("*.csproj", "*.fsproj", "*.vbproj")
_XCODE = ".xcodeproj/project.pbxproj"
# So many folders that differ in one part of their path become one pattern.
_ALIKE = 3


class ProjectFiles(msgspec.Struct, frozen=True):
    """The patterns of a project, as `init` writes them into the settings."""

    source: tuple[str, ...]
    tests: tuple[str, ...] = TESTS
    docs: tuple[str, ...] = DOCS
    # Folders with code about which nothing is known: protected until a person or a plan names them.
    unknown: tuple[str, ...] = ()


def find_project_files(
    paths: Iterable[str],
    scripts: frozenset[str] = frozenset(),
    *,
    named: frozenset[str] = frozenset(),
    read_all: ReadAll | None = None,
) -> ProjectFiles:
    """The folders that hold the product, and in a flat project its source files by name.

    Next to other code a shell script may be what judges the code; in a project of shell scripts it is the product.
    `scripts` decide whether a check passes, and `named` are files and folders in commands of checks. Next to other
    source, a folder of mostly such scripts holds judges and what these import. Without `read_all` only names count.
    """
    known = frozenset(paths)
    code = _sort_folders(known, CODE_KINDS, scripts, named, read_all)
    shell = _sort_folders(known, SHELL_KINDS, scripts, named, read_all)
    choices = (code.source, shell.source, _patterns(code.unknown), _patterns(shell.unknown))
    source = next(filter(None, choices), ())
    others = tuple(pattern for pattern in source if not _holds_judges(pattern, known, scripts))
    folders = sorted({*code.tests, *(shell.tests if not code.source else ())})
    others, files = _without_tests(others or source, known, read_all)
    return ProjectFiles(
        source=others,
        tests=(*TESTS, *_patterns(folder for folder in folders if not matches(f"{folder}/x", TESTS)), *files),
        unknown=tuple(folder for folder in code.unknown if f"{folder}/**" not in source),
    )


def _without_tests(
    source: tuple[str, ...], known: frozenset[str], read_all: ReadAll | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns without single files that hold tests, and these files: no name says what they are."""
    contents = read_all(known.intersection(source)) if read_all is not None else {}
    tests = tuple(sorted(path for path, content in contents.items() if holds_tests(path, content)))
    if len(tests) == len(source):
        # A single file may be the product with its tests.
        return source, ()
    return tuple(pattern for pattern in source if pattern not in tests), tests


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


class _Place(msgspec.Struct, frozen=True):
    """Where a file is: the highest folder about which something is known, and what. A flat file has no folder."""

    kind: FolderKind
    folder: str


class _SortedFolders(msgspec.Struct, frozen=True):
    """The source as patterns; folders of tests, and folders about which nothing is known."""

    source: tuple[str, ...]
    tests: tuple[str, ...]
    unknown: tuple[str, ...]


def _sort_folders(
    known: frozenset[str],
    endings: tuple[str, ...],
    scripts: frozenset[str],
    named: frozenset[str],
    read_all: ReadAll | None,
) -> _SortedFolders:
    """Sorts the folders that hold code of these kinds."""
    clues = _Clues(known, read_all)
    code = sorted(path for path in known if path.endswith(endings) and not path.startswith("."))
    below: dict[_Place, list[str]] = {}
    for path in code:
        below.setdefault(clues.place(path), []).append(path)
    folders = {place.folder for place in below if place.kind is FolderKind.SOURCE}
    files = [path for place, found in below.items() for path in found if clues.is_flat(place, path)]
    undecided = {place.folder: place.kind for place in below if place.folder and place.kind in _UNDECIDED}
    if read_all is not None and undecided:
        wanted = {folder: below[_Place(kind, folder)] for folder, kind in undecided.items()}
        wanted = {folder: found for folder, found in wanted.items() if not _has_any(folder, scripts)}
        product = [path for path in code if path in files or _is_below(path, folders)]
        begin = [path for path in product if path not in scripts and not matches(path, TESTS)]
        folders |= imported_folders(begin, wanted, clues.projects, read_all)
    left = {folder: kind for folder, kind in undecided.items() if folder not in folders}
    tests = {place.folder for place in below if place.kind is FolderKind.TESTS}
    tests |= {
        folder for folder, kind in left.items() if kind is FolderKind.PERHAPS_TESTS or _has_any(folder, scripts | named)
    }
    unknown = [
        folder
        for folder in left
        if folder not in tests and not all(matches(path, TESTS) for path in below[_Place(left[folder], folder)])
    ]
    highest = sorted(folder for folder in folders if not _is_below(folder, folders))
    return _SortedFolders(
        source=(*_alike_as_one(_patterns(highest)), *sorted({clues.flat_pattern(path) for path in files})),
        tests=tuple(sorted(tests)),
        unknown=tuple(sorted(unknown)),
    )


def _patterns(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{folder}/**" for folder in folders)


class _Clues:
    """What the names of all files, and manifests, say about a folder."""

    def __init__(self, known: frozenset[str], read_all: ReadAll | None) -> None:
        self.projects = frozenset(_projects(known))
        self._known = known
        manifests = (path for path in known if not any(map(_is_no_source, path.split("/")[:-1])))
        named = named_in_manifests(manifests, read_all) if read_all is not None else frozenset[str]()
        self._named_files = named & known
        # A program that is built in its folder is not tracked.
        self._named = named | {path.rpartition("/")[0] for path in named if "." in path.rpartition("/")[2]}
        self._go_modules = frozenset(path.rpartition("/")[0] for path in known if path.rpartition("/")[2] == "go.mod")
        self._targets = frozenset(_target_folders(known))
        self._mostly_tests = frozenset(_mostly_tests(known))

    def place(self, path: str) -> _Place:
        """The folder that decides about a file, searched from the top."""
        *parents, _ = path.split("/")
        unknown = ""
        for depth, name in enumerate(parents, start=1):
            folder = "/".join(parents[:depth])
            kind = kind_of_folder(name, is_go=path.endswith(".go"))
            if folder in self._mostly_tests:
                kind = FolderKind.TESTS
            if kind in _NO_SOURCE:
                return _Place(kind, folder)
            is_known = is_source_anywhere(name) if unknown else self._has_name_of_source(folder, kind, path)
            if is_known or self._is_importable(folder, path):
                return _Place(FolderKind.SOURCE, folder)
            if folder not in self.projects:
                unknown = unknown or folder
        return _Place(FolderKind.UNKNOWN, unknown)

    def is_flat(self, place: _Place, path: str) -> bool:
        """Whether a file is source by its own name: in a project's own folder, or as the program of a manifest."""
        if matches(path, TESTS):
            return False
        if place.kind is FolderKind.OTHER:
            return path in self._named_files
        return not place.folder and not matches(path.rpartition("/")[2], _NOT_SOURCE_FILES)

    def flat_pattern(self, path: str) -> str:
        """The name of a flat file. Go compiles all files of a folder together, so a new one is like a change."""
        folder, slash, _ = path.rpartition("/")
        return f"{folder}{slash}*.go" if path.endswith(".go") and folder in self._go_modules else path

    def _has_name_of_source(self, folder: str, kind: FolderKind, path: str) -> bool:
        if kind is FolderKind.SERVER:
            parent = folder.rpartition("/")[0]
            return any(f"{parent}/{mark}".lstrip("/") in self._known for mark in _SERVER_MARKS)
        # A folder of loose Python files may hold scripts that judge.
        is_framework = kind is FolderKind.FRAMEWORK and folder not in self.projects and not path.endswith(".py")
        return kind is FolderKind.SOURCE or is_framework

    def _is_importable(self, folder: str, path: str) -> bool:
        """Whether the language, a target or a manifest makes the folder a package."""
        if path.endswith(".go"):
            return any(_is_below(f"{folder}/x", (module,)) or not module for module in self._go_modules)
        is_named = folder in self._named and folder not in self.projects
        return f"{folder}/__init__.py" in self._known or folder in self._targets or is_named


def _is_no_source(name: str) -> bool:
    return kind_of_folder(name) in _NO_SOURCE


def _has_any(folder: str, paths: frozenset[str]) -> bool:
    return any(f"{path}/".startswith(f"{folder}/") for path in paths)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _target_folders(known: frozenset[str]) -> Iterator[str]:
    """The folders that a project of .NET or Xcode builds."""
    for path in known:
        parent, _, name = path.rpartition("/")
        if matches(name, _DOTNET):
            yield parent
        elif path.endswith(_XCODE):
            yield path.removesuffix(_XCODE)


def _mostly_tests(known: frozenset[str]) -> Iterator[str]:
    """Packages of Python whose own modules are mostly tests."""
    modules: dict[str, list[str]] = {}
    for path in known:
        parent, _, name = path.rpartition("/")
        if name.endswith(".py") and name not in ("__init__.py", "conftest.py"):
            modules.setdefault(parent, []).append(path)
    for folder, paths in modules.items():
        tests = sum(matches(path, TESTS) for path in paths)
        if folder and tests > 2 * (len(paths) - tests):
            yield folder


def _projects(known: frozenset[str]) -> Iterator[str]:
    """The folders that are projects of their own, and the folders that contain one."""
    for path in known:
        parent, _, name = path.rpartition("/")
        while parent and matches(name, _PROJECT_MARKS):
            yield parent
            parent = parent.rpartition("/")[0]


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

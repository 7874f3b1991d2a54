"""Which files the work may change: a list of allowed files. Everything else is protected, and comes from the base."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from posixpath import dirname

import msgspec
from msgspec.structs import replace

from loopwright.judging.globs import matches
from loopwright.judging.ignore_files import IGNORE_FILES, comparable_rules
from loopwright.judging.lock_files.compare import is_free_lock_file
from loopwright.judging.manifests import same_without_free_parts
from loopwright.judging.project_files import CODE_KINDS, SHELL_KINDS

FILE_MODES = ("100644", "100755")
_PROGRAM = "100755"
_MAGIC = frozenset("*?[")
_EVERY_FILE = "**"
# Names that a tool loads by itself, in any folder, although files of their kind hold a product.
_LOADED_BY_NAME = (
    "**/conftest.py", "**/sitecustomize.py", "**/usercustomize.py", "**/sitecustomize/**", "**/usercustomize/**",
    "**/*.pth", "**/*.pyc", "**/*.pyo", "**/*.pyd", "**/*.so", "**/*-info/**", "**/META-INF/**",
    "**/__pycache__/**", "**/node_modules/**", "**/setupTests.*", "**/__mocks__/**",
    "**/.*", "**/.*/**",
    "**/setup.cfg", "**/pyproject.toml", "**/package.json", "**/*.config.*", "**/*.conf.*", "**/[jt]sconfig*.json",
    "**/composer.json", "**/deno.json*", "**/pytest.ini", "**/pytest.toml", "**/tox.ini", "**/tox.toml",
    "**/junit-platform.properties", "**/testng*.xml", "**/*-test.xml", "**/xunit.runner.json",
    "**/pom.xml", "**/phpunit*.xml*", "**/dart_test.yaml", "**/CMakeLists.txt",
    "**/noxfile.py", "**/build.rs", "**/mix.exs", "**/Package.swift", "**/[Gg]ulpfile.*", "**/[Gg]runtfile.*",
    # Instructions that an agent loads first: the reviewer works in the built tree.
    "**/CLAUDE.md", "**/CLAUDE.local.md", "**/AGENTS.md", "**/AGENTS.override.md", "**/GEMINI.md", "**/opencode.json*",
)  # fmt: skip
# Kinds of files that a product is made of. A new file of another kind may be what a tool looks for.
_PRODUCT_KINDS = frozenset(
    [
        *CODE_KINDS, *SHELL_KINDS,
        ".html", ".htm", ".jinja", ".j2", ".jinja2", ".tmpl", ".tpl", ".ejs", ".hbs", ".erb", ".mustache", ".twig",
        ".css", ".scss", ".sass", ".less", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".woff",
        ".woff2", ".ttf", ".txt", ".md", ".rst", ".csv", ".tsv", ".sql", ".graphql", ".gql", ".proto", ".thrift",
        ".po", ".pot", ".json", ".yaml", ".yml", ".typed",
    ]
)  # fmt: skip
_SETTINGS_KINDS = frozenset([".ini", ".cfg", ".toml"])
# Kinds of settings and targets that tools search for, in folders of source, too. Templates and data have other kinds.
STEERING_KINDS = _SETTINGS_KINDS | {
    ".conf", ".opts", ".props", ".targets", ".runsettings", ".csproj", ".fsproj", ".vbproj", ".sln", ".slnx",
    ".gemspec", ".podspec", ".rake", ".mod", ".sum", ".work", ".pbxproj", ".xcconfig", ".xctestplan", ".cabal",
    ".properties",
}  # fmt: skip
# Kinds that steer how a product is built and tested, and compiled code: a runtime loads it in place of the source.
_NO_PRODUCT_KINDS = frozenset(
    [
        ".mk", ".cmake", ".gradle", ".kts", ".build", ".bazel", ".bzl", ".lock", ".pth",
        ".pyc", ".pyo", ".pyd", ".so", ".node", ".dll", ".dylib", ".wasm", ".class", ".jar",
    ]
)  # fmt: skip
# Names that Python imports from the first folder that has them, before its library or an installed tool.
_LIBRARY = frozenset(sys.stdlib_module_names) | {
    "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "py", "xdist", "hypothesis", "coverage", "mock", "nose2",
    "tox", "nox",
}  # fmt: skip
_PACKAGE_FILE = "__init__.py"
_PYTHON_MODULES = (".py", ".pyi", ".pyc", ".so", ".pyd")


class FilePart(StrEnum):
    """What a changed file is for the judge."""

    WORK = "work"
    NEW_TEST = "new_test"
    FREE = "free"
    PROTECTED = "protected"


class TreeEntry(msgspec.Struct, frozen=True):
    """A file of a tree: its git mode and the id of its content."""

    mode: str
    blob: str


class FileChange(msgspec.Struct, frozen=True):
    """A path that differs between base and work; None if the path is missing on that side."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None

    @property
    def is_plain(self) -> bool:
        """Whether both sides are files: not links, not other repositories."""
        return all(entry is None or entry.mode in FILE_MODES for entry in (self.before, self.after))


# A file whose content is not known yet.
_SOME_FILE = TreeEntry("100644", "")


class BaseFacts(msgspec.Struct, frozen=True):
    """What the rules ask about the base and the machine: files and their kinds, installed modules and commands."""

    read: Callable[[str], bytes]
    has_file: Callable[[str], bool]
    has_folder: Callable[[str], bool]
    # Whether a Python that may run the tests has a top-level module of this name.
    is_installed: Callable[[str], bool]
    # Whether a judge of the base is a module of this name.
    is_judge_module: Callable[[str], bool]
    # Whether tests import a module or package of the product by this dotted name.
    is_product_module: Callable[[str], bool]
    # Whether the user can run a command of this name.
    is_command: Callable[[str], bool]
    # Whether the base has a work file or a test of this kind, such as ".xml".
    has_kind: Callable[[str], bool]
    # The files of the base, and others among these paths, that rules match in the ignore file at this path.
    ignored: Callable[[str, bytes, frozenset[str]], frozenset[str]]


class ChangedPaths(msgspec.Struct, frozen=True, kw_only=True):
    """All paths that the work changed, and how the work changed which folders are Python packages."""

    paths: frozenset[str] = frozenset()
    # New folders whose new `__init__.py` enters the verification tree.
    new_packages: frozenset[str] = frozenset()
    # Folders that lost their `__init__.py`.
    lost_packages: frozenset[str] = frozenset()

    def is_package(self, folder: str, base: BaseFacts) -> bool:
        """Whether a folder is a package in the verification tree."""
        is_old = base.has_file(f"{folder}/{_PACKAGE_FILE}") and folder not in self.lost_packages
        return is_old or folder in self.new_packages


NO_PATHS = ChangedPaths()


class WorkScope(msgspec.Struct, frozen=True, kw_only=True):
    """The work files, tests and documents of a project, as patterns. A plan may replace the first by its own list."""

    source: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()
    # Never in scope.
    protect: tuple[str, ...] = ()
    # Files on which the checks of a plan rely: never in scope, but a new test may be one of them.
    judges: tuple[str, ...] = ()
    # The plan's own list of work files; None without a plan, or if the plan has no list.
    planned: tuple[str, ...] | None = None
    # Paths and globs that a person allowed in addition.
    granted: tuple[str, ...] = ()
    # Files whose exit code decides whether a check passes. A plan may name them exactly.
    scripts: frozenset[str] = frozenset()
    # Folders in which a command looks for modules first: of its script, its own, and those of PYTHONPATH.
    import_roots: frozenset[str] = frozenset()

    def is_test(self, path: str) -> bool:
        """Whether the path is a test, or belongs to the tests."""
        return matches(path, self.tests)

    def is_doc(self, change: FileChange) -> bool:
        """Whether the change is one of a document that no plan or person names."""
        return matches(change.path, self.docs) and not self.is_named(change.path)

    def is_judge(self, path: str) -> bool:
        """Whether a file of the base may judge the work: it is a test, or outside the source."""
        return self.is_test(path) or not matches(path, self._listed)

    def is_script(self, path: str) -> bool:
        """Whether a file decides by its exit code whether a check passes, and the work may not change the file."""
        return path in self.scripts and not self.is_named(path)

    def may_move(self, path: str) -> bool:
        """Whether a test of the base may get another name."""
        return self.is_test(path) and not matches(path, (*self.protect, *self.judges))

    def is_named(self, path: str) -> bool:
        """Whether the plan, or a person who was asked, names this path exactly."""
        return path in self._named_exactly

    def changed_paths(self, changes: Iterable[FileChange], base: BaseFacts) -> ChangedPaths:
        """What the rules ask about all changes together.

        A folder of the base may be one from which Python imports. So a new `__init__.py` makes a package only of a new
        folder, and only if the file itself is no protected change.
        """
        changes = tuple(changes)
        markers = [change for change in changes if change.path.endswith(f"/{_PACKAGE_FILE}")]
        lost = frozenset(dirname(change.path) for change in markers if change.after is None)
        changed = ChangedPaths(paths=frozenset(change.path for change in changes), lost_packages=lost)
        for change in sorted(markers, key=lambda change: len(change.path)):  # a package before the packages in it
            folder = dirname(change.path)
            is_new = change.before is None and not base.has_folder(folder)
            if is_new and self.part(change, base, changed) is not FilePart.PROTECTED:
                changed = replace(changed, new_packages=changed.new_packages | {folder})
        return changed

    def part(self, change: FileChange, base: BaseFacts, changed: ChangedPaths = NO_PATHS) -> FilePart:
        """What a change is. Other changes matter: a lock file is free only next to its manifest."""
        path = change.path
        if not change.is_plain or matches(path, self.protect):
            return FilePart.PROTECTED
        if matches(path, self.judges) and not (change.before is None and self.is_test(path)):
            return FilePart.PROTECTED
        if path in self._named_exactly:
            return FilePart.WORK
        if matches(path, IGNORE_FILES):
            return FilePart.FREE if _hides_nothing(change, base, changed.paths) else FilePart.PROTECTED
        if _is_free_manifest(change, base, changed.paths):
            return FilePart.FREE
        if path in self.scripts or matches(path, _LOADED_BY_NAME) or self._shadows(change, base, changed):
            return FilePart.PROTECTED
        if self.is_test(path):
            return FilePart.NEW_TEST if change.before is None and _is_test_kind(path, base) else FilePart.PROTECTED
        listed = self._listed
        # Where a person lists every file as source, files of any kind are meant.
        if matches(path, listed) and (_EVERY_FILE in listed or _is_product(change, base)):
            return FilePart.WORK
        return FilePart.FREE if matches(path, self.docs) else FilePart.PROTECTED

    def _shadows(self, change: FileChange, base: BaseFacts, changed: ChangedPaths) -> bool:
        """Whether Python would import a new module or package in place of a library or of an installed module."""
        if change.after is None or change.before is not None:
            return False
        folder, _, name = change.path.rpartition("/")
        stem, dot, ending = name.partition(".")
        if not f"{dot}{ending}".endswith(_PYTHON_MODULES):
            return False
        if stem == "__init__":  # a folder without `__init__.py` hides no module
            folder, _, stem = folder.rpartition("/")
        if not stem:
            return False
        if self.is_test(change.path):
            hides_product = _hides_product(change, base, changed, self.import_roots)
            if hides_product or (base.is_product_module(stem) and stem not in _LIBRARY):
                return hides_product
        # A new test does not run with the tests of the base, and may have the name of a test in another folder.
        is_known = _is_known(stem, base) or (not self.is_test(change.path) and base.is_judge_module(stem))
        if folder in self.import_roots:
            return is_known or any(base.has_file(path) for path in (f"{stem}.py", f"{stem}/__init__.py"))
        # Any folder but a package may be one from which Python imports.
        return (not folder or not changed.is_package(folder, base)) and is_known

    @property
    def _named_exactly(self) -> frozenset[str]:
        return frozenset(name for name in (*(self.planned or ()), *self.granted) if not _MAGIC & set(name))

    @property
    def _listed(self) -> tuple[str, ...]:
        return (*(self.source if self.planned is None else self.planned), *self.granted)

    def wider(self, base: BaseFacts) -> tuple[str, ...]:
        """The entries of the plan that allow more than the settings: a person must approve them."""
        entries = (*(self.planned or ()), *self.granted)
        return tuple(pattern for pattern in entries if not self.by_settings._allows(pattern, base))  # noqa: SLF001

    @property
    def by_settings(self) -> WorkScope:
        """The scope without the plan."""
        return replace(self, planned=None, granted=())

    def _allows(self, pattern: str, base: BaseFacts) -> bool:
        """Whether this scope allows all that the pattern allows. Only an exact name lifts a protection."""
        if pattern in self.source and _MAGIC & set(pattern):
            return True
        if _MAGIC & set(pattern):
            folders = (source.removesuffix("**") for source in self.source if source.endswith("/**"))
            return any(not _MAGIC & set(folder) and pattern.startswith(folder) for folder in folders)
        change = FileChange(pattern, _SOME_FILE if base.has_file(pattern) else None, _SOME_FILE)
        return self.part(change, base) is FilePart.WORK


def _hides_product(change: FileChange, base: BaseFacts, changed: ChangedPaths, import_roots: frozenset[str]) -> bool:
    """Whether tests would import a new file of the tests in place of the product.

    Any folder but a package may be one from which Python imports. An empty package for tests of the same name, as
    `tests/app/__init__.py`, can't let them pass.
    """
    is_marker = change.path.endswith(f"/{_PACKAGE_FILE}")
    *folders, name = change.path.removesuffix(f"/{_PACKAGE_FILE}").split("/")
    parts = (*folders, name.partition(".")[0])
    if parts[-1].startswith("test_") or parts[-1].endswith("_test"):
        return False
    if is_marker and _is_empty(_content(change.after, base)):
        return False
    paths = ["/".join(parts[:end]) for end in range(len(parts) + 1)]
    roots = [
        first
        for first, path in enumerate(paths[:-1])
        if not path or path in import_roots or not changed.is_package(path, base)
    ]
    # A name of the product, or a file in a new package of this name.
    return any(
        base.is_product_module(".".join(parts[first:end])) and (end == len(parts) or paths[end] in changed.new_packages)
        for first in roots
        for end in range(first + 1, len(parts) + 1)
    )


def _is_empty(source: bytes) -> bool:
    """Whether a file has only comments."""
    return all(not line.strip() or line.lstrip().startswith(b"#") for line in source.splitlines())


def _is_test_kind(path: str, base: BaseFacts) -> bool:
    """Whether a new file can be a test, or data of tests. Tests use data of any kind, and runners have settings."""
    kind = kind_of(path)
    return bool(kind) and kind not in _NO_PRODUCT_KINDS and (kind not in _SETTINGS_KINDS or base.has_kind(kind))


def _is_product(change: FileChange, base: BaseFacts) -> bool:
    """Whether a file is of a kind that holds a product. A tool may look for a new file of another kind."""
    kind = kind_of(change.path)
    if kind in _NO_PRODUCT_KINDS or kind in STEERING_KINDS:
        return False
    if not kind:
        # A name without an ending is what tools look for (Makefile). A program of the base is a part of the product.
        return change.before is not None and change.before.mode == _PROGRAM
    return change.before is not None or kind in _PRODUCT_KINDS or base.has_kind(kind)


def kind_of(path: str) -> str:
    """The ending of a file's name, in small letters; empty without an ending."""
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    return f"{dot}{ending}".lower() if stem else ""


def _is_free_manifest(change: FileChange, base: BaseFacts, changed: frozenset[str]) -> bool:
    """Whether only parts of a manifest changed that steer no test: dependencies, entry points, descriptions."""
    before, after = change.before, change.after

    def read() -> tuple[bytes, bytes]:
        return _content(before, base), _content(after, base)

    if is_free_lock_file(change.path, changed, read):
        return True
    if before is None or after is None or before.mode != after.mode:
        return False
    return same_without_free_parts(change.path, read, base.is_command)


def _hides_nothing(change: FileChange, base: BaseFacts, changed: frozenset[str]) -> bool:
    """Whether a changed ignore file matches no file of the base or of the work that it did not match before."""
    before, after = (None if entry is None else base.read(entry.blob) for entry in (change.before, change.after))
    rules = comparable_rules(change.path, before, after)
    if rules is None:
        return False
    earlier, now = (base.ignored(change.path, text, changed) for text in rules)
    return now <= earlier


def _content(entry: TreeEntry | None, base: BaseFacts) -> bytes:
    return b"" if entry is None else base.read(entry.blob)


def _is_known(module: str, base: BaseFacts) -> bool:
    """Whether a library or an installed module has this name."""
    return module in _LIBRARY or base.is_installed(module)

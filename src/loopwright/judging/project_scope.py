"""Computes the scope of the work, for the gate of a plan and for the judge alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from loopwright.judging.called_commands import CommandIn, with_called
from loopwright.judging.deciding_scripts import deciding_scripts, import_roots, named_paths
from loopwright.judging.judge_helpers import judge_helpers
from loopwright.judging.machine import ProjectMachine
from loopwright.judging.project_files import DOCS, find_project_files, only_product
from loopwright.judging.scope import BaseFacts, WorkScope, kind_of
from loopwright.workspace.settings_model import ProjectSettings


class PlanScope(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan says about the files of the work."""

    # The plan's own list of work files; None: the settings decide.
    files: tuple[str, ...] | None = None
    # Globs of files that the checks rely on.
    judges: tuple[str, ...] = ()
    # The checks: commands and the folders in which they run.
    commands: tuple[CommandIn, ...] = ()
    # Paths and globs that a person allowed in addition, because an agent asked for them.
    granted: tuple[str, ...] = ()


NO_PLAN = PlanScope()
_MAGIC = "*"


class BaseFiles(msgspec.Struct, frozen=True):
    """The files of the base: their paths, and their contents by path."""

    paths: frozenset[str]
    read: Callable[[str], bytes]
    # The contents of many files at once, without links.
    read_all: Callable[[Iterable[str]], dict[str, bytes]]


def scope_of_project(settings: ProjectSettings, plan: PlanScope, base: BaseFiles) -> WorkScope:
    """The scope by the settings and the plan. Source files that are not set are found by their names on the base."""
    scripts = _scripts(settings, plan, base)
    called = tuple(with_called(judging_commands(settings, plan), base.paths, base.read))
    roots = frozenset[str]().union(*(import_roots(command, cwd, base.paths) for command, cwd in called))
    named = frozenset[str]().union(*(named_paths(command, cwd) for command, cwd in called))
    found = find_project_files(base.paths, scripts, named=named, read_all=base.read_all)
    source = tuple(settings.source) or found.source
    # A folder that a person lists as source is source, whatever its name. A file that holds tests is a test.
    folders = frozenset(pattern for pattern in settings.source if _MAGIC in pattern)
    tests = tuple(settings.tests) or tuple(pattern for pattern in found.tests if pattern not in folders)
    scripts &= _scripts(settings, plan, base, tests)
    if product := scripts & only_product(base.paths, source, tests):
        # A test script may source or call the only product; what the command itself runs is a judge.
        scripts -= product - _scripts(settings, plan, base, tests, follows_scripts=False)
    return WorkScope(
        source=source,
        tests=tests,
        docs=tuple(settings.docs) or DOCS,
        protect=tuple(settings.protect),
        judges=plan.judges,
        planned=plan.files,
        granted=plan.granted,
        scripts=scripts | judge_helpers(scripts, base.paths, base.read),
        import_roots=roots,
    )


def facts_about_base(
    scope: WorkScope,
    files: frozenset[str],
    read: Callable[[str], bytes],
    machine: ProjectMachine,
    ignored: Callable[[str, bytes, frozenset[str]], frozenset[str]],
) -> BaseFacts:
    """What the rules of the scope ask about the base; `read` takes the id of a content."""
    kinds = frozenset(kind_of(path) for path in files if scope.is_test(path) or not scope.is_judge(path))
    judges = frozenset(_module_of(path) for path in files if path.endswith(".py") and scope.is_judge(path))
    product = frozenset(
        _imported_as(path, files, scope) for path in files if path.endswith(".py") and not scope.is_judge(path)
    )
    return BaseFacts(
        read=read,
        has_file=files.__contains__,
        has_folder=lambda folder: any(path.startswith(f"{folder}/") for path in files),
        is_installed=machine.is_installed,
        is_judge_module=judges.__contains__,
        is_product_module=product.__contains__,
        is_command=machine.is_command,
        has_kind=kinds.__contains__,
        ignored=ignored,
    )


def _module_of(path: str) -> str:
    """The name under which a folder on Python's path has the module or the package."""
    folder, _, name = path.rpartition("/")
    return folder.rpartition("/")[2] if name == "__init__.py" else name.removesuffix(".py")


def _imported_as(path: str, files: frozenset[str], scope: WorkScope) -> str:
    """The top package or module of a source file; with the folders without `__init__.py` below the source."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    folder, roots = parts[:-1], {pattern.rstrip("*/") for pattern in scope.source}
    while folder and "/".join((*folder, "__init__.py")) in files:
        parts, folder = folder, folder[:-1]
    namespace = len(folder)
    while namespace and "/".join(folder[:namespace]) not in roots and folder[namespace - 1] not in ("src", "lib"):
        namespace -= 1
    return ".".join(parts[namespace:])


def judging_commands(settings: ProjectSettings, plan: PlanScope) -> tuple[CommandIn, ...]:
    """The checks of the plan and the test commands of the project."""
    return (*plan.commands, *((command.command, command.cwd) for command in settings.test_commands))


def _scripts(
    settings: ProjectSettings,
    plan: PlanScope,
    base: BaseFiles,
    tests: tuple[str, ...] = (),
    *,
    follows_scripts: bool = True,
) -> frozenset[str]:
    """The scripts whose exit code decides whether a command passes. Tests are no scripts if a test runner gets them."""
    commands = judging_commands(settings, plan)
    called = with_called(commands, base.paths, base.read, follows_scripts=follows_scripts)
    return frozenset[str]().union(*(deciding_scripts(command, cwd, tests) for command, cwd in called))

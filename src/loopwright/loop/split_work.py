"""Splits the work of a loop by the scope into trees: what may be judged, its new tests, and protected changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import basename

import msgspec

from loopwright.evidence.trees import AS_PATCH, NOT_SECRET, write_tree
from loopwright.judging.called_commands import CommandIn, recipe_files, with_called
from loopwright.judging.changed_tests import ChangedTestFile
from loopwright.judging.controls.steering_files import steering_files
from loopwright.judging.defined_tests.moved import Moves
from loopwright.judging.defined_tests.packages import GoPackages
from loopwright.judging.dependent_files import dependent_files
from loopwright.judging.expected_data import expected_data
from loopwright.judging.flags import Flag, flags, flags_in_test
from loopwright.judging.project_files import CODE_KINDS, SHELL_KINDS
from loopwright.judging.project_scope import NO_PLAN, BaseFiles, PlanScope, judging_commands, scope_of_project
from loopwright.judging.protected_verdict import ProtectedFiles
from loopwright.judging.scope import STEERING_KINDS, BaseFacts, FileChange, FilePart, TreeEntry, WorkScope, kind_of
from loopwright.judging.verdict import CommandVerdict
from loopwright.kernel.digest import digest_of, sha256
from loopwright.kernel.files import make_folder, shown, write_durably
from loopwright.kernel.git import PrivateRepository
from loopwright.loop.model import Tree
from loopwright.loop.own_work import both_trees
from loopwright.loop.read_base import BaseReader
from loopwright.loop.test_changes import ChangeSorter
from loopwright.loop.work_files import patch_path
from loopwright.workspace.settings_model import ProjectSettings

_NO_BLOB = "0" * 40
# Changed tests may need it.
_FIXTURES = "conftest.py"
# A work file without an ending is a program of the base.
_CODE = frozenset([*CODE_KINDS, *SHELL_KINDS, ".pyw", ""])


class ProtectedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change to a file that the work may not change by itself: which content became which."""

    path: str
    before: str
    after: str
    is_test: bool

    @property
    def kind(self) -> str:
        """What became of the file."""
        return "deleted" if not self.after else "changed" if self.before else "added"


class ChangedCode(msgspec.Struct, frozen=True):
    """A changed file of the work that holds code: its content on the base, None if it is new, and now."""

    path: str
    before: bytes | None
    after: bytes


class SplitWork(msgspec.Struct, frozen=True, kw_only=True):
    """The work in parts. All trees are kept as patches, and a sandbox can be opened from each."""

    # Everything that the work changed.
    whole: Tree
    # The base with changed work files, free files and new tests: what is delivered without a signature.
    verified: Tree
    # The same without the new tests, and the base with the new tests; None if there are no new tests.
    without_new_tests: Tree | None
    base_with_new_tests: Tree | None
    # The verified and the whole tree without doubtful changes: documents, and tests that moved. These changes are
    # free only if the tests of the base pass without them. None without such changes.
    without_doubtful: Tree | None = None
    whole_without_doubtful: Tree | None = None
    work_files: tuple[str, ...]
    free_files: tuple[str, ...]
    new_tests: tuple[str, ...]
    protected: tuple[ProtectedChange, ...]
    # Protected changes that a person signed: they are part of the verified tree, and all others are left out.
    signed: tuple[ProtectedChange, ...] = ()
    # The protected or signed changes that are code of tests; and the base with these changes and the new tests, if
    # one of these files has tests now.
    test_files: tuple[ChangedTestFile, ...] = ()
    base_with_changed_tests: Tree | None = None
    # Tests that moved or got another name, and nothing else; and old and new names of files and tests.
    same_tests: tuple[str, ...] = ()
    names: dict[str, str] = {}
    # What became of tests in other changed files of tests.
    moves: Moves = Moves()
    # Files of the base that the work may not change: a command may run them as tests.
    judges: tuple[str, ...] = ()
    # The changed work files that hold code, without deleted files.
    code: tuple[ChangedCode, ...] = ()
    # New code in work files that could deceive a judge.
    flags: tuple[Flag, ...] = ()
    # Files of the base that import what changed, one for each test command that judges them.
    dependents: tuple[str, ...] = ()
    # The rules by which the work was split.
    scope: WorkScope = WorkScope()

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be delivered: the verified tree is the base."""
        return not self.verified.has_changes

    @property
    def allowed_files(self) -> tuple[str, ...]:
        """The files that the work changed and was allowed to change."""
        return tuple(
            sorted((*self.work_files, *self.free_files, *self.new_tests, *self.same_tests, *self.signed_files))
        )

    @property
    def judged_files(self) -> tuple[str, ...]:
        """The changed files that decide which commands judge the work: free files only if there are no others."""
        changed = (*self.work_files, *self.new_tests, *self.same_tests, *self.protected_files, *self.signed_files)
        return (*changed, *self.dependents) or self.free_files

    @property
    def protected_files(self) -> frozenset[str]:
        """The paths of the protected changes."""
        return frozenset(change.path for change in self.protected)

    @property
    def signed_files(self) -> frozenset[str]:
        """The paths of the signed changes."""
        return frozenset(change.path for change in self.signed)

    @property
    def signing(self) -> ProtectedFiles:
        """The protected and the signed changes, as far as they decide what may become of tests."""
        # Settings in a folder of tests may leave tests out, but have none.
        tests = frozenset(
            change.path
            for change in (*self.protected, *self.signed)
            if change.is_test and kind_of(change.path) not in STEERING_KINDS
        )
        is_code = tests <= {file.path for file in self.test_files}
        return ProtectedFiles(
            paths=self.protected_files | self.signed_files,
            tests=tests,
            renamed=self.moves.same,
            sources=tuple(file.before or b"" for file in self.test_files) if is_code else None,
        )

    @property
    def protected_digest(self) -> str:
        """What a signature on the protected changes covers."""
        return digest_of([[change.path, change.before, change.after] for change in self.protected])


_Protected = tuple[FileChange, ProtectedChange]


def control_trees(split: SplitWork, verdict: CommandVerdict) -> Iterator[tuple[Tree, CommandVerdict]]:
    """The trees on which the tests that prove something are altered. New tests must not run with earlier tests."""
    if split.without_new_tests is None:
        yield split.verified, verdict
        return
    if (earlier := verdict.by_earlier_tests) is not None:
        yield split.without_new_tests, earlier
    if (new := verdict.by_new_tests) is not None:
        yield split.verified, new


def split_work(
    tree: Tree,
    progress: Path,
    project: Path,
    settings: ProjectSettings,
    plan: PlanScope = NO_PLAN,
    signed: frozenset[str] | None = None,
    *,
    sign_doubtful: bool = False,
) -> SplitWork:
    """The parts of the work. `signed`: protected files to keep; `sign_doubtful`: doubtful changes are protected."""
    with both_trees(tree, progress, project) as judge:
        base, changes = BaseReader(judge, tree.base_tree, project), tuple(_changes(judge, tree))
        scope = scope_of_project(settings, plan, BaseFiles(base.files, base.read, base.read_all))
        contents, commands = _Contents(judge, changes), judging_commands(settings, plan)
        parts = _by_part(changes, scope, base.facts(scope))
        expected, texts = _expected_files(base, scope, commands, parts), tuple(command for command, _ in commands)
        sorter = ChangeSorter(judge, tree.base_tree, scope, texts, contents.read, expected)
        found = sorter.sort(parts, sign_doubtful=sign_doubtful)
        parts, new_tests = found.parts, found.parts[FilePart.NEW_TEST]
        protected = [(change, _protected(change, scope, found.tests)) for change in parts[FilePart.PROTECTED]]
        kept, tests = _signed(protected, signed, scope)
        allowed = [*parts[FilePart.WORK], *parts[FilePart.FREE], *found.same_tests, *(change for change, _ in kept)]
        compose, doubtful = _Composer(judge, tree, progress), found.doubtful
        verified = compose([*allowed, *new_tests]) if protected else tree
        code, work_files = tuple(contents.code_of(parts[FilePart.WORK])), _paths(parts[FilePart.WORK])
        return SplitWork(
            whole=tree if signed is None else verified,
            verified=verified,
            without_new_tests=compose(allowed) if new_tests else None,
            base_with_new_tests=compose(new_tests) if new_tests else None,
            without_doubtful=compose(_others((*allowed, *new_tests), doubtful)) if doubtful else None,
            whole_without_doubtful=compose(_others(changes, doubtful)) if doubtful and protected else None,
            work_files=work_files,
            free_files=_paths(parts[FilePart.FREE]),
            new_tests=_paths(new_tests),
            protected=tuple(change for _, change in protected) if signed is None else (),
            signed=tuple(change for _, change in kept),
            test_files=tuple(contents.tests_of(tests, sorter.packages)),
            base_with_changed_tests=compose([*new_tests, *tests]) if any(row.after for row in tests) else None,
            same_tests=_paths(found.same_tests),
            names=found.names,
            moves=found.moves,
            judges=tuple(sorted(_judges(base, scope, commands, frozenset(work_files)))),
            code=code,
            flags=(*_flags(base, scope, code, expected - _all_paths(changes)), *_flags_in(contents.code_of(new_tests))),
            dependents=_dependents(base, settings, changes, parts[FilePart.FREE]),
            scope=scope,
        )


def _signed(
    protected: list[_Protected], signed: frozenset[str] | None, scope: WorkScope
) -> tuple[list[_Protected], list[FileChange]]:
    """The changes that a person signed; and of those to sign or signed the tests, with fixtures they may need.

    Tests inside source and documents are left out.
    """
    kept = [row for row in protected if signed is not None and row[1].path in signed]
    found = (change for change, _ in (protected if signed is None else kept))
    return kept, [change for change in found if scope.is_test(change.path) or basename(change.path) == _FIXTURES]


def _flags_in(new_tests: Iterable[ChangedCode]) -> Iterator[Flag]:
    return (flag for file in new_tests for flag in flags_in_test(file.path, file.after))


def _dependents(
    base: BaseReader, settings: ProjectSettings, changes: tuple[FileChange, ...], free: list[FileChange]
) -> tuple[str, ...]:
    """The files of test commands that import what changed, and the links that lead to it."""
    changed = frozenset(map(_shown, _all_paths(changes))) - frozenset(_paths(free))
    patterns = tuple(tuple(command.when) for command in settings.test_commands)
    links = base.links_to(changed) if any(patterns) else frozenset[str]()
    return (*sorted(links), *dependent_files(changed | links, patterns, base.files, base.read_all))


def _flags(
    base: BaseReader, scope: WorkScope, code: tuple[ChangedCode, ...], expected: frozenset[str]
) -> Iterator[Flag]:
    for file in code:
        before = file.before or b""
        yield from flags(file.path, before, file.after, expected)
        yield from base.changed_judges(file.path, before, file.after, scope)


def _all_paths(changes: Iterable[FileChange]) -> frozenset[str]:
    return frozenset(change.path for change in changes)


def _by_part(changes: tuple[FileChange, ...], scope: WorkScope, facts: BaseFacts) -> dict[FilePart, list[FileChange]]:
    changed = scope.changed_paths(changes, facts)
    parts: dict[FilePart, list[FileChange]] = {part: [] for part in FilePart}
    for change in changes:
        parts[scope.part(change, facts, changed)].append(change)
    return parts


def _others(changes: Iterable[FileChange], left_out: list[FileChange]) -> list[FileChange]:
    return [change for change in changes if change not in left_out]


def work_with_tests(
    earlier: Tree,
    final: SplitWork,
    progress: Path,
    project: Path,
    settings: ProjectSettings,
    plan: PlanScope = NO_PLAN,
) -> Tree:
    """The allowed changes of earlier work, with the new tests of the final work."""
    with both_trees(earlier, progress, project, final.whole) as judge:
        base = BaseReader(judge, earlier.base_tree, project)
        scope = scope_of_project(settings, plan, BaseFiles(base.files, base.read, base.read_all))
        facts = base.facts(scope)
        changes = tuple(_changes(judge, earlier))
        changed = scope.changed_paths(changes, facts)
        allowed = [change for change in changes if scope.part(change, facts, changed) in (FilePart.WORK, FilePart.FREE)]
        new_tests = [change for change in _changes(judge, final.whole) if change.path in final.new_tests]
        return _Composer(judge, earlier, progress)([*allowed, *new_tests])


def _expected_files(
    base: BaseReader, scope: WorkScope, commands: tuple[CommandIn, ...], parts: dict[FilePart, list[FileChange]]
) -> frozenset[str]:
    """The files with which commands compare a result, and changed data that only tests use."""
    called = with_called(commands, base.files, base.read)
    found = (
        steering_files(command, cwd, base.files) - recipe_files(command, cwd, base.files) for command, cwd in called
    )
    return expected_data(_all_paths(parts[FilePart.WORK]), base.files, scope, base.having).union(*found)


def _judges(
    base: BaseReader, scope: WorkScope, commands: tuple[CommandIn, ...], changed: frozenset[str]
) -> Iterator[str]:
    """The files of the base that judge the work: by the scope, or because a command takes its recipe from there."""
    called = with_called(commands, base.files, base.read)
    steering = frozenset[str]().union(*(steering_files(command, cwd, base.files) for command, cwd in called))
    for path in base.files:
        if scope.is_judge(path) or scope.is_script(path) or (path in steering and path not in changed):
            yield path


class _Contents:
    """The contents of changed files that hold code, read at once: each reading is a process."""

    def __init__(self, judge: PrivateRepository, changes: tuple[FileChange, ...]) -> None:
        code = [change for change in changes if change.is_plain and kind_of(change.path) in _CODE]
        entries = [entry for change in code for entry in (change.before, change.after) if entry is not None]
        self._judge = judge
        self._known = judge.blobs(entry.blob for entry in entries)

    def read(self, entry: TreeEntry) -> bytes:
        """The content of any changed file."""
        known = self._known.get(entry.blob)
        return known if known is not None else self._judge.run("cat-file", "blob", entry.blob)

    def code_of(self, changes: list[FileChange]) -> Iterator[ChangedCode]:
        """The files that hold code now."""
        for change in changes:
            before, after = change.before, change.after
            if after is not None and change.is_plain and kind_of(change.path) in _CODE:
                path = shown(_raw(change.path))
                yield ChangedCode(path, self.read(before) if before is not None else None, self.read(after))

    def tests_of(self, changes: list[FileChange], packages: GoPackages) -> Iterator[ChangedTestFile]:
        """The changed files of tests, as far as they hold code."""
        for change in changes:
            if change.is_plain and kind_of(change.path) in _CODE:
                before, after = (
                    self.read(entry) if entry is not None else None for entry in (change.before, change.after)
                )
                yield ChangedTestFile(_shown(change.path), before, after, packages.package_of(change.path))


class _Composer:
    """Makes trees from the base and some of the changes, and keeps each as a patch."""

    def __init__(self, judge: PrivateRepository, tree: Tree, progress: Path) -> None:
        self._judge = judge
        self._tree = tree
        self._progress = progress

    def __call__(self, changes: list[FileChange]) -> Tree:
        judge, tree = self._judge, self._tree
        judge.run("read-tree", tree.base_tree)
        if changes:
            judge.run("update-index", "-z", "--index-info", stdin=b"".join(map(_row, changes)))
        composed = write_tree(judge)
        patch = _patch(judge, tree.commit, composed)
        path = patch_path(self._progress, sha256(patch))
        if not path.is_file():
            make_folder(path.parent)
            write_durably(path, patch)
        return msgspec.structs.replace(tree, tree=composed, patch_sha256=sha256(patch))


def _row(change: FileChange) -> bytes:
    """The row of an index for the changed file."""
    mode, blob = (change.after.mode, change.after.blob) if change.after is not None else ("0", _NO_BLOB)
    return f"{mode} {blob}\t".encode() + _raw(change.path) + b"\0"


def _changes(judge: PrivateRepository, tree: Tree) -> Iterator[FileChange]:
    listed = judge.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", tree.base_tree, tree.tree)
    fields = listed.split(b"\0")
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old_blob, new_blob, _ = meta.decode().lstrip(":").split(" ")
        yield FileChange(_name(path), _entry(old_mode, old_blob), _entry(new_mode, new_blob))


def _entry(mode: str, blob: str) -> TreeEntry | None:
    return None if mode == "000000" else TreeEntry(mode, blob)


def _protected(change: FileChange, scope: WorkScope, inline: frozenset[str]) -> ProtectedChange:
    before, after = (
        f"{entry.mode} {entry.blob}" if entry is not None else "" for entry in (change.before, change.after)
    )
    path = shown(_raw(change.path))
    return ProtectedChange(
        path=path, before=before, after=after, is_test=scope.is_test(change.path) or change.path in inline
    )


def _paths(changes: list[FileChange]) -> tuple[str, ...]:
    return tuple(shown(_raw(change.path)) for change in changes)


def _shown(path: str) -> str:
    return shown(_raw(path))


def _name(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _patch(judge: PrivateRepository, commit: str | None, tree: str) -> bytes:
    start = f"{commit}^{{tree}}" if commit else judge.run("mktree").decode().strip()
    return judge.run(*AS_PATCH, start, tree, "--", ".", *NOT_SECRET)

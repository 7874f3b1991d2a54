"""Finds the expectations of a command without a report: its own, and those of the files that it calls. Pure.

Each is changed by itself: the first that fails may end the command before the others. A file that is not a judge may
be the product, and stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import msgspec

from loopwright.judging.called_commands import Read, recipe_files, with_called
from loopwright.judging.controls.marks import marks_of
from loopwright.judging.controls.near_texts import near_texts
from loopwright.judging.controls.reach import ScriptReach
from loopwright.judging.controls.script_places import script_places, whole_script
from loopwright.judging.controls.shell import expectations
from loopwright.judging.controls.steering_files import steering_files
from loopwright.judging.deciding_scripts import deciding_scripts
from loopwright.kernel.relative_folder import relative_folder

_SHELL = (".sh", ".bash")
# The lines of a recipe; `-` ignores its failure.
_RECIPE = re.compile(rb"^\t[@+ ]*((?:[^\n\\]|\\.|\\\n)+)", re.MULTILINE)


class ChangedExpectation(msgspec.Struct, frozen=True):
    """One changed expectation: in the command, or in a file. `failing` has a failure in its place, if that is known."""

    command: str | None = None
    path: str = ""
    source: bytes = b""
    failing: bytes | None = None
    # Whether the expectation changed only slightly: that is tried last.
    is_near: bool = False
    # Whether the command must come to the expectation.
    reach: ScriptReach = ScriptReach.OPTIONAL

    @property
    def failure(self) -> ChangedExpectation | None:
        """The same place with a failure: a command that still passes does not need the expectation."""
        if self.failing is None:
            return None
        if self.command is not None:
            return ChangedExpectation(command=self.failing.decode())
        return ChangedExpectation(path=self.path, source=self.failing, is_near=self.is_near, reach=self.reach)


def in_command(command: str, *, salt: str) -> Iterator[ChangedExpectation]:
    """The expectations in the text of a command."""
    for changed in expectations(command.encode(), salt=salt):
        yield ChangedExpectation(command=changed.inverted.decode(), failing=changed.failing, is_near=changed.is_near)


def may_call(command: str, cwd: str, files: frozenset[str]) -> bool:
    """Whether a command may call one of these files."""
    return bool(steering_files(command, cwd, files) or deciding_scripts(command, relative_folder(cwd)) & files)


def called_scripts(command: str, cwd: str, files: frozenset[str], read: Read) -> tuple[str, ...]:
    """The scripts among these files whose exit code decides, also behind make, npm and shell scripts."""
    called = with_called([(command, cwd)], files, read)
    return tuple(sorted({path for text, folder in called for path in deciding_scripts(text, folder) & files}))


def in_called_files(
    command: str, cwd: str, files: frozenset[str], read: Read, *, salt: str, whole_scripts: bool = False
) -> Iterator[ChangedExpectation]:
    """The expectations in files that a command calls. Only the given files are changed.

    With `whole_scripts` all assertions of a script in Python or JavaScript change at once.
    """
    called = list(dict.fromkeys(with_called([(command, cwd)], files, read)))
    seen: set[str] = set()
    for text, folder in called:
        scripts = (deciding_scripts(text, folder) & files) - seen
        steering = steering_files(text, folder, files) - seen - scripts
        seen |= scripts | steering
        for path in sorted(scripts):
            yield from _in_script(path, read(path), salt, is_whole=whole_scripts)
        for path in sorted(steering):
            if path not in recipe_files(text, folder, files):
                yield ChangedExpectation(path=path, source=marks_of(salt).text + read(path))
                near = next(near_texts(read(path), marks_of(salt).step), None)
                yield from [ChangedExpectation(path=path, source=near, is_near=True)] if near is not None else []
                continue
            variants = _in_manifest if path.endswith(".json") else _in_makefile
            yield from _that_matter(variants(path, read(path), salt), text, folder, files, read)


def _in_script(path: str, source: bytes, salt: str, *, is_whole: bool) -> Iterator[ChangedExpectation]:
    first = source.partition(b"\n")[0]
    if path.endswith(_SHELL) or re.match(rb"#!.*\b(?:ba|da|z|k)?sh\b", first):
        for changed in expectations(source, salt=salt):
            yield ChangedExpectation(
                path=path, source=changed.inverted, failing=changed.failing, is_near=changed.is_near
            )
        return
    places = whole_script if is_whole else script_places
    for is_near in (False, True):
        for place in places(path, source, salt=salt, is_near=is_near):
            yield ChangedExpectation(
                path=path, source=place.source, failing=place.failing, is_near=is_near, reach=place.reach
            )


def _in_makefile(path: str, source: bytes, salt: str) -> Iterator[ChangedExpectation]:
    for line in _RECIPE.finditer(source):
        before, after = source[: line.start(1)], source[line.end(1) :]
        for changed in expectations(line[1], salt=salt):
            yield ChangedExpectation(
                path=path,
                source=before + changed.inverted + after,
                failing=before + b"exit 1" + after,
                is_near=changed.is_near,
            )


def _in_manifest(path: str, source: bytes, salt: str) -> Iterator[ChangedExpectation]:
    try:
        manifest = json.loads(source)
        scripts = {name: text for name, text in manifest["scripts"].items() if isinstance(text, str)}
    except (ValueError, KeyError, TypeError, AttributeError):
        return

    def with_script(name: str, text: str) -> bytes:
        return json.dumps({**manifest, "scripts": {**manifest["scripts"], name: text}}, indent=2).encode()

    for name, text in scripts.items():
        for changed in in_command(text, salt=salt):
            yield ChangedExpectation(
                path=path,
                source=with_script(name, changed.command or ""),
                failing=with_script(name, "exit 1"),
                is_near=changed.is_near,
            )


def _that_matter(
    variants: Iterator[ChangedExpectation], command: str, cwd: str, files: frozenset[str], read: Read
) -> Iterator[ChangedExpectation]:
    """Without the changes in recipes that the command does not run."""
    before = list(with_called([(command, cwd)], files, read))
    for variant in variants:
        if list(with_called([(command, cwd)], files, _reading(variant, read))) != before:
            yield variant


def _reading(variant: ChangedExpectation, read: Read) -> Callable[[str], bytes]:
    return lambda path: variant.source if path == variant.path else read(path)

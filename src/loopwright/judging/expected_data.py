"""Finds data in the source that only tests use, such as a file of expected answers: it judges the work. Pure.

A file is found by its name in the text of tests, in any language. Data that the product or a manifest names too is a
part of the product, and so is data whose name the product may compute, or that a framework loads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from posixpath import basename, dirname, join, normpath

from loopwright.judging.computed_names import is_of_a_framework, may_compute, words_of_computed
from loopwright.judging.folder_names import FolderKind, kind_of_folder
from loopwright.judging.globs import matches
from loopwright.judging.project_files import CODE_KINDS, SHELL_KINDS
from loopwright.judging.scope import WorkScope

# The contents of the text files of the base in which one of these words occurs.
Having = Callable[[Iterable[str]], Mapping[str, bytes]]
_CODE = (*CODE_KINDS, *SHELL_KINDS, ".pyw", ".pxd", ".pxi")
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_JSON = ".json"
# Such a new file is imported in place of data of the same name: `require('./expected')`.
_BEFORE_JSON = (".js", ".ts", ".jsx", ".tsx")
_NAME = re.compile(r"[\w.@~/+-]+")
_QUOTES = "'\"`"
_MANIFESTS = (
    "**/pyproject.toml", "**/setup.py", "**/setup.cfg", "**/MANIFEST.in", "**/package.json", "**/Cargo.toml",
    "**/*.gemspec", "**/*.csproj", "**/composer.json",
)  # fmt: skip
# Code next to the tests that builds the project.
_BUILD_FILES = (
    "**/noxfile.py", "**/tasks.py", "**/fabfile.py", "**/*.config.*", "**/*.conf.*", "**/[Gg]ulpfile.*",
    "**/[Gg]runtfile.*", "**/build.rs",
)  # fmt: skip


def expected_data(changed: Iterable[str], files: frozenset[str], scope: WorkScope, having: Having) -> frozenset[str]:
    """The changed files that are data only tests use, and new modules that tests would import in their place."""
    substitutes = dict(_substitutes(changed, files))
    data = sorted(path for path in {*changed, *substitutes.values()} if path in files and _is_data(path, scope))
    if not data:
        return frozenset()
    texts = having({word for path in data for word in _searched_texts(path)})
    names = _Names(data)
    mentions = [mention for place, text in texts.items() for mention in names.mentions(place, text)]
    of_product = {path for path, place, _ in mentions if path != place and _is_of_product(place, scope)}
    found = {
        path
        for path, place, name in mentions
        if path not in of_product
        and not is_of_a_framework(path)
        and _is_of_tests(place, scope)
        and _may_mean(path, name, place, files)
    }
    found -= set(_in_named_folders(found, files, scope, having))
    found -= set(_computed(found, scope, having))
    return frozenset(path for path in changed if path in found or substitutes.get(path) in found)


def _is_data(path: str, scope: WorkScope) -> bool:
    """Documents are none: tests of the base run once more without them."""
    return not path.endswith(_CODE) and not matches(path, scope.docs)


def _substitutes(changed: Iterable[str], files: frozenset[str]) -> Iterator[tuple[str, str]]:
    """New modules with the data of the same name next to them."""
    for path in changed:
        data = f"{path.rpartition('.')[0]}{_JSON}"
        if path.endswith(_BEFORE_JSON) and path not in files and data in files:
            yield path, data


def _searched_texts(path: str) -> Iterator[str]:
    """The texts by which a file may name a path."""
    yield basename(path)
    if path.endswith(_JSON):
        yield from (f"/{basename(path).removesuffix(_JSON)}{quote}" for quote in _QUOTES)


class _Names:
    """The names of data, by which texts mention it."""

    def __init__(self, data: Iterable[str]) -> None:
        self._files: dict[str, list[str]] = {}
        self._modules: dict[str, list[str]] = {}
        for path in data:
            name = basename(path)
            self._files.setdefault(name, []).append(path)
            if path.endswith(_JSON):
                self._modules.setdefault(name.removesuffix(_JSON), []).append(path)

    def mentions(self, place: str, data: bytes) -> Iterator[tuple[str, str, str]]:
        """What the text of a file mentions: the data, the file, and the name by which it does."""
        text = data.decode("utf-8", "replace")
        imports = place.endswith(_SCRIPTS)
        for match in _NAME.finditer(text):
            folders, slash, name = match[0].rstrip("./").rpartition("/")
            yield from ((path, place, f"{folders}{slash}{name}") for path in self._files.get(name, ()))
            if imports and slash and name in self._modules and text[match.end() : match.end() + 1] in _QUOTES:
                yield from ((path, place, f"{folders}/{name}{_JSON}") for path in self._modules[name])


def _may_mean(path: str, name: str, place: str, files: frozenset[str]) -> bool:
    """Whether a name in a file may mean the path: with folders it may end in others, or mean another file."""
    parts = [part for part in name.split("/") if part not in ("", ".", "..", "~")]
    if path.split("/")[-len(parts) :] != parts:
        return False
    places = {normpath(join(dirname(place), name)), normpath(name)} if "/" in name else {path}
    return path in places or not places & files


def _is_of_product(path: str, scope: WorkScope) -> bool:
    return matches(path, _MANIFESTS) or not (scope.is_judge(path) or scope.is_script(path))


def _is_of_tests(path: str, scope: WorkScope) -> bool:
    """Whether a file is a test, or may be loaded by tests: code of neither the product nor of other programs."""
    if scope.is_test(path) or scope.is_script(path):
        return True
    is_other = any(kind_of_folder(part) is FolderKind.OTHER for part in path.split("/")[:-1])
    is_code = path.endswith(_CODE) and not matches(path, (*_MANIFESTS, *_BUILD_FILES))
    return is_code and scope.is_judge(path) and not is_other


def _computed(found: set[str], scope: WorkScope, having: Having) -> Iterator[str]:
    """The files whose names the product may compute in their folder, or from a folder above."""
    if not found:
        return
    texts = having({word for path in found for word in words_of_computed(path)})
    product = [
        (place, data.decode("utf-8", "replace"))
        for place, data in texts.items()
        if _is_of_product(place, scope) and (place.endswith(_CODE) or matches(place, _MANIFESTS))
    ]
    yield from (path for path in found if any(may_compute(path, place, code) for place, code in product))


def _in_named_folders(found: set[str], files: frozenset[str], scope: WorkScope, having: Having) -> Iterator[str]:
    """The files whose names the product may compute: it names a folder of data, and no file directly after it."""
    with_code = {dirname(path) for path in files if path.endswith(_CODE)}
    folders = {path: set(_folders_of_data(path, with_code)) for path in found}
    names = {basename(folder) for above in folders.values() for folder in above}
    if not names:
        return
    texts = having(names)
    product = [data.decode("utf-8", "replace") for path, data in texts.items() if _is_of_product(path, scope)]
    computed = {name for name in names if any(map(_alone(name).search, product))}
    yield from (path for path, above in folders.items() if computed.intersection(map(basename, above)))


def _folders_of_data(path: str, with_code: set[str]) -> Iterator[str]:
    """The folders of a path up to the first one with code."""
    folder = dirname(path)
    while folder and folder not in with_code:
        yield folder
        folder = dirname(folder)


def _alone(folder: str) -> re.Pattern[str]:
    """The name of a folder as the end of a literal, before no name of a file: `'data'` or `"data/*"`."""
    file = rf"\s*[,/+]\s*\w?[{_QUOTES}][\w./-]*\.\w+[{_QUOTES}]"
    return re.compile(rf"[/{_QUOTES}]{re.escape(folder)}(?:/?[{_QUOTES}](?!{file})|/?[{{*%$])")

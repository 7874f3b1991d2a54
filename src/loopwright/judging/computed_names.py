"""Tells whether code may compute the name of a data file: by a pattern, a text with gaps, a list of its folder. Pure.

Any language: literals and calls are found by their spelling. In doubt a name may be computed.
"""

from __future__ import annotations

import re
from posixpath import basename, dirname

# A text in quotes, on one line.
_LITERAL = re.compile(r"""(["'`])((?:\\.|(?!\1)[^\\\n])*)\1(\s*[+%])?""")
# What stands for text that is not known: `{name}`, `${name}`, `#{name}`, `%s`, `%(name)s`, `:name`, `*`, `?`.
_GAP = re.compile(r"[$#]?\{[^{}]*\}|%(?:\(\w+\))?[-\d.]*[sdrv]|<\w+>|\*+|\?|\[[^\]]*\]")
# A text that may follow a name: `.json`, `_fr.yml`.
_ENDING = re.compile(r"[._-][\w.-]+")
_SHORTEST_BEGINNING = 2
# Code that knows its own folder.
_KNOWS_ITS_PLACE = re.compile(
    r"__file__|__path__|__package__|__spec__|__dirname|__DIR__|import\.meta|\bfiles\(|importlib[._]resources|get_data\("
    r"|resource_\w+\(|PackageLoader|PackageData|getResource|go:embed|include_(?:str|bytes|dir)!|Bundle\.|File\.dirname"
)
_PLACES = (
    "__file__", "__path__", "__package__", "__spec__", "__dirname", "__DIR__", "import.meta", "files(", "resource",
    "get_data", "PackageLoader", "PackageData", "getResource", "embed", "include_", "Bundle.", "dirname",
)  # fmt: skip
# Lists a folder, or opens what a variable names.
_LISTS = re.compile(
    r"\b(?:iterdir|listdir|scandir|r?i?glob|globSync|walk|readdir(?:Sync)?|[Rr]ead_?[Dd]ir|WalkDir|opendir|contents"
    r"|entries|children|resource_listdir)\b\s*\(\s*(?![rf]?[\"'`])"
)
_OPENS = re.compile(
    r"\b(?:with_name|with_stem|joinpath|path\.(?:join|resolve)|get_data|open_(?:text|binary)|read_(?:text|binary)"
    r"|resource_\w+|is_resource|Join|getResource\w*)\((?:[^\"'`()]|\([^\"'`()]*\))*\w\s*\)"
    # A path and the name of a file in it.
    r"|(?:parent|PARENT|[A-Z_]*(?:HERE|ROOT|DIR|FOLDER|PATH)[A-Z_]*|\))\s*/\s*(?:[a-z_]\w*|\()"
)
_EMBEDS = re.compile(r"//go:embed\s+(.+)")
# Folders in which frameworks look by themselves, and kinds that they load by a rule of their own.
_FOLDERS_OF_FRAMEWORKS = frozenset({
    "templates", "layouts", "partials", "views", "static", "public", "assets", "resources", "locale", "_locales",
    "translations", "LC_MESSAGES", "migrations",
})  # fmt: skip
_KINDS_OF_FRAMEWORKS = (".po", ".pot", ".mo", ".xlf", ".xliff", ".strings", "py.typed")


def is_of_a_framework(path: str) -> bool:
    """Whether a framework loads the file without code that names it: a template, a translation, a migration."""
    folders = dirname(path).split("/")
    return path.endswith(_KINDS_OF_FRAMEWORKS) or not _FOLDERS_OF_FRAMEWORKS.isdisjoint(folders)


def words_of_computed(path: str) -> tuple[str, ...]:
    """Words of which code that computes the name of a file has one."""
    name = basename(path)
    stem, dot, kind = name.rpartition(".")
    first = re.match(r"[^\W_]+[._-]?", stem or name)
    beginnings = (first[0],) if first is not None and len(first[0]) >= _SHORTEST_BEGINNING else ()
    return (f"{dot}{kind}" if dot else name, *beginnings, *_PLACES)


def may_compute(path: str, place: str, code: str) -> bool:
    """Whether code may give the name of a data file in its folder, or in a folder below."""
    folder = dirname(place)
    if folder and not path.startswith(f"{folder}/"):
        return False
    name = basename(path)
    patterns = [literal[2] for literal in _LITERAL.finditer(code)]
    patterns += [word for found in _EMBEDS.finditer(code) for word in found[1].split()]
    if any(_fits(pattern, name) for pattern in patterns):
        return True
    if any(literal[3] and _begins(literal[2], name) for literal in _LITERAL.finditer(code)):
        return True
    return bool(_KNOWS_ITS_PLACE.search(code) and (_LISTS.search(code) or _OPENS.search(code)))


def _fits(text: str, name: str) -> bool:
    """Whether a text with gaps, or the end of a name, may become this name."""
    last = text.rpartition("/")[2]
    fixed = _GAP.split(last)
    if len(fixed) == 1:
        return last != name and name.endswith(last) and bool(_ENDING.fullmatch(last))
    return bool("".join(fixed).strip(".")) and _has_in_order(name, fixed)


def _has_in_order(name: str, fixed: list[str]) -> bool:
    """Whether a name has these texts one after the other, from its begin to its end."""
    first, *middle, last = fixed
    if not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for text in middle:
        at = name.find(text, at, end)
        if at < 0:
            return False
        at += len(text)
    return at <= end


def _begins(text: str, name: str) -> bool:
    last = text.rpartition("/")[2]
    return len(last) >= _SHORTEST_BEGINNING and last != name and name.startswith(last)

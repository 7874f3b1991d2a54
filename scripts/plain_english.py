"""Finds phrases of the project's old dialect in texts for people and in names, by the lists in plain_english.toml.

Part of `make check`. Reads Markdown, prompts and help, and the strings, docstrings and comments of Python files; and
the names of modules, classes and functions in the source. Arguments are paths, such as `docs/`; without one, all.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_suffix(".toml")
_PLACES = ("src/loopwright", "docs", "bench", "scripts", "tests", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_KINDS = {".py", ".md", ".yaml", ".toml"}
# Where names are read as well.
_SOURCE = ("src/loopwright", "scripts")
_WORD_OF_NAME = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
# Files that quote other texts: patterns of secrets, pre-registered texts, recorded outputs.
_QUOTED = (
    "scripts/plain_english", "tests/scripts/test_plain_english.py", "src/loopwright/redaction/providers/",
    "src/loopwright/analysis/preregistered.py", "tests/goldens/", "bench/RESULTS.md",
)  # fmt: skip


class Word:
    """One entry of the list."""

    def __init__(self, entry: dict[str, str]) -> None:
        self.pattern = re.compile(rf"(?<![\w-])(?:{entry['pattern']})(?![\w-])", re.IGNORECASE)
        self.say = entry["say"]
        self.why = entry["why"]


def findings(paths: list[Path], words: list[Word], kept: list[str]) -> Iterator[str]:
    """A line for each phrase that must be rewritten; texts in `kept` are skipped."""
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        for line, text in _texts(path):
            for kept_text in kept:
                text = text.replace(kept_text, "")  # noqa: PLW2901 -- the same text without what must stay
            for word in words:
                if match := word.pattern.search(text):
                    yield f"{name}:{line}: '{match[0]}': say {word.say} ({word.why})"


def name_findings(paths: list[Path], words: list[Word]) -> Iterator[str]:
    """A line for each name that must be replaced."""
    for path in paths:
        for line, name in _names(path):
            # A name as text: `_failure_message` and `FailureMessage` are both "failure message".
            text = " ".join(_WORD_OF_NAME.findall(name)).lower()
            for word in words:
                if match := word.pattern.search(text):
                    place = f"{path.relative_to(ROOT).as_posix()}:{line}"
                    yield f"{place}: name {name} with '{match[0]}': say {word.say} ({word.why})"


def _names(path: Path) -> Iterator[tuple[int, str]]:
    """The names of a module and of its classes and functions, by line."""
    yield 1, path.stem
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts for people in a file, by line."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), start=1)
        return
    # Python 3.12 splits an f-string into several tokens.
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


def files_to_check() -> list[Path]:
    """Every file with texts for people, except quoting files."""
    files = []
    for place in map(ROOT.joinpath, _PLACES):
        candidates = sorted(place.rglob("*")) if place.is_dir() else [place]
        files += [path for path in candidates if path.suffix in _KINDS and path.is_file()]
    return [path for path in files if not path.relative_to(ROOT).as_posix().startswith(_QUOTED)]


def main() -> int:
    """Print the phrases and names that must be rewritten; return 1 if there are any."""
    document = tomllib.loads(LIST.read_text("utf-8"))
    chosen = tuple(sys.argv[1:])
    paths = [path for path in files_to_check() if not chosen or str(path.relative_to(ROOT)).startswith(chosen)]
    kept = [entry["text"] for entry in document["kept"]]
    problems = list(findings(paths, [Word(entry) for entry in document["words"]], kept))
    modules = [path for path in paths if path.suffix == ".py" and str(path.relative_to(ROOT)).startswith(_SOURCE)]
    problems += name_findings(modules, [Word(entry) for entry in document["names"]])
    print("\n".join(problems) or f"plain English: ok ({len(paths)} files)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

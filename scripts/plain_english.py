"""Finds the project's old dialect in what people read, by the list in plain_english.toml. Part of `make check`.

Looks at Markdown, prompts and help as they are, and at Python files' strings, docstrings and comments. `--all` also
looks at the paths that the list names as unfinished.
"""

from __future__ import annotations

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
# Data that quotes others: patterns of secrets, pre-registered texts, recorded outputs.
_QUOTED = (
    "scripts/plain_english", "src/loopwright/redaction/providers/", "src/loopwright/analysis/preregistered.py",
    "tests/goldens/", "bench/RESULTS.md",
)  # fmt: skip


class Word:
    """One entry of the list."""

    def __init__(self, entry: dict[str, str]) -> None:
        self.pattern = re.compile(rf"(?<![\w-])(?:{entry['pattern']})(?![\w-])", re.IGNORECASE)
        self.say = entry["say"]
        self.why = entry["why"]


def findings(paths: list[Path], words: list[Word]) -> Iterator[str]:
    """A line for each phrase that should be put differently."""
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        for line, text in _texts(path):
            for word in words:
                if found := word.pattern.search(text):
                    yield f"{name}:{line}: '{found[0]}': say {word.say} ({word.why})"


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """What people read in a file, by line."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), start=1)
        return
    # 3.12 gives the parts of an f-string as tokens of their own.
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


def looked_at(left_out: tuple[str, ...]) -> list[Path]:
    """Every file that people read, without those that quote and those that are left out."""
    found = []
    for place in map(ROOT.joinpath, _PLACES):
        candidates = sorted(place.rglob("*")) if place.is_dir() else [place]
        found += [path for path in candidates if path.suffix in _KINDS and path.is_file()]
    return [path for path in found if not path.relative_to(ROOT).as_posix().startswith((*_QUOTED, *left_out))]


def main() -> int:
    """Print what should be put differently; 1 when there is something."""
    document = tomllib.loads(LIST.read_text("utf-8"))
    left_out = () if "--all" in sys.argv[1:] else tuple(document["unfinished"])
    chosen = [word for word in sys.argv[1:] if not word.startswith("--")]
    paths = [
        path for path in looked_at(left_out) if not chosen or str(path.relative_to(ROOT)).startswith(tuple(chosen))
    ]
    found = list(findings(paths, [Word(entry) for entry in document["words"]]))
    print("\n".join(found) or f"plain English: ok ({len(paths)} files)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

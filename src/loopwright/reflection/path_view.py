"""One path split in every way that a risk rule can refer to. Uses only built-ins, because the hook imports this."""

from __future__ import annotations

from itertools import pairwise

from loopwright.reflection.path_words import fold, numbered_of, parts_of, words_of
from loopwright.reflection.rule_set import ENDING, FIRST, FOLDER, FOLDER_LAST, HIDDEN, LAST, MIDDLE, NAME, STEM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Words = tuple[str, ...]


class WordMemory(dict[str, "tuple[Words, Words]"]):
    """A part's words in order, and everything that a rule may call a word. Cached, because files share folders."""

    def __missing__(self, part: str) -> tuple[Words, Words]:
        words = words_of(part)
        pairs = (f"{first} {second}" for first, second in pairwise(words))
        dotted = (f".{words[0]}",) if words and part.startswith(".") else ()
        entry = self[part] = words, (*words, *numbered_of(part), *pairs, *dotted)
        return entry


class PathView:
    """A path's parts, ending, places and words."""

    __slots__ = ("_memory", "ending", "folded", "parts", "places", "stem")

    def __init__(self, path: str, memory: WordMemory) -> None:
        self.parts = parts_of(path) or [""]
        self.folded = [fold(part) for part in self.parts]
        self._memory = memory
        stem, dot, ending = self.folded[-1].rpartition(".")
        has_ending = bool(dot and stem)
        self.ending = ending if has_ending else ""
        self.stem = self.parts[-1][: len(stem)] if has_ending else self.parts[-1]
        self.places = tuple(self._places())

    def name_ends(self) -> Iterator[tuple[str, str]]:
        """The first and last words of the name without its ending."""
        words, _ = self._memory[self.stem]
        if words:
            yield FIRST, words[0]
            yield LAST, words[-1]
            yield LAST, " ".join(words[-2:])
        if self.stem.endswith("IT"):  # `OrderIT.java`, not `PostIt.java`
            yield LAST, "IT"

    def words(self) -> Iterator[Words]:
        """The words of each part, from the top down."""
        return (self._memory[part][1] for part in self.parts)

    def _places(self) -> Iterator[tuple[str, str]]:
        """Everything but words, in the order in which a reason is chosen."""
        name = self.folded[-1]
        yield NAME, name
        if len(self.folded) > 1:
            yield NAME, f"{self.folded[-2]}/{name}"
        if name.startswith(".") and (words := self._memory[self.parts[-1]][0]):
            yield HIDDEN, words[0]
        if self.ending in ("", "txt"):
            yield STEM, fold(self.stem)
        yield from self._folders()
        if self.ending:
            yield ENDING, self.ending
        segments = name.split(".")
        if len(segments) > 2:
            yield ENDING, ".".join(segments[-2:])
            yield from ((MIDDLE, segment) for segment in segments[1:-1])

    def _folders(self) -> Iterator[tuple[str, str]]:
        folders = self.folded[:-1]
        before = ""
        for folder, part in zip(folders, self.parts, strict=False):
            yield FOLDER, f"{before}/{folder}"
            yield FOLDER, folder
            if words := self._memory[part][0]:
                yield FOLDER_LAST, words[-1]
            before = folder

"""Finds the surface of a path by a rule set's data. Pure. Standard library only, because the hook imports this module.

Order: files that steer people, agents and CI; test locations; docs; then the heaviest match of names, folders, endings
and words. A project's own rules come last: they add, and lower only with `lower`.
"""

from __future__ import annotations

from itertools import chain, pairwise

from loopwright.reflection.path_words import fold, numbered_of, parts_of, words_of
from loopwright.reflection.rule_set import (
    ENDING,
    FIRST,
    FOLDER,
    FOLDER_LAST,
    FRAGMENT,
    HIDDEN,
    KIND,
    LAST,
    MIDDLE,
    NAME,
    STEM,
    SURFACES,
    WORD,
    Frozen,
)

# `typing` would cost the hook more than its own work does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loopwright.reflection.rule_set import OwnRule, RuleSet

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

    def last_word(self) -> str:
        """The last word of the name without its ending."""
        words, _ = self._memory[self.stem]
        return words[-1] if words else ""

    def words_by_part(self) -> Iterator[Words]:
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


_NO_RULE = "no rule"


class SurfaceHit(Frozen):
    """A file, its surface, the surface's weight, and the rule that matched."""

    path: str
    surface: str
    weight: float
    why: str

    def outweighs(self, other: SurfaceHit) -> bool:
        """Whether this hit dominates; for equal weights the fixed order of surfaces decides."""
        if self.weight != other.weight:
            return self.weight > other.weight
        return SURFACES.index(self.surface) < SURFACES.index(other.surface)


class Classifier:
    """Classifies the paths of one change."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._memory = WordMemory()

    def hit(self, path: str, kind: str | None = None) -> SurfaceHit:
        """The surface of a path; `kind` tells what it is if it is not a regular file."""
        view = PathView(path, self._memory)
        # Third-party code and links count as such, also in tests and docs.
        by_kind = self._rules.index.get(KIND, {}).get(kind or "")
        hits = ((by_kind, f"it is a {kind}"),) if by_kind is not None else ()
        best = self._heaviest(path, (*hits, *self._shipped(view)))
        for rule in self._rules.own:
            best = self._with_own(rule, view, best)
        return best

    def is_source(self, path: str) -> bool:
        """Whether a path is code that people write, outside tests and prose."""
        view = PathView(path, self._memory)
        if view.ending not in self._rules.code or self._located("test", view) is not None:
            return False
        by_tools = self._rules.loss.by_tools if self._rules.loss is not None else frozenset[str]()
        return all(by_tools.isdisjoint(words) for words in view.words_by_part())

    def _heaviest(self, path: str, candidates: Iterable[tuple[str, str]]) -> SurfaceHit:
        best = SurfaceHit(path, "none", self._rules.weights["none"], _NO_RULE)
        for surface, why in candidates:
            if surface != best.surface:
                hit = SurfaceHit(path, surface, self._rules.weights[surface], why)
                best = hit if hit.outweighs(best) else best
        return best

    def _shipped(self, view: PathView) -> Iterable[tuple[str, str]]:
        if FRAGMENT in self._rules.index:
            return self._by_fragment("/".join(view.folded))
        for surface, matchers in self._rules.winning.items():
            for how, value in view.places:
                if value in matchers.get(how, ()):
                    return ((surface, _reason(how, value)),)
        if (test := self._located("test", view)) is not None:
            return (("test", _reason(*test)),)
        if (docs := self._located("docs", view)) is not None:
            return self._inside_docs(view, docs)
        return chain(self._by_place(view), self._by_word(view))

    def _by_fragment(self, whole: str) -> Iterable[tuple[str, str]]:
        fragments = sorted(self._rules.index[FRAGMENT].items())
        return ((surface, _reason(FRAGMENT, fragment)) for fragment, surface in fragments if fragment in whole)

    def _located(self, surface: str, view: PathView) -> tuple[str, str] | None:
        matchers = self._rules.surfaces.get(surface, {})
        for how, value in chain(view.places, view.name_ends()):
            if value in matchers.get(how, ()) and self._applies(how, value, view):
                return how, value
        return None

    def _inside_docs(self, view: PathView, how: tuple[str, str]) -> Iterable[tuple[str, str]]:
        """Prose is docs. In a docs folder, code counts as code, and names with a known meaning keep that meaning."""
        if how[0] != FOLDER:
            return (("docs", _reason(*how)),)
        if view.ending in self._rules.code:
            return chain(self._by_place(view), self._by_word(view))
        known = (hit for hit in self._by_place(view) if hit[0] != "ui")
        return (("docs", _reason(*how)), *known)

    def _by_place(self, view: PathView) -> Iterator[tuple[str, str]]:
        index = self._rules.index
        for how, value in view.places:
            surface = index.get(how, {}).get(value)
            if surface is not None and surface not in ("test", "docs") and self._applies(how, value, view):
                yield surface, _reason(how, value)

    def _by_word(self, view: PathView) -> Iterator[tuple[str, str]]:
        known = self._rules.index.get(WORD, {})
        if self._has_no_meaning(view):
            return
        for words in view.words_by_part():
            for word in words:
                known_word = word if word in known or not word.endswith("s") else word[:-1]
                if known_word in known and self._is_relevant(known_word, words, view):
                    yield known[known_word], _reason(WORD, word)

    def _has_no_meaning(self, view: PathView) -> bool:
        """Whether the file decides nothing, so that its words say nothing: a picture, or a part that decorates."""
        inert = self._rules.inert
        if view.ending in inert or any(
            folder.rpartition(".")[2] in inert for folder in view.folded[:-1] if "." in folder
        ):
            return True
        is_visible = self._rules.index.get(ENDING, {}).get(view.ending) == "ui"
        return is_visible and view.last_word().removesuffix("s") in self._rules.decoration

    def _is_relevant(self, word: str, near: tuple[str, ...], view: PathView) -> bool:
        """Whether the word applies to this file, and no other word changes its meaning."""
        if not self._applies(WORD, word, view):
            return False
        if word not in self._rules.unless:
            return True
        anywhere, nearby = self._rules.unless[word]
        return nearby.isdisjoint(near) and all(anywhere.isdisjoint(words) for words in view.words_by_part())

    def _applies(self, how: str, value: str, view: PathView) -> bool:
        limit = self._rules.limits.get((how, value))
        return limit is None or view.ending in limit

    def _with_own(self, rule: OwnRule, view: PathView, best: SurfaceHit) -> SurfaceHit:
        """Apply a project's rule: a heavier surface wins; with `lower`, a lighter surface wins."""
        why = rule.why(view.words_by_part(), "/".join(view.parts))
        if why is None:
            return best
        surface, weight, lower = rule.effect
        hit = SurfaceHit(best.path, surface, self._rules.weights[surface] if weight is None else weight, why)
        return hit if lower != hit.outweighs(best) else best


def _reason(how: str, value: str) -> str:
    return f'{how} ".{value}"' if how == ENDING else f'{how} "{value}"'

"""Which surface a path belongs to, by a rule set's data. Pure; built-ins only; the hook imports this.

Order: what steers people, agents and CI; test locations; docs; then the heaviest of names, folders, endings and words.
A project's own rules come last: they add, and lower only where they say so.
"""

from __future__ import annotations

from itertools import chain

from loopwright.reflection.path_view import PathView, WordMemory
from loopwright.reflection.rule_set import ENDING, FOLDER, FRAGMENT, KIND, SURFACES, WORD, Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loopwright.reflection.rule_set import OwnRule, RuleSet

_NO_RULE = "no rule"


class SurfaceHit(Frozen):
    """A file, the surface that it belongs to, what that weighs, and by which rule."""

    path: str
    surface: str
    weight: float
    why: str

    def outweighs(self, other: SurfaceHit) -> bool:
        """Whether this one dominates; the fixed order of surfaces decides between equals."""
        if self.weight != other.weight:
            return self.weight > other.weight
        return SURFACES.index(self.surface) < SURFACES.index(other.surface)


class Classifier:
    """Classifies the paths of one change."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._memory = WordMemory()

    def hit(self, path: str, kind: str | None = None) -> SurfaceHit:
        """The surface of a path; `kind` says what it is where it is no plain file."""
        view = PathView(path, self._memory)
        # Somebody else's code and a name that leads elsewhere are that in tests and docs, too.
        by_kind = self._rules.index.get(KIND, {}).get(kind or "")
        hits = ((by_kind, f"it is a {kind}"),) if by_kind is not None else ()
        best = self._heaviest(path, (*hits, *self._shipped(view)))
        for rule in self._rules.own:
            best = self._with_own(rule, view, best)
        return best

    def _heaviest(self, path: str, found: Iterable[tuple[str, str]]) -> SurfaceHit:
        best = SurfaceHit(path, "none", self._rules.weights["none"], _NO_RULE)
        for surface, why in found:
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
                    return ((surface, _said(how, value)),)
        if (test := self._located("test", view)) is not None:
            return (("test", _said(*test)),)
        if (docs := self._located("docs", view)) is not None:
            return self._inside_docs(view, docs)
        return chain(self._by_place(view), self._by_word(view))

    def _by_fragment(self, whole: str) -> Iterable[tuple[str, str]]:
        fragments = sorted(self._rules.index[FRAGMENT].items())
        return ((surface, _said(FRAGMENT, fragment)) for fragment, surface in fragments if fragment in whole)

    def _located(self, surface: str, view: PathView) -> tuple[str, str] | None:
        matchers = self._rules.surfaces.get(surface, {})
        for how, value in chain(view.places, view.name_ends()):
            if value in matchers.get(how, ()) and self._holds(how, value, view):
                return how, value
        return None

    def _inside_docs(self, view: PathView, how: tuple[str, str]) -> Iterable[tuple[str, str]]:
        """Prose is docs; in a docs folder code is code, and what is known without words is what it is elsewhere."""
        if how[0] != FOLDER:
            return (("docs", _said(*how)),)
        if view.ending in self._rules.code:
            return chain(self._by_place(view), self._by_word(view))
        known = (hit for hit in self._by_place(view) if hit[0] != "ui")
        return (("docs", _said(*how)), *known)

    def _by_place(self, view: PathView) -> Iterator[tuple[str, str]]:
        index = self._rules.index
        for how, value in view.places:
            surface = index.get(how, {}).get(value)
            if surface is not None and surface not in ("test", "docs") and self._holds(how, value, view):
                yield surface, _said(how, value)

    def _by_word(self, view: PathView) -> Iterator[tuple[str, str]]:
        known = self._rules.index.get(WORD, {})
        for words in view.words():
            for word in words:
                meant = word if word in known or not word.endswith("s") else word[:-1]
                if meant in known and self._is_meant(meant, words, view):
                    yield known[meant], _said(WORD, word)

    def _is_meant(self, word: str, near: tuple[str, ...], view: PathView) -> bool:
        """Whether this file can have the word, and no other word gives it another sense."""
        if not self._holds(WORD, word, view):
            return False
        if word not in self._rules.unless:
            return True
        anywhere, beside = self._rules.unless[word]
        return beside.isdisjoint(near) and all(anywhere.isdisjoint(words) for words in view.words())

    def _holds(self, how: str, value: str, view: PathView) -> bool:
        limit = self._rules.limits.get((how, value))
        return limit is None or view.ending in limit

    def _with_own(self, rule: OwnRule, view: PathView, best: SurfaceHit) -> SurfaceHit:
        """A project's rule on top: heavier wins, and where it says `lower`, lighter does."""
        why = rule.why(view.words(), "/".join(view.parts))
        if why is None:
            return best
        surface, weight, lower = rule.effect
        hit = SurfaceHit(best.path, surface, self._rules.weights[surface] if weight is None else weight, why)
        return hit if lower != hit.outweighs(best) else best


def _said(how: str, value: str) -> str:
    return f'{how} ".{value}"' if how == ENDING else f'{how} "{value}"'

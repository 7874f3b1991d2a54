"""The type of a set of risk rules: data with a name and a version, looked up in dictionaries, not by pattern.

The shipped sets are in `classic_rules` and `default_rules`; `project_rules` adds a project's own. Uses only built-ins,
because the hook imports this module.
"""

from __future__ import annotations

from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Self, dataclass_transform

    Matchers = Mapping[str, frozenset[str]]
else:

    def dataclass_transform(**_: object) -> object:
        """For mypy only; importing `typing` takes longer than the rest of this file."""
        return lambda kind: kind


# The order also resolves ties.
WEIGHTS = {
    "auth": 1.0,
    "data": 0.9,
    "infra": 0.85,
    "build": 0.6,
    "ui": 0.4,
    "test": 0.2,
    "docs": 0.1,
    "none": 0.0,
}
SURFACES = tuple(WEIGHTS)
# How a rule matches a path. All values are folded; `explain` shows these names.
FRAGMENT = "text anywhere"
NAME = "file name"
HIDDEN = "first word of a hidden file"
STEM = "file name, bare or .txt"
FOLDER = "folder"
FOLDER_LAST = "last word of a folder"
ENDING = "ending"
MIDDLE = "middle of the name"
FIRST = "first word of the name"
LAST = "last word of the name"
WORD = "word"
START = "start of a word"
KIND = "kind of file"


@dataclass_transform(frozen_default=True)
class Frozen:
    """Immutable, with the fields that a subclass annotates; compared and printed by value."""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = (*cls._fields, *cls.__annotations__)

    def __init__(self, *values: Any, **named: Any) -> None:
        given = dict(zip(self._fields, values, strict=False), **named)
        missing = [name for name in self._fields if name not in given and not hasattr(type(self), name)]
        if missing or len(values) > len(self._fields) or not given.keys() <= set(self._fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}")
        self.__dict__.update(given)

    def replaced(self, **fields: Any) -> Self:
        """A copy with these fields replaced."""
        return type(self)(**{name: getattr(self, name) for name in self._fields} | fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} can't be changed")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in self._fields)

    __hash__ = None  # type: ignore[assignment]  # some subclasses hold dictionaries

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._fields)})"


class Size(Frozen):
    """The curve by which lines raise a score.

    The score is 0.5 at `half` lines; `bend` sets how early it rises. A removed line counts as `removed` added lines.
    Removed lines alone count as `removed_alone` each if that is more, because work that only deletes has no other sign.
    If a change has only surfaces in `shares`, its lines count by that share. `meeting` sets how much of the lighter of
    surface and size is added to the heavier.
    """

    half: float
    bend: float
    removed: float
    removed_alone: float
    shares: Mapping[str, float]
    meeting: Mapping[str, float]

    def score(self, insertions: int | None, deletions: int | None, surfaces: Iterable[str]) -> float:
        """The score of the size alone, 0 to 1; unknown lines count as 0. Uses only divisions, for equal results."""
        share = max((self.shares.get(surface, 1.0) for surface in surfaces), default=0.0)
        added, deleted = max(insertions or 0, 0), max(deletions or 0, 0)
        lines = share * max(added + self.removed * deleted, self.removed_alone * deleted)
        if lines <= self.half:
            return 0.5 * lines / self.half * (self.half + self.bend) / (lines + self.bend)
        return 1 - 0.5 * (self.half / lines) * (self.half / lines)

    def together(self, weight: float, size: float, surfaces: Iterable[str]) -> float:
        """Surface and size as one score: never less than either, and more if both are high."""
        heavier, lighter = max(weight, size), min(weight, size)
        return heavier + (1 - heavier) * lighter * max((self.meeting[surface] for surface in surfaces), default=0.0)


class Loss(Frozen):
    """When a change removes or replaces most of a part of the project, however small that part is.

    A file counts that loses at least this `share` of its lines. The change needs review if such files lose this many
    `lines` together; its size then scores at least `score`. Tests, prose, files that are not code and files written by
    tools (words and folders in `by_tools`) do not count.
    """

    share: float
    lines: int
    score: float
    by_tools: frozenset[str]


class OwnRule(Frozen):
    """A rule of a project. Defined in `project_rules`, so that only projects with rules pay for loading them."""

    @property
    def effect(self) -> tuple[str, float | None, bool]:
        """The surface, its weight if it differs from the default, and whether the rule lowers."""
        raise NotImplementedError

    def why(self, words: Iterable[tuple[str, ...]], path: str) -> str | None:
        """Why this rule matches a path with these words, or None."""
        raise NotImplementedError


class RuleSet(Frozen):
    """One set of rules. `winning` overrides test and docs locations, which override everything else.

    Words do not count for `inert` endings, nor for visible parts whose last word is one of `decoration`.
    """

    name: str
    version: int
    weights: Mapping[str, float]
    surfaces: Mapping[str, Matchers]
    winning: Mapping[str, Matchers]
    limits: Mapping[tuple[str, str], frozenset[str]]
    unless: Mapping[str, tuple[frozenset[str], frozenset[str]]]
    ends: frozenset[str]
    code: frozenset[str]
    size: Size | None
    inert: frozenset[str] = frozenset()
    decoration: frozenset[str] = frozenset()
    loss: Loss | None = None
    own: tuple[OwnRule, ...] = ()
    lowered: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.title}>"

    @property
    def title(self) -> str:
        """The name of the set in a verdict."""
        return f"{self.name} rules v{self.version}"

    @cached_property
    def index(self) -> dict[str, dict[str, str]]:
        """For each kind and value, the heaviest surface that names it."""
        index: dict[str, dict[str, str]] = {}
        for surface in reversed(heaviest_first(self.weights)):
            matchers = self.surfaces.get(surface, {})
            for kind, values in matchers.items():
                index.setdefault(kind, {}).update(dict.fromkeys(values, surface))
            joined = [start + end for start in matchers.get(START, ()) for end in self.ends]
            index.setdefault(WORD, {}).update(dict.fromkeys(joined, surface))
        return index


def heaviest_first(weights: Mapping[str, float]) -> list[str]:
    """Surfaces by weight; equal weights in the fixed order."""
    return sorted(SURFACES, key=lambda surface: (-weights[surface], SURFACES.index(surface)))

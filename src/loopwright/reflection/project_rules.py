"""A project's own risk rules on top of a shipped set: they add, and what they lower is named in every verdict.

Problems are `ValueError`s that name the key. Built-ins only; the hook may import this.
"""

from __future__ import annotations

from loopwright.reflection.globs import matches, problem_of
from loopwright.reflection.path_words import fold, numbered_of, shown, words_of
from loopwright.reflection.rule_set import SURFACES, OwnRule, RuleSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_RULES = 100


class ProjectRule(OwnRule):
    """Files that it means are of this surface, too, or with `lower` are no more than that."""

    surface: str
    words: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    weight: float | None = None
    lower: bool = False
    because: str = ""

    @property
    def effect(self) -> tuple[str, float | None, bool]:
        """What it does with a file that it means."""
        return self.surface, self.weight, self.lower

    def why(self, words: Iterable[tuple[str, ...]], path: str) -> str | None:
        """The first word or path of its own that a path meets."""
        met = (word for part in words for word in part if self._names(word))
        if (word := next(met, None)) is not None:
            return f'this project: word "{word}"'
        return next((f'this project: path "{shown(glob)}"' for glob in self.paths if matches(glob, path)), None)

    def _names(self, word: str) -> bool:
        """A word is itself or its plural with s."""
        return word in self.words or (word.endswith("s") and word[:-1] in self.words)


def with_project_rules(rules: RuleSet, own: Sequence[ProjectRule]) -> RuleSet:
    """The set with a project's rules in it."""
    problems = [
        problem for number, rule in enumerate(own) for problem in _problems(f"risk.rules[{number}]", rule, rules)
    ]
    weighing = [rule for rule in own if _is_about_a_surface(rule)]
    twice = {rule.surface for rule in weighing if [other.surface for other in weighing].count(rule.surface) > 1}
    problems += [f"risk.rules: the weight of {surface} is set more than once" for surface in sorted(twice)]
    if len(own) > MOST_RULES:
        problems.append(f"risk.rules: there are {len(own)}, and {MOST_RULES} is the most")
    if problems:
        raise ValueError("; ".join(problems))
    weights = {**rules.weights, **{rule.surface: float(rule.weight or 0) for rule in weighing}}
    matching = [rule for rule in own if not _is_about_a_surface(rule)]
    # What lowers comes first, so that a rule that adds is never undone.
    ordered = sorted(matching, key=lambda rule: not rule.lower)
    lowered = tuple(_lowered(rule, rules) for rule in own if rule.lower)
    return rules.replaced(weights=weights, own=tuple(ordered), lowered=lowered)


def _is_about_a_surface(rule: ProjectRule) -> bool:
    return not rule.words and not rule.paths


def _lowered(rule: ProjectRule, rules: RuleSet) -> str:
    because = f" ({shown(rule.because)})" if rule.because else ""
    if _is_about_a_surface(rule):
        return f"this project lowers {rule.surface} from {rules.weights[rule.surface]:g} to {rule.weight:g}{because}"
    meant = ", ".join(
        [f'word "{word}"' for word in sorted(rule.words)] + [f'path "{shown(glob)}"' for glob in rule.paths]
    )
    weight = rules.weights[rule.surface] if rule.weight is None else rule.weight
    return f"this project lowers files of {meant} to {rule.surface} ({weight:g}){because}"


def _problems(key: str, rule: ProjectRule, rules: RuleSet) -> Iterable[str]:
    if rule.surface not in SURFACES:
        yield f"{key}.surface: {shown(rule.surface)} is none of {', '.join(SURFACES)}"
        return
    for word in sorted(rule.words):
        if words_of(word) != (fold(word),) and numbered_of(word) != (fold(word),):
            yield f"{key}.words: {shown(word)!r} is not one word"
        elif word != fold(word):
            yield f"{key}.words: {shown(word)!r} must be in small letters"
    for glob in rule.paths:
        if (problem := problem_of(glob)) is not None:
            yield f"{key}.paths: {shown(glob)!r} {problem}"
    if rule.weight is not None and not 0 <= rule.weight <= 1:
        yield f"{key}.weight: {rule.weight} is not between 0 and 1"
    yield from _contradictions(key, rule, rules)


def _contradictions(key: str, rule: ProjectRule, rules: RuleSet) -> Iterable[str]:
    if not _is_about_a_surface(rule):
        if rule.surface == "none" and not rule.weight and not rule.lower:
            yield f"{key}: files of none weigh nothing; say lower = true if that is meant"
        return
    if rule.weight is None:
        yield f"{key}: needs words, paths or a weight"
        return
    shipped = rules.weights[rule.surface]
    if rule.weight < shipped and not rule.lower:
        lower = f"{rule.weight:g} is less than {rule.surface}'s {shipped:g}"
        yield f"{key}.weight: {lower}; say lower = true if that is meant"
    if rule.weight >= shipped and rule.lower:
        yield f"{key}.lower: {rule.weight:g} is not less than {rule.surface}'s {shipped:g}"

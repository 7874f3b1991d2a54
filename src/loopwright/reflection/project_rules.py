"""A project's own risk rules with their globs, added to a shipped set. A verdict names the rules that lower the risk.

Globs: `*` and `?` match within a part; `**` matches any number of whole parts. A pattern without an inner `/` matches
at any depth; other patterns start at the top. A pattern that matches a folder covers everything below it; a pattern
with a final `/` covers only that. Case is ignored (ASCII). A match takes at most len(pattern) × len(path) steps.
Problems are `ValueError`s that name the key. Uses only built-ins, because the hook may import this module.
"""

from __future__ import annotations

from loopwright.reflection.path_words import fold, numbered_of, parts_of, shown, words_of
from loopwright.reflection.rule_set import SURFACES, OwnRule, RuleSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


LONGEST = 200
_FOREIGN = "[]{}!\\"


def problem_of(pattern: str) -> str | None:
    """Why a pattern is invalid, or None."""
    if not pattern.strip("/ "):
        return "is empty"
    if len(pattern) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if any(character in _FOREIGN for character in pattern):
        return "may contain only *, ** and ?, and / between parts"
    if any("**" in part and part != "**" for part in pattern.split("/")):
        return "has ** next to other characters; ** matches whole parts"
    return None


def matches(pattern: str, path: str) -> bool:
    """Whether the pattern matches this path or a folder that contains it."""
    pieces = [piece for piece in fold(pattern).split("/") if piece]
    if "/" not in pattern.rstrip("/"):
        pieces.insert(0, "**")
    parts = parts_of(fold(path))
    # How many parts the pieces so far can match.
    reached = {0}
    for piece in pieces:
        if not reached:
            return False
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {count + 1 for count in reached if count < len(parts) and part_matches(piece, parts[count])}
    longest = len(parts) - 1 if pattern.endswith("/") else len(parts)
    return any(0 < count <= longest for count in reached)


def part_matches(piece: str, part: str) -> bool:
    """Match one part with `*` and `?`: on a mismatch only the last `*` takes one more character."""
    at = in_piece = 0
    star = taken = -1
    while at < len(part):
        if in_piece < len(piece) and piece[in_piece] == "*":
            star, taken = in_piece, at
            in_piece += 1
        elif in_piece < len(piece) and piece[in_piece] in ("?", part[at]):
            at += 1
            in_piece += 1
        elif star >= 0:
            taken += 1
            at, in_piece = taken, star + 1
        else:
            return False
    return not piece[in_piece:].strip("*")


MOST_RULES = 100


class ProjectRule(OwnRule):
    """Matching files also belong to this surface; with `lower`, they belong only to it."""

    surface: str
    words: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    weight: float | None = None
    lower: bool = False
    because: str = ""

    @property
    def effect(self) -> tuple[str, float | None, bool]:
        """The effect on a matching file: surface, weight, and whether the rule lowers."""
        return self.surface, self.weight, self.lower

    def why(self, words: Iterable[tuple[str, ...]], path: str) -> str | None:
        """The first word or path of the rule that matches a path."""
        matching = (word for part in words for word in part if self._names(word))
        if (word := next(matching, None)) is not None:
            return f'this project: word "{word}"'
        return next((f'this project: path "{shown(glob)}"' for glob in self.paths if matches(glob, path)), None)

    def _names(self, word: str) -> bool:
        """Whether the rule has this word, or the word is a plural with s of one."""
        return word in self.words or (word.endswith("s") and word[:-1] in self.words)


def with_project_rules(rules: RuleSet, own: Sequence[ProjectRule]) -> RuleSet:
    """The rule set with a project's rules added."""
    problems = [
        problem for number, rule in enumerate(own) for problem in _problems(f"risk.rules[{number}]", rule, rules)
    ]
    weighing = [rule for rule in own if _is_about_a_surface(rule)]
    twice = {rule.surface for rule in weighing if [other.surface for other in weighing].count(rule.surface) > 1}
    problems += [f"risk.rules: the weight of {surface} is set more than once" for surface in sorted(twice)]
    if len(own) > MOST_RULES:
        problems.append(f"risk.rules: there are {len(own)} rules; the limit is {MOST_RULES}")
    if problems:
        raise ValueError("; ".join(problems))
    weights = {**rules.weights, **{rule.surface: float(rule.weight or 0) for rule in weighing}}
    matching = [rule for rule in own if not _is_about_a_surface(rule)]
    # Rules that lower come first, so that they never undo a rule that adds.
    ordered = sorted(matching, key=lambda rule: not rule.lower)
    lowered = tuple(_lowered(rule, rules) for rule in own if rule.lower)
    return rules.replaced(weights=weights, own=tuple(ordered), lowered=lowered)


def _is_about_a_surface(rule: ProjectRule) -> bool:
    return not rule.words and not rule.paths


def _lowered(rule: ProjectRule, rules: RuleSet) -> str:
    because = f" ({shown(rule.because)})" if rule.because else ""
    if _is_about_a_surface(rule):
        return f"this project lowers {rule.surface} from {rules.weights[rule.surface]:g} to {rule.weight:g}{because}"
    targets = ", ".join(
        [f'word "{word}"' for word in sorted(rule.words)] + [f'path "{shown(glob)}"' for glob in rule.paths]
    )
    weight = rules.weights[rule.surface] if rule.weight is None else rule.weight
    return f"this project lowers files of {targets} to {rule.surface} ({weight:g}){because}"


def _problems(key: str, rule: ProjectRule, rules: RuleSet) -> Iterable[str]:
    if rule.surface not in SURFACES:
        yield f"{key}.surface: {shown(rule.surface)} is not one of {', '.join(SURFACES)}"
        return
    for word in sorted(rule.words):
        if words_of(word) != (fold(word),) and numbered_of(word) != (fold(word),):
            yield f"{key}.words: {shown(word)!r} is not one word"
        elif word != fold(word):
            yield f"{key}.words: {shown(word)!r} must be in lower case"
    for glob in rule.paths:
        if (problem := problem_of(glob)) is not None:
            yield f"{key}.paths: {shown(glob)!r} {problem}"
    if rule.weight is not None and not 0 <= rule.weight <= 1:
        yield f"{key}.weight: {rule.weight} is not between 0 and 1"
    yield from _contradictions(key, rule, rules)


def _contradictions(key: str, rule: ProjectRule, rules: RuleSet) -> Iterable[str]:
    if not _is_about_a_surface(rule):
        if rule.surface == "none" and not rule.weight and not rule.lower:
            yield f"{key}: surface none has no weight; set lower = true if that is intended"
        return
    if rule.weight is None:
        yield f"{key}: needs words, paths or a weight"
        return
    shipped = rules.weights[rule.surface]
    if rule.weight < shipped and not rule.lower:
        lower = f"{rule.weight:g} is less than {rule.surface}'s {shipped:g}"
        yield f"{key}.weight: {lower}; set lower = true if that is intended"
    if rule.weight >= shipped and rule.lower:
        yield f"{key}.lower: {rule.weight:g} is not less than {rule.surface}'s {shipped:g}"

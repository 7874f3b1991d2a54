"""The risk floor: the minimum review for a change, computed only from its paths and size.

Pure: the same files, lines and rules give the same verdict on every platform and in every locale. Does no I/O and uses
only built-ins, because the Stop hook calls this at the end of every agent turn.
"""

from __future__ import annotations

from loopwright.reflection.classify import Classifier, SurfaceHit
from loopwright.reflection.default_rules import DEFAULT
from loopwright.reflection.path_words import shown
from loopwright.reflection.rule_set import SURFACES, Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loopwright.reflection.rule_set import RuleSet

THRESHOLD = 0.5
_NAMED = 5
_EMPTIED_NAMED = 3
_LONGEST_NAME = 120


class EmptiedFile(Frozen):
    """A source file that loses most of its lines."""

    path: str
    removed: int
    before: int


class RiskVerdict(Frozen):
    """Whether a change needs review, and why. `hits` holds every file, the heaviest first."""

    score: float
    surface: str
    reason: str
    threshold: float
    rules: RuleSet
    base: float
    hits: tuple[SurfaceHit, ...]
    emptied: tuple[EmptiedFile, ...] = ()

    @property
    def needs_review(self) -> bool:
        """Whether the score reaches the threshold. A threshold of NaN always requires review."""
        return not self.score < self.threshold

    def record(self) -> dict[str, object]:
        """The fields that `reflection.v1` stores."""
        return {name: getattr(self, name) for name in ("needs_review", "score", "surface", "reason")}

    def shown_score(self) -> str:
        """The score with enough digits to compare it with the threshold."""
        return score_text(self.score, self.threshold)

    def by_surface(self) -> dict[str, list[SurfaceHit]]:
        """The files of each surface, the heaviest surface first."""
        hits: dict[str, list[SurfaceHit]] = {}
        for hit in self.hits:
            hits.setdefault(hit.surface, []).append(hit)
        return hits


class Claim(Frozen):
    """What an agent reports about its own work: the surface most likely wrong, and its confidence."""

    surface: str | None = None
    confidence: float | None = None


def evaluate_risk_floor(
    files_changed: Iterable[str],
    insertions: int | None = None,
    deletions: int | None = None,
    threshold: float = THRESHOLD,
    rules: RuleSet = DEFAULT,
    kinds: Mapping[str, str] | None = None,
    lost: Mapping[str, tuple[int, int]] | None = None,
) -> RiskVerdict:
    """The verdict on a change.

    `kinds` tells which files are symlinks or submodules; `lost` the removed and the earlier lines of files.
    """
    classifier = Classifier(rules)
    kinds = kinds or {}
    unsorted = [classifier.hit(path, kinds.get(path)) for path in sorted(set(files_changed))]
    hits = sorted(unsorted, key=lambda hit: (-hit.weight, SURFACES.index(hit.surface), hit.path))
    surface, base = (hits[0].surface, hits[0].weight) if hits else ("none", rules.weights["none"])
    lines = insertions, deletions
    emptied = _emptied(classifier, lost or {}, rules)
    score = _score(base, lines, {hit.surface for hit in hits}, rules, has_loss=bool(emptied))
    reason = _with_emptied(_reason(hits, base, score, lines, rules, threshold), emptied)
    text = f"{reason}; review from {threshold:g}"
    return RiskVerdict(score, surface, text, threshold, rules, base, tuple(hits), emptied)


def _score(
    base: float, lines: tuple[int | None, int | None], surfaces: set[str], rules: RuleSet, *, has_loss: bool
) -> float:
    size = rules.size
    if size is None:
        return base
    least = rules.loss.score if has_loss and rules.loss is not None else 0.0
    return round(size.together(base, max(size.score(*lines, surfaces), least), surfaces), 9)


def _emptied(classifier: Classifier, lost: Mapping[str, tuple[int, int]], rules: RuleSet) -> tuple[EmptiedFile, ...]:
    """The source files that lose most of their lines, the greatest loss first; none if they lose little together."""
    loss = rules.loss
    if loss is None:
        return ()
    emptied = [
        EmptiedFile(path, removed, before)
        for path, (removed, before) in lost.items()
        if removed >= loss.share * before and removed > 0 and classifier.is_source(path)
    ]
    if sum(file.removed for file in emptied) < loss.lines:
        return ()
    return tuple(sorted(emptied, key=lambda file: (-file.removed, file.path)))


def score_text(score: float, threshold: float = THRESHOLD) -> str:
    """A score for people, with enough digits to see on which side of the threshold it is."""
    reaches = not score < threshold
    texts = (f"{score:.{digits}f}" for digits in range(2, 10))
    return next((text for text in texts if (not float(text) < threshold) is reaches), f"{score:.9f}")


def raised_by(verdict: RiskVerdict, claim: Claim) -> RiskVerdict:
    """The verdict after the agent's own report, which can raise it but never lower it."""
    weight = verdict.rules.weights.get(claim.surface or "", 0.0)
    doubt = _doubt(claim.confidence)
    score = max(verdict.score, weight, doubt)
    if score <= verdict.score:
        return verdict
    cause = f"{claim.surface} as most likely wrong" if weight >= doubt else f"a confidence of {claim.confidence:g}"
    surface = claim.surface if weight > verdict.base and claim.surface else verdict.surface
    start, end = verdict.shown_score(), score_text(score, verdict.threshold)
    reason = f"{verdict.reason}; raised from {start} to {end} by the agent's own report: {cause}"
    return verdict.replaced(score=score, surface=surface, reason=reason)


def raised_by_flags(verdict: RiskVerdict, flags: tuple[str, ...]) -> RiskVerdict:
    """The verdict on a change with code that could deceive its checks: it needs a review, however small it is."""
    if not flags or verdict.needs_review:
        return verdict
    start, end = verdict.shown_score(), score_text(verdict.threshold, verdict.threshold)
    raised = f"raised from {start} to {end} by code that could deceive a check"
    return verdict.replaced(score=verdict.threshold, reason=f"{verdict.reason}; {raised}: {named(list(flags), 1)}")


def _doubt(confidence: float | None) -> float:
    """One minus the confidence; 0 if there is no valid confidence."""
    return round(1 - confidence, 6) if confidence is not None and 0 <= confidence <= 1 else 0.0


def _reason(
    hits: list[SurfaceHit],
    base: float,
    score: float,
    lines: tuple[int | None, int | None],
    rules: RuleSet,
    threshold: float,
) -> str:
    if not hits:
        return _with_lowered(f"{rules.title}: nothing changed", rules)
    leading = [hit for hit in hits if hit.surface == hits[0].surface]
    text = f"{rules.title}: {hits[0].surface} ({base:g}) by {named([hit.path for hit in leading])}"
    if score > base:
        insertions, deletions = lines
        start, end = score_text(base, threshold), score_text(score, threshold)
        text += f"; +{insertions or 0} -{deletions or 0} lines raise it from {start} to {end}"
    return _with_lowered(text, rules)


def _with_emptied(reason: str, emptied: tuple[EmptiedFile, ...]) -> str:
    if not emptied:
        return reason
    names = [f"{file.path} ({file.removed} of {file.before})" for file in emptied]
    return f"{reason}; most lines are removed from {named(names, _EMPTIED_NAMED)}"


def _with_lowered(text: str, rules: RuleSet) -> str:
    return "; ".join((text, *rules.lowered))


def named(paths: list[str], most: int = _NAMED) -> str:
    """The first few names, and the number of further names."""
    names = ", ".join(_shortened(shown(path)) for path in paths[:most])
    return f"{names} and {len(paths) - most} more" if len(paths) > most else names


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"

"""A risk rule set as a table, from the rules themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.reflection.rule_set import ENDING, START, SURFACES, Loss, RuleSet, Size


def rule_rows(rules: RuleSet) -> Iterator[dict[str, str]]:
    """Every rule of a set: the surface, its weight, how it matches a path, and the values that match."""
    for surface, matchers in rules.winning.items():
        yield from _rows(rules, surface, matchers, ", also among tests and docs")
    for surface in SURFACES:
        yield from _rows(rules, surface, rules.surfaces.get(surface, {}), "")
    for word, (anywhere, near) in rules.unless.items():
        surface = rules.index["word"][word]
        text = "; ".join(
            f"{where} {', '.join(sorted(others))}"
            for where, others in (("with, anywhere in the path,", anywhere), ("with, in the same part,", near))
            if others
        )
        yield _row(rules, surface, f'word "{word}" does not count', text)
    if rules.inert:
        yield _row(rules, "none", "words do not count on these endings", _endings(rules.inert))
    if rules.decoration:
        what = f"{', '.join(sorted(rules.decoration))} on {_endings(rules.surfaces['ui'][ENDING])}"
        yield _row(rules, "none", "words do not count if the name ends in", what)
    yield _row(rules, "none", "anything else", "")
    if rules.size is not None:
        yield {"rules": rules.title, "surface": "any", "weight": "", "how": "size", "what": size_text(rules.size)}
    if rules.loss is not None:
        yield {"rules": rules.title, "surface": "any", "weight": "", "how": "loss", "what": loss_text(rules.loss)}


def size_text(size: Size) -> str:
    """The curve as text."""
    shares = ", ".join(f"{share:g} if all files are {surface}" for surface, share in size.shares.items())
    return (
        f"a removed line counts as {size.removed:g} added lines, and removed lines alone as {size.removed_alone:g}"
        f" each if that is more; lines count {shares}; up to {size.half:g} lines the"
        f" size score is {0.5 * (size.half + size.bend) / size.half:g} × lines / (lines + {size.bend:g}), beyond that"
        f" 1 - 0.5 × ({size.half:g} / lines)²; the lighter of surface and size adds"
        f" {max(size.meeting.values()):g} (test, docs: {size.meeting['test']:g}) of itself to the rest of the heavier"
    )


def loss_text(loss: Loss) -> str:
    """When a loss of lines raises the score, as text."""
    return (
        f"the size score is at least {loss.score:g} if code files that lose {loss.share:.0%} of their lines or more"
        f" lose {loss.lines} lines together; tests, prose and paths with these words do not count:"
        f" {', '.join(sorted(loss.by_tools))}"
    )


def _rows(rules: RuleSet, surface: str, matchers: Mapping[str, frozenset[str]], where: str) -> Iterator[dict[str, str]]:
    for how, values in matchers.items():
        text = ", ".join(_value(rules, how, value) for value in sorted(values))
        if how == START:
            text += f"; joined with {', '.join(sorted(rules.ends))}"
        yield _row(rules, surface, how + where, text)


def _endings(values: frozenset[str]) -> str:
    return ", ".join(f".{value}" for value in sorted(values))


def _value(rules: RuleSet, how: str, value: str) -> str:
    limit = rules.limits.get((how, value))
    text = f".{value}" if how == ENDING else value
    if limit is None:
        return text
    return f"{text} (on code)" if limit == rules.code else f"{text} (on {' '.join(f'.{end}' for end in sorted(limit))})"


def _row(rules: RuleSet, surface: str, how: str, what: str) -> dict[str, str]:
    return {
        "rules": rules.title,
        "surface": surface,
        "weight": f"{rules.weights[surface]:g}",
        "how": how,
        "what": what,
    }

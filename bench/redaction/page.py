"""The figures as Markdown for people and as JSON for programs; the same for the same data, without a date."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from alarms import Alarms
from loopwright.redaction.detector import ENGINE
from loopwright.redaction.environment_values import ENVIRONMENT_RULE
from loopwright.version import VERSION
from recall import BROKEN, Recall, Tally, wilson
from rule_classes import ENVIRONMENT_CLASS, by_class, class_of

_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Score:
    """Everything that was measured, and how."""

    examples: int
    seed: int
    recall: Recall
    opinion: dict[str, Tally]
    alarms: Alarms


def as_json(score: Score) -> dict[str, object]:
    """Every figure, by class and context and by rule."""
    recall, alarms = score.recall, score.alarms
    return {
        "about": dict(_about(score)),
        "planted": recall.kinds,
        "recall": [
            {"class": name, "context": context, "in_total": context not in BROKEN, **_figures(tally)}
            for (name, context), tally in sorted(recall.classes.items())
        ],
        "not_hidden": [
            {"rule": rule, "context": context, **_figures(tally)}
            for (rule, context), tally in sorted(recall.rules.items())
            if tally.hidden < tally.total
        ],
        "second_opinion": {name: _figures(tally) for name, tally in score.opinion.items()},
        "text": [
            {"folder": r.label, "files": r.files, "bytes": r.bytes, "lines": r.lines, "binary_files_left_out": r.binary}
            for r in alarms.readings
        ],
        "false_alarms": {name: hits for name, hits in _hits_by_class(alarms).items() if name != ENVIRONMENT_CLASS},
        "findings": [
            {"rule": f.rule, "file": f.source, "line": f.line, "fingerprint": f.fingerprint} for f in alarms.findings
        ],
    }


def as_markdown(score: Score) -> str:
    """The page for people."""
    parts = (
        ["# Redaction: recall and false alarms", ""],
        [f"- {name}: {value}" for name, value in _about(score)],
        ["", "## Recall", "", *_recall_by_class(score.recall)],
        ["", "By context, all classes:", "", *_recall_by_context(score.recall)],
        ["", "Not hidden, by rule (line breaks within the value left out):", "", *_not_hidden(score.recall)],
        ["", "## Second opinion", "", *_opinion(score.opinion)],
        ["", "## False alarms", "", *_text(score.alarms)],
        ["", *_alarms_by_class(score.alarms)],
        ["", f"The first {_SHOWN} findings, rules with most first:", "", *_findings(score.alarms), ""],
    )
    return "\n".join(line for part in parts for line in part)


def _about(score: Score) -> list[tuple[str, str]]:
    rules = sum(map(len, by_class().values()))
    return [
        ("loopwright", f"{VERSION}, {rules} rules, engine {ENGINE}"),
        ("python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("secrets per rule", f"{score.examples}, seed {score.seed}"),
        ("what must accompany a value", ", ".join(f"{kind}: {n}" for kind, n in sorted(score.recall.kinds.items()))),
    ]


def _figures(tally: Tally) -> dict[str, object]:
    low, high = wilson(tally.hidden, tally.total)
    return {
        "hidden": tally.hidden,
        "total": tally.total,
        "share": round(tally.hidden / tally.total, 4),
        "interval": [round(low, 4), round(high, 4)],
        "partly": tally.partly,
        "missed": tally.missed,
        "by_own_class": tally.by_own_class,
    }


def _percent(share: float) -> str:
    """Truncated, not rounded: 99.99 % is not 100 %."""
    return f"{math.floor(share * 1000) / 10:.1f} %"


def _interval(hits: int, total: int) -> str:
    low, high = wilson(hits, total)
    return f"{math.floor(low * 1000) / 10:.1f} to {math.ceil(high * 1000) / 10:.1f} %"


def _cells(tally: Tally) -> tuple[str, ...]:
    share = _percent(tally.hidden / tally.total)
    return (f"{tally.hidden} / {tally.total}", share, _interval(tally.hidden, tally.total), str(tally.partly))


def _summed(recall: Recall, part: int, contexts: Iterable[str] | None = None) -> dict[str, Tally]:
    """Tallies summed by class (part 0) or by context (part 1)."""
    sums: dict[str, Tally] = {}
    for key, tally in recall.classes.items():
        if contexts is None or key[1] in contexts:
            sums.setdefault(key[part], Tally()).add(tally)
    return sums


def _recall_by_class(recall: Recall) -> Iterator[str]:
    """By secrets and by rules. All secrets of one rule succeed or fail together, so the second interval counts."""
    yield from _table(
        (
            "class",
            "hidden",
            "share",
            "95 % interval",
            "in part",
            "by its own class",
            "rules that never fail",
            "95 % interval",
        )
    )
    failing = {rule for (rule, context), t in recall.rules.items() if t.hidden < t.total and context not in BROKEN}
    rules = {name: [rule.id for rule in rules] for name, rules in by_class().items()}
    counted = {context for _, context in recall.classes} - BROKEN
    total, whole = Tally(), 0
    for name, tally in sorted(_summed(recall, 0, counted).items()):
        total.add(tally)
        ids = rules.get(name, [ENVIRONMENT_RULE])
        good = sum(rule not in failing for rule in ids)
        whole += good
        yield _row((name, *_cells(tally), str(tally.by_own_class), f"{good} / {len(ids)}", _interval(good, len(ids))))
    of = sum(map(len, rules.values())) + 1
    yield _row(("all", *_cells(total), str(total.by_own_class), f"{whole} / {of}", _interval(whole, of)))


def _recall_by_context(recall: Recall) -> Iterator[str]:
    yield from _table(("context", "hidden", "share", "95 % interval", "in part"))
    for context, tally in _summed(recall, 1).items():
        yield _row((context + (" (not in the totals)" if context in BROKEN else ""), *_cells(tally)))


def _not_hidden(recall: Recall) -> Iterator[str]:
    yield from _table(("rule", "context", "hidden", "share", "95 % interval", "in part"))
    for (rule, context), tally in sorted(recall.rules.items()):
        if tally.hidden < tally.total and context not in BROKEN:
            yield _row((rule, context, *_cells(tally)))


def _opinion(opinion: dict[str, Tally]) -> Iterator[str]:
    yield "Values made from the patterns of detect-secrets, in a line of log:"
    yield ""
    yield from _table(("what detect-secrets calls it", "hidden", "share", "95 % interval", "in part"))
    for name, tally in opinion.items():
        yield _row((name, *_cells(tally)))


def _text(alarms: Alarms) -> Iterator[str]:
    yield from _table(("text", "files", "MB", "lines", "binary files left out"))
    for r in alarms.readings:
        yield _row((r.label, str(r.files), f"{r.bytes / 1_000_000:.1f}", str(r.lines), str(r.binary)))


def _hits_by_class(alarms: Alarms) -> dict[str, int]:
    classes = class_of()
    hits = Counter(classes[finding.rule] for finding in alarms.findings)
    return {name: hits[name] for name in sorted(set(classes.values()))}


def _alarms_by_class(alarms: Alarms) -> Iterator[str]:
    yield from _table(("class", "hits", "hits per MB"))
    silent: list[str] = []
    for name, hits in _hits_by_class(alarms).items():
        if hits:
            yield _row((name, str(hits), f"{hits / alarms.megabytes:.4f}"))
        elif name != ENVIRONMENT_CLASS:
            silent.append(name)
    yield ""
    yield f"No hit in {alarms.megabytes:.1f} MB: {', '.join(silent) or 'none'}."


def _findings(alarms: Alarms) -> Iterator[str]:
    often = Counter(finding.rule for finding in alarms.findings)
    ordered = sorted(alarms.findings, key=lambda f: (-often[f.rule], f.rule, f.source, f.line))
    yield from _table(("rule", "hits of the rule", "place", "fingerprint"))
    for f in ordered[:_SHOWN]:
        yield _row((f.rule, str(often[f.rule]), f"{f.source}:{f.line}", f.fingerprint))


def _table(headings: Sequence[str]) -> tuple[str, str]:
    return _row(headings), _row(["---"] * len(headings))


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

"""Recall: how many planted secrets are hidden, by class of rule and by context."""

from __future__ import annotations

import math
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from contexts import CONTEXTS, PLAIN, Context, Written, bury, cut, fold
from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.detector import Detector
from loopwright.redaction.environment_values import secret_values
from loopwright.redaction.redactor import Redactor
from own_values import ENCODED, NAME, SPLIT_BASE64, plant_own
from planted import Kind, Planted, plant
from rule_classes import ENVIRONMENT_CLASS, by_class, class_of

CHUNKED, FOLDED, BURIED = "random chunks", "wrapped at 80 columns", "line of 300 kB, across the window"
# A line break within the value: text is read by lines, so these are expected to fail, and are not in the totals.
BROKEN = frozenset({FOLDED, SPLIT_BASE64})
# A tail of this length or longer that is still readable counts as not hidden.
_READABLE = 8
_MARK = re.compile(rb"\[REDACTED(?::[^\]]*)?\]")
_WINDOW = 256 << 10


@dataclass(slots=True)
class Tally:
    """How many secrets were hidden whole, found but not hidden whole, and not found at all."""

    hidden: int = 0
    partly: int = 0
    missed: int = 0
    by_own_class: int = 0

    @property
    def total(self) -> int:
        """All planted secrets."""
        return self.hidden + self.partly + self.missed

    def add(self, other: Tally) -> None:
        """Add these counts."""
        self.hidden += other.hidden
        self.partly += other.partly
        self.missed += other.missed
        self.by_own_class += other.by_own_class


@dataclass(slots=True)
class Recall:
    """Tallies by class and context, and by rule and context."""

    classes: dict[tuple[str, str], Tally] = field(default_factory=dict)
    rules: dict[tuple[str, str], Tally] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)

    def count(self, class_name: str, rule: str, context: str, tally: Tally) -> None:
        """Add the result of one secret in one context."""
        self.classes.setdefault((class_name, context), Tally()).add(tally)
        self.rules.setdefault((rule, context), Tally()).add(tally)


def wilson(hits: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson): valid at 0 and 1, where the usual interval has no width."""
    if not total:
        return 0.0, 1.0
    share, spread = hits / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return max(0.0, centre - half), min(1.0, centre + half)


def measure(examples: int, seed: int) -> Recall:
    """Plant `examples` secrets of each rule in every context, and as many of the caller's own values."""
    recall, own = Recall(), class_of()
    redactor = Redactor(Detector(SHIPPED_RULES, {}), {})
    for class_name, rules in by_class().items():
        print(f"recall: {class_name}, {len(rules)} rules", file=sys.stderr)
        for rule, number in ((rule, number) for rule in rules for number in range(examples)):
            planted = plant(rule, number, seed)
            recall.kinds[planted.kind.value] = recall.kinds.get(planted.kind.value, 0) + 1
            for trial in _trials(planted, CONTEXTS, number, seed):
                tally = judge(redactor, trial.written, trial.chunks, lambda rule, c=class_name: own[rule] == c)
                recall.count(class_name, rule.id, trial.context, tally)
    print(f"recall: {ENVIRONMENT_CLASS}", file=sys.stderr)
    for number in range(examples * len(CONTEXTS)):
        planted = plant_own(number, seed)
        redactor = Redactor(Detector((), secret_values({NAME: planted.carrier})), {})
        for trial in _trials(planted, (*CONTEXTS, *ENCODED), number, seed):
            tally = judge(redactor, trial.written, trial.chunks, lambda rule: own[rule] == ENVIRONMENT_CLASS)
            recall.count(ENVIRONMENT_CLASS, planted.rule, trial.context, tally)
    return recall


@dataclass(frozen=True, slots=True)
class _Trial:
    context: str
    written: Written
    chunks: list[bytes]


def _trials(planted: Planted, contexts: Iterable[Context], number: int, seed: int) -> Iterator[_Trial]:
    source = random.Random(f"{seed}:{number}:{planted.rule}")
    for context in contexts:
        if written := context.write(planted):
            yield _Trial(context.name, written, [written.text.encode()])
    plain = PLAIN.write(planted)
    if plain is None:
        return
    yield _Trial(CHUNKED, plain, cut(plain.text.encode(), source))
    if planted.kind is Kind.BLOCK:
        return
    if folded := fold(plain, source):
        yield _Trial(FOLDED, folded, [folded.text.encode()])
    if number == 0:  # once per rule: each is 300 kB
        yield _Trial(BURIED, plain, bury(plain, _WINDOW, source))


def judge(
    redactor: Redactor, written: Written, chunks: Iterable[bytes], is_own: Callable[[str], bool] = lambda _: True
) -> Tally:
    """The result of one secret; `is_own` tells whether a rule belongs to the measured class."""
    stream = redactor.stream("")
    out = b"".join([*(stream.feed(chunk).data for chunk in chunks), stream.finish().data])
    if not stream.findings:
        return Tally(missed=1)
    by_own = int(any(is_own(finding.rule) for finding in stream.findings))
    if _readable(written, _MARK.sub(b"\0", out)):
        return Tally(partly=1, by_own_class=by_own)
    return Tally(hidden=1, by_own_class=by_own)


def _readable(written: Written, out: bytes) -> bool:
    """Whether a useful part of a secret is still readable; characters that also occur around it do not count."""
    around = written.around.encode()
    for secret in (text.encode() for text in written.secrets):
        for at in range(max(1, len(secret) - _READABLE + 1)):
            piece = secret[at : at + _READABLE]
            if piece in out and piece not in around:
                return True
    return False

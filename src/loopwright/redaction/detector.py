"""Finds secrets in a line: first a fast search for keywords, then only the rules with a matching keyword.

Takes linear time for any input: uses RE2 if it is installed, else `re` on bounded windows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import msgspec

from loopwright.redaction.environment_values import ENVIRONMENT_RULE, printed_forms
from loopwright.redaction.model import SecretRule
from loopwright.redaction.published import is_published

try:
    import re2
except ImportError:  # pragma: no cover -- platforms without a wheel
    re2 = None

ENGINE = "re2" if re2 is not None else "re"
_SET_MEMORY = 256 << 20
# How much text before a match and after a value a rule may look at, for example for the start of a name.
_CONTEXT = 80


class SecretHit(msgspec.Struct, frozen=True):
    """One secret in a line."""

    rule: str
    start: int
    end: int
    value: bytes


class _Pattern(Protocol):
    def finditer(self, text: bytes, /) -> Iterable[Any]: ...


class Detector:
    """The compiled rules and the caller's secret values."""

    def __init__(self, rules: Iterable[SecretRule], secrets: Mapping[str, str]) -> None:
        self._rules = tuple(rules)
        self._compiled: dict[int, _Pattern] = {}
        self._needles = sorted({form for value in secrets.values() for form in printed_forms(value)}, key=len)[::-1]
        self._by_keyword: dict[str, list[int]] = {}
        for number, rule in enumerate(self._rules):
            for keyword in rule.keywords:
                self._by_keyword.setdefault(keyword, []).append(number)
        self._keywords = tuple(self._by_keyword)
        self._sieve = _sieve([re.escape(word) for word in self._keywords], self._needles)

    def may_hit(self, block: bytes) -> bool:
        """A cheap test: whether these lines could contain a secret."""
        return self._sieve.any(block)

    def hits(self, line: bytes) -> list[SecretHit]:
        """Every secret in a line, by position. Of two overlapping hits the earlier and longer one is kept."""
        indexes = self._sieve.which(line)
        hits: list[SecretHit] = []
        rules = {n for i in indexes if i < len(self._keywords) for n in self._by_keyword[self._keywords[i]]}
        generic: list[SecretHit] = []
        for number in sorted(rules):
            (generic if self._rules[number].generic else hits).extend(self._matches(number, line))
        for index in indexes:
            if index >= len(self._keywords):
                hits += self._needle_hits(self._needles[index - len(self._keywords)], line)
        hits += [hit for hit in generic if all(hit.end <= other.start or other.end <= hit.start for other in hits)]
        return without_overlaps(hits)

    def _matches(self, number: int, line: bytes) -> Iterator[SecretHit]:
        rule = self._rules[number]
        pattern = self._compiled.get(number)
        if pattern is None:
            pattern = self._compiled[number] = compile_pattern(rule.pattern)
        for match in pattern.finditer(line):
            group = 1 if match.re.groups and match.group(1) is not None else 0
            start, end = match.span(group)
            value = bytes(line[start:end])
            before = bytes(line[max(0, match.start() - _CONTEXT) : start])
            after = bytes(line[end : end + _CONTEXT])
            if value and rule.accepts(before, value, after) and not is_published(value):
                yield SecretHit(rule.id, start, end, value)

    @staticmethod
    def _needle_hits(needle: bytes, line: bytes) -> Iterator[SecretHit]:
        start = line.find(needle)
        while start >= 0:
            yield SecretHit(ENVIRONMENT_RULE, start, start + len(needle), needle)
            start = line.find(needle, start + len(needle))


def compile_pattern(pattern: str) -> _Pattern:
    """Compile a rule's pattern for bytes; ValueError if it is invalid."""
    if re2 is None:
        return re.compile(pattern.encode("ascii"))
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    try:
        compiled: _Pattern = re2.compile(pattern.encode("ascii"), options)
    except re2.error as problem:
        raise ValueError(str(problem)) from problem
    return compiled


def without_overlaps(hits: list[SecretHit]) -> list[SecretHit]:
    """The hits by position. Overlapping hits are merged under the rule of the earlier and longer hit."""
    kept: list[SecretHit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
        elif hit.end > kept[-1].end:
            # Two rules match overlapping text: hide all of it.
            last = kept[-1]
            kept[-1] = SecretHit(last.rule, last.start, hit.end, last.value)
    return kept


class _Sieve(Protocol):
    def any(self, block: bytes) -> bool: ...

    def which(self, line: bytes) -> list[int]: ...


class _Re2Sieve:
    """All literals in one automaton. Indexes count keywords first, then needles."""

    def __init__(self, keywords: list[str], needles: list[bytes]) -> None:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = _SET_MEMORY
        options.never_nl = False
        self._set = re2.Set.SearchSet(options)
        for keyword in keywords:
            self._set.Add(f"(?i){keyword}".encode())
        for needle in needles:
            self._set.Add(re.escape(needle))
        self._empty = not keywords and not needles
        self._set.Compile()

    def any(self, block: bytes) -> bool:
        return not self._empty and bool(self._set.Match(block))

    def which(self, line: bytes) -> list[int]:
        return [] if self._empty else list(self._set.Match(line) or ())


class _PlainSieve:
    """The same without RE2: a substring search per literal."""

    def __init__(self, keywords: list[str], needles: list[bytes]) -> None:
        self._keywords = [re.sub(r"\\(.)", r"\1", keyword).encode() for keyword in keywords]
        self._needles = needles

    def any(self, block: bytes) -> bool:
        lowered = block.lower()
        return any(word in lowered for word in self._keywords) or any(n in block for n in self._needles)

    def which(self, line: bytes) -> list[int]:
        lowered = line.lower()
        words = [i for i, word in enumerate(self._keywords) if word in lowered]
        return words + [len(self._keywords) + i for i, needle in enumerate(self._needles) if needle in line]


class _SplitSieve:
    """Keywords in an automaton, needles one by one: too many or too long needles do not fit into one automaton."""

    def __init__(self, keywords: list[str], needles: list[bytes]) -> None:
        self._words = _Re2Sieve(keywords, [])
        self._needles = _PlainSieve([], needles)
        self._first = len(keywords)

    def any(self, block: bytes) -> bool:
        return self._words.any(block) or self._needles.any(block)

    def which(self, line: bytes) -> list[int]:
        return self._words.which(line) + [self._first + index for index in self._needles.which(line)]


def _sieve(keywords: list[str], needles: list[bytes]) -> _Sieve:
    if re2 is None:
        return _PlainSieve(keywords, needles)
    try:
        return _Re2Sieve(keywords, needles)
    except re2.error:
        # The caller's values may have any length, and an agent's file adds values, too.
        return _SplitSieve(keywords, needles)

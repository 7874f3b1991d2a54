"""Finds secrets in a line: a fast sieve of keywords first, then the few rules whose keyword is there.

Linear in the input whatever the input is: RE2 where there is a wheel for it, else bounded windows of `re`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import msgspec

from loopwright.redaction.environment_values import ENVIRONMENT_RULE, printed_forms
from loopwright.redaction.model import SecretRule

try:
    import re2
except ImportError:  # pragma: no cover -- platforms without a wheel
    re2 = None

ENGINE = "re2" if re2 is not None else "re"
_SET_MEMORY = 256 << 20


class SecretHit(msgspec.Struct, frozen=True):
    """One secret in a line."""

    rule: str
    start: int
    end: int
    value: bytes


class _Pattern(Protocol):
    def finditer(self, text: bytes, /) -> Iterable[Any]: ...


class Detector:
    """The compiled rules and the caller's own values."""

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
        """The cheap question: could there be a secret in these lines?"""
        return self._sieve.any(block)

    def hits(self, line: bytes) -> list[SecretHit]:
        """Every secret in a line, by position; of two that overlap the earlier and longer one."""
        seen = self._sieve.which(line)
        found: list[SecretHit] = []
        for number in sorted({n for i in seen if i < len(self._keywords) for n in self._by_keyword[self._keywords[i]]}):
            found += self._matches(number, line)
        for index in seen:
            if index >= len(self._keywords):
                found += self._needle_hits(self._needles[index - len(self._keywords)], line)
        return without_overlaps(found)

    def _matches(self, number: int, line: bytes) -> Iterator[SecretHit]:
        rule = self._rules[number]
        pattern = self._compiled.get(number)
        if pattern is None:
            pattern = self._compiled[number] = compile_pattern(rule.pattern)
        for match in pattern.finditer(line):
            group = 1 if match.re.groups and match.group(1) is not None else 0
            start, end = match.span(group)
            if end > start:
                yield SecretHit(rule.id, start, end, bytes(line[start:end]))

    @staticmethod
    def _needle_hits(needle: bytes, line: bytes) -> Iterator[SecretHit]:
        at = line.find(needle)
        while at >= 0:
            yield SecretHit(ENVIRONMENT_RULE, at, at + len(needle), needle)
            at = line.find(needle, at + len(needle))


def compile_pattern(pattern: str) -> _Pattern:
    """A rule's pattern over bytes; raises ValueError when it is not acceptable."""
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
    """By position; of two that overlap the earlier and longer one, as far as either goes."""
    kept: list[SecretHit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
        elif hit.end > kept[-1].end:
            # Two rules meet in one run of characters: hide all of it.
            last = kept[-1]
            kept[-1] = SecretHit(last.rule, last.start, hit.end, last.value)
    return kept


class _Sieve(Protocol):
    def any(self, block: bytes) -> bool: ...

    def which(self, line: bytes) -> list[int]: ...


class _Re2Sieve:
    """All literals in one automaton; the indexes are those of keywords, then needles."""

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
    """The same without RE2: substring search, one literal after the other."""

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
    """Keywords in an automaton, and needles one by one: they are too many or too long for an automaton of all."""

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
        # The caller's own values may be of any length, and an agent's file has a say, too.
        return _SplitSieve(keywords, needles)

"""Applies a policy to the detector's hits: masks secrets, reports findings, and returns only `Redacted` bytes.

Works on streams: text is carried over chunk borders, and memory use does not grow with the input.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate

import msgspec

from loopwright.redaction.archives import members
from loopwright.redaction.detector import Detector, SecretHit, without_overlaps
from loopwright.redaction.environment_values import ENVIRONMENT_RULE
from loopwright.redaction.model import Redacted, RuleAction, SecretFinding, seal
from loopwright.redaction.providers.private_keys import ENCODED_KEY_RULE, KEY_BODY_RULE
from loopwright.redaction.readings import end_of_value, readings

_WINDOW = 256 << 10
# Longer than any secret that a rule can match, so that no secret is cut in two.
_OVERLAP = 16 << 10
_KEY_BLOCK_LINES = 400
# A masked secret on every line of a long log must not fill the memory; the first findings are enough.
_MOST_FINDINGS = 1000
_MOST_READINGS = 8
# In characters. Learned values are compiled during a turn, and an agent can influence them.
_MOST_LEARNED = 128 << 10

_PRAGMA = re.compile(rb"pragma: allowlist-secret why=(?:TEST_VECTOR|DOCS_EXAMPLE|FIXTURE)\b")
_KEY_BEGIN = re.compile(rb"-----BEGIN [A-Za-z0-9 ]{0,40}(?:PRIVATE KEY|SEED|Static key)|^[ \t]*Private-Lines:")
_KEY_END = re.compile(rb"-----END |^[ \t]*Private-MAC:")
# A key that is found by its first line continues in lines like this one, with or without quotation marks.
_KEY_LINE = re.compile(
    rb"""[\s"'`+>|,-]{0,40}(?:[A-Za-z0-9+/_-]{16,}={0,2}|[A-Za-z0-9+/_-]*={1,2})(?:\\n)?[\s"'`+,;.)&\\-]{0,40}"""
)
_RULES_OF_FIRST_LINES = frozenset({KEY_BODY_RULE, ENCODED_KEY_RULE})
# The text that replaces a value. After `token=` or `user:` it looks like a value itself.
_MARK = re.compile(rb"\[REDACTED:[^\]\s]{1,200}:[0-9a-f]{12}\]")
PRAGMA_TEXT = "pragma: allowlist-secret"


def fingerprint(value: bytes) -> str:
    """A short id for a value that does not reveal the value."""
    return hashlib.sha256(b"loopwright secret\0" + value).hexdigest()[:12]


class Scanned(msgspec.Struct, frozen=True):
    """A redacted text and its findings."""

    clean: Redacted
    findings: tuple[SecretFinding, ...]

    @property
    def must_stop(self) -> bool:
        """Whether a rule that stops the run matched."""
        return any(finding.action is RuleAction.STOP for finding in self.findings)


class Learned:
    """Secrets learned while the process runs, shared by several redactors. The latest are kept if there are many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: tuple[str, ...] = ()
        self.detector: Detector | None = None

    def add(self, values: Iterable[str]) -> None:
        """Detect these values from now on, in all redactors that share this object."""
        with self._lock:
            known = _latest(dict.fromkeys((*values, *self._values)))
            if set(known) != set(self._values):
                # Store the values after the detector: if compiling fails, the next call tries again.
                self.detector = Detector((), {value: value for value in known})
                self._values = known


def _latest(values: Iterable[str]) -> tuple[str, ...]:
    sums = accumulate(map(len, listed := tuple(values)))
    return tuple(value for value, so_far in zip(listed, sums, strict=True) if so_far <= _MOST_LEARNED)


class Redactor:
    """A detector with a policy: each rule's action, and values that are not secrets."""

    def __init__(
        self,
        detector: Detector,
        actions: Mapping[str, RuleAction],
        allowed: Iterable[str] = (),
        learned: Learned | None = None,
    ) -> None:
        self._detector = detector
        self._learned = learned or Learned()
        self._actions = actions
        self._allowed = set(allowed)
        self._more_exemptions: Callable[[], Iterable[str]] | None = None

    def allow(self, fingerprints: Iterable[str]) -> None:
        """Exempt values for the rest of this redactor's life."""
        self._allowed.update(fingerprints)

    def learn(self, values: Iterable[str]) -> None:
        """Add secrets of the caller, for every redactor that shares them."""
        if self.action_of(ENVIRONMENT_RULE) is not RuleAction.OFF:
            self._learned.add(values)

    def exempt_later(self, source: Callable[[], Iterable[str]]) -> None:
        """Add exemptions that are expensive to compute. `source` is called once, when a hit would count."""
        self._more_exemptions = source

    def scan(self, data: bytes, source: str, *, trusts_pragma: bool) -> Scanned:
        """Redact a complete text. A pragma counts in files that people maintain, never in output."""
        stream = self.stream(source, trusts_pragma=trusts_pragma)
        clean = stream.feed(data).data + stream.finish().data
        archived = self._in_archive(data, source)
        return Scanned(seal(b"[REDACTED]" if archived else clean), (*stream.findings, *archived))

    def clean(self, text: str | bytes) -> Redacted:
        """Hide every secret in a text for display. Findings are reported where the text came from."""
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        return self.scan(data, "", trusts_pragma=False).clean

    def stream(self, source: str, *, trusts_pragma: bool = False) -> StreamRedactor:
        """A redactor for one output stream."""
        return StreamRedactor(self, source, trusts_pragma)

    def exempted_by_pragma(self, data: bytes) -> set[str]:
        """Fingerprints of the values in lines with a valid pragma."""
        exempted: set[str] = set()
        for line in data.splitlines():
            if _PRAGMA.search(line):
                hits = [hit for reading in readings(line) for hit in self._all_hits(reading)]
                exempted |= {fingerprint(hit.value) for hit in hits if hit.rule != ENVIRONMENT_RULE}
        return exempted

    def may_hit(self, block: bytes) -> bool:
        """The detector's cheap test, for every reading."""
        detectors = [detector for detector in (self._detector, self._learned.detector) if detector is not None]
        return any(detector.may_hit(reading) for reading in readings(block) for detector in detectors)

    def hits(self, line: bytes) -> tuple[bytes, list[SecretHit]]:
        """The first reading of the line with hits that count, and those hits."""
        for reading in readings(line):
            if counted := [hit for hit in self._all_hits(reading) if self._counts(hit)]:
                return reading, _whole_values(reading, counted)
        return line, []

    def action_of(self, rule: str) -> RuleAction:
        """The action of this rule."""
        return self._actions.get(rule, RuleAction.STOP)

    def _in_archive(self, data: bytes, source: str) -> list[SecretFinding]:
        """The secrets in the members of an archive: in the archive's bytes, names and content run together."""
        findings: list[SecretFinding] = []
        for name, content in members(data):
            stream = self.stream(f"{source}!{name}")
            stream.feed(content)
            stream.finish()
            findings += stream.findings
        return findings

    def _all_hits(self, reading: bytes) -> list[SecretHit]:
        learned = self._learned.detector
        hits = self._detector.hits(reading)
        return hits if learned is None else without_overlaps([*hits, *learned.hits(reading)])

    def _counts(self, hit: SecretHit) -> bool:
        name = fingerprint(hit.value)
        if name in self._allowed or _MARK.fullmatch(hit.value):
            return False
        if self._more_exemptions is not None:
            find_more, self._more_exemptions = self._more_exemptions, None
            self._allowed.update(find_more())
        return name not in self._allowed


class StreamRedactor:
    """Redacts one stream: feed chunks and take the clean output; `findings` grows with each secret."""

    def __init__(self, redactor: Redactor, source: str, trusts_pragma: bool) -> None:
        self.findings: list[SecretFinding] = []
        self._redactor = redactor
        self._source = source
        self._trusts_pragma = trusts_pragma
        self._held = bytearray()
        self._line = 1
        self._key_lines_left = 0
        self._follows_key_line = False

    def feed(self, data: bytes) -> Redacted:
        """Take a chunk, and return the output that is clean so far."""
        self._held += data
        out: list[bytes] = []
        cut = self._held.rfind(b"\n") + 1
        if cut:
            block = bytes(self._held[:cut])
            del self._held[:cut]
            out.append(self._lines(block))
        while len(self._held) > _WINDOW:
            out.append(self._window())
        return seal(b"".join(out))

    def finish(self) -> Redacted:
        """Return the rest at the end of the stream."""
        rest = bytes(self._held)
        self._held.clear()
        return seal(self._lines(rest))

    def _lines(self, block: bytes) -> bytes:
        is_within_key = self._key_lines_left or self._follows_key_line
        if not is_within_key and not self._redactor.may_hit(block):
            self._line += block.count(b"\n")
            return block
        # Not splitlines: a carriage return does not end a line here.
        *whole, rest = block.split(b"\n")
        return b"".join([*(self._redacted(line, b"\n") for line in whole), self._redacted(rest, b"") if rest else b""])

    def _redacted(self, body: bytes, tail: bytes) -> bytes:
        number = self._line
        self._line += len(tail)
        if len(body) > _WINDOW:
            return b"".join(self._pieces(body, number)) + tail
        if self._key_lines_left:
            self._key_lines_left = 0 if _KEY_END.search(body) else self._key_lines_left - 1
            return b"[REDACTED]" + tail
        if self._follows_key_line and _KEY_LINE.fullmatch(body):
            return b"[REDACTED]" + tail
        self._follows_key_line = False
        return self._masked(body, number) + tail

    def _pieces(self, body: bytes, number: int) -> Iterable[bytes]:
        """Redact a complete line that is too long to search at once."""
        rest = body
        while len(rest) > _WINDOW:
            done, rest = self._split(rest[:_WINDOW], number, rest[_WINDOW:])
            yield done
        yield self._masked(rest, number)

    def _window(self) -> bytes:
        """Redact the first part of an unfinished line that is too long to keep in memory."""
        done, rest = self._split(bytes(self._held[:_WINDOW]), self._line, bytes(self._held[_WINDOW:]))
        self._held[:] = rest
        return done

    def _split(self, window: bytes, number: int, beyond: bytes) -> tuple[bytes, bytes]:
        reading, hits = self._redactor.hits(window)
        if not hits:
            return window[:-_OVERLAP], window[-_OVERLAP:] + beyond
        cut = max(len(reading) - _OVERLAP, 0)
        inside = [hit for hit in hits if hit.start < cut]
        if inside:
            cut = max(cut, inside[-1].end)
        return self._masked(self._mask(reading[:cut], inside, number), number), reading[cut:] + beyond

    def _masked(self, body: bytes, number: int) -> bytes:
        exempt = self._trusts_pragma and _PRAGMA.search(body) is not None
        for _ in range(_MOST_READINGS):
            reading, hits = self._redactor.hits(body)
            # A pragma exempts formats. A value from the caller's environment is never an example.
            hits = [hit for hit in hits if not exempt or hit.rule == ENVIRONMENT_RULE]
            if not hits:
                return body
            if _KEY_BEGIN.search(reading) and not _KEY_END.search(reading):
                self._key_lines_left = _KEY_BLOCK_LINES
            self._follows_key_line |= any(hit.rule in _RULES_OF_FIRST_LINES for hit in hits)
            # Another reading may show another secret, so look again.
            body = self._mask(reading, hits, number)
        return b"[REDACTED]"

    def _mask(self, text: bytes, hits: list[SecretHit], number: int) -> bytes:
        parts: list[bytes] = []
        position = 0
        for hit in hits:
            name = fingerprint(hit.value)
            finding = SecretFinding(hit.rule, self._source, number, name, self._redactor.action_of(hit.rule))
            if len(self.findings) < _MOST_FINDINGS:
                self.findings.append(finding)
            parts += [text[position : hit.start], f"[REDACTED:{hit.rule}:{name}]".encode()]
            position = hit.end
        return b"".join([*parts, text[position:]])


def _whole_values(text: bytes, hits: list[SecretHit]) -> list[SecretHit]:
    """The hits by position, each extended to the real end of its value; overlapping hits are merged."""
    whole: list[SecretHit] = []
    for hit in hits:
        end = end_of_value(text, hit.end)
        if whole and hit.start < whole[-1].end:
            last = whole[-1]
            whole[-1] = SecretHit(last.rule, last.start, max(last.end, end), last.value)
        else:
            whole.append(SecretHit(hit.rule, hit.start, end, hit.value))
    return whole
